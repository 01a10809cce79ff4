// `table`, `md`, `latex`: for people. Points are held back until all have come, or a page is full:
// each page is a table made from its own rows, so that its heading is true of them. A lone point is
// shown as a list, which has room for everything.
#include <utility>

#include "core/write/columns.h"
#include "core/write/formats.h"
#include "core/write/origin.h"
#include "core/write/table.h"
#include "core/write/table_maker.h"
#include "core/write/table_notes.h"

namespace coalprof {
namespace {

class TableWriter : public ResultSink {
 public:
    TableWriter(ByteSink& out, const TableStyle& style, std::unique_ptr<TableRenderer> renderer)
        : out_(out), style_(style), renderer_(std::move(renderer)) {}

    void begin(const ResultHead& head) override {
        head_ = head;
        notes_.look_at(head);
        renderer_->put(text_, {.above = {title_of(head, style_)}});
    }

    void point(const Point& point) override {
        if (page_.size() == settling_points) put_page();
        page_.push_back(point);
    }

    void finish(const ResultTail& tail) override {
        if (pages_ == 0 && page_.size() == 1)
            put_lone_point();
        else if (!page_.empty())
            put_page(pages_ == 0);
        if (std::vector<TableNote> notes = notes_.notes(tail); !notes.empty())
            renderer_->put(text_, {.notes = std::move(notes)});
        text_.hand_over(out_);
    }

 private:
    void put_lone_point() {
        TableStyle all = style_;
        all.width = 0;
        all.explains_all = true;
        const TableLayout layout = layout_of(head_, page_, all);
        Point point = page_.front();
        // The title has it already: a formula without parameters.
        if (point.name == head_.sweep.pattern) point.name.clear();
        put_failures();
        renderer_->put(text_, table_of_point(layout, point, style_));
        put_instructions();
        notes_.look_at(layout);
        notes_.look_at(layout, page_.front(), true);
    }

    // A ranking keeps its slowest kernels, so that the first finding fits the screen beside them.
    void leave_out_fast_ones() {
        constexpr std::size_t most_rows = 5;
        if (!head_.is_ranking || !style_.folds_rows || style_.explains_all ||
            page_.size() <= most_rows)
            return;
        notes_.leave_out(page_.size() - most_rows);
        page_.resize(most_rows);
    }

    void put_page(bool is_only = false) {
        put_failures();
        leave_out_fast_ones();
        const TableLayout layout = layout_of(head_, page_, style_);
        const bool shows_one = head_.columns.size() == 1;
        Table table = table_of_page(layout, page_, is_only ? "all rows" : "these rows", style_,
                                    is_only && shows_one);
        if (table.facts == facts_) table.facts.clear();  // already above the last page
        if (!table.facts.empty()) facts_ = table.facts;
        renderer_->put(text_, table);
        notes_.look_at(layout);
        if (is_only && head_.columns.empty()) notes_.look_at_axes(cross_axes_of(layout, page_));
        for (const Point& point : page_) notes_.look_at(layout, point, false);
        put_instructions();
        text_.hand_over(out_);
        page_.clear();
        ++pages_;
    }

    // They say which numbers below are not to be trusted.
    void put_failures() {
        if (auto lines = notes_.failures_among(page_); !lines.empty())
            renderer_->put(text_, {.above = std::move(lines)});
    }

    // Patterns are known by name; a formula's sum alone may be true of no part of it.
    void put_instructions() {
        if (head_.sweep.pattern != "formula") return;
        if (const auto table = table_of_instructions(page_, style_)) renderer_->put(text_, *table);
    }

    ByteSink& out_;
    TableStyle style_;
    std::unique_ptr<TableRenderer> renderer_;
    TextBuffer text_;
    ResultHead head_;
    TableNotes notes_{style_};
    std::vector<Point> page_;
    std::size_t pages_ = 0;  // that were put
    std::string facts_;      // the last head's facts
};

// A document can scroll, and nobody can unfold its rows.
TableStyle of_document(TableStyle style) {
    style.width = 0;
    style.folds_rows = false;
    return style;
}

}  // namespace

std::unique_ptr<ResultSink> make_table(ByteSink& out, const TableStyle& style) {
    return with_run_table(out, style, make_text_renderer(style),
                          std::make_unique<TableWriter>(out, style, make_text_renderer(style)));
}

std::unique_ptr<ResultSink> make_markdown(ByteSink& out, const TableStyle& style) {
    const TableStyle wide = of_document(style);
    return with_run_table(out, wide, make_markdown_renderer(),
                          std::make_unique<TableWriter>(out, wide, make_markdown_renderer()));
}

std::unique_ptr<ResultSink> make_latex(ByteSink& out, const TableStyle& style) {
    // A terminal's width fits a page of a paper; -v has all columns.
    TableStyle narrow = of_document(style);
    if (!style.explains_all) narrow.width = TableStyle().width;
    return with_run_table(out, narrow, make_latex_renderer(),
                          std::make_unique<TableWriter>(out, narrow, make_latex_renderer()));
}

}  // namespace coalprof
