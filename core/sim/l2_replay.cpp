#include "core/sim/l2_replay.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/sim/line_table.h"
#include "core/sim/lines_of_warp.h"
#include "core/sim/random.h"
#include "core/sim/sampled_lines.h"

namespace coalprof {
namespace {

// Time of device memory, and what is added to it where reads come between writes.
struct RowTime {
    double alone = 0;
    double turns = 0;
};

struct CachedLine {
    std::uint64_t line = 0;
    std::uint32_t site = 0;  // that stored last
    std::uint8_t present = 0;
    std::uint8_t dirty = 0;
    std::array<std::uint8_t, 4> written{};  // its bytes, until it is whole
    std::uint8_t at_once = 1;               // sectors of its row that one request stored to
    RowTime write_time = {};                // of its dirty sectors
};

void add_times(L2Traffic& to, const L2Traffic& more, double times) {
    to.read_bytes += more.read_bytes * times;
    to.dirty_bytes += more.dirty_bytes * times;
    to.write_bytes += more.write_bytes * times;
    for (std::size_t i = 0; i < to.read_bytes_of_site.size(); ++i) {
        to.read_bytes_of_site[i] += more.read_bytes_of_site[i] * times;
        to.write_bytes_of_site[i] += more.write_bytes_of_site[i] * times;
        to.read_time_of_site[i] += more.read_time_of_site[i] * times;
        to.write_time_of_site[i] += more.write_time_of_site[i] * times;
        to.turn_time_of_site[i] += more.turn_time_of_site[i] * times;
        to.sectors_of_site[i] += more.sectors_of_site[i] * times;
        for (std::size_t age = 0; age < Ages().size(); ++age)
            to.repeats_of_site[i][age] += more.repeats_of_site[i][age] * times;
    }
}

L2Traffic no_traffic(std::size_t sites) {
    const std::vector<double> none(sites);
    return {0, 0, 0, none, none, none, none, none, none, std::vector<Ages>(sites)};
}

// Rows of device memory that are read or written. Requests for a row share an activation while few
// others come between them; each line that is written among reads is a turn (`turn_bytes`).
class DramRows {
 public:
    DramRows(double row_bytes, double turn_bytes, double between_bytes)
        : row_bytes_(row_bytes), turn_bytes_(turn_bytes), between_bytes_(between_bytes) {
        for (std::size_t lines = 0; lines < times_.size(); ++lines)
            for (std::size_t sectors = 1; sectors < times_[lines].size(); ++sectors)
                times_[lines][sectors] = new_time(static_cast<double>(sectors * sector_bytes),
                                                  static_cast<double>(lines));
    }
    // The time of one sector, as bytes of a long run, if only this many share their row.
    RowTime time_of_sector(std::uint32_t sectors) const {
        const RowTime whole = whole_time(sectors, std::min<std::uint64_t>(sectors, dram_row_lines));
        return {whole.alone / sectors, whole.turns / sectors};
    }
    // The time that the row of this line takes more, with these bytes.
    RowTime time_of(std::uint64_t line, std::uint32_t sectors) {
        const std::uint64_t row = line / dram_row_lines;
        std::uint32_t* found = places_.find(row);
        if (!found) {
            places_.insert(row, static_cast<std::uint32_t>(rows_.size()));
            rows_.emplace_back();
            found = places_.find(row);
        }
        Row& one = rows_[*found];
        if (moved_ > one.last + between_bytes_) one = {};
        const RowTime before = whole_time(one.sectors, one.lines());
        one.sectors += sectors;
        one.touched |= 1u << line % dram_row_lines;
        moved_ += sectors * double{sector_bytes};
        one.last = moved_;
        const RowTime after = whole_time(one.sectors, one.lines());
        return {after.alone - before.alone, after.turns - before.turns};
    }

