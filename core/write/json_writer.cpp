// `json`: one document, schema coalprof/1. It is written as the points come, one a line, so the
// status and the warnings, which are known last, are at its end.
#include "core/write/formats.h"
#include "core/write/json_text.h"
#include "core/write/point_json.h"

namespace coalprof {
namespace {

class JsonWriter : public ResultSink {
 public:
    explicit JsonWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override {
        text_.put(R"({"schema":)");
        put_json_text(text_, result_schema);
        text_.put(",\n\"meta\":", json_of_meta(head),
                  ",\n\"sweep\":", json_of_values(values_of(head.sweep)), ",\n\"points\":[");
    }

    void point(const Point& point) override {
        text_.put(is_first_ ? "\n{" : ",\n{");
        is_first_ = false;
        point_json_.put_members_and_close(text_, point);
        text_.hand_over_when_full(out_);
    }

    void finish(const ResultTail& tail) override {
        text_.put("\n],\n");
        put_tail_members(text_, tail, "\n");
        text_.put("}\n");
        text_.hand_over(out_);
    }

 private:
    ByteSink& out_;
    TextBuffer text_;
    PointJson point_json_;
    bool is_first_ = true;
};

}  // namespace

std::unique_ptr<ResultSink> make_json(ByteSink& out, const TableStyle&) {
    return std::make_unique<JsonWriter>(out);
}

}  // namespace coalprof
