#include "core/run/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/result/differ.h"

namespace coalprof {
namespace {

// Boards of one kind differ in their clocks by a per cent or so; smaller differences do not matter.
constexpr double least_ratio = 1.02;
// The quartiles must be separate, with the same order, at this share of the points.
constexpr double least_share = 0.75;

}  // namespace

FleetJudge::FleetJudge(const std::vector<MeasuredDevice>& devices) {
    for (const MeasuredDevice& device : devices) {
        auto kind = std::find_if(kinds_.begin(), kinds_.end(),
                                 [&](const Kind& known) { return known.name == device.name; });
        if (kind == kinds_.end()) kind = kinds_.insert(kind, {device.name});
        ++kind->members;
        members_.push_back({.index = device.index.value_or(0),
                            .kind = static_cast<std::size_t>(kind - kinds_.begin())});
    }
}

void FleetJudge::add(const PlannedPoint& planned, const Point& point) {
    if (members_.size() < 2) return;
    if (planned.number != number_) settle();
    number_ = planned.number;
    const Value* device = find_value(planned.scope, "device");
    if (!device || !point.timing || !point.failure.empty()) return;
    for (std::size_t k = 0; k < members_.size(); ++k)
        if (*device == Value(members_[k].index)) row_.push_back({k, *point.timing});
}

// Compares every GPU of a kind with the middle one; two are compared with each other.
void FleetJudge::settle() {
    std::sort(row_.begin(), row_.end(), [](const Sample& a, const Sample& b) {
        return a.timing.median_seconds < b.timing.median_seconds;
    });
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
        std::vector<const Sample*> alike;
        for (const Sample& sample : row_)
            if (members_[sample.member].kind == kind) alike.push_back(&sample);
        if (alike.size() < 2) continue;
        const Sample* const middle = alike[(alike.size() - 1) / 2];
        for (const Sample* sample : alike)
            compare(members_[sample->member], sample->timing,
                    alike.size() > 2   ? middle->timing
                    : sample == middle ? alike.back()->timing
                                       : middle->timing);
    }
    row_.clear();
}

void FleetJudge::compare(Member& member, const Timing& timing, const Timing& with) {
    if (timing.median_seconds <= 0 || with.median_seconds <= 0) return;
    ++member.compared;
    member.log_ratio += std::log(timing.median_seconds / with.median_seconds);
    if (differ(amount_of(timing), amount_of(with), 0) != Differ::surely) return;
    ++(timing.median_seconds > with.median_seconds ? member.slower : member.faster);
}

std::vector<Warning> FleetJudge::warnings() {
    settle();
    std::vector<Warning> found;
    for (const Member& member : members_) {
        if (member.compared == 0) continue;
        const Kind& kind = kinds_[member.kind];
        const auto points = static_cast<double>(member.compared);
        const double ratio = std::exp(member.log_ratio / points);
        const bool is_slower = ratio >= least_ratio;
        // When there are two GPUs, only the slower one is a finding.
        if (!is_slower && (kind.members == 2 || ratio > 1 / least_ratio)) continue;
        const std::uint64_t apart = is_slower ? member.slower : member.faster;
        if (static_cast<double>(apart) < least_share * points) continue;
        found.push_back(
            {"W-FLEET",
             {},
             fmt::format("device {} takes {:.2f} times as long as {} {} {}: at {} of {} points by "
                         "more than the times spread",
                         member.index, ratio,
                         kind.members == 2 ? "the other of the" : "the middle one of the",
                         kind.members, kind.name, apart, member.compared)});
    }
    return found;
}

}  // namespace coalprof
