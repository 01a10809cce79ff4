#include "core/kernel/site_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "core/access/lane_set.h"
#include "core/count/set_counts.h"

namespace coalprof {
namespace {

// All counts depend on the positions of addresses in blocks of this many bytes.
constexpr std::uint32_t period_bytes = 128;
// Some milliseconds for a warp's instruction in all of them.
constexpr std::uint64_t most_hashed_blocks = 65536;

// The number of blocks of the box by the bytes that their addresses are shifted within their lines.
using Shifts = std::array<std::uint64_t, period_bytes>;
Shifts shifts_of(const Growth& growth, const BlockBox& box) {
    Shifts shifts{};
    shifts[0] = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const auto step =
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(growth[d]) % period_bytes);
        Shifts more{};
        // The places repeat after this many blocks.
        const std::uint32_t turn = step == 0 ? 1 : period_bytes / std::gcd(step, period_bytes);
        for (std::uint32_t i = 0; i < std::min(turn, box.count[d]); ++i) {
            const std::uint64_t times = (box.count[d] - i + turn - 1) / turn;
            for (std::uint32_t at = 0; at < period_bytes; ++at)
                more[(at + i * step) % period_bytes] += shifts[at] * times;
        }
        shifts = more;
    }
    return shifts;
}

bool grows_by_lines(const Growth& growth) {
    return std::ranges::all_of(growth, [](std::int64_t one) { return one % period_bytes == 0; });
}

Growth within_lines(const Growth& growth) {
    Growth within;
    for (std::size_t d = 0; d < 3; ++d) within[d] = growth[d] % period_bytes;
    return within;
}

bool is_moved_by_lines(const WarpAccess& access, const WarpAccess& before) {
    if (access.active_lanes != before.active_lanes || access.space != before.space ||
        access.width_bytes != before.width_bytes)
        return false;
    const std::uint64_t by = access.addresses[0] - before.addresses[0];
    std::uint64_t differ = by % period_bytes;
    for (std::size_t lane = 0; lane < warp_lanes; ++lane)
        differ |= access.addresses[lane] - before.addresses[lane] - by;
    return differ == 0;
}

// True if all lanes moved up by the same few bytes: in a loop over adjacent elements, unrolled or
// not.
bool goes_on(const WarpAccess& access, const WarpAccess& before) {
    if (access.active_lanes == 0 || (access.active_lanes & ~before.active_lanes) != 0) return false;
    const auto first = static_cast<std::uint32_t>(std::countr_zero(access.active_lanes));
    const std::uint64_t by = access.addresses[first] - before.addresses[first];
    bool all = by > 0 && by <= period_bytes;
    each_lane(access.active_lanes, [&](std::uint32_t lane) {
        all = all && access.addresses[lane] - before.addresses[lane] == by;
    });
    return all;
}

std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ number >> 30) * 0xBF58'476D'1CE4'E5B9ull;
    number = (number ^ number >> 27) * 0x94D0'49BB'1331'11EBull;
    return number ^ number >> 31;
}

// A random number for the access, moved by `by` bytes. One mixture of all: three took a sixth of
// the time of a launch.
std::uint64_t draw_of(const WarpAccess& access, std::uint64_t by, std::uint64_t block) {
    const int first = std::countr_zero(access.active_lanes) % int{warp_lanes};
    const int last = (31 - std::countl_zero(access.active_lanes)) & 31;
    const auto address = [&](int lane) {
        return access.addresses[static_cast<std::size_t>(lane)] + by;
    };
    return mixed(block * 0x9E37'79B9'7F4A'7C15ull + access.active_lanes * 0xC2B2'AE3D'27D4'EB4Full +
                 address(first) * 0x1656'67B1'9E37'79F9ull +
                 address(last) * 0x85EB'CA77'C2B2'AE63ull);
}

// The first block of a box, one further along each dimension, and some random ones.
constexpr std::size_t most_of_box = 8;
std::array<std::uint32_t, 3> block_in_box(std::size_t which, const BlockBox& box) {
    std::array<std::uint32_t, 3> at{};
    for (std::size_t d = 0; d < 3; ++d)
        at[d] = which <= 3 ? std::uint32_t{which == d + 1 && box.count[d] > 1}
                           : static_cast<std::uint32_t>(mixed(which * 3 + d + 1) % box.count[d]);
    return at;
}

// The coalescer's reason concerns sweeps.
void say_why_unknown(Readings& readings) {
    readings.each([&](Counter counter, const Reading& reading) {
        if (std::holds_alternative<Unavailable>(reading))
            readings[counter] = Unavailable{
                "which lanes of an atomic share a packet depends on whole addresses, and so many "
                "blocks are not gone through one by one"};
    });
}

}  // namespace

