#include "kernels/ceilings.h"

#include <algorithm>

#include "kernels/source/arguments.h"

namespace coalprof {

namespace {

constexpr std::uint64_t largest_buffer_bytes = 4ull << 30;
constexpr std::uint64_t smallest_buffer_bytes = 64ull << 20;
constexpr std::uint64_t cell_bytes = 16;
constexpr std::uint64_t repeats = 5;

struct ReadLoop {
    const char* kernel;
    std::uint32_t block;
    std::uint64_t cells_per_thread;      // 0: the grid walks the buffer
    std::uint64_t blocks_per_processor;  // of a walking grid
};

// Which is best differs between GPUs; on an H200 they lie within 2 % of each other.
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
Buffer Ceilings::measured_buffer() {
    const Gpu& gpu = bench_.gpu;
    const std::uint64_t l2_bytes = bench_.facts.l2_bytes;
    std::uint64_t bytes = std::max({l2_bytes * 8, largest_buffer_bytes, smallest_buffer_bytes});
    const std::uint64_t free_bytes = gpu.memory().free_bytes;
    while (bytes > free_bytes / 2 && bytes > smallest_buffer_bytes) bytes /= 2;
    // Whole tiles for every loop: 4 cells for each of 512 threads.
    bytes = bytes / (1 << 20) * (1 << 20);
    Buffer buffer(gpu, bytes, "measuring this GPU's ceilings");
    gpu.check(gpu.api().fill_bytes(buffer.address(), 0, bytes, nullptr),
              "clear the buffer for this GPU's ceilings");
    return buffer;
}

double Ceilings::read() {
    if (read_) return *read_;
    const Buffer buffer = measured_buffer();
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
        bench_.stopwatch.measure(
            1, [] {}, launch);
        const double seconds = summarize(bench_.stopwatch.measure(
                                             repeats, [] {}, launch))
                                   .median_seconds;
        if (seconds > 0) best = std::max(best, static_cast<double>(buffer.bytes()) / seconds);
    }
    read_ = best;
    return best;
}

double Ceilings::copy() {
    if (copy_) return *copy_;
    const Buffer buffer = measured_buffer();
    const Gpu& gpu = bench_.gpu;
    const std::uint64_t half = buffer.bytes() / 2;
    const auto launch = [&] {
        gpu.check(
            gpu.api().copy_on_device(buffer.address() + half, buffer.address(), half, nullptr),
            "copy within device memory");
    };
    bench_.stopwatch.measure(
        1, [] {}, launch);
    const double seconds = summarize(bench_.stopwatch.measure(
                                         repeats, [] {}, launch))
                               .median_seconds;
    copy_ = seconds > 0 ? static_cast<double>(2 * half) / seconds : 0;
    return *copy_;
}

}  // namespace coalprof
