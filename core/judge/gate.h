// The outcome of comparing a result with another one or with budgets: cases, each with its
// findings, the worst first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/counter.h"
#include "core/result/result.h"
#include "core/text/error.h"

namespace coalprof {

// At most this many findings of each case are kept, the worst ones; all are counted.
inline constexpr std::size_t most_kept_findings = 1000;

struct GatePlace {
    std::string file = {};   // name as the compiler wrote it down; empty: unknown
    std::uint64_t line = 0;  // 0: unknown
};

struct GateFinding {
    enum class Kind : std::uint8_t {
        broken,   // worse than before, or than the budget allows
        missing,  // there was no number to compare
        changed,  // another number, neither worse nor better
        better,
    };
    Kind kind = Kind::broken;
    std::string point = {};
    std::string_view side = {};     // "predicted", "measured", "predicted and measured"
    std::string_view counter = {};  // its key; empty if there is none
    std::optional<double> before = std::nullopt;  // its earlier value; of a budget the limit
    std::optional<double> now = std::nullopt;
    double weight = 0;                // sort key: how many times worse, at least 1
    std::string text = {};            // words for people, beside the point's name
    GatePlace place = {};             // its own, or that of its cause
    std::string line = {};            // "app.cu:9", of a comparison's finding at a source line
    bool is_of_whole_kernel = false;  // identified by one of its lines
    std::string kernel = {};          // the point's, by its short name
    std::string cause = {};           // the cause and the fix; empty: the result has none
    std::string cause_point = {};     // the instruction that wastes most for this cause
};
std::string_view name_of(GateFinding::Kind kind);

// One budget, or one counter of a comparison.
class GateCase {
 public:
    explicit GateCase(std::string name, std::size_t most_kept = most_kept_findings)
        : name_(std::move(name)), most_kept_(most_kept) {}

    void hold() { ++held_; }
    void add(GateFinding finding);
    // True if add() would keep a finding of this kind and weight; else use count_only().
    bool keeps(GateFinding::Kind kind, double weight) const;
    void count_only(GateFinding::Kind kind) { ++counts_[static_cast<std::size_t>(kind)]; }

    const std::string& name() const { return name_; }
    // The plural adds an s: "point", or "line", "kernel" where all values are those of one.
    std::string_view noun() const { return noun_; }
    void set_noun(std::string_view noun) { noun_ = noun; }
    std::uint64_t held() const { return held_; }
    std::uint64_t count(GateFinding::Kind kind) const {
        return counts_[static_cast<std::size_t>(kind)];
    }
    template <typename Change>
    void change_each(Change change) {
        for (Kept& kept : kept_) change(kept.finding);
    }
    // The kept ones, the worst first; equal ones in the order of the points.
    std::vector<GateFinding> findings() const;

 private:
    struct Kept {
        GateFinding finding;
        std::uint64_t order = 0;
    };
    static bool is_before(const Kept& a, const Kept& b);

    std::string name_;
    std::string_view noun_ = "point";
    std::size_t most_kept_ = most_kept_findings;
    std::uint64_t held_ = 0;  // values that were good enough
    std::uint64_t counts_[4] = {};
    std::uint64_t order_ = 0;
    std::vector<Kept> kept_;  // a heap, the least of them in front
};

struct GateReport {
    std::string_view command = {};        // "compare", "check", "verify"
    std::string headline = {};            // empty: it follows from the cases
    std::vector<std::string> files = {};  // a comparison has the old one first
    std::uint64_t points = 0;             // that were compared
    std::uint64_t lines = 0;              // those of `points` that are lines of source
    std::vector<GateCase> cases = {};
    // The time of each whole kernel in a comparison, whether or not it counts as worse or better.
    std::vector<GateFinding> times = {};
    // A comparison has one for each source line that differs, in place of those of its counters.
    std::vector<GateFinding> lines_changed = {};
    std::vector<std::string> notes = {};   // further remarks
    std::vector<std::string> losses = {};  // points that could not be compared, and why

    std::uint64_t count(GateFinding::Kind kind) const;
    // A finding, else partial where something was missing, else done.
    ExitCode code() const;
};

// A line of a kernel's source, not the whole kernel.
bool is_source_line(const Point& point);
// For a line of a kernel.
GatePlace place_of(const Point& point);
// True if `text`, "src/app.cu:9" or "app.cu:9", names the line "app.cu:9" at this place.
bool is_line_named(std::string_view line, const GatePlace& place, std::string_view text);

// From the root of the repository: GITHUB_WORKSPACE, else the nearest folder upwards that holds
// .git, else the current folder. A file outside keeps its path.
std::string path_in_repository(const std::string& file);

std::string value_text(Counter counter, double value);
// "load_sectors 128 -> 160 (+25 %)"
std::string change_text(Counter counter, double before, double now);
// "~278.12 -> ~121.36 us, 2.29 times as fast"
std::string time_text(const GateFinding& time);

}  // namespace coalprof
