// Read from ptxas 13.0's code for sm_90, and from what an H100 counts of tests/natural: within a
// basic block it merges accesses to constant distances from one register where it can prove that
// the register is a multiple of the width of all. Arrays begin at multiples of 16 bytes. Global
// memory has no such pairs: what a parameter points to may begin anywhere.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "core/program/code.h"
#include "core/program/step_code.h"

namespace coalprof {
namespace {

// For each slot a power of two, as its exponent, that divides its value wherever it is read.
class Divisors {
 public:
    explicit Divisors(const Code& code) : code_(code), shifts_(code.slots.size(), most_shift) {
        for (std::size_t i = 0; i < shifts_.size(); ++i) {
            const SlotInfo& slot = code.slots[i];
            if (slot.kind == SlotKind::constant)
                shifts_[i] = shift_of_number(slot.value);
            else if (slot.kind != SlotKind::reg)
                shifts_[i] = 0;
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (const PtxInstruction& one : code.instructions)
                for (const Slot slot : one.results) {
                    if (slot == no_slot || shifts_[slot] <= shift_of_result(one)) continue;
                    shifts_[slot] = shift_of_result(one);
                    changed = true;
                }
        }
    }
    std::uint32_t of(Slot slot) const { return shifts_[slot]; }

 private:
    static constexpr std::uint32_t most_shift = 32;
    static std::uint32_t shift_of_number(std::uint64_t number) {
        return std::min(most_shift, static_cast<std::uint32_t>(std::countr_zero(number)));
    }
    std::uint32_t shift_of_result(const PtxInstruction& one) const {
        if (one.results.size() != 1 || one.inputs.empty()) return 0;
        const auto in = [&](std::size_t i) {
            return i < one.inputs.size() ? of(one.inputs[i]) : 0;
        };
        const auto product = [&] { return std::min(most_shift, in(0) + in(1)); };
        switch (one.opcode) {
            case Opcode::move:
            case Opcode::to_generic:
            case Opcode::from_generic: return in(0);
            case Opcode::convert: return one.type.is_real() || one.from.is_real() ? 0 : in(0);
            case Opcode::add:
            case Opcode::sub:
            case Opcode::bit_or:
            case Opcode::select: return one.type.is_real() ? 0 : std::min(in(0), in(1));
            case Opcode::bit_and: return std::max(in(0), in(1));
            case Opcode::multiply:
            case Opcode::multiply_wide: return one.type.is_real() ? 0 : product();
            case Opcode::mad:
            case Opcode::mad_wide: return one.type.is_real() ? 0 : std::min(product(), in(2));
            case Opcode::shift_left: {
                const SlotInfo& by = code_.slots[one.inputs.back()];
                const std::uint64_t more = by.kind == SlotKind::constant ? by.value : 0;
                return std::min<std::uint32_t>(
                    most_shift,
                    in(0) + static_cast<std::uint32_t>(std::min<std::uint64_t>(more, most_shift)));
            }
            default: return 0;
        }
    }

    const Code& code_;
    std::vector<std::uint32_t> shifts_;  // one shift for each slot
};

bool writes(const PtxInstruction& one, Slot slot) {
    return slot != no_slot && std::ranges::find(one.results, slot) != one.results.end();
}
bool reads(const PtxInstruction& one, Slot slot) {
    return slot == one.guard || std::ranges::find(one.inputs, slot) != one.inputs.end();
}

class Merger {
 public:
    explicit Merger(Code& code) : code_(code), divisors_(code) {}

    void merge() {
        std::vector<bool> is_entered(code_.instructions.size() + 1);
        for (const PtxInstruction& one : code_.instructions) {
            if (one.opcode == Opcode::branch) is_entered[one.target] = true;
            for (const std::uint32_t target : one.targets) is_entered[target] = true;
        }
        for (std::uint32_t i = 0; i < code_.instructions.size(); ++i) {
            if (is_entered[i]) close_all();
            take(i);
        }
        close_all();
    }

 private:
    struct Group {
        Slot base = no_slot, guard = no_slot;
        Opcode opcode = Opcode::load;
        bool is_negated = false;
        std::uint32_t width_bytes = 0;
        std::uint8_t element_bits = 0;
        std::map<std::int64_t, std::uint32_t> accesses = {};  // offset -> access
        bool takes(const PtxInstruction& one) const {
            return one.inputs.front() == base && one.guard == guard && one.opcode == opcode &&
                   one.is_negated == is_negated && one.width_bytes == width_bytes &&
                   one.type.bits == element_bits && !accesses.contains(one.offset);
        }
    };

