#include "core/run/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/read/result_reader.h"
#include "core/result/same_sweep.h"
#include "core/stop/signal.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

std::unique_ptr<ByteSource> open_journal(const std::string& path) {
    return open_bytes(path, [] { return stop_signal() != 0; });
}

struct JournalHead {
    ResultHead head;
};
class HeadOfJournal : public ResultSink {
 public:
    void begin(const ResultHead& head) override { throw JournalHead{head}; }
    void point(const Point&) override {}
    void finish(const ResultTail&) override {}
};

// A point that was taken from a source and is still to be answered stands before the rest.
class WithOneBefore : public PointSource {
 public:
    WithOneBefore(PointSource& source, std::optional<PlannedPoint> first)
        : source_(source), first_(std::move(first)) {}
    std::optional<std::uint64_t> size() const override { return source_.size(); }
    bool compares_settings() const override { return source_.compares_settings(); }
    bool next(PlannedPoint& point) override {
        if (!first_) return source_.next(point);
        point = *std::exchange(first_, std::nullopt);
        return true;
    }
    bool is_ready() override { return first_ || source_.is_ready(); }
    void make(PlannedPoint& point) const override { source_.make(point); }

 private:
    PointSource& source_;
    std::optional<PlannedPoint> first_;
};

class Replay : public ResultSink {
 public:
    Replay(PointSource& source, Delivery& delivery) : source_(source), delivery_(delivery) {}
    void begin(const ResultHead&) override {}
    void point(const Point& point) override {
        if (is_over_) return;
        PlannedPoint planned;
        is_over_ = !source_.next(planned);
        if (is_over_) return;
        source_.make(planned);
        if (planned.name == point.name) return delivery_.point(planned, point);
        is_over_ = true;  // a line was damaged; what stands behind it is answered anew
        left_ = std::move(planned);
    }
    void finish(const ResultTail&) override {}
    std::optional<PlannedPoint> left() && { return std::move(left_); }

 private:
    PointSource& source_;
    Delivery& delivery_;
    bool is_over_ = false;
    std::optional<PlannedPoint> left_;
};

}  // namespace

std::vector<std::string> question_in(const std::vector<std::string>& argv) {
    constexpr std::array<std::string_view, 10> alone{
        "--resume",  "--plot",        "-q",     "--quiet", "-v",
        "--verbose", "--no-progress", "--json", "--jsonl", "--plain"};
    constexpr std::array<std::string_view, 7> with_value{
        "-o", "--output", "--format", "--color", "--threads", "--sort", "--best"};
    std::vector<std::string> words;
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string name = argv[i].substr(0, argv[i].find('='));
        if (std::find(alone.begin(), alone.end(), name) != alone.end()) continue;
        if (std::find(with_value.begin(), with_value.end(), name) == with_value.end())
            words.push_back(argv[i]);
        else if (name == argv[i])
            ++i;
    }
    return words;
}

ReplayedBackend::ReplayedBackend(Backend& inner, std::string journal,
                                 std::function<void(bool)> is_replaying)
    : inner_(inner), journal_(std::move(journal)), is_replaying_(std::move(is_replaying)) {}

void ReplayedBackend::begin(ResultHead& head) {
    inner_.begin(head);
    ResultHead now = head;
    if (now.devices.size() == 1) now.device = now.devices.front();
    try {
        const auto source = open_journal(journal_);
        HeadOfJournal sink;
        ResultReader(*source, journal_).next(sink);
    } catch (const JournalHead& kept) {
        std::string why;
        if (question_in(kept.head.argv) != question_in(now.argv)) why = "it is of another command";
        for (const HeadDifference& difference : differences(kept.head, now))
            why += fmt::format("{}{}", why.empty() ? "it differs in " : ", ", difference.text);
        if (!why.empty())
            throw UsageError(fmt::format("--resume: {} does not fit: {}", shown(journal_), why), {},
                             UsageError::no_caret,
                             "without --resume the run begins anew and the file is replaced");
    }
}

void ReplayedBackend::answer(PointSource& source, Delivery& delivery) {
    std::optional<PlannedPoint> left;
    is_replaying_(true);
    {
        const auto bytes = open_journal(journal_);
        Replay replay(source, delivery);
        ResultReader(*bytes, journal_).next(replay);
        left = std::move(replay).left();
    }
    is_replaying_(false);
    WithOneBefore rest(source, std::move(left));
    inner_.answer(rest, delivery);
}

}  // namespace coalprof
