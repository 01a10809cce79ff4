// `text`: one line a point, then one for each finding, as compilers write them, so that editors,
// problem matchers and grep read them: FILE:LINE: warning: .... The counters are called by their
// keys.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/write/formats.h"
#include "core/write/number_text.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

// What a line shows where no columns were chosen.
bool is_telling(Counter counter) {
    const std::string_view key = key_of(counter);
    return key.ends_with("sectors_per_request") || key.ends_with("_excess") ||
           key.ends_with("conflict_degree") || counter == Counter::constant_requests ||
           counter == Counter::duration_seconds;
}

std::string reading_text(const Point& point, Counter counter, double value) {
    NumberStyle style = style_for(info(counter), {value}, true);
    const bool is_estimate = !point.measured && point.estimates && point.estimates->of(counter);
    if (is_estimate) style = estimate_style(style);
    return fmt::format("{} {}{}{}{}", key_of(counter), is_estimate ? "~" : "",
                       number_text(value, style), style.unit.empty() ? "" : " ", style.unit);
}

class TextWriter : public ResultSink {
 public:
    explicit TextWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override { are_chosen_ = !head.columns.empty(); }

    void point(const Point& point) override {
        const std::string file = text_of(point.parameters, source_file_parameter);
        const std::string line = text_of(point.parameters, "line");
        const bool has_place = !file.empty() && line.find(':') != line.npos;
        // A line's name begins with its place, which has no folder there.
        std::string name = point.name;
        if (has_place) {
            name = file + line.substr(line.rfind(':'));
            places_[point.name] = name;
            name +=
                ": note:" + point.name.substr(std::min(point.name.find(' '), point.name.size()));
        }
        text_.put(name, ": ",
                  point.failure.empty() ? readings_text(point) : "error: " + point.failure, '\n');
        text_.hand_over(out_);
    }

    void finish(const ResultTail& tail) override {
        for (const LineFinding& finding : tail.findings) {
            const auto place = places_.find(finding.point);
            text_.put(place == places_.end() ? finding.point : place->second,
                      ": warning: ", finding.text, finding.fix.empty() ? "" : " Fix: ", finding.fix,
                      '\n');
        }
        for (const Verdict& verdict : tail.verdicts) text_.put(verdict.text, '\n');
        for (const Warning& warning : tail.warnings) text_.put(describe(warning), '\n');
        if (tail.status != Status::complete) text_.put(name_of(tail.status), '\n');
        text_.hand_over(out_);
    }

 private:
    std::string readings_text(const Point& point) const {
        std::string text;
        (point.measured ? *point.measured : point.predicted)
            .each([&](Counter counter, const Reading& reading) {
                if (!is_number(reading) || !(are_chosen_ || is_telling(counter))) return;
                text +=
                    (text.empty() ? "" : ", ") + reading_text(point, counter, number_in(reading));
            });
        return text;
    }

    ByteSink& out_;
    TextBuffer text_;
    bool are_chosen_ = false;                    // counters: points have no others
    std::map<std::string, std::string> places_;  // point's name -> source line
};

}  // namespace

std::unique_ptr<ResultSink> make_text(ByteSink& out, const TableStyle&) {
    return std::make_unique<TextWriter>(out);
}

}  // namespace coalprof
