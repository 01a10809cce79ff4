#include "core/sim/l2_stream.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>

#include "core/machine/rates.h"
#include "core/sim/line_table.h"

namespace coalprof {
namespace {

constexpr double scale = 64;  // of whole numbers in WorkShape
constexpr std::size_t most_boxes = 1024;

}  // namespace

// In whole numbers, so that the sum does not depend on the order in which threads add.
void WorkShape::add(double first, double last, double amount) {
    const double begin = first * parts, end = std::min(last, 1.0) * parts;
    for (auto i = static_cast<std::size_t>(begin); i < parts && double(i) < end; ++i)
        amounts_[i] += static_cast<std::uint64_t>(
            scale * amount * (std::min(end, double(i + 1)) - std::max(begin, double(i))) /
            (end - begin));
}

void WorkShape::add(const WorkShape& other) {
    for (std::size_t i = 0; i < parts; ++i) amounts_[i] += other.amounts_[i];
}

double WorkShape::all() const {
    return static_cast<double>(
               std::accumulate(amounts_.begin(), amounts_.end(), std::uint64_t{0})) /
           scale;
}

double WorkShape::middle() const {
    double rest = all() * scale / 2;
    for (std::size_t i = 0; i < parts; ++i) {
        const auto here = static_cast<double>(amounts_[i]);
        if (here > 0 && here >= rest) return (double(i) + rest / here) / parts;
        rest -= here;
    }
    return 0.5;
}

double WorkShape::density(double place) const {
    const double sum = all();
    const auto part = std::min(parts - 1, static_cast<std::size_t>(place * parts));
    return sum > 0 ? static_cast<double>(amounts_[part]) * parts / (sum * scale) : 1;
}

L2Stream::L2Stream(const KernelLaunch& launch, std::uint64_t blocks_at_once, std::size_t sites,
                   const L2SampleSize& size)
    : launch_(launch),
      size_(size),
      blocks_(launch.blocks()),
      blocks_at_once_(std::max<std::uint64_t>(1, blocks_at_once)),
      sequence_((launch.threads() + warp_lanes - 1) / warp_lanes) {
    // Up to eight accesses of a line.
    while (std::ldexp(size.expected, -static_cast<int>(halvings_)) > 16.0 * double(size.most_kept))
        ++halvings_;
    kept_halvings_ = halvings_;
    // Enough for any L2, and some milliseconds; each warp to its end where that takes some
    // hundredths of a second, as a block may read its rows again and store after that.
    constexpr std::uint64_t most_accesses = 400'000, most_to_the_end = 6'400'000,
                            fewest_of_warp = 64;
    block_limit_ = std::max(blocks_at_once_,
                            most_accesses / (sequence_.size() * std::max<std::size_t>(1, sites)));
    sequence_limit_ = std::max(
        fewest_of_warp, most_to_the_end / (std::min(blocks_, block_limit_) * sequence_.size()));
}

L2Sample L2Stream::sample() {
    if (!is_cut_) block_limit_ = blocks_;
    keep_counts();
    attempt_ = 0;
    make_room();
    std::erase_if(kept_, [&](const L2Access& one) { return block_of(one) >= block_limit_; });
    std::vector<LineShares> stores;
    for (const auto& [site, counts] : stores_) {
        stores.resize(site + 1);
        stores[site] = counts.shares();
    }
    // The same order whichever thread took which box.
    const auto key = [](const L2Access& one) {
        return std::tie(one.order, one.line, one.site, one.sectors, one.whole, one.bytes);
    };
    std::ranges::sort(kept_, {}, key);
    return {std::move(kept_),
            std::ldexp(1.0, -static_cast<int>(halvings_)),
            std::min(block_limit_, blocks_),
            blocks_,
            blocks_at_once_,
            longest_block_,
            longest_ * warps_ / std::max(1.0, accesses_),
            work_.all() / std::max(1.0, warps_),
            work_,
            working_,
            atomics_.shares(),
            std::move(stores),
            working_box_count_ <= most_boxes ? std::move(working_boxes_) : std::vector<BlockBox>()};
}

// Of 2^(step bits) parts each one has its turn, where a hash says: rows of a region, regions of an
// area, then areas. Accesses that advance evenly skip what lies between, and few lines are sampled
// as evenly as many.
namespace {

constexpr std::uint32_t row_bits = 5, region_bits = 6;
constexpr std::uint64_t region_lines = dram_row_lines << row_bits,
                        area_lines = region_lines << region_bits;

constexpr std::uint64_t low_bits(std::uint32_t halvings, std::uint32_t most) {
    return (std::uint64_t{1} << std::min(halvings, most)) - 1;
}
// Its lowest bits say which regions.
std::uint64_t hash_of_area(std::uint64_t region) { return mixed(~(region >> region_bits)); }
std::uint64_t regions_between(std::uint32_t halvings) {
    return low_bits(halvings - std::min(halvings, row_bits), region_bits);
}
// The line that the sampled row of a region begins with, if it is one.
std::uint64_t row_of(std::uint64_t region) {
    return region * region_lines + (mixed(region) & low_bits(row_bits, row_bits)) * dram_row_lines;
}
bool is_area_sampled(std::uint64_t hash, std::uint32_t halvings) {
    return halvings <= row_bits + region_bits ||
           hash >> (64 - (halvings - row_bits - region_bits)) == 0;
}

}  // namespace

bool L2Stream::is_sampled(std::uint64_t line) const {
    if (halvings_ == 0) return true;
    const std::uint64_t region = line / region_lines;
    if (((line / dram_row_lines ^ mixed(region)) & low_bits(halvings_, row_bits)) != 0)
        return false;
    if (halvings_ <= row_bits) return true;
    const std::uint64_t area = hash_of_area(region);
    return ((region ^ area) & regions_between(halvings_)) == 0 && is_area_sampled(area, halvings_);
}

void L2Stream::take(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                    const BlockBox& box) {
    const std::uint32_t sequence = sequence_[warp_]++;
    note_work();
    // Longer loops repeat.
    if (sequence >= sequence_limit_ && box.blocks() > 1) return;
    const Asker asker{sequence, site, access.kind};
    take_at({&asker, 1}, access, growth, box);
}

void L2Stream::take_at(std::span<const Asker> askers, const WarpAccess& access,
                       const Growth& growth, const BlockBox& box) {
    const auto width = std::uint64_t{launch_.grid[0]}, plane = width * launch_.grid[1];
    // By the offset of a block's first address in its line.
    std::array<std::unique_ptr<LinesOfWarp>, line_bytes> shifted;
    Run run{.askers = askers};
    // As many blocks further on accesses are shifted by whole lines.
    const std::uint64_t period =
        line_bytes / std::gcd(line_bytes, static_cast<std::uint64_t>(growth[0]));
    run.lines = growth[0] / static_cast<std::int64_t>(line_bytes / period);
    run.block_step = period * box.stride[0];
    for (std::uint32_t z = 0; z < box.count[2]; ++z)
        for (std::uint32_t y = 0; y < box.count[1]; ++y) {
            const std::uint64_t row = (box.first[2] + std::uint64_t{z} * box.stride[2]) * plane +
                                      (box.first[1] + std::uint64_t{y} * box.stride[1]) * width +
                                      box.first[0];
            const std::uint64_t count = blocks_within_limit(box, row);
            for (std::uint64_t x = 0; x < std::min(period, count); ++x) {
                const std::uint64_t by = static_cast<std::uint64_t>(growth[0]) * x +
                                         static_cast<std::uint64_t>(growth[1]) * y +
                                         static_cast<std::uint64_t>(growth[2]) * z;
                auto& lines = shifted[by % line_bytes];
                if (!lines) lines = std::make_unique<LinesOfWarp>(access, by % line_bytes);
                run.first_block = row + x * box.stride[0];
                run.count = (count - x + period - 1) / period;
                const std::int64_t further =
                    static_cast<std::int64_t>(by) >> std::countr_zero(line_bytes);
                for (LineTouch one : *lines) {
                    one.line += static_cast<std::uint64_t>(further);
                    take_run(run, one);
                }
            }
            if (count < box.count[0]) {
                is_cut_ = true;
                return;
            }
        }
}

std::uint64_t L2Stream::blocks_within_limit(const BlockBox& box, std::uint64_t first) const {
    if (box.blocks() <= 1) return box.count[0];
    if (first >= block_limit_) return 0;
    const std::uint64_t stride = std::max(1u, box.stride[0]);
    return std::min<std::uint64_t>(box.count[0], (block_limit_ - first + stride - 1) / stride);
}

// The line of one block, and of further blocks those that are as many lines further on.
void L2Stream::take_run(const Run& run, const LineTouch& first) {
    for (const Asker& one : run.askers) {
        if (one.kind == AccessKind::load) continue;
        LineCounts& counts = one.kind == AccessKind::store ? stores_[one.site] : atomics_;
        counts.add_run(first.line, static_cast<std::uint64_t>(run.lines), run.count,
                       static_cast<std::uint64_t>(sector_count(first.sectors)), size_.most_counted);
    }
    const auto step = static_cast<std::uint64_t>(std::abs(run.lines));
    for (std::uint64_t i = 0; i < run.count;) {
        const std::uint64_t line = first.line + i * static_cast<std::uint64_t>(run.lines);
        if (is_sampled(line)) keep_access(run, first, line, i);
        if (step == 0) {
            ++i;
            continue;
        }
        const std::uint64_t next = next_sampled(line, run.lines);
        i += ((run.lines > 0 ? next - line : line - next) + step - 1) / step;
    }
}

// A line at or before the next sampled one, in the direction of `step`; another one than `line`.
std::uint64_t L2Stream::next_sampled(std::uint64_t line, std::int64_t step) const {
    if (halvings_ < row_bits) return line + static_cast<std::uint64_t>(step);
    const bool goes_up = step > 0;
    const std::uint64_t region = line / region_lines, area = hash_of_area(region);
    const std::uint64_t area_end =
        goes_up ? (line / area_lines + 1) * area_lines : line / area_lines * area_lines - 1;
    if (!is_area_sampled(area, halvings_)) return area_end;
    const std::uint64_t between = regions_between(halvings_);
    if (((region ^ area) & between) == 0) {
        const std::uint64_t row =
            region * region_lines + (mixed(region) & low_bits(row_bits, row_bits)) * dram_row_lines;
        if (goes_up && line < row) return row;
        if (!goes_up && line >= row + dram_row_lines) return row + dram_row_lines - 1;
    }
    const std::uint64_t further =
        goes_up ? ((area - region - 1) & between) + 1 : ((region - 1 - area) & between) + 1;
    const std::uint64_t next = goes_up ? region + further : region - further;
    if (next >> region_bits != region >> region_bits) return area_end;
    return row_of(next) + (goes_up ? 0 : dram_row_lines - 1);
}

void L2Stream::keep_access(const Run& run, const LineTouch& touch, std::uint64_t line,
                           std::uint64_t number) {
    const std::uint64_t block = run.first_block + number * run.block_step;
    for (const Asker& one : run.askers)
        kept_.push_back({.order = block / blocks_at_once_ << 48 |
                                  std::min<std::uint64_t>(one.sequence, 0xFFFF) << 32 |
                                  block % blocks_at_once_,
                         .line = line,
                         .site = one.site,
                         .kind = one.kind,
                         .sectors = touch.sectors,
                         .whole = touch.whole,
                         .bytes = touch.part_bytes});
    make_room();
}

// Half of the attempt's lines go and leave no trace in the rest, unless these are few that are
// accessed again and again.
void L2Stream::make_room() {
    constexpr std::size_t fewest_lines = 1'000, most = 40'000;
    while (kept_.size() - attempt_ > size_.most_kept) {
        // Threads would differ in what they know, so only where there is one.
        if (size_.expected > 0 && size_.most_kept < most && lines_of_attempt() < fewest_lines) {
            size_.most_kept = std::min(most, 2 * size_.most_kept);
        } else {
            ++halvings_;
            erase_unsampled(attempt_);
        }
    }
}

std::size_t L2Stream::lines_of_attempt() const {
    std::vector<std::uint64_t> lines;
    for (std::size_t i = attempt_; i < kept_.size(); ++i) lines.push_back(kept_[i].line);
    std::ranges::sort(lines);
    return static_cast<std::size_t>(std::ranges::unique(lines).begin() - lines.begin());
}

void L2Stream::erase_unsampled(std::size_t from) {
    const auto begin = kept_.begin() + static_cast<std::ptrdiff_t>(from);
    kept_.erase(std::remove_if(begin, kept_.end(),
                               [&](const L2Access& one) { return !is_sampled(one.line); }),
                kept_.end());
}

void L2Stream::end_box() {
    std::ranges::fill(sequence_, 0u);
    accesses_of_box_ = 0;
}
void L2Stream::keep_counts() {
    atomics_.keep();
    for (auto& [site, counts] : stores_) counts.keep();
}
void L2Stream::keep() {
    keep_counts();
    attempt_ = 0;
    if (halvings_ > kept_halvings_) erase_unsampled(0);
    make_room();
    attempt_ = kept_.size();
    kept_halvings_ = halvings_;
    const auto index = [&](std::uint64_t beyond) {  // in the order in which blocks start
        const auto at = [&](std::size_t i) {
            return box_.first[i] +
                   beyond * (std::max<std::uint64_t>(1, box_.count[i]) - 1) * box_.stride[i];
        };
        return (at(2) * launch_.grid[1] + at(1)) * launch_.grid[0] + at(0);
    };
    const std::uint64_t first = index(0);
    const auto blocks = static_cast<double>(box_.blocks()), all = static_cast<double>(blocks_);
    const double begin = static_cast<double>(first) / all,
                 end = static_cast<double>(index(1) + 1) / all,
                 of_block = static_cast<double>(accesses_of_box_);
    work_.add(begin, end, blocks * of_block);
    if (of_block > 0) {
        working_.add(begin, end, blocks);
        if (++working_box_count_ <= most_boxes) working_boxes_.push_back(box_);
    }
    for (const std::uint32_t accesses : sequence_) {
        accesses_ += blocks * accesses;
        warps_ += blocks;
        lengthen(accesses, first);
    }
    end_box();
}
void L2Stream::drop() {
    atomics_.drop();
    for (auto& [site, counts] : stores_) counts.drop();
    kept_.resize(attempt_);
    halvings_ = kept_halvings_;
    end_box();
}

// The first of equally long ones in the launch.
void L2Stream::lengthen(std::uint32_t accesses, std::uint64_t block) {
    if (accesses < longest_ || (accesses == longest_ && block >= longest_block_)) return;
    longest_ = accesses;
    longest_block_ = block;
}

void L2Stream::add(L2Stream& other) {
    halvings_ = std::max(halvings_, other.halvings_);
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
    other.kept_ = {};
    accesses_ += other.accesses_;
    warps_ += other.warps_;
    lengthen(other.longest_, other.longest_block_);
    work_.add(other.work_);
    working_.add(other.working_);
    working_boxes_.insert(working_boxes_.end(), other.working_boxes_.begin(),
                          other.working_boxes_.end());
    working_box_count_ += other.working_box_count_;
    is_cut_ = is_cut_ || other.is_cut_;
    erase_unsampled(0);
    atomics_.add(other.atomics_);
    for (const auto& [site, counts] : other.stores_) stores_[site].add(counts);
}

// docs/measurements/h100/slices.txt: sums and stores at random places in 1 to 2^23 lines. As many
// lines as `many` are as fast as more.
double busy_slices(double lines, double slices) {
    if (lines < 32) return slices_of(lines);
    constexpr double most_deviates = 2.4, many = 32'768;  // of 80 slices, the largest
    const double more = std::sqrt(slices / std::min(lines, many)) - std::sqrt(slices / many);
    return std::min(std::max(slices_of(lines), lines / 5), slices / (1 + most_deviates * more));
}

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
        return repeated != 0 && drawn() < kept_by_l1_[one.site][age] ? repeated : std::uint8_t{0};
    }
    double drawn() {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(random_ >> 33) * 0x1p-31;
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
            const auto at = static_cast<std::uint32_t>(drawn() * static_cast<double>(lines_));
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
    std::uint64_t random_ = 1;
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
