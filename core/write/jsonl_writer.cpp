// `jsonl`: one point a line, each line a whole object with the head's main facts. The first line
// has the whole head besides, and a last line, of no point, says how the run ended. A reader who
// follows gets each line as its point is finished.
//
// Data frames take the columns that some line has: the text of a formula is in the first line as
// `sweep.formula` of every file, also where several are swept and the head knows none. Then it is
// that point's, and each point has its own as a parameter.
#include <optional>

#include "core/write/formats.h"
#include "core/write/json_text.h"
#include "core/write/origin.h"
#include "core/write/point_json.h"

namespace coalprof {
namespace {

// The common beginning of all lines. `sweep` is JSON.
std::string line_start(const ResultHead& head, const std::string& sweep) {
    std::string start = R"({"schema":)" + json_of_text(result_schema);
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) start += ',' + json_of_text(name) + ':' + json_of_text(text);
    };
    put("machine", head.machine.name);
    put("evidence", head.machine.evidence);
    if (head.device) put("device", head.device->name);
    return start + R"(,"sweep":)" + sweep + ',';
}

class JsonlWriter : public ResultSink {
 public:
    explicit JsonlWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override {
        start_ = line_start(head, json_of_short_sweep(head));
        head_ = head;
    }

    void point(const Point& point) override {
        if (head_) name_formula_of(point, *head_);
        put_start();
        point_json_.put_members_and_close(text_, point);
        text_.put('\n');
        if (out_.is_live())
            text_.hand_over(out_);
        else
            text_.hand_over_when_full(out_);
    }

    void finish(const ResultTail& tail) override {
        put_start();
        put_tail_members(text_, tail);
        text_.put("}\n");
        text_.hand_over(out_);
    }

 private:
    static void name_formula_of(const Point& point, ResultHead& head) {
        const Value* name = find_value(point.parameters, "formula");
        if (!name || !head.sweep.formula.empty()) return;
        const Value* text = text_of_named_formula(head, *name);
        head.sweep.formula = text_of(text ? *text : *name);
    }
    void put_start() {
        if (!head_) return text_.put(start_);
        text_.put(line_start(*head_, json_of_values(values_of(head_->sweep))), R"("meta":)",
                  json_of_meta(*head_), ',');
        head_.reset();
    }

    ByteSink& out_;
    TextBuffer text_;
    PointJson point_json_;
    std::string start_;               // of every line but the first
    std::optional<ResultHead> head_;  // until the first line is written
};

}  // namespace

std::unique_ptr<ResultSink> make_jsonl(ByteSink& out, const TableStyle&) {
    return std::make_unique<JsonlWriter>(out);
}

}  // namespace coalprof
