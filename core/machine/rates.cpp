#include "core/machine/rates.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

// Of GH100 at 1.98 GHz, from the sweeps of an H200 in tests/data/h200/near_memories.csv: random
// elements of shared memory take as long whatever their conflicts, and 32 constants of a warp 32
// turns of 2.25 clocks.
constexpr double clocks_per_second = 132 * 1.98e9;  // of all multiprocessors
// Four schedulers issue one a clock each. Boards with another clock or fewer schedulers get it by
// their multiprocessors, as all rates; device memory limits what they are asked for.
constexpr double issued_per_second = 4 * clocks_per_second;
// Lines looked up in L1: a fit. `lane*31 + i/32 --per-thread 4` takes 97 us with its start for
// 65 million (H100), where it is 2.7 a clock; even factors, whose lines meet in the tags, fewer.
constexpr double l1_lines_per_second = 2.6 * clocks_per_second;
constexpr double constant_requests_per_second = clocks_per_second / 2.25;

// How long a launch takes to start differs from host to host by more than from GPU to GPU. From
// fits of whole launches: 3.3 and 4.6 us on two with an H200, 3.5, 4.1 and 5.0 us on three with an
// H100; by `coalprof calibrate`, timed as sweeps are, 3.19 to 3.29 us on seven H200s and 3.25 to
// 3.39 on four H100s (2026-11-22 to 24).
constexpr StartRange starts_seen{.least_seconds = 3.21e-6, .most_seconds = 5.01e-6};

// Fitted to 308 launches of an H200 (tests/data/h200, 2026-11-22); most then moved half the way, as
// powers, to what `coalprof calibrate` found on another one
// (docs/measurements/calibrated_h200.json), as each alone predicts the other's launches worse. The
// latencies of loads were moved less and stores to L2 not at all, or launches in tests would be
// off.
constexpr Rates h200{
    .start_seconds = 3.28e-6,
    .flushed_start_seconds = 3.82e-6,
    .blocks_per_second = 1.69e9,
    .issued_per_second = issued_per_second,
    .hashes_per_second = 7.24e9,
    .latency_seconds = 0.261e-6,
    .dram_latency_seconds = 0.585e-6,
    .branch_latency_seconds = 0.191e-6,
    .store_latency_seconds = 0.202e-6,
    .dependent_latency_seconds = 0.625e-6,
    .serial_share = 0.45,
    .exposed_latency = 1.21,
    .l1_lines_per_second = l1_lines_per_second,
    .shared_wavefronts_per_second = clocks_per_second,
    .constant_requests_per_second = constant_requests_per_second,
    .l2_read_requests_per_second = 2.35e11,
    .l2_write_requests_per_second = 6.82e10,
    .l2_sectors_per_second = 4.11e11,
    .dram_read_bursts_per_second = 7.05e10,
    .dram_write_bursts_per_second = 5.61e10,
    .read_sparseness = 0.226,
    .write_sparseness = 0.434,
    .scattered = 0.519,
    .line_stores_per_second = 9.79e7,
    .line_updates_per_second = 2.95e7,
    .reductions_per_second = 1.11e11,
    .slice_imbalance = 2.04,
    .overlap = 6,
    .l2 = {},
    .doubt = 1,
    .starts = starts_seen,
};
// Fitted to 204 launches of an H100 SXM (tests/data/h100, 2026-11-22) and to the 125 of `coalprof
// calibrate` on another one (docs/measurements/calibrated_h100.json), which starts launches 0.95 us
// sooner.
constexpr Rates h100{
    .start_seconds = 5.01e-6,
    .flushed_start_seconds = 5.409e-6,
    .blocks_per_second = 1.70e9,
    .issued_per_second = issued_per_second,
    .hashes_per_second = 7.09e9,
    .latency_seconds = 0.268e-6,
    .dram_latency_seconds = 0.395e-6,
    .branch_latency_seconds = 0.239e-6,
    .store_latency_seconds = 0.258e-6,
    .dependent_latency_seconds = 0.515e-6,
    .serial_share = 0.618,
    .exposed_latency = 1.54,
    .l1_lines_per_second = l1_lines_per_second,
    .shared_wavefronts_per_second = 2.38e11,
    .constant_requests_per_second = 1.11e11,
    .l2_read_requests_per_second = 2.04e11,
    .l2_write_requests_per_second = 6.25e10,
    .l2_sectors_per_second = 3.55e11,
    .dram_read_bursts_per_second = 5.00e10,
    .dram_write_bursts_per_second = 4.33e10,
    .read_sparseness = 0.184,
    .write_sparseness = 0.363,
    .scattered = 0.476,
    .line_stores_per_second = 1.09e8,
    .line_updates_per_second = 2.83e7,
    .reductions_per_second = 9.22e10,
    .slice_imbalance = 1.68,
    .overlap = 6,
    .l2 = {},
    .doubt = 1,
    .starts = starts_seen,
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
    for (double* rate : {&rates.blocks_per_second, &rates.issued_per_second,
                         &rates.hashes_per_second, &rates.l1_lines_per_second,
                         &rates.shared_wavefronts_per_second, &rates.constant_requests_per_second,
                         &rates.l2_read_requests_per_second, &rates.l2_write_requests_per_second,
                         &rates.l2_sectors_per_second, &rates.reductions_per_second})
        *rate *= processors;
    rates.dram_read_bursts_per_second *= memory;
    rates.dram_write_bursts_per_second *= memory;
    rates.doubt = 3;
    return rates;
}

}  // namespace

