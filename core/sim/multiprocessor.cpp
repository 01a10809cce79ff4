#include "core/sim/multiprocessor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <queue>
#include <span>

#include "core/sim/line_table.h"
#include "core/sim/random.h"

namespace coalprof {
namespace {

// A unit that serves one item after the other.
struct Server {
    double free = 0;
    double busy = 0;
    // The end of an item that arrives at `at` and takes `cycles`.
    double serve(double at, double cycles) {
        free = std::max(free, at) + cycles;
        busy += cycles;
        return free;
    }
};

// Lines of L1; each sector with the time at which it is there. A random line is evicted: where the
// least recent one was, a working set a little larger than L1 hit nothing, but an H100's hits fall
// slowly.
class L1Tags {
 public:
    // `share`: of the accesses between two parts of a warp's rounds.
    L1Tags(std::uint32_t lines, double share) : most_(std::max(lines, 4u)), share_(share) {}
    struct Line {
        std::uint64_t line = 0;
        std::uint32_t part = 0;
        std::uint64_t before = 0;  // lines that came before its last use
        std::uint8_t present = 0;
        std::uint8_t leaving = 0;  // of these
        std::array<double, 4> since{};
        double until = 0;  // when its loads have returned
    };
    Line& find(std::uint64_t line, std::uint32_t part) {
        const std::uint32_t* const found = places_.find(line);
        Line& one = lines_[found ? *found : place_for(line)];
        if (found && one.part != part && is_evicted_between(one)) {
            one.present = 0;
            ++filled_;
        }
        one.part = part;
        one.before = filled_;
        return one;
    }

    // A load of it returns then.
    void hold(std::uint64_t line, double until) {
        if (const std::uint32_t* const found = places_.find(line))
            lines_[*found].until = std::max(lines_[*found].until, until);
    }
    // A store of less than a sector takes a line out of L1 whose loads have yet to return
    // (docs/measurements/h200/met_lines.txt).
    void store_part(std::uint64_t line, double now) {
        const std::uint32_t* const found = places_.find(line);
        if (!found || lines_[*found].until <= now) return;
        lines_[*found].leaving = lines_[*found].present;
        drop_leaving(lines_[*found], now);
    }
    // Sectors that are on their way when they are stored to are there until they have come.
    static void drop_leaving(Line& one, double now) {
        for (std::uint32_t sector = 0; sector < 4 && one.leaving != 0; ++sector)
            if (const std::uint32_t bit = 1u << sector; one.since[sector] <= now) {
                one.present = static_cast<std::uint8_t>(one.present & ~(one.leaving & bit));
                one.leaving = static_cast<std::uint8_t>(one.leaving & ~bit);
            }
    }

 private:
    // Lines that came with the rounds that are left out evict as those that are kept do.
    bool is_evicted_between(const Line& one) {
        const auto came = static_cast<double>(filled_ - one.before);
        return random_.share() > std::exp(came * (1 - 1 / share_) / most_);
    }
    std::uint32_t place_for(std::uint64_t line) {
        ++filled_;
        auto at = static_cast<std::uint32_t>(lines_.size());
        if (at < most_) {
            lines_.emplace_back();
        } else {
            at = static_cast<std::uint32_t>(random_.share() * most_);
            places_.erase(lines_[at].line);
        }
        places_.insert(line, at);
        lines_[at] = {.line = line};
        return at;
    }
    std::uint32_t most_;
    double share_;
    std::uint64_t filled_ = 0;
    LineTable places_;
    std::vector<Line> lines_;
    Random random_;
};

// Requests on their way to L2, one for each line. The one that no other has joined for the longest
// time leaves next (gathered.txt).
class OpenRequests {
 public:
    struct One {
        std::uint64_t line = 0;
        std::uint8_t sectors = 0;
    };
    // Null: none has yet to leave.
    One* find(std::uint64_t line, double now) {
        for (; !leaving_.empty() && leaving_.front() < now; leave()) {
        }
        const auto found = std::ranges::find(open_, line, &One::line);
        if (found == open_.end()) return nullptr;
        std::rotate(found, found + 1, open_.end());
        return &open_.back();
    }
    // When fewer than `most` have yet to leave; not before `now`.
    double place(std::size_t most, double now) {
        for (; open_.size() >= most; leave()) now = std::max(now, leaving_.front());
        return now;
    }
    void open(std::uint64_t line, std::uint8_t sectors, double leaves) {
        open_.push_back({line, sectors});
        leaving_.push_back(leaves);
    }

