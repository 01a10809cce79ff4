#include "core/result/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/json/json_stream.h"
#include "core/pattern/launch_options.h"
#include "core/result/parts.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"

namespace coalprof {

namespace {

constexpr std::size_t most_warnings = 20;  // warnings about a file's damage

constexpr std::string_view what_is_read =
    "a result is JSON or JSON Lines: run the sweep with -o FILE.json (or --json, --jsonl) and give "
    "that file";

// Files of coalprof that hold no results, by the member that identifies them.
struct OtherDocument {
    std::string_view member;
    std::string_view noun;
};
constexpr std::array other_documents{
    OtherDocument{"explanation", "a drawing of `coalprof explain`"},
    OtherDocument{"verification", "a report of `coalprof verify`"},
    OtherDocument{"comparison", "a report of `coalprof compare`"},
    OtherDocument{"check", "a report of `coalprof check`"},
    OtherDocument{"calibration", "a machine file, for --machine ./FILE.json"},
};

std::string noun_of(JsonView document) {
    for (const OtherDocument& other : other_documents)
        if (document.find(other.member)) return std::string(other.noun);
    return "a list";
}

// Swept settings of memory are parameters of points.
bool compares_settings(const Point& point) {
    return std::any_of(point.parameters.begin(), point.parameters.end(),
                       [](const auto& parameter) { return is_memory_setting(parameter.first); });
}

}  // namespace

class ResultReader::Impl {
 public:
    Impl(ByteSource& source, std::string file) : source_(source), file_(std::move(file)) {
        start();
    }

    ReadOutcome next(ResultSink& sink) {
        if (is_over_) return ReadOutcome::none;
        sink_ = &sink;
        result_ = {};
        while (true) {
            const Step step = std::exchange(is_held_, false) ? Step::value : stream_->next();
            if (step == Step::end) return at_end();
            const auto outcome = step == Step::value ? take_value() : take_damage(step);
            if (outcome) return *outcome;
        }
    }

 private:
    using Step = JsonStream::Step;

    // The result being read.
    struct Result {
        bool has_begun = false;
        bool is_lines = false;
        bool has_meta = false;      // the head's own line was read, not only later lines
        bool has_failures = false;  // some of its points failed
        std::uint64_t points = 0;
        NamedValues sweep;  // facts that each line repeats
        std::string machine;
        std::vector<Warning> damage;
        std::uint64_t more_damage = 0;
    };

    void start() {
        point_reader_ = {};
        stream_ = std::make_unique<JsonStream>(
            source_, "points",
            [this](JsonView document, JsonView item) { take_item(document, item); });
    }

    std::string place() const { return fmt::format("{}:{}", shown(file_), stream_->line()); }
    [[noreturn]] void refuse(std::string_view why, std::string hint = {}) const {
        throw UsageError(fmt::format("{}: {}", place(), why), std::move(hint));
    }
    // Text that is no JSON from the start on: reports what it looks like, where the file can be
    // read again.
    [[noreturn]] void refuse_other_file(const std::string& why) {
        if (!source_.can_rewind() || stream_->line() > 1) refuse(why, std::string(what_is_read));
        source_.rewind();
        std::array<char, bytes_to_know_a_file> buffer{};
        const std::string_view beginning(buffer.data(), source_.read(buffer));
        const std::string way = way_of_file(beginning, file_);
        refuse(fmt::format("this is no result, but looks like {}", kind_of_file(beginning)),
               way.empty() ? std::string(what_is_read) : way);
    }
    // Does `work` with a part that the rest depends on.
    template <typename Work>
    auto required(Work work) const {
        try {
            return work();
        } catch (const PartError& error) {
            refuse(fmt::format("no result of coalprof: {}", error.what()),
                   std::string(what_is_read));
        }
    }
    void note_damage(std::string text) {
        if (result_.damage.size() < most_warnings)
            result_.damage.push_back({"W-DAMAGED", {}, std::move(text)});
        else
            ++result_.more_damage;
    }

