#include "core/sim/block_trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>

#include "core/access/lane_set.h"
#include "core/program/step_code.h"
#include "core/sim/code_flow.h"
#include "core/sim/line_table.h"
#include "core/sim/visited_places.h"

namespace coalprof {
namespace {

// Some milliseconds of simulation, some megabytes of memory.
constexpr std::size_t most_events = 60'000;
constexpr std::size_t most_lines = 100'000;
// What a warp may have, relative to its part of these.
constexpr std::size_t times_its_part(double share) { return share < 1 ? 8 : share == 1 ? 1 : 1000; }

// How far a warp's stretches of adjacent words were moved, by their first addresses.
using Shifts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// The order of words if those that a warp reaches together were adjacent.
class WordOrder {
 public:
    WarpAccess relaid(const WarpAccess& access, Shifts& shifts) {
        if (is_stretch(access)) return aligned(access, shifts);
        std::array<std::uint64_t, warp_lanes> fresh;
        std::uint32_t count = 0;
        WarpAccess moved = access;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = access.addresses[lane];
            const auto end = fresh.begin() + count;
            if (!places_.find(address) && std::find(fresh.begin(), end, address) == end)
                fresh[count++] = address;
        });
        add(fresh, count, std::max(1u, access.width_bytes));
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            moved.addresses[lane] = area + *places_.find(access.addresses[lane]);
        });
        return moved;
    }

 private:
    // Beyond all arrays.
    static constexpr std::uint64_t area = std::uint64_t{1} << 40;
    // Adjacent lanes in order, only misaligned.
    static bool is_stretch(const WarpAccess& access) {
        const auto first = static_cast<std::uint32_t>(std::countr_zero(access.active_lanes));
        std::uint64_t next = access.active_lanes == 0 ? 0 : access.addresses[first];
        bool is_one = std::popcount(access.active_lanes) > 1;
        each_lane(access.active_lanes, [&](std::uint32_t lane) {
            is_one = is_one && access.addresses[lane] == next;
            next += access.width_bytes;
        });
        return is_one;
    }
    // Elements beside each other, as a[i-1] and a[i], move together: both cannot begin a sector.
    static WarpAccess aligned(WarpAccess access, Shifts& shifts) {
        const std::uint64_t begin =
            access.addresses[static_cast<std::size_t>(std::countr_zero(access.active_lanes))];
        const auto beside = std::ranges::find_if(shifts, [&](const auto& one) {
            return begin < one.first + line_bytes && one.first < begin + line_bytes;
        });
        const std::uint64_t by = beside == shifts.end() ? begin % sector_bytes : beside->second;
        constexpr std::size_t most_shifts = 16;
        if (beside == shifts.end()) {
            if (shifts.size() == most_shifts) shifts.erase(shifts.begin());
            shifts.emplace_back(begin, by);
        }
        each_lane(access.active_lanes, [&](std::uint32_t lane) { access.addresses[lane] -= by; });
        return access;
    }
    // They begin with a sector, and with a line if that saves one.
    void add(const std::array<std::uint64_t, warp_lanes>& fresh, std::uint32_t count,
             std::uint32_t width) {
        const auto up_to = [&](std::uint32_t bytes) { end_ = (end_ + bytes - 1) / bytes * bytes; };
        if (count != 0) up_to(sector_bytes);
        if (end_ % line_bytes + count * width > line_bytes) up_to(line_bytes);
        for (std::uint32_t i = 0; i < count; ++i, end_ += width) places_.insert(fresh[i], end_);
    }
    LineTable places_;  // offsets in bytes from the area's begin
    std::uint32_t end_ = 0;
};

// The loops that a warp is in, and what is kept of it: parts of some rounds, so that what follows a
// long loop is kept, too.
class Rounds {
 public:
    std::uint32_t part() const { return part_; }
    // The next instruction, `events` of it. True: it is kept.
    bool step(const Code& code, std::uint32_t before, std::uint32_t at, double events,
              double share) {
        if (share < 1 && before != ~0u) go(code, before, at, share);
        all_ += events;
        if (!is_skipping()) kept_ += events;
        return !is_skipping();
    }