 private:
    void leave() {
        open_.erase(open_.begin());
        leaving_.erase(leaving_.begin());
    }
    std::vector<One> open_;        // the last one joined is the last
    std::vector<double> leaving_;  // when one of them does
};

struct RunningWarp {
    const WarpEvents* events = nullptr;
    std::size_t next = 0;
    std::uint32_t block = 0;
    std::uint32_t scheduler = 0;
    double last_return = 0;  // loads return in order: who waits for one waits for those before it
    double ready = 0;        // since it waits for no load and no barrier
    double asked = 0;        // when it issued its access
    struct Return {
        double at = 0;
        std::uint32_t site = 0;
        bool is_loaded = false;  // warps wait for it
    };
    std::vector<Return> back = {};  // by number of event
};
struct RunningBlock {
    std::uint32_t warps = 0;    // that have not ended
    std::uint32_t arrived = 0;  // at the barrier
    double latest = 0;
    std::vector<std::uint32_t> waiting = {};
};

class MultiprocessorRun {
 public:
    MultiprocessorRun(const BlockTraces& traces, const MultiprocessorRates& rates,
                      const std::vector<SiteTraffic>& traffic)
        : traces_(traces),
          rates_(rates),
          traffic_(traffic),
          tags_(rates.l1_lines, traces.kept_share) {
        for (const double one : rates.store_crowds) most_crowd_ = std::max(most_crowd_, one);
        stores_parts_ = std::ranges::any_of(traces.blocks, [&](const auto& block) {
            return std::ranges::any_of(block,
                                       [&](const WarpEvents& warp) { return stores_parts(warp); });
        });
        owed_.resize(traffic.size());
        result_.load_sectors.resize(traffic.size());
        result_.hit_sectors.resize(traffic.size());
        result_.cycles_of_site.resize(traffic.size());
        for (auto* const counts : {&result_.read_requests, &result_.write_requests,
                                   &result_.write_sectors, &result_.stored_lines})
            counts->resize(traffic.size());
    }
    SimResult run() {
        for (std::uint32_t i = 0; i < rates_.resident_blocks; ++i) start_block(0);
        while (!queue_.empty()) {
            const auto [time, warp] = queue_.top();
            queue_.pop();
            if (warp == memory_unit)
                take_waiting(time);
            else
                go_on(warp, time);
        }
        // Includes stores that are still in flight.
        result_.cycles = std::max({result_.cycles, l2_.free, dram_.free});
        set_busy();
        return std::move(result_);
    }

 private:
    using Entry = std::pair<double, std::uint32_t>;

