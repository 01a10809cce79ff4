#include "core/sim/sampled_lines.h"

#include <algorithm>

#include "core/sim/random.h"

namespace coalprof {
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

bool SampledLines::holds(std::uint64_t line) const {
    if (halvings == 0) return true;
    const std::uint64_t region = line / region_lines;
    if (((line / dram_row_lines ^ mixed(region)) & low_bits(halvings, row_bits)) != 0) return false;
    if (halvings <= row_bits) return true;
    const std::uint64_t area = hash_of_area(region);
    return ((region ^ area) & regions_between(halvings)) == 0 && is_area_sampled(area, halvings);
}

std::uint64_t SampledLines::next(std::uint64_t line, std::int64_t step) const {
    if (halvings < row_bits) return line + static_cast<std::uint64_t>(step);
    const bool goes_up = step > 0;
    const std::uint64_t region = line / region_lines, area = hash_of_area(region);
    const std::uint64_t area_end =
        goes_up ? (line / area_lines + 1) * area_lines : line / area_lines * area_lines - 1;
    if (!is_area_sampled(area, halvings)) return area_end;
    const std::uint64_t between = regions_between(halvings);
    if (((region ^ area) & between) == 0) {
        const std::uint64_t row = row_of(region), last = row + dram_row_lines - 1;
        if (goes_up && line < last) return std::max(row, line + 1);
        if (!goes_up && line > row) return std::min(last, line - 1);
    }
    const std::uint64_t further =
        goes_up ? ((area - region - 1) & between) + 1 : ((region - 1 - area) & between) + 1;
    const std::uint64_t next = goes_up ? region + further : region - further;
    if (next >> region_bits != region >> region_bits) return area_end;
    return row_of(next) + (goes_up ? 0 : dram_row_lines - 1);
}

}  // namespace coalprof
