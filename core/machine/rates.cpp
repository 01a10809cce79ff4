#include "core/machine/rates.h"

namespace coalprof {
namespace {

constexpr Rates h200{
    .start_seconds = 3.65e-6,
    .blocks_per_second = 1.79e9,
    .warps_per_second = 3.7e11,
    .instructions_per_second = 3.7e11,
    .latency_seconds = 0.319e-6,
    .dram_latency_seconds = 0.441e-6,
    .dependent_latency_seconds = 0.7e-6,
    .exposed_latency = 1.24,
    .l1_lines_per_second = 2.85e11,
    .l2_read_requests_per_second = 2.24e11,
    .l2_write_requests_per_second = 6.45e10,
    .l2_sectors_per_second = 5.51e11,
    .dram_read_bursts_per_second = 7.34e10,
    .dram_write_bursts_per_second = 5.72e10,
    .read_sparseness = 0.27,
    .write_sparseness = 0.356,
    .scattered = 0.549,
    .line_stores_per_second = 7.1e7,
    .line_updates_per_second = 2.2e7,
    .reductions_per_second = 1.14e11,
    .slice_imbalance = 2.1,
    .overlap = 3.0,
    .l2 = {},
    .doubt = 1,
    .source = "fitted to 308 launches of an H200 (tests/data/h200, 2026-11-22)",
};
constexpr Rates h100{
    .start_seconds = 5.19e-6,
    .blocks_per_second = 1.75e9,
    .warps_per_second = 1.84e11,
    .instructions_per_second = 3.67e11,
    .latency_seconds = 0.464e-6,
    .dram_latency_seconds = 0.185e-6,
    .dependent_latency_seconds = 0.7e-6,
    .exposed_latency = 0.7,
    .l1_lines_per_second = 2.91e11,
    .l2_read_requests_per_second = 2.53e11,
    .l2_write_requests_per_second = 6.31e10,
    .l2_sectors_per_second = 2.87e11,
    .dram_read_bursts_per_second = 5.11e10,
    .dram_write_bursts_per_second = 4.43e10,
    .read_sparseness = 0.238,
    .write_sparseness = 0.278,
    .scattered = 0.502,
    .line_stores_per_second = 7.5e7,
    .line_updates_per_second = 2.55e7,
    .reductions_per_second = 9.29e10,
    .slice_imbalance = 1.37,
    .overlap = 3.49,
    .l2 = {},
    .doubt = 1,
    .source = "fitted to 204 launches of an H100 SXM (tests/data/h100, 2026-11-22)",
};

// A board that nobody measured: the H200's rates for each multiprocessor, and for each byte a
// second of peak bandwidth. How far that is off is not known; intervals are widened threefold (in
// powers).
Rates scaled(const Board& board) {
    constexpr double h200_multiprocessors = 132;
    constexpr double h200_peak_bytes_per_second = 4.8e12;
    const double processors = board.multiprocessors / h200_multiprocessors;
    const double memory = board.peak_bytes_per_second / h200_peak_bytes_per_second;
    Rates rates = h200;
    for (double* rate : {&rates.blocks_per_second, &rates.warps_per_second,
                         &rates.instructions_per_second, &rates.l1_lines_per_second,
                         &rates.l2_read_requests_per_second, &rates.l2_write_requests_per_second,
                         &rates.l2_sectors_per_second, &rates.reductions_per_second})
        *rate *= processors;
    rates.dram_read_bursts_per_second *= memory;
    rates.dram_write_bursts_per_second *= memory;
    rates.doubt = 3;
    rates.source = "rates of an H200, by multiprocessors and peak bandwidth";
    return rates;
}

}  // namespace

std::optional<Rates> rates_of(const Machine& machine) {
    if (!machine.board) return std::nullopt;
    const Board& board = *machine.board;
    if (board.key == "h200") return h200;
    if (board.key == "h100" || board.key == "h100-sxm") return h100;
    if (!board.l2_bytes || *board.l2_bytes == 0) return std::nullopt;
    return scaled(board);
}

}  // namespace coalprof
