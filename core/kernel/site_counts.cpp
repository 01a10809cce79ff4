#include "core/kernel/site_counts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/count/set_counts.h"

namespace coalprof {
namespace {

// Everything that is counted depends on where addresses lie in lines of this many bytes.
constexpr std::uint32_t period_bytes = 128;
// Some milliseconds for a warp's instruction in all of them.
constexpr std::uint64_t most_hashed_blocks = 65536;

// How many blocks of the box have their addresses so many bytes further in their lines.
using Shifts = std::array<std::uint64_t, period_bytes>;
Shifts shifts_of(const Growth& growth, const BlockBox& box) {
    Shifts shifts{};
    shifts[0] = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const auto step =
            static_cast<std::uint32_t>(static_cast<std::uint64_t>(growth[d]) % period_bytes);
        Shifts more{};
        // After so many blocks the places repeat.
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

// The reason that the coalescer gives is one of sweeps.
void say_why_unknown(Readings& readings) {
    readings.each([&](Counter counter, const Reading& reading) {
        if (std::holds_alternative<Unavailable>(reading))
            readings[counter] = Unavailable{
                "which lanes of an atomic share a packet depends on whole addresses, and so many "
                "blocks are not gone through one by one"};
    });
}

}  // namespace

void SiteCounts::add(const SiteCounts& other) {
    warps += other.warps;
    lanes += other.lanes;
    add_accesses(other, 1);
    if (other.warps != 0) space = other.space;
    for (const WarpAccess& one : other.samples)
        if (samples.size() < most_samples) samples.push_back(one);
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
            set_shared_atomics(all, *machine.rules, warps);
    } else if (space == Space::local) {
        set_local(all, kind, local);
    } else if (machine.rules->global == GlobalRule::sectors_by_warp) {
        set_l1(all, kind, global);
        // Passes depend on what other warps do.
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

SiteCounter::SiteCounter(const Machine& machine, std::size_t sites, std::size_t samples)
    : machine_(machine),
      hashing_(*machine.rules),
      coalescer_(hashing_.without_hash()),
      transactions_(*machine.rules, usual_load_modifier(*machine.rules)),
      shared_(*machine.rules),
      local_(*machine.rules),
      counts_sectors_(machine.rules->global == GlobalRule::sectors_by_warp),
      samples_(samples),
      kept_(sites),
      attempt_(sites),
      last_(sites) {}

SiteCounts& SiteCounter::attempt(std::uint32_t site) {
    SiteCounts& counts = attempt_[site];
    if (counts.warps == 0) touched_.push_back(site);
    return counts;
}

void SiteCounter::take(std::uint32_t site, Space space, const WarpAccess& access,
                       const Growth& growth, const BlockBox& box) {
    SiteCounts& counts = attempt(site);
    const std::uint64_t blocks = box.blocks();
    counts.space = space;
    counts.warps += blocks;
    counts.lanes += blocks * static_cast<std::uint64_t>(std::popcount(access.active_lanes));
    if (kept_[site].samples.size() + counts.samples.size() < samples_)
        counts.samples.push_back(access);
    const bool is_hashed = space == Space::global && !is_load_or_store(access.kind);
    if (is_hashed && blocks <= most_hashed_blocks) return count_each(site, access, growth, box);
    if (space == Space::local || grows_by_lines(growth))
        return counts.add_accesses(counts_of_site(site, access), blocks);
    const Shifts shifts = shifts_of(growth, box);
    for (std::uint32_t shift = 0; shift < period_bytes; ++shift) {
        if (shifts[shift] == 0) continue;
        WarpAccess moved = access;
        for (std::uint64_t& address : moved.addresses) address += shift;
        counts.add_accesses(counts_of_site(site, moved), shifts[shift]);
    }
}

// Atomics: which lanes share a packet depends on whole addresses.
void SiteCounter::count_each(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                             const BlockBox& box) {
    SiteCounts& counts = attempt_[site];
    if (!counts_sectors_) return counts.add_accesses(counts_of_site(site, access), box.blocks());
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

SiteCounts SiteCounter::counts_of(const WarpAccess& access) const {
    SiteCounts counts;
    if (access.space == Space::shared)
        counts.shared = shared_.count(access);
    else if (access.space == Space::local)
        counts.local = local_.count(access);
    else if (counts_sectors_)
        counts.global = coalescer_.count(access);
    else if (!transactions_.unavailable(access.kind))
        counts.transactions = transactions_.count(access);
    return counts;
}

const SiteCounts& SiteCounter::counts_of_site(std::uint32_t site, const WarpAccess& access) {
    Counted& last = last_[site];
    if (!is_moved_by_lines(access, last.access)) last = {access, counts_of(access)};
    return last.counts;
}

void SiteCounter::keep() {
    for (const std::uint32_t site : touched_) {
        kept_[site].add(attempt_[site]);
        attempt_[site] = {};
    }
    touched_.clear();
}

void SiteCounter::drop() {
    for (const std::uint32_t site : touched_) attempt_[site] = {};
    touched_.clear();
}

}  // namespace coalprof