 private:
    static constexpr double at_once = 64;  // events that are kept together
    struct Loop {
        std::uint32_t begin = 0, branch = 0;
        double kept = 0;  // before it
    };
    bool is_skipping() const { return skipped_.branch != 0; }
    void go(const Code& code, std::uint32_t before, std::uint32_t at, double share) {
        if (is_skipping() && (at < skipped_.begin || at > skipped_.branch)) skipped_ = {};
        while (!loops_.empty() && (at < loops_.back().begin || at > loops_.back().branch))
            loops_.pop_back();
        if (at > before || code.instructions[before].opcode != Opcode::branch) return;
        if (is_skipping()) {
            if (before == skipped_.branch && kept_ < share * all_) skipped_ = {};
            return;
        }
        while (!loops_.empty() && loops_.back().branch < before) loops_.pop_back();
        if (loops_.empty() || loops_.back().branch != before) loops_.push_back({at, before, kept_});
        if (kept_ >= share * all_ + at_once && kept_ >= loops_.back().kept + at_once)
            skipped_ = loops_.back(), ++part_;
    }
    std::vector<Loop> loops_;  // each in the one before
    Loop skipped_;             // rounds of it are left out
    double all_ = 0, kept_ = 0;
    std::uint32_t part_ = 0;
};

// A store of the current basic block.
struct PendingStore {
    PtxState state = PtxState::generic;
    Slot base = no_slot;  // none: it has changed since
    std::int64_t begin = 0, end = 0;
    std::uint32_t stage = 0;
    bool is_atomic = false;
    // ptxas moves a load before a store at another offset from the same register, and never before
    // another (machine code of a[i+1] read after a[i] was written:
    // docs/measurements/h200/hoisted.txt).
    bool may_be_at(const PtxInstruction& load) const {
        if (is_atomic) return true;
        if (load.state != state && load.state != PtxState::generic && state != PtxState::generic)
            return false;
        return load.inputs[0] != base || !is_near(load.offset) ||
               (load.offset < end && begin < load.offset + load.width_bytes);
    }
    // Sums of others might overflow.
    static bool is_near(std::int64_t offset) {
        constexpr std::int64_t far = std::int64_t{1} << 40;
        return -far < offset && offset < far;
    }
};

// Loads of a basic block that are in flight: registers hold no more than `most_words` of them; 0:
// it is not known how many.
class LoadsInFlight {
 public:
    explicit LoadsInFlight(std::uint32_t most_words) : most_words_(most_words) {}
    // 1 + the number of the load that must be back before one more; 0: there is room for it.
    std::uint32_t add(std::uint32_t number, std::uint32_t words) {
        if (most_words_ == 0 || words == 0) return 0;
        std::uint32_t first = 0;
        for (; sum_ > 0 && sum_ + words > most_words_; loads_.pop_front()) {
            sum_ -= loads_.front().second;
            first = loads_.front().first + 1;
        }
        loads_.emplace_back(number, words);
        sum_ += words;
        return first;
    }

 private:
    std::uint32_t most_words_, sum_ = 0;
    std::deque<std::pair<std::uint32_t, std::uint32_t>> loads_;  // number, words
};

