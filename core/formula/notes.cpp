#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/formula/launch_check.h"
#include "core/formula/user_formula.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct Term {
    NodeId node = 0;
    bool subtracted = false;
};

// The terms that the index adds up, in their order in the text.
std::vector<Term> terms_of(const std::vector<Node>& nodes, NodeId index) {
    std::vector<Term> terms;
    std::vector<Term> open{{index, false}};
    while (!open.empty()) {
        const Term term = open.back();
        open.pop_back();
        const Node& node = nodes[term.node];
        const bool subtracts = node.kind == NodeKind::subtract;
        if (node.kind != NodeKind::add && !subtracts) {
            terms.push_back(term);
            continue;
        }
        open.push_back({node.children[1], term.subtracted != subtracts});
        open.push_back({node.children[0], term.subtracted});
    }
    return terms;
}

class NoteWriter {
 public:
    NoteWriter(const UserFormula& formula, std::uint32_t width_bytes, std::uint64_t first_thread,
               std::uint32_t lanes)
        : formula_(formula), width_bytes_(width_bytes), first_thread_(first_thread), lanes_(lanes) {
        std::array<std::uint64_t, warp_lanes> elements;
        formula.evaluate(first_thread, lanes, elements.data());
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
            if (elements[lane] == idle_lane) continue;
            active_.push_back(lane);
            index_.push_back(static_cast<std::int64_t>(elements[lane]));
        }
    }

    std::vector<std::string> write() {
        if (active_.size() < lanes_) note_condition();
        if (active_.empty()) return std::move(notes_);
        const auto& nodes = formula_.formula().nodes;
        const std::vector<Term> terms = terms_of(nodes, formula_.access().index);
        std::vector<Term> moving;  // the others decide where the warp starts
        for (const Term& term : terms)
            if (steps_of(values_of(term)).kind != LaneSteps::Kind::same) moving.push_back(term);
        if (terms.size() > 1)
            for (const Term& term : moving) note_term(term, moving.size() == 1);
        if (terms.size() == 1 || moving.size() != 1) note_whole();
        note_start(terms);
        return std::move(notes_);
    }

 private:
    std::string distance(std::int64_t elements) const {
        const std::int64_t count = elements < 0 ? -elements : elements;
        return fmt::format("{} element{} ({} bytes){}", count, count == 1 ? "" : "s",
                           static_cast<std::uint64_t>(count) * width_bytes_,
                           elements < 0 ? " down" : "");
    }

    std::string movement(const LaneSteps& steps) const {
        switch (steps.kind) {
            case LaneSteps::Kind::same: return "is the same in every lane";
            case LaneSteps::Kind::even:
                return fmt::format("moves {} from lane to lane", distance(steps.step));
            case LaneSteps::Kind::groups:
                return fmt::format("is the same for {} lanes, then moves {}", steps.group,
                                   distance(steps.jump));
            case LaneSteps::Kind::restarting:
                return fmt::format("moves {} from lane to lane and starts again every {} lanes",
                                   distance(steps.step), steps.group);
            case LaneSteps::Kind::two_steps:
                return fmt::format("moves {} from lane to lane, but {} every {} lanes",
                                   distance(steps.step), distance(steps.jump), steps.group);
            case LaneSteps::Kind::one_jump:
                return fmt::format("moves {} from lane to lane, but {} between lanes {} and {}",
                                   distance(steps.step), distance(steps.jump), active_[steps.at],
                                   active_[steps.at + 1]);
            case LaneSteps::Kind::irregular: break;
        }
        return "moves by no fixed step";
    }

    std::string text_of(const Term& term) const {
        const ParsedFormula& parsed = formula_.formula();
        return fmt::format("{}{}", term.subtracted ? "- " : "",
                           shown(parsed.text_of(parsed.nodes[term.node])));
    }

    std::vector<std::int64_t> values_of(const Term& term) const {
        std::vector<std::int64_t> values;
        for (const std::uint32_t lane : active_) {
            const std::int64_t value = evaluate_thread(formula_.formula().nodes, term.node,
                                                       formula_.scope(), first_thread_ + lane)
                                           .value;
            values.push_back(term.subtracted ? -value : value);
        }
        return values;
    }

    void note_condition() {
        const auto off = static_cast<std::uint32_t>(lanes_ - active_.size());
        notes_.push_back(
            active_.empty()
                ? fmt::format("The condition switches all {} lanes off.", lanes_)
                : fmt::format("The condition switches {} of {} lanes off.", off, lanes_));
    }

    void note_term(const Term& term, bool is_alone) {
        notes_.push_back(fmt::format("'{}' {}{}.", text_of(term),
                                     movement(steps_of(values_of(term))),
                                     is_alone ? "; the rest is the same in every lane" : ""));
    }

    void note_whole() {
        const LaneSteps steps = steps_of(index_);
        const std::string whole =
            active_.size() == lanes_ ? "The index" : "Over the active lanes, the index";
        notes_.push_back(fmt::format("{} {}.", whole, movement(steps)));
    }

    // A warp that is otherwise contiguous pays for a start inside a sector, which usually comes
    // from the constant part of the index.
    void note_start(const std::vector<Term>& terms) {
        const std::uint64_t start_bytes =
            static_cast<std::uint64_t>(index_.front()) * width_bytes_ % sector_bytes;
        const LaneSteps steps = steps_of(index_);
        if (start_bytes == 0 || steps.kind != LaneSteps::Kind::even || steps.step != 1) return;
        std::string note = fmt::format("The warp starts {} bytes into a sector", start_bytes);
        for (const Term& term : terms) {
            const std::vector<std::int64_t> values = values_of(term);
            const bool moves = steps_of(values).kind != LaneSteps::Kind::same;
            const auto shift_bytes = values.front() * static_cast<std::int64_t>(width_bytes_) %
                                     static_cast<std::int64_t>(sector_bytes);
            if (moves || shift_bytes == 0) continue;
            const bool is_number = formula_.formula().nodes[term.node].kind == NodeKind::literal;
            note += fmt::format(": {}{}, no multiple of a sector's {} elements",
                                is_number ? "" : fmt::format("'{}' is ", text_of(term)),
                                values.front(), sector_bytes / width_bytes_);
            break;
        }
        notes_.push_back(note + ".");
    }

    const UserFormula& formula_;
    std::uint32_t width_bytes_;
    std::uint64_t first_thread_;
    std::uint32_t lanes_;
    std::vector<std::uint32_t> active_;
    std::vector<std::int64_t> index_;  // indices of the active lanes
    std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> formula_notes(const UserFormula& formula, std::uint32_t width_bytes,
                                       std::uint64_t first_thread, std::uint32_t lanes) {
    return NoteWriter(formula, width_bytes, first_thread, lanes).write();
}

