// `table`: for people. Points are held back until the columns can be sized (or all have come), then
// rows stream. A point that breaks what the heading says starts a new heading. A lone point is
// shown as a list, which has room for everything.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/write/columns.h"
#include "core/write/table_card.h"
#include "core/write/table_cell.h"
#include "core/write/table_layout.h"
#include "core/write/table_notes.h"
#include "core/write/table_title.h"
#include "core/write/terminal_text.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

constexpr std::string_view gap = "  ";

// Colour is an accent on what matters: how much of each sector was used.
std::string_view color_of(const TableColumn& column, const Point& point) {
    const Reading& reading = shown_reading(column, point);
    if (!column.is_colored || !is_finite_number(reading)) return {};
    const double efficiency = number_in(reading);
    return efficiency >= 0.9 ? "\033[32m" : efficiency >= 0.5 ? "\033[33m" : "\033[31m";
}

class TableWriter : public ResultSink {
 public:
    TableWriter(ByteSink& out, const TableStyle& style) : out_(out), style_(style) {}

    void begin(const ResultHead& head) override {
        head_ = head;
        notes_.look_at(head);
        put_folded(text_, title_of(head, style_), style_.width, 2);
    }

    void point(const Point& point) override {
        if (layout_ && holds_for(*layout_, point) && put_row(point)) return;
        layout_.reset();
        held_back_.push_back(point);
        if (held_back_.size() == settling_points) settle(false);
    }

    void finish(const ResultTail& tail) override {
        if (is_lone_point())
            put_lone_point();
        else if (!held_back_.empty())
            settle(true);
        put_notes(tail);
        text_.hand_over(out_);
    }

 private:
    bool is_lone_point() const { return !has_headings_ && held_back_.size() == 1; }

    void put_lone_point() {
        const Point& point = held_back_.front();
        TableStyle any_width = style_;
        any_width.width = 0;
        const TableLayout layout = layout_of(head_, held_back_, any_width, true);
        put_card(text_, layout, point, style_);
        notes_.look_at(layout, point, true);
        if (!point.failure.empty()) notes_.look_at_failure(point);
    }

    void settle(bool is_complete) {
        has_headings_ = true;
        layout_ = layout_of(head_, held_back_, style_, is_complete);
        notes_.look_at(*layout_);
        put_hoisted();
        text_.put('\n');
        put_groups();
        put_headings();
        for (const Point& point : held_back_) {
            notes_.look_at(*layout_, point, false);
            put_row(point);
        }
        held_back_.clear();
    }

    void put_hoisted() {
        const std::string facts = hoisted_text(*layout_, style_);
        if (!facts.empty()) put_folded(text_, "In every row: " + facts, style_.width, 2);
    }

    // A line over neighbouring columns of one group, with the group's name in it.
    void put_groups() {
        std::string line;
        const auto& columns = layout_->columns;
        std::size_t at = 0;  // column of the terminal
        std::size_t written = 0;
        for (std::size_t i = 0; i < columns.size();) {
            std::size_t end = i + 1;
            std::size_t width = columns[i].width;
            while (end < columns.size() && columns[end].item.group == columns[i].item.group)
                width += gap.size() + columns[end++].width;
            const std::string_view group = columns[i].item.group;
            if (!group.empty()) {
                line.append(at - written, ' ');
                line += group_line(group, width);
                written = at + width;
            }
            at += width + gap.size();
            i = end;
        }
        if (line.empty()) return;
        line.erase(line.find_last_not_of(' ') + 1);
        text_.put(line);
        text_.put('\n');
    }

    std::string group_line(std::string_view name, std::size_t width) const {
        const std::string_view rule = style_.ascii ? "-" : "─";
        std::string line;
        if (name.size() + 4 > width) {
            line = name.substr(0, width);
            line.append(width - line.size(), ' ');
            return line;
        }
        const std::size_t rules = width - name.size() - 2;
        for (std::size_t i = 0; i < rules / 2; ++i) line += rule;
        line.append(" ").append(name).append(" ");
        for (std::size_t i = rules / 2; i < rules; ++i) line += rule;
        return line;
    }

    void put_headings() {
        for (std::size_t line = 0; line < 3; ++line) {
            const bool is_empty = std::all_of(
                layout_->columns.begin(), layout_->columns.end(),
                [&](const TableColumn& column) { return column.heading[line].empty(); });
            if (is_empty) continue;
            std::string text;
            for (const TableColumn& column : layout_->columns) {
                const std::string& word = column.heading[line];
                const std::size_t padding = column.width - columns_of_text(word);
                if (!column.is_left_aligned) text.append(padding, ' ');
                text += word;
                if (column.is_left_aligned) text.append(padding, ' ');
                text += gap;
            }
            text.erase(text.find_last_not_of(' ') + 1);
            text_.put(text);
            text_.put('\n');
        }
    }

    // False, with nothing put, when a number finds no room in its column.
    bool put_row(const Point& point) {
        const std::size_t begin = text_.view().size();
        std::size_t owed = 0;  // blanks, put only when something follows
        for (const TableColumn& column : layout_->columns) {
            cell_.clear();
            const std::size_t width = put_cell(cell_, column, point, style_);
            if (column.shows == TableColumn::Shows::reading) note_gap(column, point);
            if (width > column.width) {
                text_.shrink(begin);
                return false;
            }
            const std::size_t padding = column.width - width;
            if (!column.is_left_aligned) owed += padding;
            if (width > 0) {
                text_.fill(owed, ' ');
                owed = 0;
                put_colored(column, point);
            }
            owed += gap.size() + (column.is_left_aligned ? padding : 0);
        }
        text_.put('\n');
        if (!point.failure.empty()) notes_.look_at_failure(point);
        text_.hand_over_when_full(out_);
        return true;
    }

    void note_gap(const TableColumn& column, const Point& point) {
        if (!std::holds_alternative<Unavailable>(shown_reading(column, point))) return;
        notes_.look_at(column.item, column.from_measurement ? *point.measured : point.predicted);
    }

    void put_colored(const TableColumn& column, const Point& point) {
        const std::string_view color =
            style_.color && column.is_colored ? color_of(column, point) : std::string_view{};
        text_.put(color);
        text_.put(cell_.view());
        if (!color.empty()) text_.put("\033[0m");
    }

    void put_notes(const ResultTail& tail) {
        const std::vector<std::string> notes = notes_.lines(tail);
        if (notes.empty()) return;
        text_.put('\n');
        for (const std::string& note : notes) put_folded(text_, note, style_.width, 2);
    }

    ByteSink& out_;
    TableStyle style_;
    TextBuffer text_;
    TextBuffer cell_;
    ResultHead head_;
    TableNotes notes_{style_};
    std::vector<Point> held_back_;
    std::optional<TableLayout> layout_;
    bool has_headings_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_table(ByteSink& out, const TableStyle& style) {
    return std::make_unique<TableWriter>(out, style);
}

}  // namespace coalprof
