#include "core/program/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "core/access/lane_set.h"
#include "core/program/arithmetic.h"
#include "core/program/block_memory.h"
#include "core/program/numbers.h"
#include "core/program/warp_state.h"
#include "core/runtime/signal.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {

bool KernelFault::is_before(const KernelFault& other) const {
    const auto place = [](const KernelFault& one) {
        return std::array{one.block[2],  one.block[1],  one.block[0],
                          one.thread[2], one.thread[1], one.thread[0]};
    };
    return place(*this) < place(other);
}

void ExecutionNotes::add(const KernelFault& fault) {
    const auto known =
        std::ranges::lower_bound(faults, fault.instruction, {}, &KernelFault::instruction);
    if (known == faults.end() || known->instruction != fault.instruction)
        faults.insert(known, fault);
    else if (fault.is_before(*known))
        *known = fault;
}

void ExecutionNotes::add(const ExecutionNotes& other) {
    for (const KernelFault& fault : other.faults) add(fault);
    steps += other.steps;
    warps += other.warps;
    decisive |= other.decisive;
    without_bounds |= other.without_bounds;
    shared_bytes = std::max(shared_bytes, other.shared_bytes);
}

class Executor::Body {
 public:
    Body(const StepCode& steps, const KernelLaunch& launch, LaunchMemory& memory,
         const ExecutionLimits& limits, StepBudget& budget)
        : steps_(steps),
          code_(steps.code()),
          launch_(launch),
          memory_(memory),
          limits_(limits),
          budget_(budget),
          block_memory_(code_, launch, memory) {
        for (std::uint32_t first = 0; first < launch.threads(); first += warp_lanes)
            warps_.push_back(make_warp(steps, launch, first));
    }

    void run(const BlockBox& box, AccessSink& sink, ExecutionNotes& notes) {
        stop_if_asked();
        box_ = &box;
        sink_ = &sink;
        follows_steps_ = sink.follows_steps();
        attempt_ = {};
        sink.begin(box);
        block_memory_.begin_block();
        votes_.clear();
        ++stores_;
        for (WarpState& warp : warps_) warp.begin_block(steps_, box);
        for (bool is_running = true; is_running;) {
            is_running = false;
            bool comes_back = true;
            for (WarpState& warp : warps_) {
                if (warp.is_done()) continue;
                sink_->resume(warp.first_thread / warp_lanes);
                while (warp.has_lanes()) execute(warp, steps_.step(warp.at));
                is_running = true;
                comes_back &= warp.comes_back_since == stores_;
            }
            // Without stores no warp changes what another one does.
            if (is_running && comes_back) refuse_coming_back(*last_back_);
            count_votes();
            for (WarpState& warp : warps_) warp.leave_barrier();
        }
        budget_.spend(attempt_.steps % steps_at_once);
        attempt_.warps = warps_.size() * box.blocks();
        notes.add(attempt_);
    }

 private:
    static constexpr std::uint64_t steps_at_once = 1u << 14;

    // ---- Control

    std::uint32_t lanes_of(const WarpState& warp, const PtxStep& step) const {
        if (step.guard == no_slot) return warp.active;
        const auto guard = static_cast<std::uint32_t>(warp.registers[step.guard].at[0]);
        return warp.active & (step.is_negated ? ~guard : guard);
    }

