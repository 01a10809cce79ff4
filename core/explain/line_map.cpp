#include "core/explain/line_map.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

constexpr std::size_t map_columns = sectors_per_line * (words_per_sector + 1) - 1;
constexpr std::size_t gap = 2;  // blanks between the parts of a row

// Few enough that a drawing fits a screen of 24 lines.
constexpr std::size_t most_rows = 10;
constexpr std::size_t least_alike = 5;  // equal lines in a row that are worth folding
constexpr std::size_t first_alike_shown = 2;
constexpr std::size_t first_rows_shown = 5;
constexpr std::size_t last_rows_shown = 3;

enum class Mark : std::uint8_t { used, partly_used, count, many, unused, untouched };
constexpr std::size_t mark_count = 6;

struct Glyphs {
    std::string_view used, partly_used, unused, untouched, fold;
};
constexpr Glyphs unicode{"█", "▓", "░", "·", "⋮"};
constexpr Glyphs plain{"#", "+", "-", ".", "..."};

std::string_view glyph(const Glyphs& glyphs, Mark mark) {
    switch (mark) {
        case Mark::used: return glyphs.used;
        case Mark::partly_used: return glyphs.partly_used;
        case Mark::unused: return glyphs.unused;
        case Mark::untouched: return glyphs.untouched;
        case Mark::many: return "*";
        case Mark::count: break;
    }
    return "1-9";
}

Ink ink_of(Mark mark) {
    switch (mark) {
        case Mark::unused: return Ink::waste;
        case Mark::untouched: return Ink::faint;
        default: return Ink::good;
    }
}

std::uint32_t lanes_of(const TouchedLine& line) {
    std::uint32_t lanes = 0;
    for (const TouchedSector& sector : line.sectors) lanes |= sector.lanes;
    return lanes;
}

bool look_alike(const TouchedLine& a, const TouchedLine& b) {
    for (std::size_t i = 0; i < sectors_per_line; ++i)
        if (a.sectors[i].used_bytes != b.sectors[i].used_bytes ||
            a.sectors[i].lanes_of_word != b.sectors[i].lanes_of_word)
            return false;
    return true;
}

std::size_t digits(std::uint64_t number) { return std::to_string(number).size(); }

}  // namespace

std::string lane_ranges(std::uint32_t lanes) {
    std::string text;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        std::uint32_t last = lane;
        while (last + 1 < warp_lanes && (lanes >> (last + 1) & 1) != 0) ++last;
        text += text.empty() ? "" : ",";
        text += last == lane ? fmt::format("{}", lane) : fmt::format("{}-{}", lane, last);
        lane = last;
    }
    return text;
}

struct LineMap::Cell {
    Mark mark;
    std::string text;
};

LineMap::LineMap(const ExplainedAccess& access, const MapStyle& style)
    : access_(access), style_(style), purpose_(purpose_of(access)), layout_(layout()) {}

// Line numbers are dropped first where the width is short, then the lanes by sector.
LineMap::Layout LineMap::layout() const {
    constexpr std::size_t most_lane_columns = 7;
    constexpr std::size_t least_lane_columns = 5;  // "24-31"
    const std::uint64_t last = access_.lines.back().address;
    std::size_t wanted = 0;
    for (const TouchedLine& line : access_.lines)
        for (const TouchedSector& sector : line.sectors)
            wanted = std::max(wanted, lane_ranges(sector.lanes).size());
    wanted = std::clamp(wanted, least_lane_columns, most_lane_columns);

    Layout layout;
    layout.byte_columns = std::max<std::size_t>(4, digits(last));
    for (const bool numbered : {true, false}) {
        const std::size_t heading = style_.says_cache ? 5 : 4;
        layout.line_columns = numbered ? std::max(heading, digits(last / line_bytes)) : 0;
        layout.map_begin =
            1 + layout.line_columns + (numbered ? gap : 0) + layout.byte_columns + gap;
        layout.lanes_begin = layout.map_begin + map_columns + gap;
        layout.lanes_width =
            style_.width > layout.lanes_begin ? style_.width - layout.lanes_begin : 0;
        // Four columns have three blanks between them.
        const std::size_t fits = layout.lanes_width < 3 ? 0 : (layout.lanes_width - 3) / 4;
        layout.lane_columns = std::min(wanted, fits);
        if (layout.lane_columns >= least_lane_columns) return layout;
    }
    layout.lane_columns = 0;
    return layout;
}