namespace {

std::vector<std::int64_t> differences_of(std::span<const std::int64_t> values) {
    std::vector<std::int64_t> differences;
    for (std::size_t k = 1; k < values.size(); ++k)
        differences.push_back(values[k] - values[k - 1]);
    return differences;
}

}  // namespace

LaneSteps steps_of(std::span<const std::int64_t> values) {
    const std::vector<std::int64_t> differences = differences_of(values);
    if (differences.empty()) return {};
    // The usual step is the most frequent one; all others must be equal.
    std::vector<std::int64_t> sorted = differences;
    std::sort(sorted.begin(), sorted.end());
    LaneSteps steps;
    std::size_t most = 0;
    for (std::size_t k = 0; k < sorted.size();) {
        const auto end = std::upper_bound(sorted.begin(), sorted.end(), sorted[k]);
        const auto count = static_cast<std::size_t>(end - sorted.begin()) - k;
        if (count > most) {
            most = count;
            steps.step = sorted[k];
        }
        k += count;
    }
    std::vector<std::uint32_t> jumps;  // the lanes before them
    for (std::uint32_t k = 0; k < differences.size(); ++k) {
        if (differences[k] == steps.step) continue;
        if (!jumps.empty() && differences[k] != steps.jump) return {LaneSteps::Kind::irregular};
        steps.jump = differences[k];
        jumps.push_back(k);
    }
    if (jumps.empty()) {
        steps.kind = steps.step == 0 ? LaneSteps::Kind::same : LaneSteps::Kind::even;
        return steps;
    }
    steps.at = jumps.front();
    if (jumps.size() == 1) {
        // In the middle of the warp one jump looks like a group of 16, which is the same.
        steps.group = steps.at + 1;
        const bool is_half = values.size() == 2 * std::size_t{steps.group};
        steps.kind = LaneSteps::Kind::one_jump;
        if (is_half && steps.step == 0) steps.kind = LaneSteps::Kind::groups;
        if (is_half && steps.step != 0 && values[steps.at + 1] == values[0])
            steps.kind = LaneSteps::Kind::restarting;
        return steps;
    }
    steps.group = jumps[1] - jumps[0];
    for (std::size_t k = 1; k < jumps.size(); ++k)
        if (jumps[k] - jumps[k - 1] != steps.group) return {LaneSteps::Kind::irregular};
    // Before the first and after the last jump there is no more than a group.
    if (steps.at >= steps.group || values.size() - 1 - jumps.back() > steps.group)
        return {LaneSteps::Kind::irregular};
    if (steps.step == 0) {
        steps.kind = LaneSteps::Kind::groups;
    } else if (steps.step * (std::int64_t{steps.group} - 1) + steps.jump == 0) {
        steps.kind = LaneSteps::Kind::restarting;
    } else {
        steps.kind = LaneSteps::Kind::two_steps;
    }
    return steps;
}

}  // namespace coalprof
