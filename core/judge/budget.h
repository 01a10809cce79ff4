// Budgets: limits of a counter at certain points. Read from text like
//   load_sectors_per_request <= 4
//   measured duration_seconds < 20us if stride=1..8 and dlcm=ca
//   load_sectors <= 1.25*load_ideal_sectors if line=app.cu:12
//   excess <= 5%
// and compared with every point of a result as it comes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/judge/compare.h"
#include "core/judge/gate.h"
#include "core/result/result.h"
#include "core/text/range.h"

namespace coalprof {

enum class BudgetSide : std::uint8_t { best, predicted, measured };  // best: measured if available

// The condition of a budget: a fact of the point or of its sweep, and its allowed values. With
// `array` or `index` it holds for single instructions of a point.
struct BudgetCondition {
    std::string name;                   // "stride", "dlcm", "pattern", "name"
    std::vector<std::string> words;     // a * stands for any text; blanks do not count
    bool is_quoted = false;             // * is itself
    bool is_not = false;                // !=; of `line` the whole kernel is none
    std::optional<Range> numbers = {};  // where the words are a range
};

// A counter that is compared with the limit or with a multiple of another one.
struct BudgetTerm {
    Counter counter = Counter::load_requests;
    bool is_of_all = false;  // "excess": of all accesses together, not of one operation
    std::optional<Counter> base = std::nullopt;
};

struct Budget {
    enum class Relation : std::uint8_t { at_most, below, at_least, above, equal, unequal };
    std::string text;  // the text as it was typed
    BudgetSide side = BudgetSide::best;
    std::string word = {};               // the counter's name as it was typed
    std::vector<BudgetTerm> terms = {};  // several: "sectors", one for each operation
    Relation relation = Relation::at_most;
    double limit = 0;
    std::vector<BudgetCondition> conditions = {};

    bool is_of_instructions() const;
};

inline constexpr std::string_view excess_word = "excess";  // a counter, and a kernel's parameter

// Values may be typed without the blanks that results have.
std::string without_blanks(std::string_view text);

// Throws UsageError with the place; `option` names the source of the text: "--budget",
// "budgets.txt:3".
Budget parse_budget(std::string_view text, std::string_view option = "--budget");
// One budget a line; # begins a comment. Throws Error, UsageError with file and line.
std::vector<Budget> read_budget_file(const std::string& path);

struct BudgetExceptions {
    bool may_lack = false;                // a budget without any point is a note
    std::vector<std::string> lines = {};  // "app.cu:9": these may break any budget
    std::set<std::string> used = {};      // those that do
    bool allow(std::string_view line, const GatePlace& place);
};

// Compares a result with budgets and passes it on to `next`, if any.
class BudgetJudge : public ResultSink {
 public:
    explicit BudgetJudge(std::vector<Budget> budgets, ResultSink* next = nullptr,
                         BudgetExceptions exceptions = {});
    // Also holds the result against `base`, whose older result has been read from `file`.
    void hold_against(std::unique_ptr<Comparison> base, std::string file);
    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

    // The shard of its sweep that the result is, "1/3"; empty: all of it. Call it before report().
    std::string shard() const { return text_of(facts_, "shard"); }
    // A budget without any point that has its number is missing, which is no success.
    GateReport report() &&;

 private:
    // Values at the points by condition, to report one that no point fulfils.
    struct Seen {
        bool is_kept = false;                  // some point keeps it
        std::vector<std::string> values = {};  // the first few different ones
        bool has_more = false;
    };
    template <typename Work>
    void hand_on(Work work);
    // A fact that conditions use, looked up once for all of them.
    struct Fact {
        std::string name;
        const Value* value = nullptr;  // value of the point that is judged
        const Value* other = nullptr;  // that serves as well
        std::string text = {};         // text of the value, without blanks; empty: not yet made
    };
    void look_up_facts(const Point& point, const InstructionResult* instruction);
    bool holds_at(std::size_t budget);
    void look_at_failure(const Point& point);
    bool is_of_failed_launch(const Point& point) const;
    void judge_all(const Point& point, const InstructionResult* instruction);
    void explain(GateFinding& finding) const;
    std::string why_nowhere(std::size_t budget) const;
    std::string unknown_fact(const std::string& name) const;
    void judge_point(std::size_t budget, const Point& point, const InstructionResult* instruction);
    void judge(const Budget& budget, const BudgetTerm& term, const Point& point,
               const InstructionResult* instruction, GateCase& found) const;
    void add_kernels();
    void add_base();

    // A kernel and its lines are one place: which of them counts is known at the end.
    struct KernelCase {
        std::size_t budget;
        std::string kernel;
        GateCase found;
    };

    std::vector<Budget> budgets_;
    ResultSink* next_;
    BudgetExceptions exceptions_;
    std::unique_ptr<Comparison> base_;
    std::string base_file_;
    NamedValues facts_;  // facts of the head, for conditions
    std::vector<Fact> asked_;
    std::vector<std::vector<std::size_t>> asks_;  // budget -> its conditions, in asked_
    Value name_;                                  // name of the point that is judged
    NamedValues of_instruction_;                  // facts of the instruction that is judged
    std::vector<std::vector<Seen>> seen_;         // budget and condition -> what was seen
    std::vector<bool> has_point_;                 // budget -> some point fulfils all conditions
    std::vector<std::string> names_;              // names of the points' parameters
    bool has_instructions_ = false;
    std::vector<KernelCase> kernels_;
    std::set<std::string> failed_kernels_;
    std::vector<std::set<std::string_view>> nouns_;   // budget -> what was judged
    std::vector<std::map<std::string, bool>> lines_;  // budget and kernel -> one is broken
    std::map<std::string, GatePlace> places_;         // a line's point -> its place
    std::vector<LineFinding> causes_;                 // findings of the result
    GateReport report_;
};

}  // namespace coalprof
