// `md`: a Markdown table for issues and READMEs, with what the table for terminals says around it.
// Points are held back as there.
#include "core/write/columns.h"
#include "core/write/table_cell.h"
#include "core/write/table_instructions.h"
#include "core/write/table_layout.h"
#include "core/write/table_notes.h"
#include "core/write/table_title.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

// Nothing of a name is markup, and no name ends its cell.
std::string escaped(std::string_view text) {
    constexpr std::string_view markup = "\\`*_{}[]<>#|~$&";
    std::string safe;
    for (const char c : text) {
        if (c == '\n') {
            safe += ' ';
            continue;
        }
        if (markup.find(c) != std::string_view::npos) safe += '\\';
        safe += c;
    }
    return safe;
}

// "sectors/" and "request" are one word, "L1 hit" and "sectors" are not.
std::string heading_of(const TableColumn& column) {
    std::string heading;
    for (const std::string& line : column.heading) {
        if (line.empty()) continue;
        if (!heading.empty() && !heading.ends_with('/')) heading += ' ';
        heading += line;
    }
    const std::string_view group = column.item.group;
    return group.empty() ? heading : std::string(group) + ": " + heading;
}

class MarkdownWriter : public ResultSink {
 public:
    MarkdownWriter(ByteSink& out, const TableStyle& style)
        : out_(out),
          style_{.width = 0,  // a page scrolls
                 .ascii = style.ascii,
                 .takes_columns = style.takes_columns,
                 .explains_all = style.explains_all} {}

    void begin(const ResultHead& head) override {
        head_ = head;
        notes_.look_at(head);
        put_paragraph("**", title_of(head, style_), "**");
    }

    void point(const Point& point) override {
        if (page_.size() == settling_points) put_page("In these rows: ");
        page_.push_back(point);
    }

    void finish(const ResultTail& tail) override {
        if (!page_.empty()) put_page(heading_.empty() ? "In every row: " : "In these rows: ");
        text_.put('\n');
        for (const std::string& note : notes_.lines(tail)) put_line("- ", note);
        text_.hand_over(out_);
    }

 private:
    void put_line(std::string_view before, std::string_view text) {
        text_.put(before);
        text_.put(escaped(text));
        text_.put('\n');
    }
    void put_paragraph(std::string_view before, std::string_view text, std::string_view behind) {
        text_.put(before);
        text_.put(escaped(text));
        text_.put(behind);
        text_.put("\n\n");
    }

    void put_page(std::string_view facts_begin) {
        const TableLayout layout = layout_of(head_, page_, style_);
        std::string heading = table_heading(layout, facts_begin);
        if (heading != heading_) {
            if (!heading_.empty()) text_.put('\n');
            text_.put(heading);
            heading_ = std::move(heading);
        }
        notes_.look_at(layout);
        for (const Point& point : page_) {
            notes_.look_at(layout, point, false);
            put_row(layout, point);
            text_.hand_over_when_full(out_);
        }
        put_instructions();
        page_.clear();
    }

    // As in the table for terminals.
    void put_instructions() {
        if (head_.sweep.pattern != "formula") return;
        const auto& [rows, notes] = instruction_rows(page_, style_);
        if (rows.empty()) return;
        text_.put("\nEach instruction, predicted:\n\n");
        text_.put("| point | instruction | cost | efficiency |\n| :-- | :-- | --: | --: |\n");
        for (const auto& [point, instruction, cost, unit, efficiency] : rows) {
            text_.put('|');
            for (const std::string& cell : {point, instruction, cost + ' ' + unit, efficiency})
                text_.put(' ' + escaped(cell) + " |");
            text_.put('\n');
        }
        for (const std::string& note : notes) {
            text_.put('\n');
            put_line("", note);
        }
    }

    std::string table_heading(const TableLayout& layout, std::string_view facts_begin) const {
        std::string text;
        const std::string facts = constants_text(layout, style_);
        if (!facts.empty()) text += escaped(std::string(facts_begin) + facts) + ".\n\n";
        std::string names = "|";
        std::string rule = "|";
        for (const TableColumn& column : layout.columns) {
            if (column.shows == TableColumn::Shows::bar) continue;
            names += ' ' + escaped(heading_of(column)) + " |";
            rule += column.is_left_aligned ? " :-- |" : " --: |";
        }
        return text + names + '\n' + rule + '\n';
    }

    void put_row(const TableLayout& layout, const Point& point) {
        text_.put('|');
        for (const TableColumn& column : layout.columns) {
            if (column.shows == TableColumn::Shows::bar) continue;
            cell_.clear();
            put_cell(cell_, column, point, style_);
            text_.put(' ');
            text_.put(escaped(cell_.view()));
            text_.put(" |");
        }
        text_.put('\n');
    }

    ByteSink& out_;
    TableStyle style_;
    TextBuffer text_;
    TextBuffer cell_;
    ResultHead head_;
    TableNotes notes_{style_, false};
    std::vector<Point> page_;
    std::string heading_;  // of the last page; never empty once there is one
};

}  // namespace

std::unique_ptr<ResultSink> make_markdown(ByteSink& out, const TableStyle& style) {
    return std::make_unique<MarkdownWriter>(out, style);
}

}  // namespace coalprof
