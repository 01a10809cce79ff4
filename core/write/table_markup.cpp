// Tables within documents: Markdown, LaTeX, HTML. Notes that every reader needs are in the text;
// LaTeX has the rest in comments, as a paper has its own words.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/write/safe_text.h"
#include "core/write/table.h"

namespace coalprof {
namespace {

std::string latex_text(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 13> spelled{
        {{"::", ":{}:"},  // CI systems take it for a command where a line begins with it
         {"\\", "\\textbackslash{}"},
         {"~", "\\textasciitilde{}"},
         {"^", "\\textasciicircum{}"},
         {"<", "\\textless{}"},
         {">", "\\textgreater{}"},
         {"|", "\\textbar{}"},
         {"\"", "\\textquotedbl{}"},
         {"…", "\\dots{}"},
         {"µ", "\\textmu{}"},
         {"·", "\\textperiodcentered{}"},
         {"[", "{[}"},
         {"]", "{]}"}}};
    constexpr std::string_view marked = "&%$#_{}";
    std::string safe;
    while (!text.empty()) {
        const auto known = std::ranges::find_if(
            spelled, [&](const auto& one) { return text.starts_with(one.first); });
        if (known != spelled.end()) {
            safe += known->second;
            text.remove_prefix(known->first.size());
            continue;
        }
        if (marked.find(text.front()) != std::string_view::npos) safe += '\\';
        safe += text.front() == '\n' ? ' ' : text.front();
        text.remove_prefix(1);
    }
    return safe;
}

// "sectors/" and "request" are one word, "L1 hit" and "sectors" are not.
std::string one_line_heading(const TableColumn& column) {
    std::string heading;
    for (const std::string& line : column.heading) {
        if (line.empty()) continue;
        if (!heading.empty() && !heading.ends_with('/')) heading += ' ';
        heading += line;
    }
    return heading;
}

std::string with_group(const TableRow& row) {
    const std::string& name = row.cells.front().text;
    return row.group.empty() ? name : std::string(row.group) + ": " + name;
}

bool is_numbered(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits > 0 && text.substr(digits).starts_with(". ");
}

class MarkdownTables : public TableRenderer {
 public:
    void put(TextBuffer& out, const Table& table) override {
        if (!table.above.empty() && is_begun_) out.put('\n');
        for (const std::string& line : table.above) {
            const std::string_view bold = is_begun_ ? "" : "**";
            out.put(bold, markdown_text(line), bold, "\n\n");
            is_begun_ = true;
        }
        if (!table.facts.empty()) out.put(markdown_text(table.facts), ".\n\n");
        if (!table.grid.columns().empty()) put_rows(out, table);
        if (!table.notes.empty()) out.put('\n');
        for (const TableNote& note : table.notes)
            if (note.rank == TableNote::Rank::verdict)
                out.put("**", markdown_text(note.text), "**\n\n");
            else  // "1. ..." has its mark
                out.put(is_numbered(note.text) ? "" : "- ", markdown_text(note.text), "\n");
    }

 private:
    void put_rows(TextBuffer& out, const Table& table) {
        std::string heading = "|";
        std::string rule = "\n|";
        for (const TableColumn& column : table.grid.columns()) {
            heading += ' ' + markdown_text(with_group(column)) + " |";
            rule += column.is_left_aligned ? " :-- |" : " --: |";
        }
        heading += rule + '\n';
        if (heading != heading_ || !table.facts.empty()) out.put(heading);
        heading_ = std::move(heading);
        for (const TableRow& row : table.grid.rows()) {
            out.put("| ", markdown_text(with_group(row)), " |");
            for (std::size_t k = 1; k < row.cells.size(); ++k)
                out.put(" ", markdown_text(row.cells[k].text), " |");
            out.put('\n');
        }
    }

