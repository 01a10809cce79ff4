
#include <algorithm>
#include <cmath>

#include "core/machine/rates.h"
#include "core/traffic/store_merge.h"

namespace coalprof {
namespace {

// Requests of one multiprocessor, and their shares, fitted to launches of an H100
// (tests/data/h100/gathered.jsonl.gz).
struct FewLines {
    double lines = 1;
    double stores = 0;         // of warps, to their elements
    double elements = 1;       // of a thread
    double first = 1;          // filling of the multiprocessor by warps that start with the launch
    double waves = 1;          // at least one
    double block = 1;          // of 256 threads
    bool is_of_parts = false;  // of words
    // All lines wait at all times, not only some.
    bool waits() const { return lines <= (is_of_parts ? leaving_parts : gathering_lines); }
};

// The slices that have the lines are busy all the time, and later requests merge: as many leave as
// the slices serve while the warps store. The first warps come before anything waits.
double stores_gathered(const FewLines& at) {
    return 0.102 * slices_of(at.lines) * std::pow(at.elements, -0.088) * at.stores +
           26.6 * std::pow(at.lines, 0.71) * std::pow(at.first, 1.2) *
               std::pow(at.elements, -0.93) * std::pow(at.waves, -0.2);
}

// Right within a factor of 1.4, for a tenth within 2.4: the order of waiting is chance.
double updates_gathered(const FewLines& at) {
    return 0.72 * std::pow(at.stores, 0.89) * std::pow(at.lines / 4, 1.32) *
           std::pow(at.elements, -0.35) * std::pow(at.first, 0.16);
}
double reads_gathered(const FewLines& at) {
    return 0.40 * std::pow(at.stores, 0.76) * std::pow(at.lines / 4, 1.76) *
           std::pow(at.elements, -0.30) * std::pow(at.first, 0.12);
}

// The same for more updated lines than can wait.
double updates_scattered(const FewLines& at) {
    return (at.is_of_parts ? 0.98 : 0.49) * std::pow(at.lines / 32, 0.55);
}
double reads_scattered(const FewLines& at) {
    return 0.30 * at.lines / 32 * std::pow(at.waves, -0.30) * std::pow(at.elements, -0.23) *
           std::pow(at.block, -0.27);
}

// The leaving share of stores whose loads bypass L1.
double updates_past_l1(const FewLines& at, double waves) {
    if (!at.waits()) return (at.is_of_parts ? 0.93 : 0.65) * std::pow(at.lines / 32, 0.35);
    return 0.39 * std::pow(at.lines / 4, 0.25) * std::pow(at.elements, -0.76) *
           std::pow(std::min(8.0, waves) / 8, -0.04);
}

}  // namespace

void set_gathered(const LaunchOrder& order, const Multiprocessor& one, Replayed& replayed) {
    const double warps = static_cast<double>(order.blocks) * order.block_warps() / one.count;
    const double waves = warps / (static_cast<double>(one.resident_blocks) * order.block_warps());
    const FewLines at{.lines = replayed.gathered_lines,
                      .stores = warps * order.per_thread,
                      .elements = static_cast<double>(order.per_thread),
                      .first = std::min(1.0, waves),
                      .waves = std::max(1.0, waves),
                      .block = order.block / 256.0,
                      .is_of_parts = replayed.element_bytes < 4};
    const double made = at.stores * replayed.lines_of_store;
    // A block's own lines leave at least once; no more do on a multiprocessor without another block
    // (one for each block of 256 threads and line).
    const double least = std::min(1.0, replayed.busy_share * at.lines / made);
    double stores = 0;
    if (replayed.loads.sectors == 0) {
        const bool is_alone = order.blocks <= one.count;
        stores = is_alone ? least * std::max(1.0, at.block) : stores_gathered(at) / made;
    } else if (!one.keeps_loads) {
        stores = updates_past_l1(at, waves);
    } else {
        stores = at.waits() ? updates_gathered(at) / made : updates_scattered(at);
        const double reads = at.waits() ? reads_gathered(at) / made : reads_scattered(at);
        replayed.gathered_reads = std::clamp(reads, least, 1.0);
    }
    const double requests = std::clamp(stores, least, 1.0);
    replayed.leaving = {requests, std::min(1.0, requests * replayed.stores.requests *
                                                    replayed.stores.sectors_of_request() /
                                                    replayed.stores.sectors)};
}

}  // namespace coalprof
