#include <algorithm>

#include "core/text/fold.h"
#include "core/text/utf8.h"
#include "core/write/table.h"

namespace coalprof {
namespace {

constexpr std::size_t gap_columns = 2;
constexpr std::size_t indent_columns = 2;  // rows below a group's name

std::string_view color_of(Shade shade) {
    switch (shade) {
        case Shade::good: return "\033[32m";
        case Shade::fair: return "\033[33m";
        case Shade::poor: return "\033[31m";
        case Shade::none: break;
    }
    return {};
}

// "──── loads ────"
std::string group_line(std::string_view name, std::size_t width, bool ascii) {
    std::string line;
    if (name.size() + 4 > width) {
        line = name.substr(0, width);
        return line.append(width - line.size(), ' ');
    }
    const std::string_view rule = ascii ? "-" : "─";
    const std::size_t rules = width - name.size() - 2;
    for (std::size_t i = 0; i < rules / 2; ++i) line += rule;
    line.append(" ").append(name).append(" ");
    for (std::size_t i = rules / 2; i < rules; ++i) line += rule;
    return line;
}

class TextTables : public TableRenderer {
 public:
    explicit TextTables(const TableStyle& style) : style_(style) {}

    void put(TextBuffer& out, const Table& table) override {
        if (!table.above.empty() && !heading_.empty()) out.put('\n');
        for (const std::string& line : table.above) out.put(prose(line));
        put_prose(out, table.facts, TableNote::Rank::aside);
        if (!table.grid.columns().empty()) put_grid(out, table);
        if (!table.notes.empty()) out.put('\n');
        for (const TableNote& note : table.notes) put_prose(out, note.text, note.rank);
    }

 private:
    std::string prose(std::string_view text) const {
        return folded_text(text, {.columns = style_.width, .hanging = 2});
    }
    void put_prose(TextBuffer& out, std::string_view text, TableNote::Rank rank) const {
        if (text.empty()) return;
        const bool is_styled = style_.color && rank != TableNote::Rank::plain;
        if (is_styled) out.put(rank == TableNote::Rank::verdict ? "\033[1m" : "\033[2m");
        std::string lines = prose(text);
        if (is_styled) lines.insert(lines.size() - 1, "\033[0m");
        out.put(lines);
    }

    void put_grid(TextBuffer& out, const Table& table) {
        const bool has_groups = std::ranges::any_of(
            table.grid.rows(), [](const TableRow& row) { return !row.group.empty(); });
        const std::vector<std::size_t> widths = widths_of(table, has_groups);
        std::string heading = groups_line(table.grid.columns(), widths);
        for (std::size_t which = 0; which < TableColumn{}.heading.size(); ++which)
            heading += heading_line(table.grid.columns(), widths, which);
        if (heading != heading_ || !table.facts.empty()) {
            out.put('\n', heading);
        }
        heading_ = std::move(heading);
        std::string_view group;
        for (const TableRow& row : table.grid.rows()) {
            if (row.group != group && !row.group.empty()) {
                out.put(row.group, '\n');
            }
            group = row.group;
            put_row(out, table.grid.columns(), row, widths);
        }
    }

    std::vector<std::size_t> widths_of(const Table& table, bool has_groups) const {
        std::vector<std::size_t> widths;
        for (std::size_t k = 0; k < table.grid.columns().size(); ++k) {
            std::size_t width = 0;
            for (const std::string& line : table.grid.columns()[k].heading)
                width = std::max(width, terminal_columns(line));
            for (const TableRow& row : table.grid.rows()) {
                const std::size_t indent = k == 0 && !row.group.empty() ? indent_columns : 0;
                width = std::max(width, indent + terminal_columns(row.cells[k].text));
                if (k == 0 && has_groups) width = std::max(width, row.group.size());
            }
            widths.push_back(width);
        }
        widen_for_groups(table.grid.columns(), widths);
        return widths;
    }

    // Widens columns that are narrower than the name of their group, as far as there is room.
    void widen_for_groups(const std::vector<TableColumn>& columns,
                          std::vector<std::size_t>& widths) const {
        std::size_t all = 0;
        for (const std::size_t width : widths) all += gap_columns + width;
        for_each_group(columns, widths,
                       [&](std::string_view group, std::size_t width, std::size_t last) {
                           const std::size_t more = group.size() > width ? group.size() - width : 0;
                           if (style_.width != 0 && all - gap_columns + more > style_.width) return;
                           widths[last] += more;
                           all += more;
                       });
    }

    template <typename Visit>
    static void for_each_group(const std::vector<TableColumn>& columns,
                               const std::vector<std::size_t>& widths, Visit visit) {
        for (std::size_t i = 0; i < columns.size();) {
            const std::string_view group = columns[i].group;
            std::size_t width = widths[i];
            for (++i; i < columns.size() && columns[i].group == group; ++i)
                width += gap_columns + widths[i];
            visit(group, width, i - 1);
        }
    }

    // A line over neighbouring columns of one group, with the group's name in it.
    std::string groups_line(const std::vector<TableColumn>& columns,
                            const std::vector<std::size_t>& widths) const {
        std::string line;
        for_each_group(columns, widths,
                       [&](std::string_view group, std::size_t width, std::size_t) {
                           line += group.empty() ? std::string(width, ' ')
                                                 : group_line(group, width, style_.ascii);
                           line.append(gap_columns, ' ');
                       });
        return ended(std::move(line));
    }

    static std::string heading_line(const std::vector<TableColumn>& columns,
                                    const std::vector<std::size_t>& widths, std::size_t which) {
        std::string line;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const std::string& word = columns[k].heading[which];
            const std::string padding(widths[k] - terminal_columns(word), ' ');
            line += columns[k].is_left_aligned ? word + padding : padding + word;
            line.append(gap_columns, ' ');
        }
        return ended(std::move(line));
    }
    static std::string ended(std::string line) {
        line.erase(line.find_last_not_of(' ') + 1);
        return line.empty() ? line : line + '\n';
    }

    void put_row(TextBuffer& out, const std::vector<TableColumn>& columns, const TableRow& row,
                 const std::vector<std::size_t>& widths) const {
        // Written when something follows.
        std::size_t owed = row.group.empty() ? 0 : indent_columns;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const TableCell& cell = row.cells[k];
            const std::size_t indent = k == 0 && !row.group.empty() ? indent_columns : 0;
            const std::size_t padding = widths[k] - indent - terminal_columns(cell.text);
            if (!columns[k].is_left_aligned) owed += padding;
            if (!cell.text.empty()) {
                out.fill(owed, ' ');
                owed = 0;
                const std::string_view color = style_.color ? color_of(cell.shade) : "";
                out.put(color, cell.text);
                if (!color.empty()) out.put("\033[0m");
            }
            owed += gap_columns + (columns[k].is_left_aligned ? padding : 0);
        }
        out.put('\n');
    }

    TableStyle style_;
    std::string heading_;  // heading of the last grid; empty if there is none
};

}  // namespace

std::unique_ptr<TableRenderer> make_text_renderer(const TableStyle& style) {
    return std::make_unique<TextTables>(style);
}

}  // namespace coalprof