    void begin(ResultHead head, const Point* first) {
        head.compares_settings = first && compares_settings(*first);
        result_.has_begun = true;
        sink_->begin(head);
    }
    void deliver(const Point& point) {
        ++result_.points;
        result_.has_failures |= !point.failure.empty();
        sink_->point(point);
    }
    ReadOutcome finish(ResultTail tail) {
        const bool is_damaged = !result_.damage.empty();
        if (is_damaged) tail.status = Status::interrupted;
        tail.warnings.insert(tail.warnings.end(), result_.damage.begin(), result_.damage.end());
        if (result_.more_damage > 0)
            tail.warnings.push_back(
                {"W-DAMAGED", {}, fmt::format("{} more places are damaged", result_.more_damage)});
        sink_->finish(tail);
        has_read_ = true;
        head_.reset();
        return is_damaged ? ReadOutcome::damaged : ReadOutcome::whole;
    }

    void require_schema(JsonView document) const {
        if (!required([&] { return is_readable_schema(document); }))
            refuse(fmt::format("its schema {} is newer than this coalprof, which reads coalprof/1",
                               shown(document.find("schema")->text().value_or(""))),
                   "read it with the version that wrote it, or a later one");
    }

    // Points of a document whose rest is still to come.
    void take_item(JsonView document, JsonView item) {
        if (!head_ && !(document.find("meta") && document.find("sweep"))) {
            head_comes_late_ = true;
            return;
        }
        if (!result_.has_begun && !head_) require_schema(document);
        const Point* point = read_point(item);
        if (!result_.has_begun)
            begin(head_ ? std::move(*head_) : required([&] { return head_from(document); }), point);
        if (point) deliver(*point);
    }
    const Point* read_point(JsonView item) {
        try {
            return &point_reader_.read(item);
        } catch (const PartError& error) {
            note_damage(fmt::format("{}: a point is left out, since {}", place(), error.what()));
            return nullptr;
        }
    }

    std::optional<ReadOutcome> take_value() {
        const JsonView value = stream_->value();
        if (value.find("points")) return take_document(value);
        const bool is_line = result_.has_begun || value.find("name") || value.find("status");
        if (is_line && (value.find("predicted") || value.find("status")) &&
            !value.find("verification") && !value.find("explanation"))
            return take_line(value);
        require_schema(value);
        refuse(fmt::format("this is {}, and no result", noun_of(value)), std::string(what_is_read));
    }

    std::optional<ReadOutcome> take_document(JsonView document) {
        if (head_comes_late_) {
            read_again(document);
            return std::nullopt;
        }
        if (!result_.has_begun) {
            require_schema(document);
            begin(required([&] { return head_from(document); }), nullptr);
        }
        return finish(tail_of(document));
    }
    // The points came before the head, as programs write that sort names: they are read a second
    // time.
    void read_again(JsonView document) {
        require_schema(document);
        head_ = required([&] { return head_from(document); });
        head_comes_late_ = false;
        if (has_read_ || !source_.can_rewind())
            refuse("the points stand before \"meta\" and \"sweep\"",
                   "give it as a file, which can be read twice, instead of a pipe");
        source_.rewind();
        start();
    }
    ResultTail tail_of(JsonView document) {
        try {
            return tail_from(document);
        } catch (const PartError& error) {
            note_damage(
                fmt::format("{}: how the run ended is lost, since {}", place(), error.what()));
            return {};
        }
    }

