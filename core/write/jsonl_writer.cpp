// `jsonl`: one point a line, each line a whole object that says what it belongs to. Whoever reads
// along gets each line as its point is finished.
#include "core/write/json_text.h"
#include "core/write/point_json.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

std::string machine_name(const ResultHead& head) {
    for (const auto& [key, value] : head.machine)
        if (const auto* name = std::get_if<std::string>(&value); name && key == "name")
            return *name;
    return {};
}

class JsonlWriter : public ResultSink {
 public:
    explicit JsonlWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override {
        prefix_ = R"({"schema":)" + json_of_text(result_schema);
        if (const std::string name = machine_name(head); !name.empty())
            prefix_ += R"(,"machine":)" + json_of_text(name);
        prefix_ += R"(,"sweep":)" + json_of_short_sweep(head) + ',';
    }

    void point(const Point& point) override {
        text_.put(prefix_);
        point_json_.put_members_and_close(text_, point);
        text_.put('\n');
        if (out_.is_live())
            text_.hand_over(out_);
        else
            text_.hand_over_when_full(out_);
    }

    void finish(const ResultTail&) override { text_.hand_over(out_); }

 private:
    ByteSink& out_;
    TextBuffer text_;
    PointJson point_json_;
    std::string prefix_;  // of every line, up to the point's own members
};

}  // namespace

std::unique_ptr<ResultSink> make_jsonl(ByteSink& out, const TableStyle&) {
    return std::make_unique<JsonlWriter>(out);
}

}  // namespace coalprof