StartRange starts_about(double seconds) {
    constexpr double doubt_seconds = 0.15e-6;
    return {.least_seconds = std::max(seconds - doubt_seconds, 0.0),
            .most_seconds = seconds + doubt_seconds};
}

void set_start(Rates& rates, double seconds) {
    rates.flushed_start_seconds += seconds - rates.start_seconds;
    rates.start_seconds = seconds;
}

std::span<const RateInfo> all_rates() {
    constexpr std::string_view per_second = "1/s";
    static constexpr std::array rates{
        RateInfo{"start_seconds", "s", &Rates::start_seconds},
        RateInfo{"flushed_start_seconds", "s", &Rates::flushed_start_seconds},
        RateInfo{"blocks_per_second", per_second, &Rates::blocks_per_second},
        RateInfo{"issued_per_second", per_second, &Rates::issued_per_second},
        RateInfo{"hashes_per_second", per_second, &Rates::hashes_per_second},
        RateInfo{"latency_seconds", "s", &Rates::latency_seconds},
        RateInfo{"dram_latency_seconds", "s", &Rates::dram_latency_seconds},
        RateInfo{"branch_latency_seconds", "s", &Rates::branch_latency_seconds},
        RateInfo{"store_latency_seconds", "s", &Rates::store_latency_seconds},
        RateInfo{"dependent_latency_seconds", "s", &Rates::dependent_latency_seconds},
        RateInfo{"serial_share", "1", &Rates::serial_share},
        RateInfo{"exposed_latency", "1", &Rates::exposed_latency},
        RateInfo{"l1_lines_per_second", per_second, &Rates::l1_lines_per_second},
        RateInfo{"shared_wavefronts_per_second", per_second, &Rates::shared_wavefronts_per_second},
        RateInfo{"constant_requests_per_second", per_second, &Rates::constant_requests_per_second},
        RateInfo{"l2_read_requests_per_second", per_second, &Rates::l2_read_requests_per_second},
        RateInfo{"l2_write_requests_per_second", per_second, &Rates::l2_write_requests_per_second},
        RateInfo{"l2_sectors_per_second", per_second, &Rates::l2_sectors_per_second},
        RateInfo{"dram_read_bursts_per_second", per_second, &Rates::dram_read_bursts_per_second},
        RateInfo{"dram_write_bursts_per_second", per_second, &Rates::dram_write_bursts_per_second},
        RateInfo{"read_sparseness", "1", &Rates::read_sparseness},
        RateInfo{"write_sparseness", "1", &Rates::write_sparseness},
        RateInfo{"scattered", "1", &Rates::scattered},
        RateInfo{"line_stores_per_second", per_second, &Rates::line_stores_per_second},
        RateInfo{"line_updates_per_second", per_second, &Rates::line_updates_per_second},
        RateInfo{"reductions_per_second", per_second, &Rates::reductions_per_second},
        RateInfo{"slice_imbalance", "1", &Rates::slice_imbalance},
        RateInfo{"overlap", "1", &Rates::overlap},
    };
    return rates;
}

namespace {

// A GPU that is present goes by the name that its driver gives it.
bool is_h200(const Machine& machine) {
    return machine.board->key == "h200" || machine.name == "NVIDIA H200";
}
bool is_h100(const Machine& machine) {
    return machine.board->key == "h100" || machine.name == "NVIDIA H100 80GB HBM3";
}

}  // namespace

std::optional<Rates> rates_of(const Machine& machine) {
    if (machine.measured) return machine.measured->rates;
    if (!machine.board) return std::nullopt;
    if (is_h200(machine)) return h200;
    if (is_h100(machine)) return h100;
    if (machine.board->multiprocessors == 0 || machine.board->l2_bytes.value_or(0) == 0)
        return std::nullopt;
    return scaled(*machine.board);
}

std::string_view source_of_rates(const Machine& machine) {
    if (is_h200(machine)) return "h200";
    if (is_h100(machine)) return "h100";
    return "h200, scaled";
}

}  // namespace coalprof
