// All outputs of one command: standard output and files, each in its own format, fed with the same
// points. A failing output does not stop the others; failures are thrown when they are safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.h"
#include "core/write/formats.h"

namespace coalprof {

struct OutputTarget {
    std::string path;  // "-" and "/dev/stdout" are standard output
    const Format* format = nullptr;
    TableStyle style;
};

// "-" and "/dev/stdout".
bool is_standard_output(std::string_view path);
// True if columns of one of them, such as csv, must be known before the first point.
bool has_csv(const std::vector<OutputTarget>& targets);

// The reader of standard output has left and no other output is open, so that nothing more is
// needed. Not a failure: code() is ExitCode::done, and main() is to end silently.
class ReaderGone : public Error {
 public:
    ReaderGone() : Error("the reader of standard output has left", ExitCode::done) {}
};

class Outputs : public ResultSink {
 public:
    // Opens every target at once, so that a bad one fails before anything is measured: Error
    // (ExitCode::output) naming the path, UsageError when one is an input, or two are the same
    // file. `untold` gets the result's warnings where no target shows them; `note` gets a sentence
    // where the files are not what was asked for, and one that rows of csv are sums.
    explicit Outputs(const std::vector<OutputTarget>& targets,
                     std::function<void(const std::vector<Warning>&)> untold = {},
                     std::function<void(std::string_view)> note = {});
    ~Outputs() override;

    // If `keeps` returns true at the end of an interrupted result, its points are kept elsewhere,
    // and no file gets a part of them.
    void leave_parts_to(std::function<bool()> keeps) { keeps_parts_ = std::move(keeps); }

    // If head.columns lists counters, no output shows any other; if head.table_columns does, none
    // but JSON.
    void begin(const ResultHead& head) override;
    // Throws ReaderGone, or the failures, when no output is left.
    void point(const Point& point) override;
    void end_of_part(const ResultTail& tail) override;
    // Ends every output and puts the files in place; those of an interrupted result beside their
    // places, see OutputFile::commit_part(), and without points nowhere. Then throws the failures,
    // if any, as one Error (ExitCode::output).
    void finish(const ResultTail& tail) override;

 private:
    class Output;
    template <typename Work>
    void for_each(Work work);
    void throw_failures() const;

    std::vector<std::unique_ptr<Output>> outputs_;
    std::function<void(const std::vector<Warning>&)> untold_;
    std::function<void(std::string_view)> note_;
    std::function<bool()> keeps_parts_;
    std::uint64_t points_ = 0;
    bool has_csv_ = false;
    bool has_sums_ = false;  // some numbers add up several instructions of one kind
    std::string failures_;
    std::vector<Counter> listed_;            // empty: all
    std::vector<Counter> listed_in_tables_;  // likewise
    bool explains_absent_ = false;
};

}  // namespace coalprof