void SiteCounts::add(const SiteCounts& other, std::size_t most) {
    if (other.warps != 0) space = warps != 0 ? std::min(space, other.space) : other.space;
    warps += other.warps;
    lanes += other.lanes;
    walks += other.walks;
    repeats += other.repeats;
    repeated_bytes += other.repeated_bytes;
    add_accesses(other, 1);
    for (const SampledWarp& one : other.samples) keep(one, most);
}

void SiteCounts::keep(const SampledWarp& warp, std::size_t most) {
    const auto by_block = [](const SampledWarp& one) { return std::pair(one.block, one.number); };
    const bool is_full = samples.size() >= most;
    if (!would_keep(key_of(warp), most)) return;
    if (is_full) samples.erase(std::ranges::max_element(samples, {}, key_of));
    samples.insert(std::ranges::upper_bound(samples, by_block(warp), {}, by_block), warp);
    highest_key = key_of(*std::ranges::max_element(samples, {}, key_of));
}

std::vector<WarpAccess> SiteCounts::warps_kept() const {
    std::vector<WarpAccess> all;
    for (const SampledWarp& one : samples) all.push_back(one.access);
    return all;
}

void SiteCounts::add_accesses(const SiteCounts& other, std::uint64_t times) {
    global.add(other.global, times);
    transactions.add(other.transactions, times);
    shared.add(other.shared, times);
    local.add(other.local, times);
}

Readings SiteCounts::readings(AccessKind kind, const Machine& machine) const {
    Readings all;
    if (warps == 0) return all;
    if (space == Space::shared) {
        if (is_load_or_store(kind))
            set_shared(all, machine.rules->shared, kind, shared);
        else
            set_shared_atomics(all, *machine.rules, shared);
    } else if (space == Space::local) {
        set_local(all, kind, local);
    } else if (machine.rules->global == GlobalRule::sectors_by_warp) {
        set_l1(all, kind, global);
        // Passes depend on other warps.
        all[access_counter(kind, AccessField::tag_wavefronts)] = {};
        all[access_counter(kind, AccessField::data_wavefronts)] = {};
    } else {
        const Transactions rule(*machine.rules, usual_load_modifier(*machine.rules));
        set_transactions(all, kind, rule.unavailable(kind), transactions);
    }
    derive_ratios(all);
    if (!is_load_or_store(kind) && space == Space::global) say_why_unknown(all);
    return all;
}

SiteCounter::SiteCounter(const Machine& machine, std::size_t sites, std::size_t samples,
                         std::vector<SharedAtomic> atomics)
    : machine_(machine),
      hashing_(*machine.rules),
      coalescer_(hashing_.without_hash()),
      transactions_(*machine.rules, usual_load_modifier(*machine.rules)),
      shared_(*machine.rules),
      local_(*machine.rules),
      counts_sectors_(machine.rules->global == GlobalRule::sectors_by_warp),
      samples_(samples),
      atomics_(std::move(atomics)),
      kept_(sites),
      attempt_(sites),
      counted_of_site_(std::bit_floor(std::clamp<std::size_t>(1024 / (sites + 1), 1, 32))),
      counted_(sites * counted_of_site_),
      previous_(sites),
      next_(sites) {}

SiteCounts& SiteCounter::attempt(std::uint32_t site) {
    SiteCounts& counts = attempt_[site];
    if (counts.warps == 0) touched_.push_back(site);
    return counts;
}

void SiteCounter::take(std::uint32_t site, Space space, const WarpAccess& access,
                       const Growth& growth, const BlockBox& box) {
    SiteCounts& counts = attempt(site);
    const std::uint64_t blocks = box.blocks();
    counts.space = counts.warps != 0 ? std::min(counts.space, space) : space;
    counts.warps += blocks;
    counts.lanes += blocks * static_cast<std::uint64_t>(std::popcount(access.active_lanes));
    sample(site, access, growth, box);
    if (space == Space::global && blocks == 1) {
        counts.walks += goes_on(access, previous_[site]) ? 1u : 0u;
        previous_[site] = access;
    } else if (space == Space::shared) {
        const auto first = static_cast<std::size_t>(std::countr_zero(access.active_lanes));
        const std::uint64_t address = access.addresses[first % warp_lanes];
        counts.walks += next_[site] == address ? blocks : 0;
        next_[site] = address + access.width_bytes;
    }
    const bool is_hashed = space == Space::global && !is_load_or_store(access.kind);
    if (is_hashed && blocks <= most_hashed_blocks) return count_each(site, access, growth, box);
    const SiteCounts& of_boxes = counts_of_site(site, access, growth, box);
    counts.add_accesses(of_boxes, 1);
    if (space != Space::global || access.kind != AccessKind::store) return;
    const VisitedPlaces::Before before = stored_.visit(access);
    if (before == VisitedPlaces::Before::never) return;
    counts.repeated_bytes += of_boxes.global.unique_bytes + of_boxes.transactions.unique_bytes;
    if (before == VisitedPlaces::Before::since_barrier) counts.repeats += blocks;
}

