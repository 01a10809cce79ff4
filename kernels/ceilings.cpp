#include "kernels/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace coalprof {
namespace {

constexpr std::uint64_t largest_buffer_bytes = 4ull << 30;
constexpr std::uint64_t smallest_buffer_bytes = 64ull << 20;
constexpr std::uint64_t cell_bytes = 16;
constexpr std::uint64_t repeats = 5;
// One pass over the buffer: long enough to hide its start and end (microseconds), short enough for
// a sweep.
constexpr double pass_seconds = 400e-6;

struct ReadLoop {
    const char* kernel;
    std::uint32_t block;
    std::uint64_t cells_per_thread;      // 0: the grid walks the buffer
    std::uint64_t blocks_per_processor;  // blocks of a walking grid
};

// The best one differs between GPUs; on an H200 they are within 2 % of each other.
constexpr ReadLoop loops[] = {
    {"coalprof_read_2", 256, 2, 0},    {"coalprof_read_2", 512, 2, 0},
    {"coalprof_read_4", 256, 4, 0},    {"coalprof_read_4", 512, 4, 0},
    {"coalprof_read_grid", 256, 0, 8}, {"coalprof_read_grid", 512, 0, 4},
};

constexpr std::uint64_t instructions = 4096;
constexpr std::uint64_t loads = 1024;
// At large distances, so that no fetch of one brings another, and 69 MiB in all: L2 is flushed
// before.
constexpr std::uint64_t far_cells = 1 << 14;
constexpr std::uint64_t far_step_bytes = 4096 + 256;
constexpr std::uint64_t cells_bytes = far_cells * far_step_bytes;
constexpr std::uint64_t held_bytes = 2 << 20;  // bytes that L2 holds
constexpr std::uint64_t most_blocks_of_one = 8;

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

// Cycles of one step, of which each block did `steps`.
double cycles_of(const std::vector<ClockRecord>& records, std::uint64_t steps) {
    std::vector<double> cycles;
    for (const ClockRecord& one : records)
        cycles.push_back(static_cast<double>(one.end - one.begin) / static_cast<double>(steps));
    return median(std::move(cycles));
}

double ticking(double reading, std::string_view what) {
    if (reading > 0) return reading;
    throw PointError(fmt::format("cannot time {}: the GPU's clock stood still", what));
}

}  // namespace

CompileRequest Ceilings::request() {
    return {.source = "#include \"kernels/source/ceilings.cuh\"\n"};
}

// At least eight times L2 where memory allows, so that nothing of one run serves the next.
std::uint64_t Ceilings::buffer_bytes() const {
    const DeviceFacts& facts = bench_.facts;
    const auto of_one_pass =
        static_cast<std::uint64_t>(facts.peak_bytes_per_second() * pass_seconds);
    std::uint64_t bytes = std::clamp(of_one_pass, smallest_buffer_bytes, largest_buffer_bytes);
    bytes = std::max(bytes, facts.l2_bytes * 8);
    bytes = std::min(bytes, std::max(bench_.gpu.memory().free_bytes / 2, smallest_buffer_bytes));
    // Whole tiles for every loop: 4 cells for each of 512 threads.
    return bytes / (1 << 20) * (1 << 20);
}