StyledLine LineMap::heading() const {
    StyledLine line;
    if (layout_.line_columns > 0) {
        line.add_at(1 + layout_.line_columns - 4, "line");
    }
    line.add_at(layout_.map_begin - gap - 4, "byte");
    for (std::uint32_t sector = 0; sector < sectors_per_line; ++sector) {
        line.add_at(layout_.map_begin + sector * (words_per_sector + 1),
                    fmt::format("+{}", sector * sector_bytes));
    }
    line.advance_to(layout_.lanes_begin);
    if (layout_.lane_columns > 0)
        line.add("lanes in each sector");
    else if (layout_.lanes_width >= 5)
        line.add("lanes");
    return line;
}

LineMap::Cell LineMap::cell_of(const TouchedSector& sector, std::uint32_t word) const {
    const Glyphs& glyphs = style_.ascii ? plain : unicode;
    const auto of = [&](Mark mark) { return Cell{mark, std::string(glyph(glyphs, mark))}; };
    if (sector.lanes == 0) return of(Mark::untouched);
    const std::uint32_t used = sector.used_bytes >> (4 * word) & 0xF;
    if (used == 0) return of(Mark::unused);
    if (purpose_ == Purpose::atomic) {
        const std::uint32_t lanes = sector.lanes_of_word[word];
        if (lanes > 9) return of(Mark::many);
        return {Mark::count, fmt::format("{}", lanes)};
    }
    return of(used == 0xF ? Mark::used : Mark::partly_used);
}

// Lanes that do not fit are counted: "(17)".
std::string LineMap::lanes_text(std::uint32_t lanes, std::size_t columns) const {
    if (lanes == 0) return {};
    std::string text = lane_ranges(lanes);
    if (text.size() > columns) text = fmt::format("({})", std::popcount(lanes));
    return text.size() > columns ? std::string() : text;
}

StyledLine LineMap::row_of(const TouchedLine& touched) const {
    StyledLine line;
    const std::string byte = fmt::format("{}", touched.address);
    if (layout_.line_columns > 0) {
        const std::string number = fmt::format("{}", touched.address / line_bytes);
        line.add_at(1 + layout_.line_columns - number.size(), number);
    }
    line.add_at(layout_.map_begin - gap - byte.size(), byte);
    for (std::uint32_t i = 0; i < sectors_per_line; ++i) {
        line.advance_to(layout_.map_begin + i * (words_per_sector + 1));
        for (std::uint32_t word = 0; word < words_per_sector; ++word) {
            const Cell cell = cell_of(touched.sectors[i], word);
            line.add(cell.text, ink_of(cell.mark));
        }
    }
    if (layout_.lane_columns == 0) {
        line.add_at(layout_.lanes_begin, lanes_text(lanes_of(touched), layout_.lanes_width));
        return line;
    }
    for (std::uint32_t i = 0; i < sectors_per_line; ++i) {
        line.add_at(layout_.lanes_begin + i * (layout_.lane_columns + 1),
                    lanes_text(touched.sectors[i].lanes, layout_.lane_columns));
    }
    return line;
}

// One row for the lines [begin, end).
StyledLine LineMap::fold_of(std::size_t begin, std::size_t end, bool alike) const {
    std::uint32_t lanes = 0;
    std::uint32_t sectors = 0;
    for (std::size_t i = begin; i < end; ++i) {
        lanes |= lanes_of(access_.lines[i]);
        for (const TouchedSector& sector : access_.lines[i].sectors) sectors += sector.lanes != 0;
    }
    const std::string_view fold = (style_.ascii ? plain : unicode).fold;
    StyledLine line;
    line.add_at(layout_.map_begin - gap - terminal_columns(fold), fold);
    line.advance_to(layout_.map_begin);
    std::string text = fmt::format("{} more cache lines{}, {} sectors", end - begin,
                                   alike ? " like these" : "", sectors);
    const auto add_if_it_fits = [&](const std::string& more) {
        const bool fits = layout_.map_begin + text.size() + more.size() <= style_.width;
        if (fits) text += more;
        return fits;
    };
    if (!add_if_it_fits(", lanes " + lane_ranges(lanes)))
        add_if_it_fits(fmt::format(", {} lanes", std::popcount(lanes)));
    line.add(text);
    return line;
}

