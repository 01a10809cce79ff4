#include "core/program/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/access/lane_set.h"
#include "core/program/arithmetic.h"
#include "core/text/error.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

constexpr std::uint32_t no_target = ~0u;

bool is_access(Opcode opcode) {
    return opcode == Opcode::load || opcode == Opcode::store || opcode == Opcode::atomic;
}
bool is_control(Opcode opcode) {
    return opcode == Opcode::branch || opcode == Opcode::branch_table || opcode == Opcode::exit ||
           opcode == Opcode::barrier || opcode == Opcode::trap;
}

// Lanes at one instruction that wait for others.
struct Group {
    std::uint32_t at = 0;
    std::uint32_t lanes = 0;
};

struct Warp {
    std::vector<LaneValue> registers;
    std::uint32_t first_thread = 0;
    std::uint32_t lanes = 0;  // that are threads of the block
    std::uint32_t at = 0;
    std::uint32_t active = 0;
    std::uint32_t next_waiting = no_target;  // the lowest of `waiting`
    std::vector<Group> waiting;
    std::vector<Group> parked;  // at a barrier
    std::uint64_t steps = 0;
    std::vector<std::uint8_t> local;  // lane by lane
    bool is_done() const { return active == 0 && waiting.empty() && parked.empty(); }
};

}  // namespace

void ExecutionNotes::add(const ExecutionNotes& other) {
    for (const KernelFault& fault : other.faults)
        if (std::ranges::none_of(faults, [&](const KernelFault& one) {
                return one.instruction == fault.instruction && one.kind == fault.kind;
            }))
            faults.push_back(fault);
    for (const std::string& name : other.contents_missing)
        if (std::ranges::find(contents_missing, name) == contents_missing.end())
            contents_missing.push_back(name);
    steps += other.steps;
    warps += other.warps;
}

class Executor::Body {
 public:
    Body(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
         const ExecutionLimits& limits)
        : code_(code), launch_(launch), memory_(memory), limits_(limits) {
        translate();
        make_warps();
        shared_.resize(code.shared_bytes + launch.dynamic_shared_bytes);
    }

    void run(const BlockBox& box, AccessSink& sink, ExecutionNotes& notes) {
        box_ = &box;
        sink_ = &sink;
        attempt_ = {};
        reset();
        for (bool is_running = true; is_running;) {
            is_running = false;
            for (Warp& warp : warps_) {
                if (warp.is_done()) continue;
                run_to_barrier(warp);
                is_running = true;
            }
            for (Warp& warp : warps_) release(warp);
        }
        attempt_.warps = warps_.size() * box.blocks();
        notes.add(attempt_);
    }

 private:
    // ---- Before anything runs

    Slot place_of(Slot slot) {
        if (slot == no_slot) return no_slot;
        if (places_[slot] == no_slot) {
            places_[slot] = static_cast<Slot>(used_slots_.size());
            used_slots_.push_back(slot);
        }
        return places_[slot];
    }

