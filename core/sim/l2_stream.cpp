#include "core/sim/l2_stream.h"

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <tuple>

namespace coalprof {
namespace {

constexpr std::size_t most_boxes = 1024;

}  // namespace

L2Stream::L2Stream(const KernelLaunch& launch, std::uint64_t blocks_at_once, std::size_t sites,
                   const L2SampleSize& size)
    : launch_(launch),
      size_(size),
      blocks_(launch.blocks()),
      blocks_at_once_(std::max<std::uint64_t>(1, blocks_at_once)),
      sequence_((launch.threads() + warp_lanes - 1) / warp_lanes) {
    // Up to eight accesses of a line.
    while (std::ldexp(size.expected, -static_cast<int>(sampled_.halvings)) >
           16.0 * double(size.most_kept))
        ++sampled_.halvings;
    kept_halvings_ = sampled_.halvings;
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
            std::ldexp(1.0, -static_cast<int>(sampled_.halvings)),
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
        LineCounts& counts = one.kind == AccessKind::store ? stores_at(one.site) : atomics_;
        counts.add_run(first.line, static_cast<std::uint64_t>(run.lines), run.count,
                       static_cast<std::uint64_t>(sector_count(first.sectors)), size_.most_counted);
    }
    const auto step = static_cast<std::uint64_t>(std::abs(run.lines));
    for (std::uint64_t i = 0; i < run.count;) {
        const std::uint64_t line = first.line + i * static_cast<std::uint64_t>(run.lines);
        if (sampled_.holds(line)) keep_access(run, first, line, i);
        if (step == 0) {
            ++i;
            continue;
        }
        const std::uint64_t next = sampled_.next(line, run.lines);
        i += ((run.lines > 0 ? next - line : line - next) + step - 1) / step;
    }
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
    constexpr std::size_t most = 40'000;
    while (kept_.size() - attempt_ > size_.most_kept) {
        if (size_.most_kept < most && lines_of_attempt() < size_.fewest_lines) {
            size_.most_kept = std::min(most, 2 * size_.most_kept);
        } else {
            ++sampled_.halvings;
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
                               [&](const L2Access& one) { return !sampled_.holds(one.line); }),
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
    if (sampled_.halvings > kept_halvings_) erase_unsampled(0);
    make_room();
    attempt_ = kept_.size();
    kept_halvings_ = sampled_.halvings;
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
    sampled_.halvings = kept_halvings_;
    end_box();
}

// The first of equally long ones in the launch.
void L2Stream::lengthen(std::uint32_t accesses, std::uint64_t block) {
    if (accesses < longest_ || (accesses == longest_ && block >= longest_block_)) return;
    longest_ = accesses;
    longest_block_ = block;
}

void L2Stream::add(L2Stream& other) {
    sampled_.halvings = std::max(sampled_.halvings, other.sampled_.halvings);
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
    for (const auto& [site, counts] : other.stores_) stores_at(site).add(counts);
}

}  // namespace coalprof