// One warp while its instructions are recorded.
struct WarpRecord {
    WarpEvents kept;
    std::vector<TraceEvent> block;      // of the current basic block
    std::vector<std::uint32_t> stage;   // of them
    std::vector<std::uint32_t> words;   // that they load into registers
    std::uint32_t together = 0;         // that these may wait for together; 0: not known
    IssueCost cost;                     // of the basic block
    std::vector<std::uint32_t> source;  // by slot: 1 + the event that gives its value
    std::uint32_t first_of_block = 0;   // number of its first event
    std::uint32_t next_number = 0;
    std::uint32_t consumed = 0;   // by instructions of the block
    std::uint32_t last_copy = 0;  // of cp.async
    std::uint32_t store_stage = 0, load_stage = 0;
    std::vector<PendingStore> stores;
    std::uint32_t joined = 0, loaded_words = 0;  // rounds of the basic block so far
    bool ended_round = false;                    // of those
    // The least stages of loads, as those before them stay after stores; and of those before the
    // last store.
    std::uint32_t after_stores = 0, after_earlier_stores = 0;
    bool is_kept = true;  // still recorded
    Rounds rounds = {};
    std::size_t lines = 0;
    std::uint32_t last_instruction = ~0u;
    Shifts shifts = {};
};

class BlockRecorder : public AccessSink {
 public:
    // `warps`: they share the space for events.
    BlockRecorder(const Code& code, const Machine& machine, std::size_t warps,
                  const SiteMends& mends, double share)
        : code_(code),
          mends_(mends),
          flow_(code),
          costs_(costs_of(code)),
          shared_(*machine.rules),
          coalescer_(*machine.rules),
          atomics_(sorts_of_atomics(code, machine)),
          share_(share),
          events_of_warp_(times_its_part(share) * (most_events / warps + 40)),
          lines_of_warp_(times_its_part(share) * (most_lines / warps + 40)) {
        for (const PtxInstruction& one : code.instructions) {
            const std::string_view text = one.statement < code.statements.size()
                                              ? code.statements[one.statement].text
                                              : std::string_view();
            waits_for_copies_.push_back(text.starts_with("cp.async.wait"));
        }
        for (const PtxSite& site : code.sites)
            goes_past_l1_.push_back(site.instruction.find(".cg") != std::string::npos ||
                                    site.instruction.find(".cv") != std::string::npos ||
                                    site.instruction.find(".volatile") != std::string::npos ||
                                    site.instruction.find(".relaxed") != std::string::npos);
    }
    BlockTraces& traces() { return traces_; }
    // `is_whole`: executed to its end, whatever is kept of it.
    void begin_block(std::uint32_t warps, bool is_whole) {
        is_whole_ = is_whole || share_ < 1;
        if (share_ >= 1) all_events_ = kept_events_ = 0;
        visited_.clear();
        warps_.clear();
        warps_.resize(warps);
        for (WarpRecord& one : warps_) one.source.resize(code_.slots.size());
    }
    void finish() {
        auto& block = traces_.blocks.emplace_back();
        for (WarpRecord& one : warps_) {
            if (one.is_kept) flush(one);
            traces_.events += one.kept.events.size();
            block.push_back(std::move(one.kept));
        }
        if (is_whole_ && kept_events_ < all_events_)
            traces_.kept_share = kept_events_ / all_events_;
    }