 private:
    struct Row {
        double last = 0;
        std::uint32_t sectors = 0;
        std::uint32_t touched = 0;  // lines
        std::uint64_t lines() const { return (touched & 1) + (touched >> 1 & 1); }
    };
    // Transfers wait for activations and activations for transfers: each is the longer one now and
    // then.
    RowTime new_time(double bytes, double lines) const {
        const auto beside = [&](double other) {
            return std::cbrt(bytes * bytes * bytes + other * other * other);
        };
        const double alone = beside(row_bytes_);
        return {alone, beside(row_bytes_ + lines * turn_bytes_) - alone};
    }
    RowTime whole_time(std::uint32_t sectors, std::uint64_t lines) const {
        return sectors < times_[lines].size()
                   ? times_[lines][sectors]
                   : new_time(sectors * double{sector_bytes}, static_cast<double>(lines));
    }
    double row_bytes_;
    double turn_bytes_;
    double between_bytes_;
    double moved_ = 0;
    // Of few sectors, by lines.
    std::array<std::array<RowTime, 4 * dram_row_lines + 1>, dram_row_lines + 1> times_{};
    LineTable places_;
    std::vector<Row> rows_;
};

class L2Replay {
 public:
    L2Replay(const L2Sizes& sizes, double share, std::size_t sites)
        : lines_(std::max<std::size_t>(
              16, static_cast<std::size_t>(sizes.bytes * share / double(sizes.fetch_bytes)))),
          most_dirty_(static_cast<std::size_t>(sizes.most_dirty_bytes * share / line_bytes)),
          most_partial_(static_cast<std::size_t>(sizes.most_partial_bytes * share / line_bytes)),
          fetch_(sizes.fetch_bytes / sector_bytes),
          multiprocessors_(sizes.multiprocessors),
          kept_by_l1_(sizes.kept_by_l1),
          read_rows_(sizes.read_row_bytes, 0, between_bytes * share),
          written_rows_(sizes.write_row_bytes, sizes.turn_bytes, between_bytes * share),
          traffic_(no_traffic(sites)) {
        kept_by_l1_.resize(sites);
    }
    // Entries are as large as one fetch. L2 has two halves, each for every other multiprocessor: a
    // line that both load has an entry in both, and is fetched once. Written lines are in one of
    // them.
    // `at_once`: sectors of its row that its request asks for.
    void access(const L2Access& whole, std::uint32_t at_once) {
        traffic_.sectors_of_site[whole.site] += sector_count(whole.sectors);
        at_once_ = static_cast<std::uint8_t>(at_once);
        L2Access one = whole;
        if (one.kind == AccessKind::load)
            one.sectors = static_cast<std::uint8_t>(one.sectors & ~answered_by_l1(one));
        const std::uint32_t group = (1u << fetch_) - 1;
        for (std::uint32_t sector = 0; sector < 4; sector += fetch_) {
            const auto here = static_cast<std::uint8_t>(group << sector & 0xF);
            if ((one.sectors & here) == 0) continue;
            L2Access part = one;
            const std::uint64_t half = one.kind == AccessKind::load
                                           ? one.order & 1
                                           : static_cast<unsigned>(std::popcount(one.line)) & 1u;
            part.line = one.line * places_of_line + sector * 2 + half;
            part.sectors &= here;
            part.whole &= here;
            access_place(part);
        }
    }
    void access_place(const L2Access& one) {
        const std::uint32_t at = find(one.line);
        used_[at] = ++now_;
        if (one.kind == AccessKind::store) return store(at, one);
        fetch(at, one);
        if (one.kind == AccessKind::load) return;
        nodes_[at].present |= one.sectors;
        mark_dirty(at, one.sectors, one.site);
    }
    L2Traffic& traffic() { return traffic_; }
    // Not yet written back, if these are so many times as many as now and L2 keeps them.
    double dirty_bytes(double times = 1) const {
        const double most = static_cast<double>(most_dirty_) / std::max(1.0, double(dirty_.lines));
        return static_cast<double>(dirty_sectors_) * sector_bytes *
               std::min(times, std::max(1.0, most));
    }
    // L1 begins empty, L2 as it is.
    void begin_launch() {
        traffic_ = no_traffic(traffic_.sectors_of_site.size());
        loaded_ = {};
    }

