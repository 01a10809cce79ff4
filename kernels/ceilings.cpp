#include "kernels/ceilings.h"

#include <algorithm>

#include "kernels/source/arguments.h"

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
    std::uint64_t blocks_per_processor;  // of a walking grid
};

// The best one differs between GPUs; on an H200 they are within 2 % of each other.
constexpr ReadLoop loops[] = {
    {"coalprof_read_2", 256, 2, 0},    {"coalprof_read_2", 512, 2, 0},
    {"coalprof_read_4", 256, 4, 0},    {"coalprof_read_4", 512, 4, 0},
    {"coalprof_read_grid", 256, 0, 8}, {"coalprof_read_grid", 512, 0, 4},
};

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

double Ceilings::read_rate(const Buffer& buffer) {
    const std::uint64_t cells = buffer.bytes() / cell_bytes;
    KernelParameters parameters;
    parameters.add(buffer.address());
    parameters.add(std::uint64_t{cells});
    parameters.add(Word{0});
    parameters.add(buffer.address());
    double best = 0;
    for (const ReadLoop& loop : loops) {
        const Kernel& kernel = bench_.shop.kernel(request(), loop.kernel);
        const LaunchSize size{
            .grid = loop.cells_per_thread != 0
                        ? cells / (loop.block * loop.cells_per_thread)
                        : bench_.facts.multiprocessors * loop.blocks_per_processor,
            .block = loop.block};
        const auto launch = [&] { kernel.launch(size, parameters.pointers()); };
        best = std::max(best, rate_of(buffer.bytes(), launch));
    }
    return best;
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
    const double read = read_rate(buffer);
    return rates_.emplace(Rates{read, copy_rate(buffer)});
}

}  // namespace coalprof