    static std::uint32_t named_lanes(const WarpState& warp, const PtxStep& step) {
        if (step.inputs == 0) return all_lanes;
        return static_cast<std::uint32_t>(
            warp.registers[step.input[step.inputs - 1u]]
                .at[static_cast<std::uint32_t>(std::countr_zero(warp.active))]);
    }
    void execute(WarpState& warp, const PtxStep& step) {
        if (step.gathers && !warp.gather(named_lanes(warp, step))) return;
        if (++warp.steps > limits_.steps_of_warp)
            refuse_endless(step,
                           fmt::format("takes more than {} instructions", limits_.steps_of_warp),
                           "--max-steps allows more");
        if (++attempt_.steps % steps_at_once == 0) {
            stop_if_asked();
            budget_.spend(steps_at_once);
        }
        if (follows_steps_ && !sink_->step(step.instruction)) return warp.end();
        const std::uint32_t lanes = lanes_of(warp, step);
        if (step.guard != no_slot && (is_control_flow(step.opcode) || step.site != ~0u))
            attempt_.decisive |= warp.registers[step.guard].unsaid;
        switch (step.opcode) {
            case Opcode::branch:
                if (lanes != 0 && step.target <= warp.at && warp.has_come_back(stores_)) {
                    if (!warp.has_waited()) refuse_coming_back(step);
                    warp.comes_back_since = stores_;
                    last_back_ = &step;
                }
                return warp.branch(step.target, lanes);
            case Opcode::branch_table: return branch_by_table(warp, step, lanes);
            case Opcode::exit: warp.active &= ~lanes; break;
            case Opcode::barrier:
                if (lanes != 0 && step.results > 0) vote(warp, step, lanes);
                if (lanes != 0) warp.wait_at_barrier();
                break;
            case Opcode::warp_barrier: break;
            case Opcode::trap:
                if (lanes != 0) add_fault(warp, step, {}, lanes, {});
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
    // Whether all or some of the block's threads, and how many, have what a barrier asks for.
    void vote(WarpState& warp, const PtxStep& step, std::uint32_t lanes) {
        const LaneValue& value = warp.registers[step.input[0]];
        const auto ayes = static_cast<std::uint32_t>(value.at[0]) & lanes;
        votes_.push_back({&warp, &step, lanes, ayes, value.unsaid});
    }
    void count_votes() {
        if (votes_ != votes_before_) ++stores_;  // others may go another way now
        int all = 0, ayes = 0;
        result_ = {};
        for (const Vote& one : votes_) {
            all += std::popcount(one.lanes);
            ayes += std::popcount(one.ayes);
            result_.unsaid |= one.unsaid;
        }
        for (const Vote& one : votes_) {
            const char asks = one.step->variant;
            const bool holds = asks == 'a' ? ayes == all : ayes > 0;
            result_.at.fill(asks == 'c' ? static_cast<std::uint64_t>(ayes)
                                        : std::uint64_t{holds ? all_lanes : 0u});
            write(*one.warp, one.step->result[0], result_, one.lanes);
        }
        votes_.swap(votes_before_);
        votes_.clear();
    }
    // Also of instructions that an address or a branch only seems to depend on: those are not
    // reached.
    [[noreturn]] void refuse_unknown(const PtxStep& step) const {
        const CodeStatement& statement =
            code_.statements[code_.instructions[step.instruction].statement];
        throw UsageError(fmt::format(
            "{}'{}' of {} is not known here, and an address or a branch depends on its result. "
            "Measure the kernel with coalprof run --lines",
            statement.source.file.empty()
                ? std::string()
                : fmt::format("{}:{}: ", statement.source.file, statement.source.line),
            statement.text, kernel_name(code_.kernel)));
    }
    void branch_by_table(WarpState& warp, const PtxStep& step, std::uint32_t lanes) {
        const LaneValue& index = read(warp, step.input[0], lanes);
        need_fixed(index);
        attempt_.decisive |= index.unsaid;
        const auto& targets = steps_.table(step);
        if (const std::uint32_t rest = warp.active & ~lanes; rest != 0)
            warp.wait({warp.at + 1, rest});
        each_lane(lanes, [&](std::uint32_t lane) {
            const std::uint64_t at = std::min<std::uint64_t>(index.at[lane], targets.size() - 1);
            warp.wait({targets[at], 1u << lane});
        });
        warp.active = 0;
    }
    [[noreturn]] void refuse_endless(const PtxStep& step, std::string_view what,
                                     const std::string& hint) const {
        const CodeStatement& statement =
            code_.statements[code_.instructions[step.instruction].statement];
        throw UsageError(
            fmt::format(
                "a warp of {} {}: it is at '{}'{}", kernel_name(code_.kernel), what, statement.text,
                statement.source.file.empty()
                    ? std::string()
                    : fmt::format(" ({}:{})", statement.source.file, statement.source.line)),
            hint);
    }
    [[noreturn]] void refuse_coming_back(const PtxStep& step) const {
        refuse_endless(step, "comes back to the same state and never ends", way_to_end());
    }
    std::string way_to_end() const {
        const std::vector<std::string> zeros = memory_.names_of(attempt_.decisive);
        if (zeros.empty()) return "it may wait for what another block stores";
        return fmt::format(
            "it may wait for {}, which holds zeros here: --arg {}=@FILE.npy says what it holds",
            joined(zeros, " or "), zeros.front());
    }

    // ---- Registers

    const LaneValue& read(const WarpState& warp, Slot place, std::uint32_t lanes) const {
        const LaneValue& value = warp.registers[place];
        // Some lanes had another growth when last written.
        if ((lanes & ~value.valid) != 0) throw_split_all();
        return value;
    }
    [[noreturn]] void throw_split_all() const {
        std::uint8_t dimensions = 0;
        for (std::size_t d = 0; d < 3; ++d)
            if (box_->count[d] > 1) dimensions = static_cast<std::uint8_t>(dimensions | 1 << d);
        throw BoxMustSplit{.dimensions = dimensions, .parts = 64};
    }
    static void need_same(const Growth& growth) {
        if (dimensions_of(growth) != 0)
            throw BoxMustSplit{.dimensions = dimensions_of(growth), .parts = 64};
    }
    void write(WarpState& warp, Slot place, const LaneValue& value, std::uint32_t lanes) {
        if (place != no_slot) warp.write(place, value, lanes, steps_.is_predicate(place));
    }

    void compute_step(WarpState& warp, const PtxStep& step, std::uint32_t lanes) {
        if (step.opcode == Opcode::unknown) refuse_unknown(step);
        Inputs inputs{};
        UnsaidArrays unsaid = step.guard == no_slot ? 0 : warp.registers[step.guard].unsaid;
        for (std::size_t i = 0; i < step.inputs; ++i) {
            inputs[i] = steps_.is_predicate(step.input[i]) ? &warp.registers[step.input[i]]
                                                           : &read(warp, step.input[i], lanes);
            unsaid |= inputs[i]->unsaid;
        }
        result_.unsaid = unsaid;
        if (is_exchange(step.opcode)) {
            exchange(step, inputs, lanes, exchanged_);
            exchanged_.first.unsaid = unsaid;
            write(warp, step.result[0], exchanged_.first, lanes);
            result_.at[0] = exchanged_.second;
            if (step.results > 1) write(warp, step.result[1], result_, lanes);
            return;
        }
        if (step.opcode == Opcode::unpack) return unpack(warp, step, *inputs[0], lanes);
        compute(step, inputs, lanes, *box_, result_);
        write(warp, step.result[0], result_, lanes);
        if (step.results > 1 && step.opcode == Opcode::compare) {  // "%p1|%p2": the opposite
            result_.at[0] = ~result_.at[0];
            write(warp, step.result[1], result_, lanes);
        }
    }
    void unpack(WarpState& warp, const PtxStep& step, const LaneValue& value, std::uint32_t lanes) {
        need_fixed(value);
        const LaneValue whole = value;  // a result may be the register that is unpacked
        const auto part = static_cast<std::uint8_t>(step.type.bits / step.results);
        result_.growth = {};
        for (std::uint8_t i = 0; i < step.results; ++i) {
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                result_.at[lane] = whole.at[lane] >> (part * i) & mask_of(part);
            write(warp, step.result[i], result_, lanes);
        }
    }

    // ---- Memory

    void access(WarpState& warp, const PtxStep& step, std::uint32_t lanes) {
        const LaneValue& base = read(warp, step.input[0], lanes);
        CheckedAccess all;
        all.state = step.state;
        all.growth = base.growth;
        all.warp.width_bytes = step.width_bytes;
        all.warp.active_lanes = lanes;
        if (step.site != ~0u) attempt_.decisive |= base.unsaid;
        // Rows of one or two matrices of ldmatrix.
        if (step.variant == 'n') all.warp.active_lanes &= 0xFFu;
        if (step.variant == 'm') all.warp.active_lanes &= 0xFFFFu;
        const bool is_narrow = step.state == PtxState::shared || step.state == PtxState::local;
        const std::uint64_t mask = is_narrow ? 0xFFFF'FFFFu : ~std::uint64_t{0};
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            all.warp.addresses[lane] =
                (base.at[lane] + static_cast<std::uint64_t>(step.offset)) & mask;
        if (step.is_copy) copy(warp, step, all);
        if (step.is_copy && (step.site == ~0u || all.warp.active_lanes == 0)) return;
        if (step.state != PtxState::generic) return access_one(warp, step, all);
        access_generic(warp, step, all);
    }
    void access_generic(WarpState& warp, const PtxStep& step, const CheckedAccess& all) {
        for (std::uint32_t rest = all.warp.active_lanes; rest != 0;) {
            CheckedAccess one = all;
            const auto first = static_cast<std::uint32_t>(std::countr_zero(rest));
            one.state = state_of_generic(all.warp.addresses[first]);
            one.warp.active_lanes = 0;
            each_lane(rest, [&](std::uint32_t lane) {
                if (state_of_generic(all.warp.addresses[lane]) != one.state) return;
                one.warp.active_lanes |= 1u << lane;
                if (one.state != PtxState::global) one.warp.addresses[lane] &= shared_window - 1;
            });
            rest &= ~one.warp.active_lanes;
            access_one(warp, step, one);
        }
    }
    void access_one(WarpState& warp, const PtxStep& step, CheckedAccess& access) {
        check(warp, step, access);
        if (access.warp.active_lanes == 0) return;
        access.warp.space = access.state == PtxState::shared  ? Space::shared
                            : access.state == PtxState::local ? Space::local
                                                              : Space::global;
        if (step.site != ~0u && access.state != PtxState::param) {
            access.warp.kind = code_.sites[step.site].kind;
            WarpAccess sent = access.warp;
            if (sends_one(step, sent.active_lanes)) sent.active_lanes &= ~sent.active_lanes + 1;
            sink_->take(step.site, sent.space, sent, access.growth, *box_);
        }
        if (!step.is_needed || step.is_copy) return;
        if (step.opcode == Opcode::load) return load(warp, step, access);
        need_same(access.growth);
        ++stores_;
        if (step.opcode == Opcode::store) return store(warp, step, access);
        const std::uint32_t lanes = access.warp.active_lanes;
        const LaneValue& first = read(warp, step.input[1], lanes);
        const LaneValue& last = read(warp, step.input[step.inputs - 1u], lanes);
        need_fixed(first);
        need_fixed(last);
        block_memory_.change(step, access, warp.local, first, last, result_);
        if (step.results > 0) write_loaded(warp, step, 0, lanes);
    }
    // One lane sends an atomic for all of the warp.
    bool sends_one(const PtxStep& step, std::uint32_t lanes) const {
        if (launch_.cc_major < 7) return false;
        switch (step.combining) {
            case Combining::none: return false;
            case Combining::always: return true;
            case Combining::reduces: return launch_.cc_major >= 8 || lanes == all_lanes;
            case Combining::whole_warps: return lanes == all_lanes;
        }
        return false;
    }
    // A loaded value depends on whatever its address and its guard depend on.
    void write_loaded(WarpState& warp, const PtxStep& step, std::size_t number,
                      std::uint32_t lanes) {
        result_.unsaid |= warp.registers[step.input[0]].unsaid;
        if (step.guard != no_slot) result_.unsaid |= warp.registers[step.guard].unsaid;
        write(warp, step.result[number], result_, lanes);
    }
    // Lanes that read nothing are left out of `from`.
    void copy(WarpState& warp, const PtxStep& step, CheckedAccess& from) {
        const std::uint32_t lanes = from.warp.active_lanes;
        const LaneValue* const sizes =
            step.inputs > 2 ? &read(warp, step.input[2], lanes) : nullptr;
        if (sizes) need_fixed(*sizes);
        if (step.is_needed) {
            ++stores_;
            if (dimensions_of(from.growth) != 0 && !block_memory_.is_constant(from))
                need_same(from.growth);
            const LaneValue& to = read(warp, step.input[1], lanes);
            need_fixed(to);
            block_memory_.copy(step, from, to, sizes, warp.registers[step.input[0]].unsaid);
        }
        if (!sizes) return;
        if (step.site != ~0u) attempt_.decisive |= sizes->unsaid;
        each_lane(lanes, [&](std::uint32_t lane) {
            if (sizes->at[lane] == 0) from.warp.active_lanes &= ~(1u << lane);
        });
    }
    void load(WarpState& warp, const PtxStep& step, const CheckedAccess& access) {
        if (code_.instructions[step.instruction].is_opaque) refuse_unknown(step);
        if (dimensions_of(access.growth) != 0 && !block_memory_.is_constant(access))
            need_same(access.growth);
        const std::uint32_t lanes =
            step.variant != 0 ? warp.active : access.warp.active_lanes;  // of ldmatrix all
        for (std::uint8_t i = 0; i < step.results; ++i) {
            if (step.result[i] == no_slot) continue;
            block_memory_.load(step, access, warp.local, i, steps_.slot_at(step.result[i]).bits,
                               result_);
            write_loaded(warp, step, i, lanes);
        }
    }
    void store(WarpState& warp, const PtxStep& step, const CheckedAccess& access) {
        if (step.variant == 't') return block_memory_.forget_from(access);
        const std::uint32_t lanes =
            step.variant != 0 ? warp.active : access.warp.active_lanes;  // of stmatrix all
        for (std::uint8_t i = 1; i < step.inputs; ++i) {
            const LaneValue& value = read(warp, step.input[i], lanes);
            need_fixed(value);
            block_memory_.store(step, access, warp.local, i - 1u, value);
        }
    }

    // ---- Faults

    // Reports lanes that would stop a GPU, each once: what a thread does after that never happens.
    // Leaves them out, and ends those that come to memory of no array again, as loops would for
    // long.
    void check(WarpState& warp, const PtxStep& step, CheckedAccess& access) {
        const PtxState state = access.state;
        if (state == PtxState::param || state == PtxState::constant || state == PtxState::local ||
            access.warp.active_lanes == 0)
            return;
        if (is_within(step, access)) return;
        const Spread spread = spread_of(access.growth, *box_);
        std::uint32_t bad = 0, fresh = 0;
        BadPlace first;
        bool differs = false;
        each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = access.warp.addresses[lane];
            const auto found = fault_at(step, access, address, spread);
            if (!found) return;
            differs |= found->differs;
            bad |= 1u << lane;
            if (fresh == 0) first = *found;
            fresh |= bad & ~warp.stopped;
        });
        if (bad == 0) return;
        if (box_->blocks() > 1 && differs) throw_split_all();
        if (state != PtxState::shared) warp.active &= ~(bad & warp.stopped);
        warp.stopped |= bad;
        if (fresh != 0) add_fault(warp, step, first, fresh, access.warp);
        access.warp.active_lanes &= ~bad;
    }
    // All lanes at once, for the usual case: in one array, at multiples of the width.
    bool is_within(const PtxStep& step, CheckedAccess& access) {
        const std::uint64_t width = std::max(1u, step.width_bytes);
        const std::uint32_t active = access.warp.active_lanes;
        const std::uint64_t first =
            access.warp.addresses[static_cast<std::uint32_t>(std::countr_zero(active))];
        std::uint64_t least = first, most = first, bits = first;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {  // no branches
            const std::uint64_t address =
                (active >> lane & 1) != 0 ? access.warp.addresses[lane] : first;
            least = std::min(least, address);
            most = std::max(most, address);
            bits |= address;
        }
        for (const std::int64_t one : access.growth) bits |= static_cast<std::uint64_t>(one);
        if (access.state == PtxState::shared)
            attempt_.shared_bytes = std::max(attempt_.shared_bytes, most + width);
        if ((bits & (width - 1)) != 0) return false;
        if (access.state == PtxState::shared)
            return most < block_memory_.shared_bytes() &&
                   width <= block_memory_.shared_bytes() - most;
        if (!last_array_ || least < last_array_->begin || least >= last_array_->end)
            last_array_ = memory_.find(least);
        if (!last_array_ || most >= last_array_->end) return false;
        access.array = last_array_;
        if (last_array_->size_bytes == 0) {
            attempt_.without_bounds |= memory_.bit_of(last_array_);
            return true;
        }
        const Spread spread = spread_of(access.growth, *box_);
        const Wide base = static_cast<Wide>(last_array_->base);
        return static_cast<Wide>(least) + spread.least >= base &&
               static_cast<Wide>(most) + spread.most + static_cast<Wide>(width) <=
                   base + static_cast<Wide>(last_array_->size_bytes);
    }
    struct BadPlace {
        KernelFault::Kind kind = KernelFault::Kind::trap;
        const LaunchArray* array = nullptr;
        bool differs = false;  // from block to block
    };
    std::optional<BadPlace> fault_at(const PtxStep& step, const CheckedAccess& access,
                                     std::uint64_t address, const Spread& spread) const {
        const bool grows = dimensions_of(access.growth) != 0;
        const std::uint64_t width = std::max(1u, step.width_bytes);
        std::uint64_t bits = address;
        for (const std::int64_t one : access.growth) bits |= static_cast<std::uint64_t>(one);
        if ((bits & (width - 1)) != 0)
            return BadPlace{KernelFault::Kind::misaligned, nullptr, grows};
        if (access.state == PtxState::shared)
            return address + width > block_memory_.shared_bytes()
                       ? std::optional(BadPlace{KernelFault::Kind::shared_bounds, nullptr, grows})
                       : std::nullopt;
        const LaunchArray* there = memory_.find(address);
        if (!there) {
            const Wide last = static_cast<Wide>(address) + spread.most;
            const bool is_part = memory_.find(static_cast<std::uint64_t>(last)) != nullptr;
            return BadPlace{KernelFault::Kind::no_memory, nullptr, grows && is_part};
        }
        if (there->size_bytes == 0) return std::nullopt;
        const Wide offset = static_cast<Wide>(address) - static_cast<Wide>(there->base);
        if (offset + spread.least >= 0 &&
            offset + spread.most + static_cast<Wide>(width) <= static_cast<Wide>(there->size_bytes))
            return std::nullopt;
        const bool differs = offset + spread.least < static_cast<Wide>(there->size_bytes) &&
                             offset + spread.most + static_cast<Wide>(width) > 0;
        return BadPlace{KernelFault::Kind::out_of_bounds, there, differs};
    }
    void add_fault(const WarpState& warp, const PtxStep& step, const BadPlace& place,
                   std::uint32_t lanes, WarpAccess asked) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
        const std::uint64_t address = asked.addresses[lane];
        const LaunchArray* array = place.array;
        if (place.kind == KernelFault::Kind::shared_bounds) asked.space = Space::shared;
        if (step.site != ~0u) asked.kind = code_.sites[step.site].kind;
        attempt_.add(KernelFault{
            .kind = place.kind,
            .instruction = step.instruction,
            .block = box_->first,
            .thread = thread_of(launch_, warp.first_thread + lane),
            .address = address,
            .array = array ? array->name : std::string(),
            .declared = array ? array->declared : std::string(),
            .offset_bytes = array ? static_cast<std::int64_t>(address - array->base) : 0,
            .array_bytes = array ? array->size_bytes : 0,
            .warp = asked});
    }

    const StepCode& steps_;
    const Code& code_;
    const KernelLaunch& launch_;
    LaunchMemory& memory_;
    ExecutionLimits limits_;
    StepBudget& budget_;
    BlockMemory block_memory_;
    std::vector<WarpState> warps_;
    const LaunchArray* last_array_ = nullptr;
    const BlockBox* box_ = nullptr;
    AccessSink* sink_ = nullptr;
    bool follows_steps_ = false;
    ExecutionNotes attempt_;
    std::uint64_t stores_ = 0;            // and whatever else one warp does to another
    const PtxStep* last_back_ = nullptr;  // a jump to a state that was there before
    LaneValue result_;
    Exchanged exchanged_;
    struct Vote {
        WarpState* warp;
        const PtxStep* step;
        std::uint32_t lanes, ayes;
        UnsaidArrays unsaid;
        friend bool operator==(const Vote&, const Vote&) = default;
    };
    std::vector<Vote> votes_, votes_before_;  // at the block's barrier, and at the one before
};

Executor::Executor(const StepCode& steps, const KernelLaunch& launch, LaunchMemory& memory,
                   const ExecutionLimits& limits, StepBudget& budget)
    : body_(std::make_unique<Body>(steps, launch, memory, limits, budget)) {}
Executor::~Executor() = default;
void Executor::run(const BlockBox& box, AccessSink& sink, ExecutionNotes& notes) {
    body_->run(box, sink, notes);
}

}  // namespace coalprof