    bool is_begun_ = false;
    std::string heading_;
};

class LatexTables : public TableRenderer {
 public:
    void put(TextBuffer& out, const Table& table) override {
        for (const std::string& line : table.above) put_comment(out, line);
        put_comment(out, table.facts);
        if (!table.grid.columns().empty()) put_rows(out, table);
        for (const TableNote& note : table.notes) put_comment(out, note.text);
    }

 private:
    static void put_comment(TextBuffer& out, std::string_view text) {
        if (text.empty()) return;
        out.put("% ");
        for (const char c : text) out.put(c == '\n' ? ' ' : c);
        out.put('\n');
    }
    static void put_cells(TextBuffer& out, const std::vector<std::string>& cells) {
        for (std::size_t k = 0; k < cells.size(); ++k) {
            if (k > 0) out.put(" & ");
            out.put(latex_text(cells[k]));
        }
        out.put(" \\\\\n");
    }

    // Above the headings, so that columns stay narrow.
    static void put_groups(TextBuffer& out, const std::vector<TableColumn>& columns) {
        if (std::ranges::all_of(columns, &std::string::empty, &TableColumn::group)) return;
        for (std::size_t k = 0; k < columns.size();) {
            std::size_t end = k + 1;
            while (end < columns.size() && columns[end].group == columns[k].group) ++end;
            if (k > 0) out.put(" & ");
            if (columns[k].group.empty())
                for (std::size_t more = k + 1; more < end; ++more) out.put(" & ");
            else
                out.put(fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", end - k,
                                    latex_text(columns[k].group)));
            k = end;
        }
        out.put(" \\\\\n");
    }
    static void put_rows(TextBuffer& out, const Table& table) {
        out.put("\\begin{tabular}{");
        std::vector<std::string> heading;
        for (const TableColumn& column : table.grid.columns()) {
            out.put(column.is_left_aligned ? 'l' : 'r');
            heading.push_back(one_line_heading(column));
        }
        out.put("}\n\\hline\n");
        put_groups(out, table.grid.columns());
        put_cells(out, heading);
        out.put("\\hline\n");
        for (const TableRow& row : table.grid.rows()) {
            std::vector<std::string> cells{with_group(row)};
            for (std::size_t k = 1; k < row.cells.size(); ++k) cells.push_back(row.cells[k].text);
            put_cells(out, cells);
        }
        out.put("\\hline\n\\end{tabular}\n");
    }
};

}  // namespace

std::string with_group(const TableColumn& column) {
    const std::string heading = one_line_heading(column);
    return column.group.empty() ? heading : column.group + ": " + heading;
}

std::string html_of(const Table& table) {
    constexpr std::array<std::string_view, 4> classes{"", " class=\"good\"", " class=\"fair\"",
                                                      " class=\"poor\""};
    std::string html = "<table>\n";
    for (const std::string& line : table.above)
        html += "<caption>" + xml_text(line) + "</caption>\n";
    html += "<thead><tr>";
    const auto alignment = [&](std::size_t k) {
        return table.grid.columns()[k].is_left_aligned ? " style=\"text-align:left\"" : "";
    };
    for (std::size_t k = 0; k < table.grid.columns().size(); ++k)
        html += fmt::format("<th scope=\"col\"{}>{}</th>", alignment(k),
                            xml_text(with_group(table.grid.columns()[k])));
    html += "</tr></thead>\n<tbody>\n";
    for (const TableRow& row : table.grid.rows()) {
        html += "<tr>";
        for (std::size_t k = 0; k < row.cells.size(); ++k)
            html += fmt::format("<td{}{}>{}</td>",
                                classes[static_cast<std::size_t>(row.cells[k].shade)], alignment(k),
                                xml_text(row.cells[k].text));
        html += "</tr>\n";
    }
    return html + "</tbody>\n</table>\n";
}

std::unique_ptr<TableRenderer> make_markdown_renderer() {
    return std::make_unique<MarkdownTables>();
}

std::unique_ptr<TableRenderer> make_latex_renderer() { return std::make_unique<LatexTables>(); }

}  // namespace coalprof