    // A point with its head, or the last line of a run.
    std::optional<ReadOutcome> take_line(JsonView line) {
        stream_->values_are_lines();
        if (result_.has_begun && !belongs_to_result(line)) {
            is_held_ = true;
            return end_of_lines();
        }
        if (!result_.has_begun) require_schema(line);
        const bool is_point = line.find("name").has_value();
        const Point* point = is_point ? read_point(line) : nullptr;
        if (!result_.has_begun) begin_lines(line, point);
        if (point) deliver(*point);
        if (is_point) return std::nullopt;
        return finish(tail_of(line));
    }
    void begin_lines(JsonView line, const Point* first) {
        result_.is_lines = true;
        result_.has_meta = line.find("meta").has_value();
        ResultHead head =
            required([&] { return result_.has_meta ? head_from(line) : head_of_lone_line(line); });
        // With several formulas it is the first point's, and no line of the others is another
        // result.
        if (first && find_value(first->parameters, "formula")) head.sweep.formula.clear();
        result_.sweep = values_of(head.sweep);
        result_.machine = head.machine.name;
        begin(std::move(head), first);
    }
    // Lines without the first of their run, which has the whole head.
    static ResultHead head_of_lone_line(JsonView line) {
        ResultHead head;
        const auto text = [&](std::string_view name) {
            const auto member = line.find(name);
            return std::string(member ? member->text().value_or("") : "");
        };
        head.machine.name = text("machine");
        head.machine.evidence = text("evidence");
        if (const std::string device = text("device"); !device.empty())
            head.device = MeasuredDevice{.name = device};
        const auto measured = line.find("measured");
        if (measured && !measured->is_null() && !head.device) head.device.emplace();
        head.backend = head.device ? "device" : "model";
        if (const auto sweep = line.find("sweep")) head.sweep = sweep_in(*sweep);
        return head;
    }
    bool belongs_to_result(JsonView line) const {
        if (line.find("meta")) return false;
        if (const auto machine = line.find("machine");
            machine && machine->text() != result_.machine)
            return false;
        const auto sweep = line.find("sweep");
        if (!sweep) return true;
        return std::all_of(sweep->begin(), sweep->end(), [&](JsonView member) {
            const Value* known = find_value(result_.sweep, member.name());
            return known && member.value() == *known;
        });
    }
    // The last line, with the status, may be missing.
    ReadOutcome end_of_lines() {
        if (result_.has_meta)
            note_damage(fmt::format(
                "{}: the file ends after {} points, and the line that says how the run ended is "
                "missing: it was cut, or is still being written",
                place(), result_.points));
        return finish({.status = result_.has_failures ? Status::partial : Status::complete});
    }

    ReadOutcome at_end() {
        if (result_.has_begun) return end_of_lines();
        if (has_read_) return ReadOutcome::none;
        refuse("the file is empty, and holds no result", std::string(what_is_read));
    }
    std::optional<ReadOutcome> take_damage(Step step) {
        const std::string why =
            step == Step::wrong
                ? stream_->problem()
                : fmt::format(
                      "the file ends within a value, at byte {}: it was cut, or is still "
                      "being written",
                      stream_->bytes());
        if (!result_.has_begun && step == Step::wrong && !has_read_) refuse_other_file(why);
        if (!result_.has_begun) refuse(why);
        if (!result_.is_lines) {
            note_damage(
                fmt::format("{}: {}; {} whole points stand before", place(), why, result_.points));
            is_over_ = true;
            return finish({});
        }
        note_damage(fmt::format("{}: a line is left out: {}", place(), why));
        if (step == Step::cut) result_.has_meta = false;  // its last line is not missing then
        stream_->skip_line();
        return std::nullopt;
    }

    ByteSource& source_;
    std::string file_;
    std::unique_ptr<JsonStream> stream_;
    ResultSink* sink_ = nullptr;
    PointReader point_reader_;
    Result result_;
    bool is_held_ = false;  // the last value read is not yet used
    bool is_over_ = false;  // nothing after the damage can be read
    bool has_read_ = false;
    bool head_comes_late_ = false;
    std::optional<ResultHead> head_;  // head of a document whose points come before it
};

ResultReader::ResultReader(ByteSource& source, std::string file)
    : impl_(std::make_unique<Impl>(source, std::move(file))) {}
ResultReader::~ResultReader() = default;
ReadOutcome ResultReader::next(ResultSink& sink) { return impl_->next(sink); }

namespace {

// Ends the reading of a file after its head.
struct HeadWasRead {
    ResultHead head;
};
class OnlyHead : public ResultSink {
 public:
    void begin(const ResultHead& head) override { throw HeadWasRead{head}; }
    void point(const Point&) override {}
    void finish(const ResultTail&) override {}
};

}  // namespace

std::optional<ResultHead> read_head(ByteSource& source, const std::string& file) {
    try {
        OnlyHead sink;
        ResultReader(source, file).next(sink);
    } catch (HeadWasRead& read) {
        return std::move(read.head);
    }
    return std::nullopt;
}

}  // namespace coalprof
