#include "core/explain/pass_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

constexpr std::uint32_t banks = 32;
constexpr std::uint32_t banks_per_group = 8;  // as many characters as a sector has in a line's map
constexpr std::size_t map_begin = 7;
constexpr std::size_t lanes_begin = map_begin + banks + banks / banks_per_group - 1 + 2;

constexpr std::size_t most_passes = 10;
constexpr std::size_t first_passes_shown = 5;
constexpr std::size_t last_passes_shown = 3;

constexpr char many_lanes = '*';
std::string_view idle_mark(bool ascii) { return ascii ? "." : "·"; }

constexpr std::size_t column_of(std::uint32_t bank) {
    return map_begin + bank + bank / banks_per_group;
}

StyledLine heading() {
    StyledLine line;
    line.add_at(1, "pass");
    line.add_at(map_begin, "bank 0");
    for (std::uint32_t bank = banks_per_group; bank < banks; bank += banks_per_group) {
        line.add_at(column_of(bank), fmt::format("{}", bank));
    }
    line.add_at(lanes_begin, "lanes");
    return line;
}

std::string lanes_text(std::uint32_t lanes, std::size_t columns) {
    const std::string ranges = lane_ranges(lanes);
    return ranges.size() <= columns ? ranges : fmt::format("{} lanes", std::popcount(lanes));
}

// The lane that a bank serves, as a digit: 0 to 9, then a to v.
char lane_digit(std::uint32_t lanes) {
    if (std::popcount(lanes) > 1) return many_lanes;
    const int lane = std::countr_zero(lanes);
    return static_cast<char>(lane < 10 ? '0' + lane : 'a' + lane - 10);
}

StyledLine row_of(const NearPass& pass, std::size_t number, const MapStyle& style) {
    StyledLine line;
    const std::string text = fmt::format("{}", number);
    line.add_at(map_begin - 2 - text.size(), text);
    for (std::uint32_t bank = 0; bank < banks; ++bank) {
        line.advance_to(column_of(bank));
        if (const std::uint32_t lanes = pass.lanes_of_bank[bank]; lanes != 0)
            line.add(std::string(1, lane_digit(lanes)), Ink::good);
        else
            line.add(idle_mark(style.ascii), Ink::faint);
    }
    line.add_at(lanes_begin, lanes_text(pass.lanes, style.width - lanes_begin));
    return line;
}

// `row` makes one row of pass number i.
template <typename Row>
std::vector<StyledLine> rows_of(std::size_t count, const MapStyle& style, StyledLine first,
                                Row row) {
    const bool folds = !style.all_lines && count > most_passes;
    std::vector<StyledLine> rows{std::move(first)};
    for (std::size_t i = 0; i < count; ++i) {
        if (!folds || i < first_passes_shown || i + last_passes_shown >= count) {
            rows.push_back(row(i));
            continue;
        }
        const std::string_view dots = style.ascii ? "..." : "⋮";
        const std::size_t end = count - last_passes_shown;
        StyledLine line;
        line.add_at(map_begin - 2 - terminal_columns(dots), dots);
        line.add_at(map_begin, fmt::format("{} more passes", end - i));
        rows.push_back(line);
        i = end - 1;
    }
    return rows;
}

}  // namespace

std::vector<StyledLine> bank_rows(std::span<const NearPass> passes, const MapStyle& style) {
    return rows_of(passes.size(), style, heading(),
                   [&](std::size_t i) { return row_of(passes[i], i, style); });
}

std::vector<StyledLine> constant_rows(std::span<const NearPass> passes, const MapStyle& style) {
    constexpr std::size_t byte_columns = 8;
    constexpr std::size_t begin = map_begin + byte_columns + 2;
    StyledLine first;
    first.add_at(1, "pass");
    first.add_at(map_begin + byte_columns - 4, "byte");
    first.add_at(begin, "lanes");
    return rows_of(passes.size(), style, first, [&](std::size_t i) {
        const std::string number = fmt::format("{}", i);
        const std::string byte = fmt::format("{}", passes[i].address);
        StyledLine line;
        line.add_at(map_begin - 2 - number.size(), number);
        line.add_at(byte.size() > byte_columns ? map_begin : map_begin + byte_columns - byte.size(),
                    byte);
        line.add_at(begin, lanes_text(passes[i].lanes, style.width - line.columns()));
        return line;
    });
}

StyledLine bank_legend(std::span<const NearPass> passes, bool ascii) {
    const auto any_bank = [&](auto test) {
        return std::ranges::any_of(passes, [&](const NearPass& pass) {
            return std::ranges::any_of(pass.lanes_of_bank, test);
        });
    };
    StyledLine line;
    line.add(" ");
    line.add("0", Ink::good);
    line.add("-");
    line.add("v", Ink::good);
    line.add(" the lane served (a is 10, v 31)");
    const auto add = [&](std::string_view mark, Ink ink, std::string_view text) {
        line.add("   ");
        line.add(mark, ink);
        line.add(text);
    };
    if (any_bank([](std::uint32_t lanes) { return std::popcount(lanes) > 1; }))
        add(std::string(1, many_lanes), Ink::good, " many");
    if (any_bank([](std::uint32_t lanes) { return lanes == 0; }))
        add(idle_mark(ascii), Ink::faint, " none");
    return line;
}

}  // namespace coalprof
