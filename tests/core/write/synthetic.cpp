#include "core/write/synthetic.h"

#include <sstream>

#include "stream_sink.h"

namespace coalprof::synthetic {
namespace {

// One warp of f32 at an offset that is no multiple of 8 elements takes 5 sectors in 2 lines, else
// 4; at a multiple of 32 they are one line.
void fill(Readings& readings, AccessKind kind, std::uint64_t offset) {
    constexpr std::uint64_t warps = 32;
    const auto set = [&](AccessField field, std::uint64_t value) {
        readings[access_counter(kind, field)] = warps * value;
    };
    set(AccessField::requests, 1);
    set(AccessField::sectors, offset % 8 == 0 ? 4 : 5);
    set(AccessField::lines, offset % 32 == 0 ? 1 : 2);
    set(AccessField::unique_bytes, 128);
    set(AccessField::ideal_sectors, 4);
}

}  // namespace

ResultHead head() {
    ResultHead head;
    head.coalprof_version = "1.2.3";
    head.argv = {"coalprof", "offset", "--range", "0..32"};
    head.time_utc = "2026-11-21T05:20:00Z";
    head.machine = {.name = "h200", .compute_capability = "9.0", .board = "NVIDIA H200"};
    head.device = {.name = "NVIDIA H200",
                   .compute_capability = "9.0",
                   .multiprocessors = 132,
                   .ecc = true,
                   .read_ceiling = 4.5e9,
                   .copy_ceiling = 4e9};
    head.backend = "device";
    head.passes = 1;
    head.sweep = {.pattern = "offset",
                  .parameter = "offset",
                  .op = "rmw",
                  .type = "f32",
                  .size_bytes = 4096,
                  .settings = {{"carveout", Value{}}}};
    return head;
}

Point point(std::int64_t offset) {
    Point point;
    point.name = "offset=" + std::to_string(offset);
    point.parameters = {{"offset", offset}, {"dlcm", std::string("ca")}};
    for (const AccessKind kind : {AccessKind::load, AccessKind::store})
        fill(point.predicted, kind, static_cast<std::uint64_t>(offset));
    point.predicted[Counter::useful_bytes] = std::uint64_t{8192};
    point.measured = point.predicted;
    point.predicted[Counter::l2_read_sectors] = Unavailable{"warps share lines"};
    point.predicted[Counter::dram_read_bytes] = Unavailable{"only a measurement can tell"};
    (*point.measured)[Counter::l2_read_sectors] = std::uint64_t{128};
    (*point.measured)[Counter::dram_read_bytes] = Unavailable{"this \"GPU\" has no such counter"};
    (*point.measured)[Counter::duration_seconds] = 4.096e-6;
    derive_ratios(point.predicted);
    derive_ratios(*point.measured);
    (*point.measured)[Counter::bandwidth_share] = 0.5;  // 2 of 4 GB/s
    point.timing = Timing{20, 4.096e-6, 4e-6, 4.5e-6, 3.9e-6, 9e-6};
    point.launch = LaunchSettings{.architecture = "sm_90",
                                  .grid_blocks = 4,
                                  .block_threads = 256,
                                  .registers = 32,
                                  .local_bytes = 0,
                                  .shared_bytes = 0,
                                  .blocks_per_multiprocessor = 8,
                                  .occupancy = 1,
                                  .carveout_percent = {},
                                  .l2_fetch_bytes = 64};
    return point;
}

Point failed_point(std::int64_t offset) {
    Point failed = point(offset);
    failed.measured.reset();
    failed.timing.reset();
    failed.launch.reset();
    failed.failure = "cannot allocate 4 KiB: none is free";
    return failed;
}

Point estimated_point(std::int64_t offset) {
    Point estimated = point(offset);
    estimated.measured.reset();
    estimated.timing.reset();
    estimated.launch.reset();
    Estimates& estimates = estimated.estimates.emplace();
    const auto set = [&](Counter counter, Reading value, double low, double high) {
        estimated.predicted[counter] = value;
        estimates.intervals.push_back({counter, low, high});
    };
    if (offset == 0)
        estimated.predicted[Counter::l2_read_sectors] = std::uint64_t{128};
    else
        set(Counter::l2_read_sectors, std::uint64_t{131}, 130, 133.5);
    set(Counter::dram_read_bytes, std::uint64_t{4 << 20}, 4'000'000, 5e6);
    set(Counter::duration_seconds, 4.0961e-6, 3.5e-6, 5e-6);
    set(Counter::bandwidth_bytes_per_second, 1.99995e9, 1.6384e9, 2.34e9);
    estimates.limits = {offset == 0 ? Limit::blocks : Limit::dram};
    return estimated;
}

std::string written(const Format& format, const ResultHead& head, const std::vector<Point>& points,
                    const TableStyle& style, ResultTail tail) {
    std::ostringstream stream;
    StreamSink sink(stream);
    const auto writer = format.make(sink, style);
    writer->begin(head);
    bool some_failed = false;
    for (const Point& point : points) {
        writer->point(point);
        some_failed |= !point.failure.empty();
    }
    tail.status = some_failed ? Status::partial : Status::complete;
    tail.warnings = {{"W-MISMATCH", "offset=1", "load_sectors: predicted 1, measured 2"}};
    writer->finish(tail);
    return stream.str();
}

}  // namespace coalprof::synthetic