    void keep() override {}
    void drop() override {}
    void resume(std::uint32_t warp) override {
        now_ = &warps_[warp];
        visited_.resume(warp);
    }
    bool follows_steps() const override { return true; }
    bool step(std::uint32_t at) override {
        WarpRecord& warp = *now_;
        const double events =
            is_access(code_.instructions[at].opcode) || flow_.ends_block(at) ? 1 : 0;
        all_events_ += events;
        if (!warp.is_kept) return is_whole_;
        if (!warp.rounds.step(code_, warp.last_instruction, at, events, share_)) {
            if (warp.ended_round) flush(warp);
            warp.last_instruction = at;
            return true;
        }
        kept_events_ += events;
        const std::uint32_t begin =
            warp.last_instruction == ~0u ? 0 : flow_.begin_of(warp.last_instruction, at);
        if (warp.last_instruction != ~0u && begin > warp.last_instruction + 1)
            pass_skipped(warp, warp.last_instruction, begin);
        const bool goes_on =
            warp.ended_round && begin == code_.instructions[warp.last_instruction].target;
        if (warp.ended_round && !goes_on) flush(warp);
        warp.ended_round = false;
        for (std::uint32_t i = begin; i <= at; ++i) {
            if (flow_.is_target(i) && !(goes_on && i == begin)) flush(warp);
            pass(warp, i);
            if (!flow_.ends_block(i)) continue;
            warp.ended_round = joins_next_round(warp, i);
            if (!warp.ended_round) flush(warp);
        }
        warp.last_instruction = at;
        return true;
    }
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth&,
              const BlockBox&) override {
        if (now_->block.empty()) return;
        TraceEvent& event = now_->block.back();
        event.site = site;
        const SiteMend mend = mend_of(site);
        if (space == Space::shared) {
            event.unit = TraceUnit::shared;
            const bool is_mended = mend.kind == SiteMend::Kind::adjacent;
            const std::uint64_t passes =
                site < code_.machine_widths.size() && code_.machine_widths[site].passes
                    ? passes_as_compiled(site, is_mended)
                : is_mended                     ? shared_.count(access).ideal_wavefronts
                : is_load_or_store(access.kind) ? shared_.count(access).wavefronts
                                                : passes_of_atomic(site, access);
            event.passes.data = static_cast<std::uint16_t>(event.passes.data + passes);
            return;
        }
        if (space == Space::local) {  // nearly always hits L1
            event.unit = TraceUnit::shared;
            event.passes.data =
                static_cast<std::uint16_t>(event.passes.data + access.width_bytes / 4);
            return;
        }
        if (mend.kind == SiteMend::Kind::in_register &&
            visited_.visit(access) == VisitedPlaces::Before::since_barrier) {
            event.unit = TraceUnit::none;
            return;
        }
        event.goes_past_l1 = goes_past_l1_[site];
        if (event.lines == 0) event.first_line = static_cast<std::uint32_t>(traces_.lines.size());
        add_lines(event, mended(access, mend));
    }

 private:
    SiteMend mend_of(std::uint32_t site) const {
        return site < mends_.size() ? mends_[site] : SiteMend{};
    }
    WarpAccess mended(const WarpAccess& access, const SiteMend& mend) {
        if (mend.kind == SiteMend::Kind::adjacent) return order_.relaid(access, now_->shifts);
        WarpAccess moved = access;
        if (mend.kind == SiteMend::Kind::padded)
            for (std::uint64_t& address : moved.addresses)
                address += address / mend.row_bytes * mend.pad_bytes;
        return moved;
    }
    void add_lines(TraceEvent& event, const WarpAccess& access) {
        const LinesOfWarp lines(access);
        traces_.lines.insert(traces_.lines.end(), lines.begin(), lines.end());
        event.lines += lines.size();
        const L1Passes more = passes_of_lines(coalescer_, access, lines.size());
        event.passes = {static_cast<std::uint16_t>(event.passes.tags + more.tags),
                        static_cast<std::uint16_t>(event.passes.data + more.data),
                        static_cast<std::uint16_t>(event.passes.packets + more.packets)};
        now_->lines += lines.size();
    }
    // Some instructions of the PTX have none, as a wider one has theirs.
    std::uint64_t passes_as_compiled(std::uint32_t site, bool is_mended) {
        const MachineWidths& of = code_.machine_widths[site];
        double& owed = owed_passes_[site];
        owed += is_mended ? of.ideal_passes : *of.passes;
        const auto passes = static_cast<std::uint64_t>(owed);
        owed -= static_cast<double>(passes);
        return passes;
    }
    // Where passes are not known a loop of compares and swaps is as long as its first round.
    std::uint64_t passes_of_atomic(std::uint32_t site, WarpAccess access) const {
        const SharedAtomic sort = atomics_[site];
        if (sort != SharedAtomic::unknown) return count_shared_atomic(access, sort).wavefronts;
        access.width_bytes = 4;
        return count_shared_atomic(access, SharedAtomic::twice).wavefronts;
    }
    void pass(WarpRecord& warp, std::uint32_t at) {
        const PtxInstruction& one = code_.instructions[at];
        warp.cost.add(costs_[at]);
        std::uint32_t waits = one.guard == no_slot ? 0 : warp.source[one.guard];
        for (const Slot slot : one.inputs)
            if (slot != no_slot) waits = later(warp, waits, warp.source[slot]);
        std::uint32_t result = waits;
        if (is_access(one.opcode) && one.site != ~0u) {
            result = add_event(warp, one, waits);
        } else if (one.opcode == Opcode::barrier) {
            flush(warp);
            add(warp, {.unit = TraceUnit::barrier}, 0);
            return;
        } else {
            if (waits_for_copies_[at]) waits = warp.last_copy;
            warp.consumed = later(warp, warp.consumed, waits);
        }
        for (const Slot slot : one.results) {
            if (slot == no_slot) continue;
            warp.source[slot] = result;
            move_base(warp, one, slot);
        }
    }
    // ptxas unrolls a counted loop of one basic block four times, nvcc's four rounds to 16, and
    // moves as many loads together as registers have room for: 32 for each thread let 2,048 be
    // resident, and some hold addresses (docs/measurements/h200/hoisted.txt).
    bool joins_next_round(WarpRecord& warp, std::uint32_t branch) const {
        constexpr std::uint32_t most_rounds = 4, most_words = 20;
        if (!flow_.is_round(branch) || ++warp.joined == most_rounds) return false;
        return warp.loaded_words + warp.loaded_words / warp.joined <= most_words;
    }
    // A base that is moved by a constant stays known.
    void move_base(WarpRecord& warp, const PtxInstruction& one, Slot base) const {
        for (PendingStore& store : warp.stores) {
            if (store.base != base) continue;
            const auto step = is_step(code_, one)
                                  ? static_cast<std::int64_t>(code_.slots[one.inputs[1]].value)
                                  : 0;
            if (step == 0 || !PendingStore::is_near(step)) {
                store.base = no_slot;
                continue;
            }
            store.begin -= step;
            store.end -= step;
            if (!PendingStore::is_near(store.begin)) store.base = no_slot;
        }
    }
    // Stores that a short branch skips are guarded instructions: they issue when their guard is
    // known, and loads that may be from their place stay after them.
    void pass_skipped(WarpRecord& warp, std::uint32_t branch, std::uint32_t target) {
        const PtxInstruction& one = code_.instructions[branch];
        if (one.opcode != Opcode::branch || one.guard == no_slot || flow_.ends_block(branch) ||
            target > branch + CodeFlow::shortest_block)
            return;
        const auto is_store = [&](std::uint32_t i) {
            const PtxInstruction& skipped = code_.instructions[i];
            return is_access(skipped.opcode) && skipped.site != ~0u &&
                   skipped.opcode != Opcode::load;
        };
        for (std::uint32_t i = branch + 1; i < target; ++i)
            if (is_store(i)) {
                const std::uint32_t waits = warp.source[one.guard];
                warp.store_stage =
                    std::max({stage_after(warp, waits), warp.load_stage, warp.store_stage});
                add(warp, {.waits_for = waits}, warp.store_stage);
                warp.after_stores = warp.after_earlier_stores = warp.store_stage;
                return;
            }
    }
    // Which of two events is issued later.
    static std::uint32_t later(const WarpRecord& warp, std::uint32_t a, std::uint32_t b) {
        return std::pair(stage_after(warp, a), a) < std::pair(stage_after(warp, b), b) ? b : a;
    }
    static std::uint32_t stage_after(const WarpRecord& warp, std::uint32_t waits) {
        return waits > warp.first_of_block ? warp.stage[waits - 1 - warp.first_of_block] + 1 : 0;
    }
    // 1 + its number.
    std::uint32_t add_event(WarpRecord& warp, const PtxInstruction& one, std::uint32_t waits) {
        const bool is_shared = one.state == PtxState::shared || one.state == PtxState::local;
        TraceEvent event{.unit = is_shared                     ? TraceUnit::shared
                                 : one.opcode == Opcode::load  ? TraceUnit::load
                                 : one.opcode == Opcode::store ? TraceUnit::store
                                 : code_.sites[one.site].kind == AccessKind::reduce
                                     ? TraceUnit::reduce
                                     : TraceUnit::atomic,
                         .site = one.site,
                         .waits_for = waits};
        std::uint32_t stage = stage_after(warp, waits);
        // Loads stay after stores that may be to their place, and after loads of before other
        // stores; stores stay after loads.
        if (mend_of(one.site).kind == SiteMend::Kind::in_register) {
            warp.together = ~0u;  // it will not be there, and the rest is compiled anew
        } else if (one.opcode == Opcode::load) {
            std::uint32_t after = 0;
            for (const PendingStore& store : warp.stores)
                if (store.may_be_at(one)) after = std::max(after, store.stage);
            warp.after_stores = std::max(warp.after_stores, after);
            stage = std::max({stage, after, warp.after_earlier_stores});
            warp.loaded_words += (one.width_bytes + 3) / 4;
            warp.load_stage = std::max(warp.load_stage, stage);
        } else {
            stage = std::max({stage, warp.load_stage, warp.store_stage});
            warp.store_stage = stage;
            warp.after_earlier_stores = warp.after_stores;
            const bool is_known = !one.is_copy && PendingStore::is_near(one.offset);
            warp.stores.push_back({.state = one.state,
                                   .base = is_known ? one.inputs[0] : no_slot,
                                   .begin = is_known ? one.offset : 0,
                                   .end = is_known ? one.offset + one.width_bytes : 0,
                                   .stage = stage,
                                   .is_atomic = one.opcode == Opcode::atomic});
        }
        const std::uint32_t number = add(warp, event, stage);
        if (one.opcode == Opcode::load && !one.is_copy) {
            warp.words.back() = (one.width_bytes + 3) / 4;
            const auto at = static_cast<std::size_t>(&one - code_.instructions.data());
            if (!code_.machine_loads.empty())
                warp.together = std::max(warp.together, code_.machine_loads[at]);
        }
        if (one.is_copy) warp.last_copy = number;
        return number;
    }
    static std::uint32_t add(WarpRecord& warp, TraceEvent event, std::uint32_t stage) {
        event.number = warp.next_number++;
        event.part = warp.rounds.part();
        warp.block.push_back(event);
        warp.stage.push_back(stage);
        warp.words.push_back(0);
        return event.number + 1;
    }
    // A basic block ends: its accesses in the order of their stages, the instructions issued
    // between them, and the results that its other instructions wait for.
    void flush(WarpRecord& warp) {
        add(warp, {.waits_for = warp.consumed}, ~0u);
        const auto count = static_cast<std::uint32_t>(warp.block.size());
        std::vector<std::uint32_t> order(count);
        for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
        std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(warp.stage[a], a) < std::pair(warp.stage[b], b);
        });
        const IssueCost each = warp.cost.times(1.0f / static_cast<float>(count));
        LoadsInFlight loads(warp.together);
        for (const std::uint32_t i : order) {
            warp.kept.events.push_back(warp.block[i]);
            TraceEvent& event = warp.kept.events.back();
            event.cost = each;
            if (const std::uint32_t first = loads.add(event.number, warp.words[i]); first != 0)
                event.waits_for = later(warp, event.waits_for, first);
        }
        warp.words.clear();
        warp.together = 0;
        warp.block.clear();
        warp.stage.clear();
        warp.cost = {};
        warp.consumed = 0;
        warp.first_of_block = warp.next_number;
        warp.store_stage = warp.load_stage = 0;
        warp.after_stores = warp.after_earlier_stores = 0;
        warp.stores.clear();
        warp.joined = warp.loaded_words = 0;
        warp.ended_round = false;
        warp.is_kept = warp.kept.events.size() < events_of_warp_ && warp.lines < lines_of_warp_;
    }

    const Code& code_;
    const SiteMends& mends_;
    std::map<std::uint32_t, double> owed_passes_;  // by site
    WordOrder order_;
    VisitedPlaces visited_;  // by accesses that registers would hold
    CodeFlow flow_;
    std::vector<IssueCost> costs_;
    SharedMemory shared_;
    Coalescer coalescer_;
    std::vector<SharedAtomic> atomics_;
    double share_;
    std::size_t events_of_warp_, lines_of_warp_;
    std::vector<bool> waits_for_copies_;
    std::vector<bool> goes_past_l1_;
    std::vector<WarpRecord> warps_;
    WarpRecord* now_ = nullptr;
    BlockTraces traces_;
    bool is_whole_ = true;
    double all_events_ = 0, kept_events_ = 0;  // of the block, about
};