// The end of the lines from `begin` on that look like it.
std::size_t LineMap::alike_until(std::size_t begin) const {
    std::size_t end = begin + 1;
    while (end < access_.lines.size() && look_alike(access_.lines[begin], access_.lines[end]))
        ++end;
    return end;
}

std::vector<StyledLine> LineMap::rows() const {
    const std::size_t count = access_.lines.size();
    // True if the line has a row; runs of equal lines are thinned first.
    std::vector<bool> shown(count, true);
    std::vector<bool> alike(count, false);
    if (!style_.all_lines && count > most_rows) {
        for (std::size_t begin = 0; begin < count;) {
            const std::size_t end = alike_until(begin);
            if (end - begin >= least_alike)
                for (std::size_t i = begin + first_alike_shown; i + 1 < end; ++i) {
                    shown[i] = false;
                    alike[i] = true;
                }
            begin = end;
        }
        if (std::count(shown.begin(), shown.end(), true) > static_cast<std::ptrdiff_t>(most_rows)) {
            std::fill(alike.begin(), alike.end(), false);
            for (std::size_t i = 0; i < count; ++i)
                shown[i] = i < first_rows_shown || i + last_rows_shown >= count;
        }
    }
    std::vector<StyledLine> rows;
    if (style_.says_cache && layout_.line_columns >= 5) {
        rows.emplace_back();
        rows.back().add_at(1 + layout_.line_columns - 5, "cache");
    }
    rows.push_back(heading());
    for (std::size_t i = 0; i < count;) {
        if (shown[i]) {
            rows.push_back(row_of(access_.lines[i++]));
            continue;
        }
        std::size_t end = i;
        while (end < count && !shown[end]) ++end;
        rows.push_back(fold_of(i, end, alike[i]));
        i = end;
    }
    return rows;
}

std::vector<StyledLine> LineMap::legend() const {
    struct Entry {
        Mark mark;
        std::string_view meaning;
    };
    std::vector<Entry> entries;
    switch (purpose_) {
        case Purpose::load:
            entries = {{Mark::used, "4 bytes used"},
                       {Mark::partly_used, "partly used"},
                       {Mark::unused, "fetched, not used"},
                       {Mark::untouched, "not fetched"}};
            break;
        case Purpose::store:
            entries = {{Mark::used, "4 bytes written"},
                       {Mark::partly_used, "partly written"},
                       {Mark::unused, "in the sector, not written"},
                       {Mark::untouched, "not touched"}};
            break;
        case Purpose::load_and_store:
            entries = {{Mark::used, "4 bytes used"},
                       {Mark::partly_used, "partly used"},
                       {Mark::unused, "in the sector, not used"},
                       {Mark::untouched, "not touched"}};
            break;
        case Purpose::atomic:
            entries = {{Mark::count, "lanes on these 4 bytes"},
                       {Mark::many, "10 lanes or more"},
                       {Mark::unused, "in the sector, not updated"},
                       {Mark::untouched, "not touched"}};
            break;
    }
    std::array<bool, mark_count> occurs{};
    for (const TouchedLine& line : access_.lines)
        for (const TouchedSector& sector : line.sectors)
            for (std::uint32_t word = 0; word < words_per_sector; ++word)
                occurs[static_cast<std::size_t>(cell_of(sector, word).mark)] = true;

    const Glyphs& glyphs = style_.ascii ? plain : unicode;
    std::vector<StyledLine> lines(1);
    for (const Entry& entry : entries) {
        if (!occurs[static_cast<std::size_t>(entry.mark)]) continue;
        const std::string_view shown = glyph(glyphs, entry.mark);
        if (lines.back().columns() + gap + terminal_columns(shown) + 1 + entry.meaning.size() >
            style_.width)
            lines.emplace_back();
        lines.back().add(lines.back().columns() == 0 ? " " : "   ");
        lines.back().add(shown, ink_of(entry.mark));
        lines.back().add(" ");
        lines.back().add(entry.meaning);
    }
    return lines;
}

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
