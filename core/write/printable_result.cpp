#include "core/write/printable_result.h"

#include <algorithm>
#include <utility>

#include "core/result/result.h"
#include "core/text/describe.h"
#include "core/text/fold.h"

namespace coalprof {
namespace {

// Usual, so checked first.
bool is_plain_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

void make_printable(std::string& text) {
    if (is_plain_ascii(text)) return;
    std::ranges::replace(text, '\n', ' ');  // pasted formulas have several lines
    text = printable(text);
}

template <typename Part>
Part printable_copy(const Part& part) {
    Part copy = part;
    each_text(copy, make_printable);
    return copy;
}

class PrintableResult : public ResultSink {
 public:
    PrintableResult(std::unique_ptr<ResultSink> format, std::unique_ptr<ByteSink> bytes)
        : bytes_(std::move(bytes)), format_(std::move(format)) {}

    void begin(const ResultHead& head) override { format_->begin(printable_copy(head)); }
    void point(const Point& point) override {
        is_plain_ = true;
        each_text(point, look_);  // copying every point would cost more than its format
        is_plain_ ? format_->point(point) : format_->point(printable_copy(point));
    }
    void finish(const ResultTail& tail) override { format_->finish(printable_copy(tail)); }

 private:
    std::unique_ptr<ByteSink> bytes_;
    std::unique_ptr<ResultSink> format_;
    bool is_plain_ = true;
    const LookAtText look_ = [this](const std::string& text) {
        is_plain_ = is_plain_ && is_plain_ascii(text);
    };
};

}  // namespace

std::unique_ptr<ResultSink> with_printable_text(std::unique_ptr<ResultSink> format,
                                                std::unique_ptr<ByteSink> bytes) {
    return std::make_unique<PrintableResult>(std::move(format), std::move(bytes));
}

void LogLines::write(std::string_view bytes) { next_.write(without_commands(bytes)); }

}  // namespace coalprof