SharedAtomic sort_of_atomic(const Code& code, const PtxInstruction& one) {
    // "atom.shared.cas.b32"; generic ones are made for global memory, too.
    if (one.state != PtxState::shared || one.type.is_real() || one.type.kind == 'h')
        return SharedAtomic::unknown;
    if (one.variant == 'c') return SharedAtomic::twice;
    const SlotInfo& added = code.slots[one.inputs[1]];
    const bool is_increment =
        one.variant == '+' && added.kind == SlotKind::constant && added.value == 1;
    return is_increment && code.sites[one.site].kind == AccessKind::reduce ? SharedAtomic::by_word
                                                                           : SharedAtomic::by_lane;
}

BlockBox box_of(const KernelLaunch& launch, std::uint64_t number) {
    BlockBox box;
    for (std::size_t d = 0; d < 3; ++d) {
        box.first[d] = static_cast<std::uint32_t>(number % launch.grid[d]);
        number /= launch.grid[d];
    }
    return box;
}

}  // namespace

// Measured on GH100 alone.
std::vector<SharedAtomic> sorts_of_atomics(const Code& code, const Machine& machine) {
    std::vector<SharedAtomic> sorts(code.sites.size(), SharedAtomic::unknown);
    if (machine.rules->cc.major != 9) return sorts;
    for (const PtxInstruction& one : code.instructions)
        if (one.opcode == Opcode::atomic && one.site != ~0u)
            sorts[one.site] = sort_of_atomic(code, one);
    return sorts;
}

