// `table`: for people. Points are held back until all have come, or a page is full: each page is
// laid out from its own rows, so that what its heading says is true of them. A lone point is shown
// as a list, which has room for everything.
#include "core/write/columns.h"
#include "core/write/table_card.h"
#include "core/write/table_instructions.h"
#include "core/write/table_layout.h"
#include "core/write/table_notes.h"
#include "core/write/table_rows.h"
#include "core/write/table_title.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

class TableWriter : public ResultSink {
 public:
    TableWriter(ByteSink& out, const TableStyle& style) : out_(out), style_(style) {}

    void begin(const ResultHead& head) override {
        head_ = head;
        notes_.look_at(head);
        text_.put(prose(title_of(head, style_), style_));
    }

    void point(const Point& point) override {
        if (page_.size() == settling_points) put_page("In these rows: ");
        page_.push_back(point);
    }

    void finish(const ResultTail& tail) override {
        const bool is_first = heading_.empty();
        if (is_first && page_.size() == 1)
            put_lone_point();
        else if (!page_.empty())
            put_page(is_first ? "In every row: " : "In these rows: ");
        put_notes(tail);
        text_.hand_over(out_);
    }

 private:
    void put_lone_point() {
        TableStyle any_width = style_;
        any_width.width = 0;
        const TableLayout layout = layout_of(head_, page_, any_width);
        Point point = page_.front();
        // The title says it already: a formula without parameters.
        if (point.name == head_.sweep.pattern) point.name.clear();
        put_card(text_, layout, point, style_);
        put_instructions();
        notes_.look_at(layout);
        notes_.look_at(layout, page_.front(), true);
    }

    // A heading that is the last page's is not repeated.
    void put_page(std::string_view facts_begin) {
        const TableLayout layout = layout_of(head_, page_, style_);
        std::string heading = heading_text(layout, facts_begin, style_);
        if (heading != heading_) {
            if (!heading_.empty()) text_.put('\n');
            text_.put(heading);
            heading_ = std::move(heading);
        }
        notes_.look_at(layout);
        for (const Point& point : page_) {
            notes_.look_at(layout, point, false);
            put_row(text_, cell_, layout, point, style_);
            text_.hand_over_when_full(out_);
        }
        put_instructions();
        page_.clear();
    }

    // Patterns are known by what they do; of a formula the sum alone may be true of no part of it.
    void put_instructions() {
        if (head_.sweep.pattern != "formula") return;
        const std::string text = instructions_text(page_, style_);
        if (text.empty()) return;
        text_.put('\n');
        text_.put(text);
    }

    void put_notes(const ResultTail& tail) {
        const std::vector<std::string> notes = notes_.lines(tail);
        if (notes.empty()) return;
        text_.put('\n');
        for (const std::string& note : notes) text_.put(prose(note, style_));
    }

    ByteSink& out_;
    TableStyle style_;
    TextBuffer text_;
    TextBuffer cell_;
    ResultHead head_;
    TableNotes notes_{style_};
    std::vector<Point> page_;
    std::string heading_;  // of the last page; never empty once there is one
};

}  // namespace

std::unique_ptr<ResultSink> make_table(ByteSink& out, const TableStyle& style) {
    return std::make_unique<TableWriter>(out, style);
}

}  // namespace coalprof
