#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "core/program/code.h"
#include "core/program/statement.h"

namespace coalprof {
namespace {

// The bases of which a register's value may be an address: a bit for each parameter, the next to
// last for variables of the module, the last for parameters beyond and for addresses that were
// loaded.
using Origins = std::uint64_t;
constexpr std::size_t most_origins = 62;
constexpr Origins of_variables = Origins{1} << most_origins;
constexpr Origins loaded = Origins{1} << 63;

// The instructions that use each slot.
class SlotUses {
 public:
    void add(Slot slot, std::uint32_t instruction) { uses_.emplace_back(slot, instruction); }
    void finish() { std::ranges::sort(uses_); }
    std::vector<std::uint32_t> of(Slot slot) const {
        std::vector<std::uint32_t> all;
        for (auto use = std::ranges::lower_bound(uses_, std::pair{slot, 0u});
             use != uses_.end() && use->first == slot; ++use)
            all.push_back(use->second);
        return all;
    }

 private:
    std::vector<std::pair<Slot, std::uint32_t>> uses_;
};

class Needs {
 public:
    explicit Needs(Code& code)
        : code_(code), origins_(code.slots.size(), 0), is_needed_(code.slots.size(), false) {}

    void mark() {
        for (PtxInstruction& one : code_.instructions) one.is_needed = false;
        for (std::uint32_t i = 0; i < code_.instructions.size(); ++i) {
            for (const Slot slot : code_.instructions[i].results)
                if (slot != no_slot) writers_.add(slot, i);
            for (const Slot slot : code_.instructions[i].inputs)
                if (slot != no_slot) readers_.add(slot, i);
        }
        writers_.finish();
        readers_.finish();
        find_origins();
        for (const PtxInstruction& one : code_.instructions) find_reduction(one);
        for (const PtxInstruction& one : code_.instructions) start_from(one);
        do take_needed();
        while (take_stores());
        code_.needs_shared_values = needs_shared_;
        set_parameters();
    }

 private:
    static bool passes_addresses_on(Opcode opcode) {
        switch (opcode) {
            case Opcode::move:
            case Opcode::add:
            case Opcode::sub:
            case Opcode::mad:
            case Opcode::mad_wide:
            case Opcode::select:
            case Opcode::slct:
            case Opcode::convert:
            case Opcode::to_generic:
            case Opcode::from_generic:
            case Opcode::bit_and:
            case Opcode::bit_or:
            case Opcode::minimum:
            case Opcode::maximum:
            case Opcode::pack:
            case Opcode::unpack:
            case Opcode::shuffle: return true;
            default: return false;
        }
    }
    static bool reaches_global(const PtxInstruction& one) {
        return one.state == PtxState::global || one.state == PtxState::generic;
    }
    static bool is_access(const PtxInstruction& one) {
        return one.opcode == Opcode::load || one.opcode == Opcode::store ||
               one.opcode == Opcode::atomic;
    }

    void find_reduction(const PtxInstruction& one) {
        if (one.opcode != Opcode::atomic || one.site == ~0u) return;
        if (may_become_reduction(code_.sites[one.site].instruction) &&
            std::ranges::all_of(one.results, [&](Slot slot) {
                return slot == no_slot || readers_.of(slot).empty();
            }))
            code_.sites[one.site].kind = AccessKind::reduce;
    }

    // The origin of the nth result. Members of a structure follow it.
    Origins origin_of_parameter(const PtxInstruction& load, std::size_t number) const {
        const SlotInfo& base = code_.slots[load.inputs.front()];
        if (base.kind != SlotKind::constant) return loaded;
        const std::uint64_t at =
            base.value + static_cast<std::uint64_t>(load.offset) + number * load.type.bytes();
        for (std::size_t i = code_.parameters.size(); i-- > 0;)
            if (at >= code_.parameter_offsets[i] &&
                at < code_.parameter_offsets[i] + code_.parameters[i].size_bytes)
                return bit_of(i);
        return 0;
    }

    void find_origins() {
        std::vector<std::uint32_t> waiting(code_.instructions.size());
        for (std::uint32_t i = 0; i < waiting.size(); ++i)
            waiting[i] = static_cast<std::uint32_t>(waiting.size()) - 1 - i;
        while (!waiting.empty()) {
            const PtxInstruction& one = code_.instructions[waiting.back()];
            waiting.pop_back();
            Origins found = 0;
            if (passes_addresses_on(one.opcode))
                for (const Slot slot : one.inputs) found |= origins_of(slot);
            for (std::size_t i = 0; i < one.results.size(); ++i) {
                const Slot slot = one.results[i];
                if (one.opcode == Opcode::load)
                    found = one.state == PtxState::param ? origin_of_parameter(one, i) : loaded;
                if (slot == no_slot || (origins_[slot] | found) == origins_[slot]) continue;
                origins_[slot] |= found;
                for (const std::uint32_t reader : readers_.of(slot)) waiting.push_back(reader);
            }
        }
    }
    Origins bit_of(std::size_t parameter) const {
        if (!code_.shares_array.empty() && code_.shares_array[parameter] != 0)
            parameter = code_.shares_array[parameter] - 1;
        return parameter < most_origins ? Origins{1} << parameter : loaded;
    }
    Origins origins_of(Slot slot) const {
        if (slot == no_slot) return 0;
        const SlotInfo& info = code_.slots[slot];
        const bool is_variable = info.kind == SlotKind::constant && info.value >= variable_window &&
                                 info.value < 2 * variable_window;
        return is_variable ? of_variables : origins_[slot];
    }