    bool stores_parts(const WarpEvents& warp) const {
        return std::ranges::any_of(warp.events, [&](const TraceEvent& event) {
            const auto lines = std::span(traces_.lines).subspan(event.first_line, event.lines);
            return event.unit == TraceUnit::store &&
                   std::ranges::any_of(
                       lines, [](const LineTouch& one) { return one.whole != one.sectors; });
        });
    }
    void start_block(double now) {
        if (next_block_ == traces_.blocks.size()) return;
        const auto& block = traces_.blocks[next_block_++];
        // Those that start with the launch fetch its instructions and constants.
        const double at = starts_.serve(now, rates_.block_start) +
                          (now > 0 ? rates_.block_latency : rates_.first_block_latency);
        const auto number = static_cast<std::uint32_t>(blocks_.size());
        blocks_.push_back({.warps = static_cast<std::uint32_t>(block.size())});
        for (std::size_t i = 0; i < block.size(); ++i) {
            const auto warp = static_cast<std::uint32_t>(warps_.size());
            const double ready = at + warp % 4 * rates_.between_schedulers;
            warps_.push_back(
                {.events = &block[i], .block = number, .scheduler = warp % 4, .ready = ready});
            queue_.emplace(ready, warp);
        }
    }
    void go_on(std::uint32_t number, double now) {
        RunningWarp& warp = warps_[number];
        if (warp.next == warp.events->events.size()) return end_warp(warp, now);
        const TraceEvent& event = warp.events->events[warp.next];
        if (event.waits_for != 0 && event.waits_for <= warp.back.size())
            if (const double there = warp.back[event.waits_for - 1].at; there > now + 0.5) {
                warp.ready = there;
                count_wait(warp, event.waits_for - 1, now);
                queue_.emplace(there, number);
                return;
            }
        const bool is_access = event.unit != TraceUnit::none && event.unit != TraceUnit::barrier;
        const double issued = warp.asked = issue(warp, event.cost, now);
        if (event.unit == TraceUnit::barrier) {
            ++warp.next;
            return arrive(warp.block, number, issued);
        }
        const bool waits = waiting_warps_ > 0;
        if (is_access && (waits || unit_free(event) > issued + 0.5)) {
            if (!waits) queue_.emplace(std::max(issued, unit_free(event)), memory_unit);
            waiting_[warp.scheduler].emplace(warp.ready, number);
            ++waiting_warps_;
            return;
        }
        finish(number, event, issued);
    }
    // Whatever is still in flight delays it, as loads return in order: each has an equal share.
    void count_wait(const RunningWarp& warp, std::uint32_t last, double now) {
        constexpr std::uint32_t most_seen = 64;
        std::vector<std::uint32_t>& sites = waited_for_;
        sites.clear();
        for (std::uint32_t i = last + 1; i-- > 0 && last - i < most_seen;) {
            const RunningWarp::Return& one = warp.back[i];
            if (one.is_loaded && one.at <= now) break;
            if (one.is_loaded) sites.push_back(one.site);
        }
        const double share = (warp.back[last].at - now) / static_cast<double>(sites.size());
        for (const std::uint32_t site : sites) result_.cycles_of_site[site].waits += share;
    }
    // The memory unit serves the warp that was ready first, until it waits for what it loaded, so
    // that its loads of one loop round stay together. An H100 has it like this: of sparse matrices,
    // a thread for each row, it hits about the sectors that a round shares
    // (docs/measurements/h100/rows.txt). With the oldest warp always first 30 % fewer sectors
    // missed; with all accesses in their order nearly all did.
    // Stores come from the four schedulers in turn.
    void take_waiting(double now) {
        const std::uint32_t from = next_scheduler();
        const std::uint32_t number = waiting_[from].top().second;
        if (const double free = unit_free(event_of(number)); free > now + 0.5) {
            queue_.emplace(free, memory_unit);
            return;
        }
        if (event_of(number).unit == TraceUnit::store) stored_by_ = from;
        waiting_[from].pop();
        --waiting_warps_;
        finish(number, event_of(number), now);
        if (waiting_warps_ > 0)
            queue_.emplace(
                std::max(now, unit_free(event_of(waiting_[next_scheduler()].top().second))),
                memory_unit);
    }
    // Of those for which a warp waits.
    std::uint32_t next_scheduler() const {
        std::uint32_t oldest = 4;
        for (std::uint32_t i = 0; i < 4; ++i)
            if (!waiting_[i].empty() && (oldest == 4 || waiting_[i].top() < waiting_[oldest].top()))
                oldest = i;
        const auto stores = [&](std::uint32_t i) {
            return !waiting_[i].empty() &&
                   event_of(waiting_[i].top().second).unit == TraceUnit::store;
        };
        if (!stores(oldest)) return oldest;
        std::uint32_t next = stored_by_;
        do next = (next + 1) % 4;
        while (!stores(next));
        return next;
    }
    const TraceEvent& event_of(std::uint32_t warp) const {
        return warps_[warp].events->events[warps_[warp].next];
    }
    // It takes an access while few are queued for L1, a load also while few are for L2.
    double unit_free(const TraceEvent& event) const {
        const double l1 = std::max(tag_stage_.free, data_stage_.free) - rates_.l1_queue;
        const double l2 = event.unit == TraceUnit::store ? stored_ : l2_.free - l2_queue();
        return std::max(l1, l2);
    }
    // Few slices take longer for a queue of as many requests.
    double l2_queue() const { return rates_.l2_queue * (met_loads_ > 0 ? most_crowd_ : 1); }
    void finish(std::uint32_t number, const TraceEvent& event, double issued) {
        RunningWarp& warp = warps_[number];
        ++warp.next;
        double back = issued;
        double going_on = issued;
        const double tags = tag_stage_.busy, data = data_stage_.busy, l2 = l2_.busy,
                     dram = dram_.busy;
        access(event, warp.asked, issued, back, going_on);
        if (event.unit != TraceUnit::none) {
            SiteCycles& cycles = result_.cycles_of_site[event.site];
            cycles.l1 += tag_stage_.busy - tags;
            cycles.l1_data += data_stage_.busy - data;
            cycles.l2 += l2_.busy - l2;
            cycles.dram += dram_.busy - dram;
        }
        if (event.unit == TraceUnit::load || event.unit == TraceUnit::atomic)
            back = warp.last_return = std::max(back, warp.last_return);
        if (warp.back.size() <= event.number) warp.back.resize(event.number + 1);
        const bool is_loaded = event.unit == TraceUnit::load || event.unit == TraceUnit::atomic ||
                               event.unit == TraceUnit::shared;
        warp.back[event.number] = {back, event.site, is_loaded};
        queue_.emplace(going_on, number);
    }
    double issue(const RunningWarp& warp, const IssueCost& cost, double now) {
        auto& units = schedulers_[warp.scheduler];
        const double begin = std::max(now, units[0].free);
        units[0].serve(now, static_cast<double>(cost.issued));
        double end =
            begin + (cost.elapsed > 0 ? static_cast<double>(cost.elapsed)
                                      : static_cast<double>(cost.issued) * rates_.dependent_issue);
        const std::array<double, 3> others{static_cast<double>(cost.integer),
                                           static_cast<double>(cost.special),
                                           static_cast<double>(cost.doubles)};
        for (std::size_t i = 0; i < others.size(); ++i)
            if (others[i] > 0) end = std::max(end, units[i + 1].serve(begin, others[i]));
        return end;
    }
    void arrive(std::uint32_t number, std::uint32_t warp, double now) {
        RunningBlock& block = blocks_[number];
        block.waiting.push_back(warp);
        block.latest = std::max(block.latest, now);
        release(block);
    }
    void release(RunningBlock& block) {
        if (block.waiting.empty() || block.waiting.size() < block.warps) return;
        double ready = block.latest + barrier_latency;
        for (const std::uint32_t one : block.waiting) {
            warps_[one].ready = ready += barrier_turn;
            queue_.emplace(warps_[one].ready, one);
        }
        block.waiting.clear();
        block.latest = 0;
    }
    void end_warp(RunningWarp& warp, double now) {
        warp.back = {};
        RunningBlock& block = blocks_[warp.block];
        --block.warps;
        if (block.warps != 0) return release(block);
        result_.ends.push_back({now, l2_.busy});
        result_.cycles = std::max(result_.cycles, now);
        start_block(now);
    }

