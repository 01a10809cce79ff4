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

class Replay : public ResultSink {
 public:
    using Take = std::function<void(std::size_t, PlannedPoint, const Point&)>;
    Replay(const std::vector<PointSource*>& sources, const Take& take)
        : sources_(sources), take_(take), next_(sources.size()) {}

    void begin(const ResultHead&) override {}
    // Where a line was damaged, what stands behind it fits nowhere and is answered anew.
    void point(const Point& point) override {
        for (std::size_t k = 0; !is_over_ && k < sources_.size(); ++k) {
            if (!has_next(k) || next_[k]->name != point.name) continue;
            take_(k, *std::exchange(next_[k], std::nullopt), point);
            return;
        }
        is_over_ = true;
    }
    void finish(const ResultTail&) override {}
    std::vector<std::optional<PlannedPoint>> left() && { return std::move(next_); }

 private:
    bool has_next(std::size_t source) {
        if (next_[source]) return true;
        PlannedPoint planned;
        if (!sources_[source]->next(planned)) return false;
        sources_[source]->make(planned);
        next_[source] = std::move(planned);
        return true;
    }

    const std::vector<PointSource*>& sources_;
    const Take& take_;
    bool is_over_ = false;
    std::vector<std::optional<PlannedPoint>> next_;  // taken from each source
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

void require_same_run(const std::string& journal, const ResultHead& head) {
    try {
        const auto source = open_journal(journal);
        HeadOfJournal sink;
        ResultReader(*source, journal).next(sink);
    } catch (const JournalHead& kept) {
        std::string why;
        if (question_in(kept.head.argv) != question_in(head.argv)) why = "it is of another command";
        for (const HeadDifference& difference : differences(kept.head, head))
            why += fmt::format("{}{}", why.empty() ? "it differs in " : ", ", difference.text);
        if (!why.empty())
            throw UsageError(fmt::format("--resume: {} does not fit: {}", shown(journal), why), {},
                             UsageError::no_caret,
                             "without --resume the run begins anew and the file is replaced");
    }
}

std::vector<std::optional<PlannedPoint>> replay(
    const std::string& journal, const std::vector<PointSource*>& sources,
    const std::function<void(std::size_t source, PlannedPoint planned, const Point& point)>& take) {
    const auto bytes = open_journal(journal);
    Replay replayed(sources, take);
    ResultReader(*bytes, journal).next(replayed);
    return std::move(replayed).left();
}

}  // namespace coalprof
