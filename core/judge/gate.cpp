#include "core/judge/gate.h"

#include <algorithm>

namespace coalprof {

std::string_view name_of(GateFinding::Kind kind) {
    switch (kind) {
        case GateFinding::Kind::broken:
            return "worse";
        case GateFinding::Kind::missing:
            return "missing";
        case GateFinding::Kind::changed:
            return "changed";
        case GateFinding::Kind::better:
            return "better";
    }
    return "";
}

bool GateCase::is_before(const Kept& a, const Kept& b) {
    if (a.finding.kind != b.finding.kind) return a.finding.kind < b.finding.kind;
    if (a.finding.weight != b.finding.weight) return a.finding.weight > b.finding.weight;
    return a.order < b.order;
}

bool GateCase::keeps(GateFinding::Kind kind, double weight) const {
    if (kept_.size() < most_kept_) return true;
    const GateFinding& least = kept_.front().finding;
    return kind != least.kind ? kind < least.kind : weight > least.weight;
}

void GateCase::add(GateFinding finding) {
    ++counts_[static_cast<std::size_t>(finding.kind)];
    Kept kept{std::move(finding), order_++};
    if (kept_.size() == most_kept_) {
        if (!is_before(kept, kept_.front())) return;
        std::pop_heap(kept_.begin(), kept_.end(), is_before);
        kept_.pop_back();
    }
    kept_.push_back(std::move(kept));
    std::push_heap(kept_.begin(), kept_.end(), is_before);
}

std::vector<GateFinding> GateCase::findings() const {
    std::vector<Kept> sorted = kept_;
    std::sort(sorted.begin(), sorted.end(), is_before);
    std::vector<GateFinding> findings;
    for (Kept& kept : sorted) findings.push_back(std::move(kept.finding));
    return findings;
}

std::uint64_t GateReport::count(GateFinding::Kind kind) const {
    std::uint64_t sum = 0;
    for (const GateCase& one : cases) sum += one.count(kind);
    return sum;
}

ExitCode GateReport::code() const {
    if (count(GateFinding::Kind::broken) > 0) return ExitCode::finding;
    if (count(GateFinding::Kind::missing) > 0 || !losses.empty()) return ExitCode::partial;
    return ExitCode::done;
}

}  // namespace coalprof
