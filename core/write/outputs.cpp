#include "core/write/outputs.h"

#include <algorithm>
#include <utility>

#include "core/write/file_descriptor.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

// The reason why a requested counter is not there at all.
Unavailable why_absent(Counter counter, const Readings& there, bool is_measured) {
    const std::string_view key = key_of(counter);
    if (counter == Counter::duration_seconds && !is_measured)
        return {
            "times are predicted only for launches in device memory, on boards whose rates are "
            "known"};
    if (key.ends_with("_transactions") || key.ends_with("_transaction_bytes"))
        return {"before compute capability 7.0, launches are counted in transactions"};
    if (key.starts_with("atomic_") && is_present(there[Counter::reduce_requests]))
        return {"nothing uses what its atomics return: reduce_... counts them"};
    if (key.starts_with("reduce_") && is_present(there[Counter::atomic_requests]))
        return {"its atomics return a value: atomic_... counts them"};
    return {"this launch has no such access, or this machine has no such counter"};
}

// True if one counter counts several instructions of the launch.
bool sums_instructions(const Point& point) {
    const auto& all = point.instructions;
    return std::ranges::any_of(all, [&](const InstructionResult& one) {
        return std::ranges::count(all, one.op, &InstructionResult::op) > 1;
    });
}

Readings only(const std::vector<Counter>& counters, const Readings& readings, bool explains,
              bool is_measured) {
    Readings some;
    for (const Counter counter : counters) {
        some[counter] = readings[counter];
        if (explains && !is_present(some[counter]))
            some[counter] = why_absent(counter, readings, is_measured);
    }
    return some;
}

Point only(const std::vector<Counter>& counters, const Point& point, bool explains) {
    const auto is_listed = [&](Counter counter) {
        return std::ranges::find(counters, counter) != counters.end();
    };
    Point shown = point;
    shown.predicted = only(counters, point.predicted, explains, false);
    if (point.measured) shown.measured = only(counters, *point.measured, explains, true);
    if (!shown.estimates) return shown;
    if (!is_listed(Counter::duration_seconds) && !is_listed(Counter::bandwidth_bytes_per_second))
        shown.estimates->limits.clear();
    std::erase_if(shown.estimates->intervals,
                  [&](const Interval& interval) { return !is_listed(interval.counter); });
    return shown;
}

}  // namespace

bool is_standard_output(std::string_view path) { return path == "-" || path == "/dev/stdout"; }

bool has_csv(const std::vector<OutputTarget>& targets) {
    return std::ranges::any_of(
        targets, [](const auto& target) { return target.format->traits.fixes_columns; });
}

// One output: the target of its bytes and its format.
class Outputs::Output {
 public:
    explicit Output(const OutputTarget& target)
        : is_for_programs_(target.format->text == TextRule::escaped) {
        if (is_standard_output(target.path)) {
            bytes_ = std::make_unique<StandardOutput>();
        } else {
            auto file = std::make_unique<OutputFile>(target.path);
            file_ = file.get();
            bytes_ = std::move(file);
        }
        format_ = target.format->make(*bytes_, target.style);
    }

    ResultSink& format() { return *format_; }
    // Returns a remark for the user; empty where there is none.
    std::string commit() {
        if (!file_) return {};
        file_->commit();
        return file_->remark();
    }
    // Ends an interrupted run: the file that it was to replace may be a whole result. Without
    // points there is nothing to keep.
    std::string commit_part(std::uint64_t points) {
        if (!file_) return {};
        if (points > 0) {
            file_->commit_part();
            return file_->remark();
        }
        if (!file_->is_live()) close();
        return {};
    }
    bool is_open() const { return format_ != nullptr; }
    // Releases the target; a file that was not committed is removed. JSON has every counter,
    // whatever tables show.
    bool is_for_programs() const { return is_for_programs_; }
    void close() {
        format_.reset();
        file_ = nullptr;
        bytes_.reset();
    }

 private:
    std::unique_ptr<ByteSink> bytes_;
    OutputFile* file_ = nullptr;
    bool is_for_programs_ = false;
    std::unique_ptr<ResultSink> format_;
};

Outputs::Outputs(const std::vector<OutputTarget>& targets,
                 std::function<void(const std::vector<Warning>&)> untold,
                 std::function<void(std::string_view)> note)
    : untold_(std::move(untold)), note_(std::move(note)), has_csv_(has_csv(targets)) {
    for (const OutputTarget& target : targets) {
        if (target.format->traits.tells_warnings) untold_ = nullptr;
        outputs_.push_back(std::make_unique<Output>(target));
    }
}

Outputs::~Outputs() = default;

// Does `work` with every open output. One that fails is closed; the others continue.
template <typename Work>
void Outputs::for_each(Work work) {
    bool some_are_open = false;
    for (const auto& output : outputs_) {
        if (!output->is_open()) continue;
        try {
            work(*output);
            some_are_open = true;
        } catch (const ReaderGone&) {
            output->close();
        } catch (const Error& error) {
            output->close();
            if (!failures_.empty()) failures_ += "; ";
            failures_ += error.what();
        }
    }
    if (some_are_open || outputs_.empty()) return;
    throw_failures();
    throw ReaderGone();
}

void Outputs::throw_failures() const {
    if (!failures_.empty()) throw Error(failures_, ExitCode::output);
}

void Outputs::begin(const ResultHead& head) {
    listed_ = head.columns;
    listed_in_tables_ = head.table_columns.empty() ? listed_ : head.table_columns;
    ResultHead of_tables = head;
    of_tables.columns = listed_in_tables_;
    // The points of a sweep have the same counters; each line of a warps file may have others.
    explains_absent_ = head.points.has_value();
    for_each([&](Output& output) {
        output.format().begin(output.is_for_programs() ? head : of_tables);
    });
}

void Outputs::point(const Point& point) {
    ++points_;
    has_sums_ = has_sums_ || (has_csv_ && sums_instructions(point));
    std::unique_ptr<Point> for_programs;  // some KiB that most points do not need
    std::unique_ptr<Point> in_tables;
    const auto listed = [&](std::unique_ptr<Point>& shown,
                            const std::vector<Counter>& counters) -> const Point& {
        if (counters.empty()) return point;
        if (!shown) shown = std::make_unique<Point>(only(counters, point, explains_absent_));
        return *shown;
    };
    for_each([&](Output& output) {
        output.format().point(output.is_for_programs() ? listed(for_programs, listed_)
                                                       : listed(in_tables, listed_in_tables_));
    });
}

void Outputs::end_of_part(const ResultTail& tail) {
    for_each([&](Output& output) { output.format().end_of_part(tail); });
}

void Outputs::finish(const ResultTail& tail) {
    for_each([&](Output& output) {
        output.format().finish(tail);
        const bool is_part = tail.status == Status::interrupted;
        const bool is_elsewhere = keeps_parts_ && keeps_parts_();
        const std::string remark = !is_part       ? output.commit()
                                   : is_elsewhere ? output.commit_part(0)
                                                  : output.commit_part(points_);
        if (note_ && !remark.empty()) note_(remark);
    });
    if (note_ && has_sums_)
        note_("csv: a row is the sum over its launch's instructions; --json has each of them");
    if (untold_) untold_(tail.warnings);
    throw_failures();
}

}  // namespace coalprof