// The fastest repetition: a ceiling is the highest rate, not the usual one. 0 where the clock saw
// no time pass.
double Ceilings::rate_of(std::uint64_t bytes, const std::function<void()>& launch) {
    const auto nothing = [] {};
    bench_.stopwatch.measure(1, nothing, launch);  // warm-up
    const double seconds =
        summarize(bench_.stopwatch.measure(repeats, nothing, launch)).min_seconds;
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

double Ceilings::copy_rate(const Buffer& buffer) {
    const Gpu& gpu = bench_.gpu;
    const std::uint64_t half = buffer.bytes() / 2;
    return rate_of(2 * half, [&] {
        gpu.check(
            gpu.api().copy_on_device(buffer.address() + half, buffer.address(), half, nullptr),
            "copy within device memory");
    });
}

const Ceilings::Rates& Ceilings::rates() {
    if (rates_) return *rates_;
    const Gpu& gpu = bench_.gpu;
    const Buffer buffer(gpu, buffer_bytes(), "measuring this GPU's ceilings");
    gpu.check(gpu.api().fill_bytes(buffer.address(), 0, buffer.bytes(), nullptr),
              "clear the buffer for this GPU's ceilings");
    const std::uint64_t cells = buffer.bytes() / cell_bytes;
    KernelParameters parameters;
    parameters.add(buffer.address());
    parameters.add(std::uint64_t{cells});
    parameters.add(Word{0});
    parameters.add(buffer.address());
    double read = 0;
    for (const ReadLoop& loop : loops) {
        const Kernel& kernel = bench_.shop.kernel(request(), loop.kernel);
        const LaunchSize size{
            .grid = loop.cells_per_thread != 0
                        ? cells / (loop.block * loop.cells_per_thread)
                        : bench_.facts.multiprocessors * loop.blocks_per_processor,
            .block = loop.block};
        const auto launch = [&] { kernel.launch(size, parameters.pointers()); };
        read = std::max(read, rate_of(buffer.bytes(), launch));
    }

    return rates_.emplace(Rates{read, copy_rate(buffer)});
}

CycleClock::CycleClock(Workbench& bench)
    : bench_(bench),
      cells_(bench.gpu, cells_bytes, "measuring latencies"),
      records_(bench.gpu, bench.facts.multiprocessors * most_blocks_of_one * sizeof(ClockRecord),
               "measuring latencies") {}

CompileRequest CycleClock::request() {
    return {.source = "#include \"kernels/source/cycles.cuh\"\n"};
}

std::vector<ClockRecord> CycleClock::launch(const char* kernel, const LaunchSize& size,
                                            KernelParameters parameters) {
    const Gpu& gpu = bench_.gpu;
    parameters.add(records_.address());
    Kernel& code = bench_.shop.kernel(request(), kernel);
    if (size.shared_bytes != 0) code.allow_shared_bytes(static_cast<int>(size.shared_bytes));
    code.launch(size, parameters.pointers());
    gpu.synchronize("wait for a kernel that reads its clock");
    std::vector<ClockRecord> records(size.grid);
    gpu.check(gpu.api().copy_to_host(records.data(), records_.address(),
                                     records.size() * sizeof(ClockRecord)),
              "fetch what a kernel read of its clock");
    return records;
}

// For 2 ms, since the nanosecond clock advances in steps of up to a microsecond.
double CycleClock::clock_hertz() {
    KernelParameters parameters;
    parameters.add(Index{4'000'000});
    parameters.add(1.5f);
    std::vector<double> hertz;
    for (const ClockRecord& one :
         launch("coalprof_compute", {.grid = bench_.facts.multiprocessors, .block = 1024},
                std::move(parameters)))
        if (one.nanoseconds > 0)
            hertz.push_back(static_cast<double>(one.end - one.begin) * 1e9 /
                            static_cast<double>(one.nanoseconds));
    return ticking(median(std::move(hertz)), "cycles");
}

double CycleClock::instruction() {
    KernelParameters parameters;
    parameters.add(Index{instructions});
    parameters.add(1.5f);
    return cycles_of(launch("coalprof_depend", {}, std::move(parameters)), instructions);
}

double CycleClock::shared_load() {
    KernelParameters parameters;
    parameters.add(Index{loads});
    parameters.add(Index{1});  // no address
    return cycles_of(launch("coalprof_chase_shared", {}, std::move(parameters)), loads);
}

double CycleClock::chased(const Chase& chase) {
    KernelParameters link;
    link.add(Index{cells_.address()});
    link.add(Index{chase.step_bytes});
    link.add(Index{chase.cells});
    KernelParameters follow = link;
    constexpr std::uint32_t block = 64;
    launch("coalprof_link", {.grid = chase.cells / block, .block = block}, std::move(link));
    if (chase.is_flushed) bench_.cache.flush();
    follow.add(Index{chase.before});
    follow.add(Index{chase.loads});
    follow.add(Index{1});  // no address
    return cycles_of(launch(chase.kernel, {.grid = chase.blocks}, std::move(follow)), chase.loads);
}

double CycleClock::next_block() {
    const auto shared_bytes =
        static_cast<std::uint32_t>(bench_.facts.shared_bytes_per_block_optin / 4 * 3);
    std::map<Index, std::vector<ClockRecord>> of_one;
    for (const ClockRecord& one : launch("coalprof_follow",
                                         {.grid = bench_.facts.multiprocessors * most_blocks_of_one,
                                         .block = 256,
                                         .shared_bytes = shared_bytes},
                                         {}))
        of_one[one.multiprocessor].push_back(one);
    std::vector<double> gaps;
    for (auto& [which, blocks] : of_one) {
        std::ranges::sort(blocks, {}, &ClockRecord::begin);
        for (std::size_t k = 1; k < blocks.size(); ++k)
            gaps.push_back(static_cast<double>(blocks[k].begin - blocks[k - 1].end));
    }
    return median(std::move(gaps));
}

double CycleClock::fetched(const char* kernel, std::uint64_t apart_bytes, std::uint64_t units) {
    constexpr std::uint64_t rounds = 16, at_once = 8;
    constexpr std::uint32_t block = 1024;
    KernelParameters parameters;
    parameters.add(cells_.address());
    parameters.add(Index{apart_bytes});
    parameters.add(Index{held_bytes});
    parameters.add(Index{rounds});
    parameters.add(Word{0});
    launch(kernel, {.grid = 1, .block = block}, parameters);  // brings it into L2
    return cycles_of(launch(kernel, {.grid = 1, .block = block}, std::move(parameters)),
                     rounds * at_once * block / units);
}

CycleReadings CycleClock::read() {
    const std::uint64_t processors = bench_.facts.multiprocessors;
    CycleReadings found;
    found.clock_hertz = clock_hertz();
    found.instruction = instruction();
    found.shared_load = shared_load();
    found.l1_load = chased({.kernel = "coalprof_chase_l1",
                            .cells = 64,
                            .step_bytes = 128,
                            .before = 64,
                            .loads = loads});
    // By all multiprocessors, as they differ in their distance from slices of L2.
    found.l2_load = chased({.kernel = "coalprof_chase_l2",
                            .cells = held_bytes / 512,
                            .step_bytes = 512,
                            .before = held_bytes / 512,
                            .loads = loads,
                            .blocks = processors});
    const std::uint64_t of_block = far_cells / processors;
    found.dram_load = chased({.kernel = "coalprof_chase_l2",
                              .cells = far_cells,
                              .step_bytes = far_step_bytes,
                              .before = of_block / 8,  // translates addresses for the others
                              .loads = of_block / 2,
                              .blocks = processors,
                              .is_flushed = true});
    found.next_block = next_block();
    found.line_request = fetched("coalprof_fetch_words", 128, 1);
    found.sector = fetched("coalprof_fetch_lines", 16, 2);
    for (const double reading :
         {found.instruction, found.shared_load, found.l1_load, found.l2_load, found.dram_load,
          found.next_block, found.line_request, found.sector})
        ticking(reading, "instructions");
    return found;
}

}  // namespace coalprof