    void need(Slot slot) {
        if (slot == no_slot || is_needed_[slot]) return;
        is_needed_[slot] = true;
        needed_.push_back(slot);
    }
    void take_needed() {
        while (!needed_.empty()) {
            const Slot slot = needed_.back();
            needed_.pop_back();
            for (const std::uint32_t writer : writers_.of(slot)) take(code_.instructions[writer]);
        }
    }

    void start_from(const PtxInstruction& one) {
        switch (one.opcode) {
            case Opcode::branch:
            case Opcode::exit:
            case Opcode::barrier:
            case Opcode::warp_barrier:
            case Opcode::trap: need(one.guard); break;
            case Opcode::branch_table:
                need(one.guard);
                need(one.inputs.front());
                break;
            default:
                if (is_access(one) && one.site != ~0u) {
                    need(one.guard);
                    need(one.inputs.front());
                    if (one.is_copy && one.inputs.size() > 2) need(one.inputs[2]);
                }
        }
    }

    void take(PtxInstruction& one) {
        if (one.is_needed) return;
        one.is_needed = true;
        need(one.guard);
        if (one.opcode == Opcode::unknown || one.is_opaque) return;
        for (const Slot slot : one.inputs) need(slot);
        if (one.opcode == Opcode::atomic) {
            code_.needs_stored_values = needs_global_ = true;
            wanted_ |= origins_of(one.inputs.front());
        }
        if (one.opcode != Opcode::load) return;
        if (reaches_global(one)) {
            needs_global_ = true;
            wanted_ |= origins_of(one.inputs.front());
        }
        if (one.state == PtxState::shared || one.state == PtxState::generic) needs_shared_ = true;
        if (one.state == PtxState::local || one.state == PtxState::generic) needs_local_ = true;
    }

    // Stores to memory whose contents matter: their values matter.
    bool take_stores() {
        bool changed = false;
        for (PtxInstruction& one : code_.instructions) {
            if (one.is_copy && needs_shared_ && !one.is_needed) {
                take(one);
                changed = true;
            }
            if (one.is_needed || one.is_opaque ||
                (one.opcode != Opcode::store && one.opcode != Opcode::atomic))
                continue;
            const bool may_be_generic = one.state == PtxState::generic;
            const bool is_shared =
                needs_shared_ && (one.state == PtxState::shared || may_be_generic);
            const bool is_local = needs_local_ && (one.state == PtxState::local || may_be_generic);
            const bool is_global = needs_global_ && reaches_global(one) &&
                                   (origins_of(one.inputs.front()) & wanted_) != 0;
            if (!is_shared && !is_local && !is_global) continue;
            if (is_global) code_.needs_stored_values = true;
            one.is_needed = true;
            need(one.guard);
            for (const Slot slot : one.inputs) need(slot);
            changed = true;
        }
        return changed;
    }

    void set_parameters() {
        Origins reached = 0;
        code_.widest_bytes.assign(code_.parameters.size(), 0);
        for (const PtxInstruction& one : code_.instructions) {
            if (!is_access(one) || !reaches_global(one)) continue;
            const Origins from = pointers_in(origins_of(one.inputs.front()));
            reached |= from;
            const auto bytes = one.is_copy ? one.width_bytes : one.type.bytes();
            if (std::has_single_bit(from) && from < of_variables)
                widen(code_.widest_bytes[static_cast<std::size_t>(std::countr_zero(from))], bytes);
        }
        code_.is_address.resize(code_.parameters.size());
        code_.is_needed.resize(code_.parameters.size());
        for (std::size_t i = 0; i < code_.parameters.size(); ++i) {
            const bool is_wide = code_.parameters[i].size_bytes == 8;
            code_.is_address[i] = is_wide && (code_.parameters[i].is_pointer ||
                                              (i < most_origins && (reached & bit_of(i)) != 0));
        }
        for (const PtxInstruction& one : code_.instructions) {
            if (one.opcode != Opcode::load || one.state != PtxState::param || !one.is_needed)
                continue;
            Origins of = 0;
            for (std::size_t i = 0; i < one.results.size(); ++i)
                if (one.results[i] != no_slot && is_needed_[one.results[i]])
                    of |= origin_of_parameter(one, i);
            for (std::size_t i = 0; i < code_.parameters.size(); ++i)
                if ((of & bit_of(i)) != 0) code_.is_needed[i] = true;
        }
    }

    // Where the source has a pointer among them, numbers are offsets: a[y * pitch].
    Origins pointers_in(Origins from) const {
        Origins pointers = 0, numbers = 0;
        for (std::size_t i = 0; i < std::min(code_.parameters.size(), most_origins); ++i) {
            const std::string& type = code_.parameters[i].source.type;
            if (type.find_first_of("*&") != type.npos)
                pointers |= bit_of(i);
            else if (!type.empty())
                numbers |= bit_of(i);
        }
        return (from & pointers) != 0 ? from & ~(numbers & ~pointers) : from;
    }

    static void widen(std::uint32_t& widest, std::uint32_t bytes) {
        widest = std::max(widest, bytes);
    }

    Code& code_;
    std::vector<Origins> origins_;
    std::vector<bool> is_needed_;
    Origins wanted_ = 0;        // loads that matter
    std::vector<Slot> needed_;  // whose writers are not yet examined
    SlotUses writers_;
    SlotUses readers_;
    bool needs_global_ = false;
    bool needs_shared_ = false;
    bool needs_local_ = false;
};

}  // namespace

void mark_needs(Code& code) { Needs(code).mark(); }

}  // namespace coalprof