BlockTraces trace_blocks(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                         const Machine& machine, const std::vector<std::uint64_t>& blocks,
                         const SiteMends& mends, double share) {
    // Their stores are discarded: no other blocks have run before them either.
    LaunchMemory own;
    for (const LaunchArray& array : memory.arrays()) own.add(array);
    const StepCode steps(code);
    const ExecutionLimits limits;
    StepBudget budget(~std::uint64_t{0});
    Executor executor(steps, launch, own, limits, budget);
    const std::uint32_t warps = (launch.threads() + warp_lanes - 1) / warp_lanes;
    BlockRecorder recorder(code, machine, warps * blocks.size(), mends, share);
    ExecutionNotes notes;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        // Blocks that leave at once say nothing of those of which only a part is kept.
        recorder.begin_block(warps, i >= blocks.size() / 2 && recorder.traces().kept_share == 1);
        executor.run(box_of(launch, blocks[i]), recorder, notes);
        recorder.finish();
    }
    return std::move(recorder.traces());
}

std::vector<double> sectors_of_sites(const BlockTraces& traces, std::size_t sites) {
    std::vector<double> sectors(sites);
    for (const auto& block : traces.blocks)
        for (const WarpEvents& warp : block)
            for (const TraceEvent& event : warp.events)
                for (std::uint32_t i = 0; i < event.lines; ++i)
                    sectors[event.site] += sector_count(traces.lines[event.first_line + i].sectors);
    return sectors;
}

}  // namespace coalprof