    // `back`: when the loaded value is there; `going_on`: when the warp can issue again.
    void access(const TraceEvent& event, double asked, double now, double& back, double& going_on) {
        switch (event.unit) {
            case TraceUnit::shared:
                going_on = now;
                back = data_stage_.serve(now, event.passes.data * rates_.shared_pass) +
                       rates_.shared_latency;
                return;
            case TraceUnit::load: back = load(event, now); return;
            case TraceUnit::store:
            case TraceUnit::atomic:
            case TraceUnit::reduce: back = write(event, asked, now); return;
            default: return;
        }
    }
    double look_up(const TraceEvent& event, double now) {
        return std::max(tag_stage_.serve(now, event.passes.tags * rates_.l1_pass),
                        data_stage_.serve(now, event.passes.data * rates_.l1_pass));
    }
    double load(const TraceEvent& event, double now) {
        const double looked_up = look_up(event, now);
        double back = now;
        for (std::uint32_t i = 0; i < event.lines; ++i) {
            const LineTouch& touched = traces_.lines[event.first_line + i];
            back = std::max(back, load_line(event, touched, looked_up));
        }
        if (stores_parts_ && !event.goes_past_l1)
            for (std::uint32_t i = 0; i < event.lines; ++i)
                tags_.hold(traces_.lines[event.first_line + i].line, back);
        return back;
    }
    double load_line(const TraceEvent& event, const LineTouch& touched, double now) {
        const auto sectors = sector_count(touched.sectors);
        result_.load_sectors[event.site] += sectors;
        owed_[event.site].read_bytes += sectors * traffic_[event.site].read_bytes;
        if (event.goes_past_l1) return fetch(event.site, touched, now);
        L1Tags::Line& line = tags_.find(touched.line, event.part);
        L1Tags::drop_leaving(line, now);
        const auto hit = static_cast<std::uint8_t>(touched.sectors & line.present);
        const auto missing = static_cast<std::uint8_t>(touched.sectors & ~line.present);
        result_.hit_sectors[event.site] += sector_count(hit);
        double back = now + rates_.l1_latency;
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if ((hit >> sector & 1) != 0) back = std::max(back, line.since[sector]);
        if (missing == 0) return back;
        line.present |= missing;
        const double there = fetch(event.site, {.line = touched.line, .sectors = missing}, now);
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if ((missing >> sector & 1) != 0) line.since[sector] = there;
        return std::max(back, there);
    }
    // A line that comes back passes the tags again (docs/measurements/h100/products.txt).
    double fetch(std::uint32_t site, const LineTouch& missing, double now) {
        tag_stage_.serve(now, rates_.l1_pass);
        const bool joins = loads_.find(missing.line, now) != nullptr;
        const int sectors = sector_count(missing.sectors);
        if (!joins) {
            loads_.place(places, now);
            loads_.open(missing.line, 0, now + rates_.join_cycles);
            result_.read_requests[site] += 1;
            l2_.serve(now, cycles_of_turn(missing, now));
        }
        const double through =
            l2_.serve(now, std::max(joins ? 0 : rates_.read_request, sectors * rates_.sector));
        double& owed = owed_[site].read_bytes;
        if (owed < 16) return through + rates_.l2_latency;
        const double there =
            dram_.serve(through, owed * rates_.dram_byte * traffic_[site].read_times);
        owed = 0;
        return there + rates_.l2_latency + rates_.dram_latency + crowd(through);
    }
    // A load keeps its slice busy for longer if it comes soon after a store to its sector.
    double cycles_of_turn(const LineTouch& load, double now) {
        const std::uint32_t* const found = met_lines_.find(load.line);
        if (!found || now <= 0) return 0;
        const MetLine& met = met_[*found];
        met_loads_ += 1;
        const double turn = crowd_of(met.site) * rates_.slice_turn;
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if ((load.sectors >> sector & 1) != 0 && now < met.stored[sector] + rates_.turn_window)
                return turn;
        const double both = met_loads_ + met_stores_;
        const double of_line = both / now * rates_.sharers / rates_.stored_lines[met.site];
        return turn * met_stores_ / both * (1 - std::exp(-of_line * rates_.turn_window));
    }
    // A load waits for those of others in its channel, and for longer where the channel turns to
    // lines that are written back: docs/measurements/h200/busy_memory.txt.
    double crowd(double now) const {
        constexpr double busiest = 0.95, settled = 2000;
        const double share = std::min(busiest, dram_.busy / (now + settled));
        const double written = dram_.busy > 0 ? written_cycles_ / dram_.busy : 0;
        return (rates_.crowd + rates_.write_crowd * std::sqrt(written)) * share /
               std::sqrt(1 - share);
    }
    // Stores that meet in few slices, and no loads do. Requests are sent while a slice has few of
    // this multiprocessor's, and L1's banks have nothing else to do; then they wait, and others
    // join: docs/measurements/h200/few_lines.txt.
    bool meet(std::uint32_t site) const { return met_loads_ == 0 && crowd_of(site) > crowded; }
    double sent_before(const TraceEvent& event, double now) const {
        return meet(event.site) ? idle_ : std::max(now, stored_);
    }
    bool joins(const TraceEvent& event, const LineTouch& touched, double now) {
        OpenRequests::One* const other = stores_.find(touched.line, now);
        if (!other) return false;
        const int more = sector_count(touched.sectors & ~other->sectors);
        other->sectors |= touched.sectors;
        l2_.serve(now, more * rates_.sector);
        result_.write_sectors[event.site] += more;
        return true;
    }
    double crowd_of(std::uint32_t site) const {
        return site < rates_.store_crowds.size() ? rates_.store_crowds[site] : 1;
    }
    double store_cycles(std::uint32_t site, const LineTouch& touched) const {
        const int sectors = sector_count(touched.sectors);
        // A slice takes 1.42e9 sectors a second, and 5.5e8 requests (gathered.txt).
        constexpr double least_sectors = 2.6;
        const double crowd = crowd_of(site);
        if (crowd > crowded)
            return crowd * rates_.slice_sector *
                   std::max(least_sectors, static_cast<double>(sectors));
        return crowd * std::max(rates_.write_request, sectors * rates_.write_sector);
    }
    // Remembers lines that are stored to, by when.
    void note_stored(std::uint32_t site, const LineTouch& stored, double now) {
        constexpr double most = 1e6;
        const double lines = site < rates_.stored_lines.size() ? rates_.stored_lines[site] : 0;
        if (lines == 0 || lines > most) return;
        met_stores_ += 1;
        const std::uint32_t* const found = met_lines_.find(stored.line);
        const auto at = found ? *found : static_cast<std::uint32_t>(met_.size());
        if (!found) {
            met_lines_.insert(stored.line, at);
            met_.push_back({.site = site});
            met_.back().stored.fill(-rates_.turn_window);
        }
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if ((stored.sectors >> sector & 1) != 0) met_[at].stored[sector] = now;
    }
    // When a request that L2 takes at `through` leaves L1.
    double sent(std::uint32_t site, double through) {
        if (!meet(site)) return through;
        constexpr double of_slice = 60;
        const auto most = static_cast<std::size_t>(of_slice * rates_.slices / crowd_of(site));
        taken_.push_back(through);
        return taken_.size() > most ? taken_[taken_.size() - 1 - most] : 0;
    }
    // A request waits until it is sent, or some cycles. Until then others to its line join.
    double store_line(const TraceEvent& event, const LineTouch& touched, double now) {
        stored_ =
            std::max(stored_, stores_.place(touched.is_of_words ? places : places_of_bytes, now));
        const double through = l2_.serve(stored_, store_cycles(event.site, touched));
        note_stored(event.site, touched, through);
        stores_.open(touched.line, touched.sectors,
                     std::max(sent(event.site, through), stored_ + rates_.join_cycles));
        result_.write_requests[event.site] += 1;
        result_.write_sectors[event.site] += sector_count(touched.sectors);
        return through;
    }
    double write(const TraceEvent& event, double asked, double now) {
        if (data_stage_.free < now) idle_ = now;
        const double looked_up = look_up(event, now);
        const bool is_store = event.unit == TraceUnit::store;
        // Each packet's sector is computed; where the result is used it comes back.
        const double of_packet =
            rates_.reduction + (event.unit == TraceUnit::atomic ? rates_.sector : 0);
        double back = now;
        for (std::uint32_t i = 0; i < event.lines; ++i) {
            const LineTouch& touched = traces_.lines[event.first_line + i];
            if (is_store) {
                result_.stored_lines[event.site] += 1;
                if (touched.whole != touched.sectors) tags_.store_part(touched.line, asked);
            }
            if (is_store && joins(event, touched, sent_before(event, looked_up))) continue;
            const double through =
                is_store ? store_line(event, touched, looked_up)
                         : l2_.serve(looked_up, of_packet * event.passes.packets / event.lines);
            const int sectors = sector_count(touched.sectors);
            SiteTraffic& owed = owed_[event.site];
            const SiteTraffic& of_site = traffic_[event.site];
            owed.read_bytes += sectors * of_site.read_bytes;
            owed.write_bytes += sectors * of_site.write_bytes;
            back = std::max(back, through + rates_.l2_latency);
            if (owed.read_bytes < 32 && owed.write_bytes < 32) continue;
            const double written = owed.write_bytes * rates_.dram_write_byte * of_site.write_times;
            written_cycles_ += written;
            const double there = dram_.serve(
                through, owed.read_bytes * rates_.dram_byte * of_site.read_times + written);
            if (owed.read_bytes > 0 && !is_store)
                back = std::max(back,
                                there + rates_.l2_latency + rates_.dram_latency + crowd(through));
            owed = {};
        }
        return back;
    }
    void set_busy() {
        const auto busy = [&](SimUnit unit) -> double& {
            return result_.busy[static_cast<std::size_t>(unit)];
        };
        busy(SimUnit::blocks) = starts_.busy;
        for (const auto& units : schedulers_)
            for (std::size_t i = 0; i < units.size(); ++i)
                result_.busy[static_cast<std::size_t>(SimUnit::issue) + i] += units[i].busy / 4;
        busy(SimUnit::l1) = std::max(tag_stage_.busy, data_stage_.busy);
        if (data_stage_.busy >= tag_stage_.busy)
            for (SiteCycles& one : result_.cycles_of_site) one.l1 = one.l1_data;
        busy(SimUnit::l2) = l2_.busy;
        busy(SimUnit::dram) = dram_.busy;
    }

