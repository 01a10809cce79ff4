#include "core/sweep/warp_totals.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/count/set_counts.h"

namespace coalprof {
namespace {

// What a line is counted by: its kind, and what one request of it takes.
struct BinKey {
    std::string_view op;
    std::string_view unit;
    Counter requests;
    Counter taken;
};
constexpr std::array<BinKey, 10> keys{{
    {"load", "sectors", Counter::load_requests, Counter::load_sectors},
    {"store", "sectors", Counter::store_requests, Counter::store_sectors},
    {"atomic", "sectors", Counter::atomic_requests, Counter::atomic_sectors},
    {"reduce", "sectors", Counter::reduce_requests, Counter::reduce_sectors},
    {"load", "transactions", Counter::load_requests, Counter::load_transactions},
    {"store", "transactions", Counter::store_requests, Counter::store_transactions},
    {"atomic", "transactions", Counter::atomic_requests, Counter::atomic_transactions},
    {"reduce", "transactions", Counter::reduce_requests, Counter::reduce_transactions},
    {"shared_load", "passes", Counter::shared_load_requests, Counter::shared_load_wavefronts},
    {"shared_store", "passes", Counter::shared_store_requests, Counter::shared_store_wavefronts},
}};

void add(Point& sum, const Point& line) {
    add_counts(sum.predicted, line.predicted);
    if (!line.measured) return;
    if (!sum.measured) sum.measured.emplace();
    add_counts(*sum.measured, *line.measured);
}

void complete(Point& sum) {
    derive_ratios(sum.predicted);
    if (sum.measured) derive_ratios(*sum.measured);
}

}  // namespace

void WarpTotals::point(const Point& line) {
    add(total_, line);
    for (const BinKey& key : keys) {
        if (!is_number(line.predicted[key.requests]) || !is_number(line.predicted[key.taken]))
            continue;
        const auto taken = static_cast<std::uint64_t>(number_in(line.predicted[key.taken]));
        Point& bin = bins_[{std::string(key.op), taken}];
        if (bin.name.empty()) {
            bin.name = fmt::format("{} {} {}", key.op, taken, key.unit);
            bin.parameters = {{"op", key.op}, {std::string(key.unit), taken}};
        }
        add(bin, line);
    }
}

void WarpTotals::finish(const ResultTail& tail) {
    total_.name = "total";
    total_.parameters = {{"op", "all"}};
    complete(total_);
    next_.point(total_);
    for (auto& [key, bin] : bins_) {
        complete(bin);
        next_.point(bin);
    }
    next_.finish(tail);
}

}  // namespace coalprof