    static bool is_kept(const PtxInstruction& one) {
        return is_control(one.opcode) || one.is_needed ||
               (is_access(one.opcode) && one.site != ~0u);
    }
    void translate() {
        places_.assign(code_.slots.size(), no_slot);
        std::vector<std::uint32_t> new_at(code_.instructions.size() + 1);
        for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
            new_at[i] = static_cast<std::uint32_t>(steps_.size());
            if (is_kept(code_.instructions[i])) add_step(code_.instructions[i], i);
        }
        new_at.back() = static_cast<std::uint32_t>(steps_.size());
        for (PtxStep& step : steps_) {
            const PtxInstruction& one = code_.instructions[step.instruction];
            if (step.opcode == Opcode::branch) step.target = new_at[one.target];
            if (step.opcode != Opcode::branch_table) continue;
            step.target = static_cast<std::uint32_t>(tables_.size());
            tables_.emplace_back();
            for (const std::uint32_t target : one.targets) tables_.back().push_back(new_at[target]);
        }
    }
    void add_step(const PtxInstruction& one, std::size_t at) {
        PtxStep step{.opcode = one.opcode,
                     .type = one.type,
                     .from = one.from,
                     .relation = one.relation,
                     .variant = one.variant,
                     .is_negated = one.is_negated,
                     .is_ordered = one.is_ordered,
                     .is_needed = one.is_needed,
                     .state = one.state,
                     .guard = place_of(one.guard),
                     .offset = one.offset,
                     .width_bytes = one.width_bytes,
                     .site = one.site,
                     .instruction = static_cast<std::uint32_t>(at)};
        const bool takes_all = one.is_needed || one.opcode == Opcode::branch_table;
        const std::size_t inputs = takes_all ? std::min(one.inputs.size(), most_inputs)
                                   : is_access(one.opcode) ? 1
                                                           : 0;
        for (std::size_t i = 0; i < inputs; ++i)
            step.input[step.inputs++] = place_of(one.inputs[i]);
        if (one.is_needed)
            for (std::size_t i = 0; i < std::min(one.results.size(), most_results); ++i)
                step.result[step.results++] = place_of(one.results[i]);
        steps_.push_back(step);
    }

    void make_warps() {
        const std::uint32_t threads = launch_.threads();
        for (std::uint32_t first = 0; first < threads; first += warp_lanes) {
            Warp& warp = warps_.emplace_back();
            warp.first_thread = first;
            const std::uint32_t lanes = std::min(threads - first, warp_lanes);
            warp.lanes = lanes == warp_lanes ? all_lanes : (1u << lanes) - 1;
            warp.registers.resize(used_slots_.size());
            for (std::size_t i = 0; i < used_slots_.size(); ++i)
                fill(warp, static_cast<std::uint32_t>(i));
        }
    }
    std::array<std::uint32_t, 3> thread_of(std::uint32_t number) const {
        const auto& block = launch_.block;
        return {number % block[0], number / block[0] % block[1], number / block[0] / block[1]};
    }
    // Registers that hold the same in every block.
    void fill(Warp& warp, std::uint32_t place) const {
        const SlotInfo& info = code_.slots[used_slots_[place]];
        LaneValue& value = warp.registers[place];
        value.valid = all_lanes;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            value.at[lane] = special(info, warp.first_thread + lane, lane);
        if (info.kind == SlotKind::constant && info.bits == 1)
            value.at[0] = info.value ? all_lanes : 0;
    }
    std::uint64_t special(const SlotInfo& info, std::uint32_t number, std::uint32_t lane) const {
        const auto thread = thread_of(number);
        const std::uint32_t below = (1u << lane) - 1;
        switch (info.kind) {
            case SlotKind::constant:
                return info.value;
            case SlotKind::tid_x:
            case SlotKind::tid_y:
            case SlotKind::tid_z:
                return thread[index_of(info.kind, SlotKind::tid_x)];
            case SlotKind::ntid_x:
            case SlotKind::ntid_y:
            case SlotKind::ntid_z:
                return launch_.block[index_of(info.kind, SlotKind::ntid_x)];
            case SlotKind::nctaid_x:
            case SlotKind::nctaid_y:
            case SlotKind::nctaid_z:
                return launch_.grid[index_of(info.kind, SlotKind::nctaid_x)];
            case SlotKind::laneid:
                return lane;
            case SlotKind::warpid:
                return number / warp_lanes;
            case SlotKind::nwarpid:
                return (launch_.threads() + warp_lanes - 1) / warp_lanes;
            case SlotKind::nsmid:
                return 132;  // an H100's and an H200's: the machine is not known here
            case SlotKind::lanemask_eq:
                return 1u << lane;
            case SlotKind::lanemask_lt:
                return below;
            case SlotKind::lanemask_le:
                return below | 1u << lane;
            case SlotKind::lanemask_gt:
                return ~(below | 1u << lane);
            case SlotKind::lanemask_ge:
                return ~below;
            case SlotKind::warp_size:
                return warp_lanes;
            case SlotKind::dynamic_smem:
                return launch_.dynamic_shared_bytes;
            case SlotKind::total_smem:
                return code_.shared_bytes + launch_.dynamic_shared_bytes;
            default:
                return 0;
        }
    }
    static std::size_t index_of(SlotKind kind, SlotKind first) {
        return static_cast<std::size_t>(kind) - static_cast<std::size_t>(first);
    }

    void reset() {
        std::ranges::fill(shared_, std::uint8_t{0});
        for (Warp& warp : warps_) {
            warp.at = 0;
            warp.active = warp.lanes;
            warp.next_waiting = no_target;
            warp.waiting.clear();
            warp.parked.clear();
            warp.steps = 0;
            if (!warp.local.empty()) std::ranges::fill(warp.local, std::uint8_t{0});
            for (std::size_t i = 0; i < used_slots_.size(); ++i) reset(warp.registers[i], i);
        }
    }
    void reset(LaneValue& value, std::size_t place) const {
        const SlotKind kind = code_.slots[used_slots_[place]].kind;
        if (kind == SlotKind::reg) {
            value = {};
            value.valid = all_lanes;
        } else if (kind == SlotKind::ctaid_x || kind == SlotKind::ctaid_y ||
                   kind == SlotKind::ctaid_z) {
            const std::size_t d = index_of(kind, SlotKind::ctaid_x);
            value.at.fill(box_->first[d]);
            value.growth = {};
            if (box_->count[d] > 1) value.growth[d] = box_->stride[d];
        }
    }

    // ---- Control

    void run_to_barrier(Warp& warp) {
        while (true) {
            if (warp.active == 0 && !take_waiting(warp)) return;
            if (warp.at >= warp.next_waiting) meet(warp);
            execute(warp, steps_[warp.at]);
        }
    }
    // Lanes that stand furthest behind go on.
    bool take_waiting(Warp& warp) {
        if (warp.waiting.empty()) return false;
        warp.at = warp.next_waiting;
        meet(warp);
        return true;
    }
    // Lanes that wait where the others are join them; those ahead wait for the ones behind.
    void meet(Warp& warp) {
        if (warp.at > warp.next_waiting) {
            if (warp.active != 0) warp.waiting.push_back({warp.at, warp.active});
            warp.active = 0;
            warp.at = warp.next_waiting;
        }
        std::erase_if(warp.waiting, [&](const Group& group) {
            if (group.at == warp.at) warp.active |= group.lanes;
            return group.at == warp.at;
        });
        warp.next_waiting = no_target;
        for (const Group& group : warp.waiting)
            warp.next_waiting = std::min(warp.next_waiting, group.at);
    }
    static void release(Warp& warp) {
        for (const Group& group : warp.parked) {
            warp.waiting.push_back(group);
            warp.next_waiting = std::min(warp.next_waiting, group.at);
        }
        warp.parked.clear();
    }

    std::uint32_t lanes_of(const Warp& warp, const PtxStep& step) const {
        if (step.guard == no_slot) return warp.active;
        const auto guard = static_cast<std::uint32_t>(warp.registers[step.guard].at[0]);
        return warp.active & (step.is_negated ? ~guard : guard);
    }

    void execute(Warp& warp, const PtxStep& step) {
        if (++warp.steps > limits_.steps_of_warp) refuse_endless(step);
        ++attempt_.steps;
        const std::uint32_t lanes = lanes_of(warp, step);
        switch (step.opcode) {
            case Opcode::branch:
                return branch(warp, step.target, lanes);
            case Opcode::branch_table:
                return branch_by_table(warp, step, lanes);
            case Opcode::exit:
                warp.active &= ~lanes;
                break;
            case Opcode::barrier:
                if (lanes != 0) warp.parked.push_back({warp.at + 1, warp.active});
                if (lanes != 0) warp.active = 0;
                break;
            case Opcode::trap:
                if (lanes != 0) add_fault(warp, step, KernelFault::Kind::trap, lanes, 0, {});
                warp.active &= ~lanes;
                break;
            case Opcode::load:
            case Opcode::store:
            case Opcode::atomic:
                if (lanes != 0) access(warp, step, lanes);
                break;
            default:
                if (lanes != 0) compute_step(warp, step, lanes);
        }
        ++warp.at;
    }
    void branch(Warp& warp, std::uint32_t target, std::uint32_t taken) {
        const std::uint32_t rest = warp.active & ~taken;
        if (taken == 0) {
            ++warp.at;
            return;
        }
        if (rest != 0) {
            warp.waiting.push_back({warp.at + 1, rest});
            warp.next_waiting = std::min(warp.next_waiting, warp.at + 1);
        }
        warp.at = target;
        warp.active = taken;
    }
    void branch_by_table(Warp& warp, const PtxStep& step, std::uint32_t lanes) {
        const LaneValue& index = read(warp, step.input[0], lanes);
        need_fixed(index);
        const auto& targets = tables_[step.target];
        const std::uint32_t rest = warp.active & ~lanes;
        if (rest != 0) warp.waiting.push_back({warp.at + 1, rest});
        each_lane(lanes, [&](std::uint32_t lane) {
            const std::uint64_t at = std::min<std::uint64_t>(index.at[lane], targets.size() - 1);
            warp.waiting.push_back({targets[at], 1u << lane});
        });
        warp.active = 0;
        warp.next_waiting = no_target;
        for (const Group& group : warp.waiting)
            warp.next_waiting = std::min(warp.next_waiting, group.at);
    }
    [[noreturn]] void refuse_endless(const PtxStep& step) const {
        const CodeStatement& statement = statement_of(step);
        throw UsageError(fmt::format(
            "a warp of {} takes more than {} instructions and does not end: it is at '{}'{}. It "
            "may wait for another block, or for what an array holds; --max-steps allows more",
            kernel_name(code_.kernel), limits_.steps_of_warp, statement.text,
            statement.source.file.empty()
                ? std::string()
                : fmt::format(" ({}:{})", statement.source.file, statement.source.line)));
    }
    const CodeStatement& statement_of(const PtxStep& step) const {
        return code_.statements[code_.instructions[step.instruction].statement];
    }

    // ---- Registers

    const LaneValue& read(const Warp& warp, Slot place, std::uint32_t lanes) const {
        const LaneValue& value = warp.registers[place];
        // Some lanes had another growth when they were written last.
        if ((lanes & ~value.valid) != 0) throw_split_all();
        return value;
    }
    [[noreturn]] void throw_split_all() const {
        std::uint8_t dimensions = 0;
        for (std::size_t d = 0; d < 3; ++d)
            if (box_->count[d] > 1) dimensions = static_cast<std::uint8_t>(dimensions | 1 << d);
        throw BoxMustSplit{.dimensions = dimensions, .parts = 64};
    }
    void write(Warp& warp, Slot place, const LaneValue& value, std::uint32_t lanes,
               bool is_predicate) {
        if (place == no_slot) return;
        LaneValue& there = warp.registers[place];
        if (is_predicate) {
            there.at[0] = (there.at[0] & ~std::uint64_t{lanes}) | (value.at[0] & lanes);
            return;
        }
        if (lanes == all_lanes)
            there.at = value.at;
        else
            each_lane(lanes, [&](std::uint32_t lane) { there.at[lane] = value.at[lane]; });
        if (there.growth == value.growth) {
            there.valid |= lanes;
        } else {
            there.growth = value.growth;
            there.valid = lanes;
        }
    }
    bool is_predicate(Slot place) const {
        return place != no_slot && code_.slots[used_slots_[place]].bits == 1 &&
               code_.slots[used_slots_[place]].kind == SlotKind::reg;
    }

    void compute_step(Warp& warp, const PtxStep& step, std::uint32_t lanes) {
        Inputs inputs{};
        for (std::size_t i = 0; i < step.inputs; ++i)
            inputs[i] = is_predicate(step.input[i]) ? &warp.registers[step.input[i]]
                                                    : &read(warp, step.input[i], lanes);
        switch (step.opcode) {
            case Opcode::shuffle:
            case Opcode::vote:
            case Opcode::match:
            case Opcode::active_mask:
            case Opcode::reduce_warp:
                return exchange(warp, step, inputs, lanes);
            case Opcode::unpack:
                return unpack(warp, step, *inputs[0], lanes);
            default:
                break;
        }
        compute(step, inputs, lanes, *box_, result_);
        write(warp, step.result[0], result_, lanes, is_predicate(step.result[0]));
        if (step.results > 1 && step.opcode == Opcode::compare) {  // "%p1|%p2": the opposite
            result_.at[0] = ~result_.at[0];
            write(warp, step.result[1], result_, lanes, true);
        }
    }
    void unpack(Warp& warp, const PtxStep& step, const LaneValue& value, std::uint32_t lanes) {
        need_fixed(value);
        const auto part = static_cast<std::uint8_t>(step.type.bits / step.results);
        for (std::uint8_t i = 0; i < step.results; ++i) {
            result_.growth = {};
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                result_.at[lane] = value.at[lane] >> (part * i) & mask_of(part);
            write(warp, step.result[i], result_, lanes, false);
        }
    }

    // What lanes learn of each other.
    void exchange(Warp& warp, const PtxStep& step, const Inputs& in, std::uint32_t lanes) {
        result_.growth = {};
        if (step.opcode == Opcode::shuffle) return shuffle(warp, step, in, lanes);
        if (step.opcode == Opcode::active_mask) {
            result_.at.fill(lanes);
        } else if (step.opcode == Opcode::vote) {
            vote(step, step.variant == 'e' ? 0 : static_cast<std::uint32_t>(in[0]->at[0]) & lanes,
                 lanes);
        } else if (step.opcode == Opcode::match) {
            need_fixed(*in[0]);
            match(step, *in[0], lanes);
        } else {
            need_fixed(*in[0]);
            reduce(step, *in[0], lanes);
        }
        const bool gives_predicate = is_predicate(step.result[0]);
        write(warp, step.result[0], result_, lanes, gives_predicate);
        if (step.results > 1 && (step.opcode == Opcode::match || step.variant == 'e')) {
            result_.at[0] = second_;
            write(warp, step.result[1], result_, lanes, true);
        }
    }
    void vote(const PtxStep& step, std::uint32_t yes, std::uint32_t lanes) {
        if (step.variant == 'e') {
            const auto leader = static_cast<std::uint32_t>(std::countr_zero(lanes));
            result_.at.fill(leader);
            second_ = 1u << leader;
            return;
        }
        if (step.variant == 'b') {
            result_.at.fill(yes);
            return;
        }
        const bool is_true = step.variant == 'a'   ? yes == lanes
                             : step.variant == 'o' ? yes != 0
                                                   : yes == 0 || yes == lanes;
        result_.at[0] = is_true ? all_lanes : 0;
    }
    void match(const PtxStep& step, const LaneValue& value, std::uint32_t lanes) {
        bool all_same = true;
        each_lane(lanes, [&](std::uint32_t lane) {
            std::uint32_t same = 0;
            each_lane(lanes, [&](std::uint32_t other) {
                same |= std::uint32_t{value.at[other] == value.at[lane]} << other;
            });
            result_.at[lane] = same;
            all_same = all_same && same == lanes;
        });
        second_ = all_same ? all_lanes : 0;
        if (step.variant == 'a' && !all_same) result_.at.fill(0);
    }
    void reduce(const PtxStep& step, const LaneValue& value, std::uint32_t lanes) {
        std::optional<std::uint64_t> all;
        each_lane(lanes, [&](std::uint32_t lane) {
            all = all ? combined(step, *all, value.at[lane]) : value.at[lane];
        });
        result_.at.fill(all.value_or(0) & mask_of(step.type.bits));
    }
    static std::uint64_t combined(const PtxStep& step, std::uint64_t a, std::uint64_t b) {
        const std::uint8_t bits = step.type.bits;
        const bool is_less = step.type.kind == 's' ? extended(a, bits) < extended(b, bits) : a < b;
        switch (step.variant) {
            case '<':
                return is_less ? a : b;
            case '>':
                return is_less ? b : a;
            case '&':
                return a & b;
            case '|':
                return a | b;
            case '^':
                return a ^ b;
            case 'x':
                return b;
            case 'i':
                return a >= b ? 0 : a + 1;
            case 'd':
                return a == 0 || a > b ? b : a - 1;
            default:
                break;
        }
        if (step.type.kind != 'f') return (a + b) & mask_of(bits);
        if (bits == 32)
            return std::bit_cast<std::uint32_t>(
                std::bit_cast<float>(static_cast<std::uint32_t>(a)) +
                std::bit_cast<float>(static_cast<std::uint32_t>(b)));
        return std::bit_cast<std::uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    }
    // PTX ISA, "shfl.sync": c holds the clamp and, above it, the mask of the segment.
    void shuffle(Warp& warp, const PtxStep& step, const Inputs& in, std::uint32_t lanes) {
        need_fixed(*in[1]);
        need_fixed(*in[2]);
        std::uint32_t inside = 0;
        each_lane(lanes, [&](std::uint32_t lane) {
            const auto by = static_cast<std::uint32_t>(in[1]->at[lane] & 0x1F);
            const auto clamp = static_cast<std::uint32_t>(in[2]->at[lane] & 0x1F);
            const auto segment = static_cast<std::uint32_t>(in[2]->at[lane] >> 8 & 0x1F);
            const std::uint32_t most = (lane & segment) | (clamp & ~segment);
            const std::uint32_t least = lane & segment;
            std::uint32_t from = lane;
            bool is_inside = false;
            if (step.variant == 'u') {
                from = lane - by;
                is_inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most);
            } else if (step.variant == 'i') {
                from = least | (by & ~segment);
                is_inside = from <= most;
            } else {
                from = step.variant == 'd' ? lane + by : lane ^ by;
                is_inside = from <= most;
            }
            result_.at[lane] = in[0]->at[is_inside ? from & 31 : lane];
            inside |= std::uint32_t{is_inside} << lane;
        });
        result_.growth = in[0]->growth;
        write(warp, step.result[0], result_, lanes, false);
        if (step.results < 2) return;
        result_.at[0] = inside;
        write(warp, step.result[1], result_, lanes, true);
    }

    // ---- Memory

    static Space space_of(PtxState state) {
        return state == PtxState::shared  ? Space::shared
               : state == PtxState::local ? Space::local
                                          : Space::global;
    }
    static PtxState state_at(const PtxStep& step, std::uint64_t address) {
        if (step.state != PtxState::generic) return step.state;
        return address >= local_window    ? PtxState::local
               : address >= shared_window ? PtxState::shared
                                          : PtxState::global;
    }

    void access(Warp& warp, const PtxStep& step, std::uint32_t lanes) {
        const LaneValue& base = read(warp, step.input[0], lanes);
        WarpAccess all{.addresses = {}, .active_lanes = lanes, .width_bytes = step.width_bytes};
        const bool is_narrow = step.state == PtxState::shared || step.state == PtxState::local;
        each_lane(lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = base.at[lane] + static_cast<std::uint64_t>(step.offset);
            all.addresses[lane] = is_narrow ? address & 0xFFFF'FFFFu : address;
        });
        for (std::uint32_t rest = lanes; rest != 0;) {  // generic ones may reach several memories
            const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
            const PtxState state = state_at(step, all.addresses[first]);
            WarpAccess one = all;
            one.active_lanes = 0;
            each_lane(rest, [&](std::uint32_t lane) {
                if (state_at(step, all.addresses[lane]) == state) one.active_lanes |= 1u << lane;
            });
            rest &= ~one.active_lanes;
            if (step.state == PtxState::generic && state != PtxState::global)
                each_lane(one.active_lanes, [&](std::uint32_t lane) {
                    one.addresses[lane] &=
                        state == PtxState::local ? local_window - 1 : shared_window - 1;
                });
            access_one(warp, step, state, one, base.growth);
        }
    }
    void access_one(Warp& warp, const PtxStep& step, PtxState state, WarpAccess& access,
                    const Growth& growth) {
        if (step.variant == 'n') access.active_lanes &= 0xFFu;  // rows of one matrix of ldmatrix
        if (step.variant == 'm' && step.width_bytes == 16 && !step.is_needed)
            access.active_lanes &= 0xFFFFu;
        if (access.active_lanes == 0) return;
        check(warp, step, state, access, growth);
        access.space = space_of(state);
        if (step.site != ~0u && access.active_lanes != 0) {
            access.kind = code_.sites[step.site].kind;
            sink_->take(step.site, access.space, access, growth, *box_);
        }
        if (!step.is_needed) return;
        switch (step.opcode) {
            case Opcode::load:
                return load(warp, step, state, access, growth);
            case Opcode::store:
                return store(warp, step, state, access, growth);
            default:
                return change(warp, step, state, access, growth);
        }
    }

    // Lanes that a GPU would stop for are told, and left out.
    void check(const Warp& warp, const PtxStep& step, PtxState state, WarpAccess& access,
               const Growth& growth) {
        if (state == PtxState::param || state == PtxState::constant || state == PtxState::local)
            return;
        const std::uint64_t width = std::max(1u, step.width_bytes);
        const Spread spread = spread_of(growth, *box_);
        std::uint32_t bad = 0;
        KernelFault::Kind kind = KernelFault::Kind::out_of_bounds;
        std::string name;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = access.addresses[lane];
            const auto found = fault_at(state, address, width, spread, growth, name);
            if (!found) return;
            kind = *found;
            bad |= 1u << lane;
        });
        if (bad == 0) return;
        if (box_->blocks() > 1 && !is_told(step)) throw_split_all();
        add_fault(warp, step, kind, bad,
                  access.addresses[static_cast<std::uint32_t>(std::countr_zero(bad))], name);
        access.active_lanes &= ~bad;
    }
    std::optional<KernelFault::Kind> fault_at(PtxState state, std::uint64_t address,
                                              std::uint64_t width, const Spread& spread,
                                              const Growth& growth, std::string& name) const {
        for (const std::int64_t one : growth)
            if ((static_cast<std::uint64_t>(one) & (width - 1)) != 0)
                return KernelFault::Kind::misaligned;
        if ((address & (width - 1)) != 0) return KernelFault::Kind::misaligned;
        if (state == PtxState::shared)
            return address + width > shared_.size()
                       ? std::optional(KernelFault::Kind::shared_bounds)
                       : std::nullopt;
        const LaunchArray* array = memory_.find(address);
        if (!array) return KernelFault::Kind::no_memory;
        if (array->size_bytes == 0) return std::nullopt;
        const Wide offset = static_cast<Wide>(address) - static_cast<Wide>(array->base);
        name = array->name;
        if (offset + spread.least < 0 ||
            offset + spread.most + static_cast<Wide>(width) > static_cast<Wide>(array->size_bytes))
            return KernelFault::Kind::out_of_bounds;
        return std::nullopt;
    }
    bool is_told(const PtxStep& step) const {
        return std::ranges::any_of(told_,
                                   [&](std::uint32_t one) { return one == step.instruction; });
    }
    void add_fault(const Warp& warp, const PtxStep& step, KernelFault::Kind kind,
                   std::uint32_t lanes, std::uint64_t address, const std::string& array) {
        if (is_told(step)) return;
        told_.push_back(step.instruction);
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
        attempt_.faults.push_back({.kind = kind,
                                   .instruction = step.instruction,
                                   .block = box_->first,
                                   .thread = thread_of(warp.first_thread + lane),
                                   .address = address,
                                   .array = array});
    }

    std::uint8_t* bytes_of(Warp& warp, PtxState state, std::uint64_t address, std::uint32_t lane,
                           std::uint32_t bytes) {
        if (state == PtxState::shared)
            return address + bytes <= shared_.size() ? &shared_[address] : nullptr;
        if (warp.local.empty()) warp.local.resize(warp_lanes * code_.local_bytes);
        return address + bytes <= code_.local_bytes
                   ? &warp.local[lane * code_.local_bytes + address]
                   : nullptr;
    }
    std::uint64_t read_bytes(Warp& warp, PtxState state, std::uint64_t address, std::uint32_t lane,
                             std::uint32_t bytes) {
        std::uint64_t value = 0;
        if (state == PtxState::param) {
            for (std::uint32_t i = 0; i < bytes; ++i)
                if (address + i < launch_.parameters.size())
                    value |= std::uint64_t{launch_.parameters[address + i]} << (8 * i);
            return value;
        }
        if (state == PtxState::shared || state == PtxState::local) {
            if (const std::uint8_t* from = bytes_of(warp, state, address, lane, bytes))
                for (std::uint32_t i = 0; i < bytes; ++i)
                    value |= std::uint64_t{from[i]} << (8 * i);
            return value;
        }
        const LaunchArray* array = memory_.find(address);
        if (array && !array->contents) note_missing(array->name);
        return memory_.read(array, address, bytes);
    }
    void note_missing(const std::string& name) {
        auto& names = attempt_.contents_missing;
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    // Whether blocks of the box read the same wherever they read.
    bool is_constant(PtxState state, const WarpAccess& access) {
        if (state == PtxState::param) return false;
        bool all = true;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            const LaunchArray* array = memory_.find(access.addresses[lane]);
            all = all && array && (!array->contents || array->contents->is_constant());
        });
        return all && !code_.needs_stored_values;
    }

    void load(Warp& warp, const PtxStep& step, PtxState state, const WarpAccess& access,
              const Growth& growth) {
        if (dimensions_of(growth) != 0 && !is_constant(state, access)) throw_split(growth);
        const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
        const bool is_signed = step.type.kind == 's';
        for (std::uint8_t i = 0; i < step.results; ++i) {
            if (step.result[i] == no_slot) continue;
            const std::uint8_t bits = code_.slots[used_slots_[step.result[i]]].bits;
            result_.growth = {};
            each_lane(access.active_lanes, [&](std::uint32_t lane) {
                const std::uint64_t value =
                    read_bytes(warp, state, access.addresses[lane] + i * bytes, lane, bytes);
                result_.at[lane] =
                    is_signed ? static_cast<std::uint64_t>(extended(value, step.type.bits)) &
                                    mask_of(bits)
                              : value;
            });
            write(warp, step.result[i], result_, access.active_lanes, false);
        }
    }
    [[noreturn]] static void throw_split(const Growth& growth) {
        throw BoxMustSplit{.dimensions = dimensions_of(growth), .parts = 64};
    }
    void write_bytes(Warp& warp, PtxState state, std::uint64_t address, std::uint32_t lane,
                     std::uint64_t value, std::uint32_t bytes) {
        if (state == PtxState::global) return memory_.write(address, value, bytes);
        if (std::uint8_t* to = bytes_of(warp, state, address, lane, bytes))
            for (std::uint32_t i = 0; i < bytes; ++i)
                to[i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
    void store(Warp& warp, const PtxStep& step, PtxState state, const WarpAccess& access,
               const Growth& growth) {
        if (dimensions_of(growth) != 0) throw_split(growth);
        const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
        for (std::uint8_t i = 1; i < step.inputs; ++i) {
            const LaneValue& value = read(warp, step.input[i], access.active_lanes);
            need_fixed(value);
            each_lane(access.active_lanes, [&](std::uint32_t lane) {
                write_bytes(warp, state, access.addresses[lane] + (i - 1u) * bytes, lane,
                            value.at[lane], bytes);
            });
        }
    }
    // An atomic, lane by lane.
    void change(Warp& warp, const PtxStep& step, PtxState state, const WarpAccess& access,
                const Growth& growth) {
        if (dimensions_of(growth) != 0) throw_split(growth);
        const std::uint32_t bytes = step.type.bytes();
        const LaneValue& first = read(warp, step.input[1], access.active_lanes);
        const LaneValue& last = read(warp, step.input[step.inputs - 1u], access.active_lanes);
        need_fixed(first);
        need_fixed(last);
        LaneValue before;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t old = read_bytes(warp, state, access.addresses[lane], lane, bytes);
            before.at[lane] = old;
            const bool is_exchange = step.variant == 'c';
            const std::uint64_t next = is_exchange ? (old == first.at[lane] ? last.at[lane] : old)
                                                   : combined(step, old, first.at[lane]);
            write_bytes(warp, state, access.addresses[lane], lane, next, bytes);
        });
        if (step.results > 0) write(warp, step.result[0], before, access.active_lanes, false);
    }

    const Code& code_;
    const KernelLaunch& launch_;
    LaunchMemory& memory_;
    ExecutionLimits limits_;
    std::vector<PtxStep> steps_;
    std::vector<std::vector<std::uint32_t>> tables_;
    std::vector<Slot> places_;      // of a slot in a warp's registers
    std::vector<Slot> used_slots_;  // the slot of a place
    std::vector<Warp> warps_;
    std::vector<std::uint8_t> shared_;
    std::vector<std::uint32_t> told_;  // instructions whose fault is known
    const BlockBox* box_ = nullptr;
    AccessSink* sink_ = nullptr;
    ExecutionNotes attempt_;
    LaneValue result_;
    std::uint32_t second_ = 0;
};

Executor::Executor(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
                   const ExecutionLimits& limits)
    : body_(std::make_unique<Body>(code, launch, memory, limits)) {}
Executor::~Executor() = default;
void Executor::run(const BlockBox& box, AccessSink& sink, ExecutionNotes& notes) {
    body_->run(box, sink, notes);
}

}  // namespace coalprof
