#include "core/run/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/result/head.h"
#include "core/result/result_reader.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

class Replay : public ResultSink {
 public:
    using Take = std::function<void(std::size_t, PlannedPoint, const Point&)>;
    Replay(const std::vector<PointSource*>& sources, const Take& take)
        : sources_(sources), take_(take), next_(sources.size()) {}

    void begin(const ResultHead&) override {}
    void point(const Point& point) override {
        for (std::size_t k = 0; k < sources_.size(); ++k) {
            if (!has_next(k) || next_[k]->name != point.name) continue;
            return take_(k, *std::exchange(next_[k], std::nullopt), point);
        }
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
    std::vector<std::optional<PlannedPoint>> next_;  // taken from each source
};

// The words of a command line that decide the answer, without those about outputs and their look.
// The head names the shard: "auto" is another one elsewhere.
std::vector<std::string> question_in(const std::vector<std::string>& argv) {
    std::vector<std::string> words = without_options(
        argv,
        {"--resume", "--plot", "-q", "--quiet", "-v", "--verbose", "--no-progress", "--json",
         "--jsonl", "--plain"},
        {"-o", "--output", "--format", "--color", "--threads", "--sort", "--best", "--shard"});
    if (!words.empty()) words.erase(words.begin());  // the program
    return words;
}

std::string shard_of(const ResultHead& head) {
    const NamedValues facts = values_of(head.sweep);
    const Value* shard = find_value(facts, "shard");
    const Value* points = find_value(facts, "shard_of_points");
    return shard && points
               ? fmt::format("shard {} of {} points", shown(text_of(*shard)), text_of(*points))
               : "the whole sweep";
}

// Empty: both have the same points.
std::string why_not_same(const ResultHead& kept, const ResultHead& head) {
    if (question_in(kept.argv) != question_in(head.argv)) return "it is of another command";
    std::string why;
    for (const HeadDifference& difference : differences(kept, head))
        why += fmt::format("{}{}", why.empty() ? "it differs in " : ", ", difference.text);
    if (why.empty() && shard_of(kept) != shard_of(head))
        why = fmt::format("it is of {}, and this is {}", shard_of(kept), shard_of(head));
    return why;
}

std::string why_unfit(const std::string& journal, const ResultHead& head) {
    try {
        const auto source = open_own_bytes(journal);
        if (const auto kept = read_head(*source, journal)) return why_not_same(*kept, head);
    } catch (const Error&) {
    }
    return "it cannot be read as a journal";
}

std::uint64_t lines_in(const std::string& path) {
    const auto source = open_own_bytes(path);
    std::array<char, 1 << 16> block;
    std::uint64_t lines = 0;
    while (const std::size_t size = source->read(block))
        lines += static_cast<std::uint64_t>(std::count(block.data(), block.data() + size, '\n'));
    return lines;
}

}  // namespace

KeptJournals told_apart(const std::vector<std::string>& journals, const ResultHead& head) {
    KeptJournals kept;
    std::multimap<std::uint64_t, std::string, std::greater<>> own;
    for (const std::string& path : journals)
        if (std::string why = why_unfit(path, head); why.empty())
            own.emplace(lines_in(path), path);
        else
            kept.others.push_back({path, std::move(why)});
    for (auto& [lines, path] : own) kept.own.push_back(std::move(path));
    return kept;
}

std::vector<std::optional<PlannedPoint>> replay(
    const std::string& journal, const std::vector<PointSource*>& sources,
    const std::function<void(std::size_t source, PlannedPoint planned, const Point& point)>& take) {
    const auto bytes = open_own_bytes(journal);
    Replay replayed(sources, take);
    ResultReader reader(*bytes, journal);
    while (reader.next(replayed) != ReadOutcome::none) {
    }
    return std::move(replayed).left();
}

}  // namespace coalprof
