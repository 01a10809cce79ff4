#include "core/kernel/regrouping.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace coalprof {
namespace {

constexpr std::size_t most_parts = 512;  // loops without barriers
constexpr std::uint32_t most_bytes = 16;

bool makes(const MachineWidths& widths, std::uint32_t bytes) { return (widths.bytes & bytes) != 0; }

// True if each lane's place in `next` is so far behind that in `first`.
bool is_behind(const WarpAccess& next, const WarpAccess& first, std::uint64_t bytes) {
    bool all = next.active_lanes == first.active_lanes && next.kind == first.kind &&
               next.width_bytes == first.width_bytes;
    for (std::size_t lane = 0; all && lane < warp_lanes; ++lane)
        all = (first.active_lanes >> lane & 1) == 0 ||
              next.addresses[lane] - first.addresses[lane] == bytes;
    return all;
}

bool is_aligned(const WarpAccess& access, const Growth& growth, std::uint32_t bytes) {
    bool all = std::ranges::all_of(growth, [&](std::int64_t by) { return by % bytes == 0; });
    for (std::size_t lane = 0; all && lane < warp_lanes; ++lane)
        all = (access.active_lanes >> lane & 1) == 0 || access.addresses[lane] % bytes == 0;
    return all;
}

}  // namespace

std::uint64_t RegroupingSink::Part::address() const {
    return access
        .addresses[static_cast<std::size_t>(std::countr_zero(access.active_lanes)) % warp_lanes];
}

void RegroupingSink::take(std::uint32_t site, Space space, const WarpAccess& access,
                          const Growth& growth, const BlockBox& box) {
    const MachineWidths& widths = code_.machine_widths[site];
    const bool is_part = widths.bytes == 0 || std::bit_floor(widths.bytes) > access.width_bytes;
    if (space != Space::shared || !is_part) return to_.take(site, space, access, growth, box);
    if (parts_.size() == most_parts) pass_on_all();
    box_ = box;
    attempt_[site] += box.blocks();
    parts_.push_back({site, access, growth, parts_.size()});
}

void RegroupingSink::resume(std::uint32_t warp) {
    pass_on_all();
    to_.resume(warp);
}

void RegroupingSink::keep() {
    pass_on_all();
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] += std::exchange(attempt_[i], 0);
    to_.keep();
}

void RegroupingSink::drop() {
    parts_.clear();
    std::ranges::fill(attempt_, 0);
    to_.drop();
}

void RegroupingSink::pass_on_all() {
    if (parts_.empty()) return;
    // No stable_sort, about which clang warns with libstdc++ 12.
    std::ranges::sort(parts_, {}, [](const Part& one) {
        return std::tuple(one.access.kind, one.access.active_lanes, one.address(), one.number);
    });
    for (const bool is_one_site : {true, false})
        for (std::uint32_t bytes = most_bytes; bytes > 1; bytes /= 2) widen(bytes, is_one_site);
    for (const Part& one : parts_)
        if (!one.is_used) {
            ++made_[one.site].narrow;
            to_.take(one.site, Space::shared, one.access, one.growth, box_);
        }
    pass_on_repeated();
    parts_.clear();
    made_.clear();
}

void RegroupingSink::widen(std::uint32_t bytes, bool is_one_site) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const std::vector<std::size_t> parts = parts_of(i, bytes, is_one_site);
        const auto owner = std::ranges::find_if(parts, [&](std::size_t at) {
            return makes(code_.machine_widths[parts_[at].site], bytes);
        });
        if (owner == parts.end()) continue;
        for (const std::size_t at : parts) parts_[at].is_used = true;
        const std::uint32_t site = parts_[*owner].site;
        made_[site].wide.push_back(parts_[i]);
        WarpAccess wide = parts_[i].access;
        wide.width_bytes = bytes;
        to_.take(site, Space::shared, wide, parts_[i].growth, box_);
    }
}

// Empty: they are no access of so many bytes.
std::vector<std::size_t> RegroupingSink::parts_of(std::size_t first, std::uint32_t bytes,
                                                  bool is_one_site) const {
    const Part& begin = parts_[first];
    const std::uint32_t width = begin.access.width_bytes;
    const auto fits = [&](const Part& one) {
        const MachineWidths& widths = code_.machine_widths[one.site];
        return !one.is_used && (makes(widths, bytes) || (!is_one_site && widths.bytes == 0)) &&
               (!is_one_site || one.site == begin.site);
    };
    if (width >= bytes || !fits(begin) || !is_aligned(begin.access, begin.growth, bytes)) return {};
    std::vector<std::size_t> parts{first};
    for (std::size_t i = first + 1; i < parts_.size() && parts.size() < bytes / width; ++i) {
        const std::uint64_t behind = parts.size() * width;
        if (parts_[i].address() > begin.address() + behind) break;
        if (fits(parts_[i]) && parts_[i].growth == begin.growth &&
            is_behind(parts_[i].access, begin.access, behind))
            parts.push_back(i);
    }
    return parts.size() == bytes / width ? parts : std::vector<std::size_t>();
}

void RegroupingSink::pass_on_repeated() {
    for (const auto& [site, made] : made_) {
        const MachineWidths& widths = code_.machine_widths[site];
        if (widths.widest == 0) continue;
        const std::uint64_t narrow = made.wide.size() * widths.narrower / widths.widest;
        for (std::uint64_t i = made.narrow; i < narrow; ++i) {
            const Part& one = made.wide[i % made.wide.size()];
            to_.take(site, Space::shared, one.access, one.growth, box_);
        }
    }
}

}  // namespace coalprof