 private:
    static constexpr std::uint64_t places_of_line = 8;
    // The bytes of all requests that device memory has at a time, about: with 64 KiB and 4 MiB
    // natural kernels come out 0.1 and 0.3 points farther off at the median, an H100's 7.2 %.
    static constexpr double between_bytes = 512 << 10;

    // The order of blocks says little of the order of warps on a multiprocessor, on which it
    // depends what L1 still has: the simulated share of what it could have is drawn.
    std::uint8_t answered_by_l1(const L2Access& one) {
        constexpr std::uint32_t clock_mask = (1u << 28) - 1;
        const std::uint64_t place =
            one.line * multiprocessors_ + (one.order & 0xFFFF'FFFF) % multiprocessors_;
        const auto now = static_cast<std::uint32_t>(one.order >> 32) & clock_mask;
        std::uint32_t* found = loaded_.find(place);
        if (!found) {
            loaded_.insert(place, 0);
            found = loaded_.find(place);
        }
        const auto repeated = static_cast<std::uint8_t>(one.sectors & *found);
        const auto age =
            static_cast<std::size_t>(std::bit_width((now - (*found >> 4)) & clock_mask));
        *found = now << 4 | (*found & 0xF) | one.sectors;
        traffic_.repeats_of_site[one.site][age] += sector_count(repeated);
        return repeated != 0 && random_.share() < kept_by_l1_[one.site][age] ? repeated
                                                                             : std::uint8_t{0};
    }
    std::uint32_t find(std::uint64_t line) {
        if (const std::uint32_t* const found = places_.find(line)) return *found;
        std::uint32_t at = 0;
        if (nodes_.size() < lines_) {
            at = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
            used_.emplace_back();
        } else {
            at = victim();
            clean(at);
            places_.erase(nodes_[at].line);
            nodes_[at] = {};
        }
        places_.insert(line, at);
        nodes_[at].line = line;
        if (const std::uint32_t* const other = places_.find(line ^ 1))
            nodes_[at].present = nodes_[*other].present;
        return at;
    }
    // The least recently used of a set of hashed entries.
    std::uint32_t victim() {
        constexpr std::uint32_t candidates = 8;
        std::uint32_t best = 0;
        for (std::uint32_t i = 0; i < candidates; ++i) {
            const auto at =
                static_cast<std::uint32_t>(random_.share() * static_cast<double>(lines_));
            if (i == 0 || used_[at] < used_[best]) best = at;
        }
        return best;
    }
    void fetch(std::uint32_t at, const L2Access& one) {
        CachedLine& line = nodes_[at];
        const std::uint32_t group = (1u << fetch_) - 1;
        for (std::uint32_t sector = 0; sector < 4; sector += fetch_) {
            const std::uint32_t here = group << sector & 0xF;
            if ((one.sectors & here & ~line.present) == 0) continue;
            const auto fetched = static_cast<std::uint8_t>(here & ~line.present);
            read(line, one.site, static_cast<std::uint32_t>(sector_count(fetched)));
            line.present |= fetched;
        }
    }
    void read(const CachedLine& line, std::uint32_t site, std::uint32_t sectors) {
        const double bytes = sectors * double{sector_bytes};
        count_read(site, bytes, read_rows_.time_of(line.line / places_of_line, sectors).alone);
    }
    void count_read(std::uint32_t site, double bytes, double time) {
        traffic_.read_bytes += bytes;
        traffic_.read_bytes_of_site[site] += bytes;
        traffic_.read_time_of_site[site] += time;
    }
    void store(std::uint32_t at, const L2Access& one) {
        CachedLine& line = nodes_[at];
        line.at_once = at_once_;
        const bool was_partial = is_partial(line);
        line.present |= one.whole;
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if ((one.sectors & ~one.whole) >> sector & 1)
                line.written[sector] = static_cast<std::uint8_t>(
                    std::min<std::uint32_t>(255, line.written[sector] + one.bytes));
        mark_dirty(at, one.sectors, one.site);
        const bool partial = is_partial(line);
        if (partial && !was_partial) partial_.push(line.line);
        partial_.lines = partial_.lines + partial - was_partial;
        clean_oldest(partial_, most_partial_, at);
    }
    // Some dirty sector has bytes that only device memory has.
    static bool is_partial(const CachedLine& line) {
        for (std::uint32_t sector = 0; sector < 4; ++sector)
            if (((line.dirty & ~line.present) >> sector & 1) != 0 &&
                line.written[sector] < sector_bytes)
                return true;
        return false;
    }
    void mark_dirty(std::uint32_t at, std::uint8_t sectors, std::uint32_t site) {
        CachedLine& line = nodes_[at];
        line.site = site;
        const int more = sector_count(sectors & ~line.dirty);
        if (more == 0) return;
        if (line.dirty == 0) {
            dirty_.push(line.line);
            if (!has_dirty_rest(line.line)) ++dirty_.lines;
        }
        line.dirty |= sectors;
        const double bytes = more * double{sector_bytes};
        traffic_.write_bytes += bytes;
        traffic_.write_bytes_of_site[site] += bytes;
        const RowTime time =
            written_rows_.time_of(line.line / places_of_line, static_cast<std::uint32_t>(more));
        line.write_time.alone += time.alone;
        line.write_time.turns += time.turns;
        count_write_time(site, time);
        dirty_sectors_ += static_cast<std::size_t>(more);
        clean_oldest(dirty_, most_dirty_, at);
    }
    void count_write_time(std::uint32_t site, const RowTime& time) {
        traffic_.write_time_of_site[site] += time.alone;
        traffic_.turn_time_of_site[site] += time.turns;
    }
    // True if another entry of the same line is dirty.
    bool has_dirty_rest(std::uint64_t entry) const {
        const std::uint64_t first = entry / places_of_line * places_of_line + entry % 2;
        for (std::uint64_t other = first; other < first + places_of_line; other += 2 * fetch_)
            if (const std::uint32_t* const found = other == entry ? nullptr : places_.find(other);
                found && nodes_[*found].dirty != 0)
                return true;
        return false;
    }
    struct Queue {
        std::vector<std::uint64_t> entries = {};
        std::size_t first = 0;
        std::size_t lines = 0;
        void push(std::uint64_t entry) { entries.push_back(entry); }
    };
    void clean_oldest(Queue& queue, std::size_t most, std::uint32_t but) {
        while (queue.lines > most && queue.first < queue.entries.size()) {
            const std::uint32_t* const found = places_.find(queue.entries[queue.first++]);
            if (found && *found != but) clean(*found);
        }
    }
    // Sectors that were written in part are read first: only those of one request share
    // activations, in these reads and in their writes (docs/measurements/h100/partial_rows.txt).
    void clean(std::uint32_t at) {
        CachedLine& line = nodes_[at];
        if (line.dirty == 0) return;
        const int sectors = sector_count(line.dirty);
        dirty_sectors_ -= static_cast<std::size_t>(sectors);
        const RowTime counted{line.write_time.alone / sectors, line.write_time.turns / sectors};
        const RowTime written = written_rows_.time_of_sector(line.at_once);
        for (std::uint32_t sector = 0; sector < 4; ++sector) {
            if (((line.dirty & ~line.present) >> sector & 1) == 0 ||
                line.written[sector] >= sector_bytes)
                continue;
            count_read(line.site, sector_bytes, read_rows_.time_of_sector(line.at_once).alone);
            count_write_time(line.site,
                             {written.alone - counted.alone, written.turns - counted.turns});
        }
        if (is_partial(line)) --partial_.lines;
        line.present |= line.dirty;
        line.dirty = 0;
        line.written = {};
        line.write_time = {};
        if (!has_dirty_rest(line.line)) --dirty_.lines;
    }

    std::size_t lines_;
    std::size_t most_dirty_, most_partial_;  // lines
    std::uint32_t fetch_;
    std::uint32_t multiprocessors_;
    std::vector<Ages> kept_by_l1_;
    DramRows read_rows_, written_rows_;
    LineTable loaded_;  // sectors of each line by each multiprocessor
    LineTable places_;
    std::vector<CachedLine> nodes_;
    std::vector<std::uint32_t> used_;  // when last, by node
    Random random_;
    std::uint32_t now_ = 0;
    std::uint8_t at_once_ = 1;  // sectors of the request
    Queue dirty_, partial_;
    std::size_t dirty_sectors_ = 0;
    L2Traffic traffic_;
};

// For each access, the sectors of its row that its request asks for.
std::vector<std::uint8_t> sectors_of_rows(const std::vector<L2Access>& accesses) {
    std::vector<std::uint8_t> sectors(accesses.size());
    for (std::size_t i = 0; i < accesses.size();) {
        std::size_t end = i;
        int sum = 0;
        const auto is_beside = [&](const L2Access& one) {
            return one.order == accesses[i].order && one.site == accesses[i].site &&
                   one.line / dram_row_lines == accesses[i].line / dram_row_lines;
        };
        for (; end < accesses.size() && is_beside(accesses[end]); ++end)
            sum += sector_count(accesses[end].sectors);
        for (; i < end; ++i) sectors[i] = static_cast<std::uint8_t>(std::min(sum, 8));
    }
    return sectors;
}

}  // namespace

L2Traffic replay_l2(L2Sample& sample, const L2Sizes& sizes, std::size_t sites) {
    L2Replay replay(sizes, sample.share, sites);
    const std::vector<std::uint8_t> at_once = sectors_of_rows(sample.accesses);
    // Blocks after those that were replayed behave like the second half of these.
    const std::uint64_t half = sample.blocks / 2;
    const bool is_whole = sample.blocks == sample.blocks_of_launch;
    L2Traffic first;
    bool is_behind_half = false;
    double dirty_before = 0;
    if (sizes.is_warm && is_whole) {
        for (std::size_t i = 0; i < sample.accesses.size(); ++i)
            replay.access(sample.accesses[i], at_once[i]);
        replay.begin_launch();
        dirty_before = replay.dirty_bytes();
    }
    for (std::size_t i = 0; i < sample.accesses.size(); ++i) {
        const L2Access& one = sample.accesses[i];
        if (!is_behind_half && (one.order >> 48) * sample.blocks_at_once >= half) {
            is_behind_half = true;
            first = replay.traffic();
        }
        replay.access(one, at_once[i]);
    }
    L2Traffic all = replay.traffic();
    if (!is_whole && is_behind_half) {
        L2Traffic second = all;
        add_times(second, first, -1);
        const std::uint64_t first_blocks =
            (half + sample.blocks_at_once - 1) / sample.blocks_at_once * sample.blocks_at_once;
        const double rest = static_cast<double>(sample.blocks_of_launch - sample.blocks);
        const double counted =
            static_cast<double>(sample.blocks) - static_cast<double>(first_blocks);
        add_times(all, second, rest / std::max(1.0, counted));
    }
    const double times =
        static_cast<double>(sample.blocks_of_launch) / static_cast<double>(sample.blocks);
    all.dirty_bytes = sizes.is_warm && !is_whole ? 0 : replay.dirty_bytes(times) - dirty_before;
    // Half of the traffic and more is written: each write is between reads now and then.
    const double reads = 4 * all.read_bytes / std::max(1.0, all.read_bytes + all.write_bytes);
    for (std::size_t i = 0; i < sites; ++i)
        all.write_time_of_site[i] += std::min(1.0, reads) * all.turn_time_of_site[i];
    L2Traffic scaled = no_traffic(sites);
    add_times(scaled, all, 1 / sample.share);
    return scaled;
}

}  // namespace coalprof