    const BlockTraces& traces_;
    MultiprocessorRates rates_;
    const std::vector<SiteTraffic>& traffic_;
    std::vector<SiteTraffic> owed_;  // to device memory
    L1Tags tags_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
    static constexpr std::uint32_t memory_unit = ~0u;
    // Warps of each scheduler that wait for it, by when they were ready.
    std::array<std::priority_queue<Entry, std::vector<Entry>, std::greater<>>, 4> waiting_;
    std::size_t waiting_warps_ = 0;
    std::uint32_t stored_by_ = 0;  // the scheduler whose warp stored last
    std::vector<RunningWarp> warps_;
    std::vector<RunningBlock> blocks_;
    std::size_t next_block_ = 0;
    std::array<std::array<Server, 4>, 4> schedulers_;
    Server starts_, tag_stage_, data_stage_, l2_, dram_;
    // Warps of a block go on from a barrier one after the other (docs/measurements/h200/issue.txt).
    static constexpr double barrier_turn = 2, barrier_latency = 14.5;
    double written_cycles_ = 0;  // of what dram_ was busy for
    // Lines with a request that waits (docs/measurements/h100/gathered.txt, of stores).
    static constexpr std::size_t places = 24, places_of_bytes = 8;
    OpenRequests loads_, stores_;
    struct MetLine {
        std::uint32_t site = 0;             // of the first store
        std::array<double, 4> stored = {};  // when the last store to the sector came to L2
    };
    std::vector<MetLine> met_;  // lines that are stored to
    LineTable met_lines_;       // their places there
    double met_loads_ = 0, met_stores_ = 0;
    std::vector<double> taken_;  // when L2 takes requests of stores that meet
    double idle_ = 0;            // when L1's banks last had nothing to do
    double most_crowd_ = 1;
    bool stores_parts_ = false;              // some store writes less than its sectors
    double stored_ = 0;                      // since stores have had a place for their requests
    std::vector<std::uint32_t> waited_for_;  // sites
    SimResult result_;
};

}  // namespace

SimResult simulate_multiprocessor(const BlockTraces& traces, const MultiprocessorRates& rates,
                                  const std::vector<SiteTraffic>& traffic) {
    return MultiprocessorRun(traces, rates, traffic).run();
}

}  // namespace coalprof