    bool may_merge(const PtxInstruction& one) const {
        if ((one.opcode != Opcode::load && one.opcode != Opcode::store) || one.site == ~0u ||
            one.state != PtxState::shared || one.is_copy || one.is_opaque || one.variant != 0 ||
            (one.width_bytes != 4 && one.width_bytes != 8))
            return false;
        const std::string& text = code_.sites[one.site].instruction;
        return std::ranges::none_of(
            std::array{"volatile", "relaxed", "acquire", "release", "cluster"},
            [&](std::string_view word) { return text.find(word) != text.npos; });
    }
    void take(std::uint32_t at) {
        const PtxInstruction& one = code_.instructions[at];
        const bool is_merged = may_merge(one);
        const bool is_near = is_access(one.opcode) &&
                             (one.state == PtxState::shared || one.state == PtxState::generic);
        const bool is_order = is_control_flow(one.opcode) || one.opcode == Opcode::nothing ||
                              (one.opcode == Opcode::unknown && one.results.empty());
        if (is_order) return close_all();
        // A store comes between loads; between stores each access of another place.
        if (is_near)
            close_if([&](const Group& group) {
                return (group.opcode == Opcode::store && !(is_merged && group.takes(one))) ||
                       (group.opcode == Opcode::load && one.opcode != Opcode::load);
            });
        if (is_merged) join(at);
        close_if([&](const Group& group) {
            return writes(one, group.base) || writes(one, group.guard);
        });
    }
    void join(std::uint32_t at) {
        const PtxInstruction& one = code_.instructions[at];
        auto group =
            std::ranges::find_if(groups_, [&](const Group& known) { return known.takes(one); });
        if (group == groups_.end()) {
            groups_.push_back({.base = one.inputs.front(),
                               .guard = one.guard,
                               .opcode = one.opcode,
                               .is_negated = one.is_negated,
                               .width_bytes = one.width_bytes,
                               .element_bits = one.type.bits});
            group = std::prev(groups_.end());
        }
        group->accesses.emplace(one.offset, at);
    }
    template <typename Is>
    void close_if(Is is) {
        for (const Group& group : groups_)
            if (is(group)) widen(group);
        std::erase_if(groups_, is);
    }
    void close_all() {
        close_if([](const Group&) { return true; });
    }

    void widen(const Group& group) {
        for (auto at = group.accesses.begin(); at != group.accesses.end();) {
            std::vector<std::uint32_t> parts;
            for (const std::uint32_t bytes : {16u, 8u})
                if (parts.empty()) parts = parts_of(group, at->first, bytes);
            if (parts.empty()) {
                ++at;
                continue;
            }
            merge(group, at->first, parts);
            std::advance(at, parts.size());
        }
    }
    // The accesses, by offset, that one of so many bytes could take the place of; empty if there is
    // none.
    std::vector<std::uint32_t> parts_of(const Group& group, std::int64_t offset,
                                        std::uint32_t bytes) const {
        const SlotInfo& base = code_.slots[group.base];
        const bool is_even =
            base.kind == SlotKind::constant
                ? (base.value + static_cast<std::uint64_t>(offset)) % bytes == 0
                : offset % bytes == 0 && divisors_.of(group.base) >=
                                             static_cast<std::uint32_t>(std::countr_zero(bytes));
        std::vector<std::uint32_t> parts;
        for (std::uint32_t i = 0; is_even && i < bytes / group.width_bytes; ++i) {
            const auto part = group.accesses.find(offset + std::int64_t{i} * group.width_bytes);
            if (part == group.accesses.end()) return {};
            parts.push_back(part->second);
        }
        return parts.size() > 1 && may_move(group, parts) ? parts : std::vector<std::uint32_t>();
    }
    // Loads come where the first was, stores where the last was: nothing on the way uses what they
    // load or changes what they store.
    bool may_move(const Group& group, const std::vector<std::uint32_t>& parts) const {
        const std::uint32_t place = place_of(group, parts);
        return std::ranges::all_of(parts, [&](std::uint32_t at) {
            const PtxInstruction& one = code_.instructions[at];
            for (std::uint32_t i = std::min(at, place) + 1; i < std::max(at, place); ++i) {
                const PtxInstruction& between = code_.instructions[i];
                const auto is_free = [&](Slot slot) {
                    return !writes(between, slot) &&
                           (group.opcode == Opcode::store || !reads(between, slot));
                };
                if (!std::ranges::all_of(values_of(one), is_free)) return false;
            }
            return true;
        });
    }
    static std::uint32_t place_of(const Group& group, const std::vector<std::uint32_t>& parts) {
        return group.opcode == Opcode::load ? *std::ranges::min_element(parts)
                                            : *std::ranges::max_element(parts);
    }
    // What it loads or stores.
    static std::span<const Slot> values_of(const PtxInstruction& one) {
        return one.opcode == Opcode::load ? std::span(one.results)
                                          : std::span(one.inputs).subspan(1);
    }
    // "ld.shared.f32" becomes "ld.shared.v4.f32".
    void merge(const Group& group, std::int64_t offset, const std::vector<std::uint32_t>& parts) {
        std::vector<Slot> values;
        for (const std::uint32_t at : parts)
            std::ranges::copy(values_of(code_.instructions[at]), std::back_inserter(values));
        const std::uint32_t place = place_of(group, parts);
        for (const std::uint32_t at : parts)
            if (at != place)
                code_.instructions[at] = {.opcode = Opcode::nothing,
                                          .statement = code_.instructions[at].statement};
        PtxInstruction& one = code_.instructions[place];
        one.offset = offset;
        one.width_bytes *= static_cast<std::uint32_t>(parts.size());
        if (group.opcode == Opcode::store) values.insert(values.begin(), one.inputs.front());
        (group.opcode == Opcode::load ? one.results : one.inputs) = std::move(values);
        PtxSite& site = code_.sites[one.site];
        site.width_bytes = one.width_bytes;
        const std::size_t type = site.instruction.rfind('.');
        if (group.width_bytes == one.type.bytes() && type != std::string::npos)
            site.instruction.insert(type, fmt::format(".v{}", parts.size()));
    }

    Code& code_;
    Divisors divisors_;
    std::vector<Group> groups_;
};

}  // namespace

void merge_shared_accesses(Code& code) {
    Merger(code).merge();
    mark_needs(code);
}

}  // namespace coalprof