SiteCounts SiteCounter::counts_of_box(std::uint32_t site, const WarpAccess& access,
                                      const Growth& growth, const BlockBox& box) const {
    SiteCounts counts;
    if (access.space == Space::local || grows_by_lines(growth)) {
        counts.add_accesses(counts_of(site, access), box.blocks());
        return counts;
    }
    const Shifts shifts = shifts_of(growth, box);
    for (std::uint32_t shift = 0; shift < period_bytes; ++shift) {
        if (shifts[shift] == 0) continue;
        WarpAccess moved = access;
        for (std::uint64_t& address : moved.addresses) address += shift;
        counts.add_accesses(counts_of(site, moved), shifts[shift]);
    }
    return counts;
}

void SiteCounter::begin(const BlockBox& box) {
    taken_ = 0;
    blocks_.clear();
    for (std::size_t which = 0; which < most_of_box; ++which) {
        const auto at = block_in_box(which, box);
        if (which > 0 && which <= 3 && at[which - 1] == 0) continue;
        std::uint64_t number = 0;
        for (std::size_t d = 3; d-- > 0;)
            number = (number << (d == 0 ? 31 : 16)) + box.first[d] + at[d] * box.stride[d];
        blocks_.push_back({at, number});
    }
}

// Blocks at other positions in their lines have other warps.
void SiteCounter::sample(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                         const BlockBox& box) {
    SiteCounts& counts = attempt_[site];
    const bool is_one = box.blocks() == 1 || grows_by_lines(growth);
    for (const BlockInBox& block : std::span(blocks_).first(is_one ? 1 : blocks_.size())) {
        const std::uint64_t number = ++taken_;
        std::uint64_t by = 0;
        for (std::size_t d = 0; d < 3; ++d)
            by += static_cast<std::uint64_t>(growth[d]) * block.at[d];
        const SiteCounts::SampleKey key{draw_of(access, by, block.number), block.number, number};
        if (!counts.would_keep(key, samples_) || !kept_[site].would_keep(key, samples_)) continue;
        SampledWarp warp{access, block.number, number, std::get<0>(key)};
        for (std::uint64_t& address : warp.access.addresses) address += by;
        counts.keep(warp, samples_);
    }
}

// Atomics: the lanes that share a packet depend on whole addresses.
void SiteCounter::count_each(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                             const BlockBox& box) {
    SiteCounts& counts = attempt_[site];
    if (!counts_sectors_) return counts.add_accesses(counts_of(site, access), box.blocks());
    WarpAccess moved = access;
    for (std::uint32_t z = 0; z < box.count[2]; ++z)
        for (std::uint32_t y = 0; y < box.count[1]; ++y)
            for (std::uint32_t x = 0; x < box.count[0]; ++x) {
                const auto by = static_cast<std::uint64_t>(growth[0]) * x +
                                static_cast<std::uint64_t>(growth[1]) * y +
                                static_cast<std::uint64_t>(growth[2]) * z;
                for (std::size_t lane = 0; lane < warp_lanes; ++lane)
                    moved.addresses[lane] = access.addresses[lane] + by;
                counts.global.add(hashing_.count(moved));
            }
}

SiteCounts SiteCounter::counts_of(std::uint32_t site, const WarpAccess& access) const {
    SiteCounts counts;
    if (access.space == Space::shared)
        counts.shared =
            is_load_or_store(access.kind)
                ? shared_.count(access)
                : count_shared_atomic(
                      access, site < atomics_.size() ? atomics_[site] : SharedAtomic::unknown);
    else if (access.space == Space::local)
        counts.local = local_.count(access);
    else if (counts_sectors_)
        counts.global = coalescer_.count(access);
    else if (!transactions_.unavailable(access.kind))
        counts.transactions = transactions_.count(access);
    return counts;
}

const SiteCounts& SiteCounter::counts_of_site(std::uint32_t site, const WarpAccess& access,
                                              const Growth& growth, const BlockBox& box) {
    const std::size_t place = access.addresses[0] / 4 % counted_of_site_;
    Counted& known = counted_[site * counted_of_site_ + place];
    const Growth within = within_lines(growth);
    if (known.growth != within || known.blocks != box.count ||
        !is_moved_by_lines(access, known.access))
        known = {access, within, box.count, counts_of_box(site, access, growth, box)};
    return known.counts;
}

void SiteCounter::keep() {
    for (const std::uint32_t site : touched_) kept_[site].add(attempt_[site], samples_);
    drop();
}

void SiteCounter::drop() {
    for (const std::uint32_t site : touched_) {
        attempt_[site] = {};
        previous_[site] = {};
    }
    touched_.clear();
    stored_.clear();
}

}  // namespace coalprof
