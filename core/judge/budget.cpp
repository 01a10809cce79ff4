#include "core/judge/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "core/judge/gate.h"
#include "core/result/counter.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/units.h"
#include "core/write/outputs.h"

namespace coalprof {
namespace {

using Kind = GateFinding::Kind;
using Relation = Budget::Relation;

constexpr std::string_view budget_hint =
    "budgets look like 'excess <= 5%', 'load_sectors <= 1.25*load_ideal_sectors' or 'measured "
    "duration_seconds < 20us if stride=1..8'";
constexpr std::string_view excess_word = "excess";  // a kernel's parameter, too
constexpr std::string_view verdict_parameter = "verdict";
constexpr std::size_t most_budget_bytes = 4096;
constexpr std::size_t most_budgets = 1000;
constexpr std::size_t most_kept_of_all = 100'000;  // findings of all budgets together
constexpr std::size_t most_values = 5;             // named where none fits
constexpr std::size_t most_names = 1000;           // of parameters, for messages

struct Sign {
    std::string_view text;
    Relation relation;
};
// The longer one of two with the same beginning comes first.
constexpr std::array signs{Sign{"<=", Relation::at_most}, Sign{">=", Relation::at_least},
                           Sign{"==", Relation::equal},   Sign{"!=", Relation::unequal},
                           Sign{"<", Relation::below},    Sign{">", Relation::above}};

constexpr std::array second_units{UnitStep{1, "s"}, UnitStep{1e-3, "ms"}, UnitStep{1e-6, "us"},
                                  UnitStep{1e-6, "µs"}, UnitStep{1e-9, "ns"}};
constexpr std::array rate_units{UnitStep{1, "B/s"}, UnitStep{1e3, "kB/s"}, UnitStep{1e6, "MB/s"},
                                UnitStep{1e9, "GB/s"}, UnitStep{1e12, "TB/s"}};
constexpr std::array ratio_units{UnitStep{0.01, "%"}};

std::span<const UnitStep> units_of(Unit unit) {
    switch (unit) {
        case Unit::byte:
            return size_units;
        case Unit::second:
            return second_units;
        case Unit::byte_per_second:
            return rate_units;
        case Unit::ratio:
            return ratio_units;
        case Unit::one:
        case Unit::sector:
        case Unit::line:
            break;
    }
    return {};
}

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Values may be typed without the blanks that results have.
std::string without_blanks(std::string_view text) {
    std::string bare(text);
    std::erase_if(bare, [](char c) { return c == ' ' || c == '\t'; });
    return bare;
}

class BudgetParser {
 public:
    BudgetParser(std::string_view text, std::string_view option)
        : value_{option, text, budget_hint} {}

    Budget parse() {
        if (value_.text.size() > most_budget_bytes)
            value_.refuse(UsageError::no_caret, "it is too long for a budget");
        Budget budget{.text = std::string(value_.text)};
        read_side_and_counter(budget);
        budget.relation = read_sign();
        read_limit(budget);
        skip_blanks();
        if (at_ == value_.text.size()) return budget;
        const std::size_t if_at = at_;
        if (read_word() != "if") value_.refuse(if_at, "expected 'if' or the end here");
        do {
            budget.conditions.push_back(read_condition());
        } while (accept_and());
        return budget;
    }

 private:
    void skip_blanks() {
        while (at_ < value_.text.size() && (value_.text[at_] == ' ' || value_.text[at_] == '\t'))
            ++at_;
    }
    std::string_view read_word() {
        skip_blanks();
        const std::size_t begin = at_;
        while (at_ < value_.text.size() && is_word_char(value_.text[at_])) ++at_;
        return value_.text.substr(begin, at_ - begin);
    }

    void read_side_and_counter(Budget& budget) {
        std::string_view word = read_word();
        if (word == "predicted" || word == "measured") {
            budget.side = word == "measured" ? BudgetSide::measured : BudgetSide::predicted;
            word = read_word();
        }
        const std::size_t begin = at_ - word.size();
        if (word.empty()) value_.refuse(begin, "expected a counter here");
        budget.word = word;
        if (word == excess_word)
            budget.terms.push_back({.counter = Counter::load_excess, .is_of_all = true});
        else
            for (const Counter counter : counters_of(word))
                budget.terms.push_back({.counter = counter});
        if (budget.terms.empty())
            value_.refuse(begin, unknown_counter("counter", word), hint_for_counter(word));
    }
    // "load_sectors", or "sectors" for those of each operation; none: unknown.
    static std::vector<Counter> counters_of(std::string_view word) {
        if (const auto counter = find_counter(word)) return {*counter};
        std::vector<Counter> each;
        for (const AccessKind kind : access_kinds)
            if (const auto counter = find_counter(fmt::format("{}_{}", name_of(kind), word)))
                each.push_back(*counter);
        return each;
    }

    Relation read_sign() {
        skip_blanks();
        for (const Sign& sign : signs)
            if (value_.text.substr(at_).starts_with(sign.text)) {
                at_ += sign.text.size();
                return sign.relation;
            }
        value_.refuse(at_, "expected <=, <, >=, >, == or != here");
    }

    // A number with a unit, a counter, or a multiple of one.
    void read_limit(Budget& budget) {
        skip_blanks();
        const std::size_t begin = at_;
        if (begin < value_.text.size() && is_word_char(value_.text[begin]) &&
            (value_.text[begin] < '0' || value_.text[begin] > '9')) {
            budget.limit = 1;
            return read_base(budget);
        }
        const char* const end = value_.text.data() + value_.text.size();
        const auto read = std::from_chars(value_.text.data() + begin, end, budget.limit);
        if (read.ec != std::errc{} || !std::isfinite(budget.limit) || budget.limit < 0)
            value_.refuse(begin, "expected a number from 0, or a counter, here");
        at_ += static_cast<std::size_t>(read.ptr - (value_.text.data() + begin));
        const std::size_t number_end = at_;
        skip_blanks();
        if (at_ < value_.text.size() && value_.text[at_] == '*') {
            ++at_;
            return read_base(budget);
        }
        at_ = number_end;
        read_unit(budget, begin);
    }
    void read_base(Budget& budget) {
        const std::string_view word = read_word();
        const std::vector<Counter> bases = counters_of(word);
        if (bases.empty())
            value_.refuse(at_ - word.size(), "expected a number from 0, or a counter, here");
        if (bases.size() > 1 && bases.size() != budget.terms.size())
            value_.refuse(at_, "name the operation of this counter, such as load_ideal_sectors");
        for (std::size_t i = 0; i < budget.terms.size(); ++i)
            budget.terms[i].base = bases[bases.size() > 1 ? i : 0];
    }
    void read_unit(Budget& budget, std::size_t begin) {
        const Counter counter = budget.terms.front().counter;
        const std::size_t unit_at = at_;
        at_ = std::min(value_.text.find_first_of(" \t", at_), value_.text.size());
        const std::string_view unit = value_.text.substr(unit_at, at_ - unit_at);
        if (unit.empty()) {
            if (info(counter).unit == Unit::ratio && budget.limit > 1)
                refuse_percent(begin, counter, budget.limit);
            return;
        }
        const auto units = units_of(info(counter).unit);
        for (const UnitStep& known : units)
            if (known.unit == unit) {
                budget.limit *= known.factor;
                return;
            }
        const std::string list = joined(units, &UnitStep::unit);
        value_.refuse(unit_at, fmt::format("'{}' is no unit of {}{}", shown(unit), key_of(counter),
                                           list.empty() ? ", which takes none" : ": use " + list));
    }

    [[noreturn]] void refuse_percent(std::size_t at, Counter counter, double number) const {
        std::string corrected(value_.text);
        corrected.insert(at_, "%");
        value_.refuse(at,
                      fmt::format("{} is a ratio, and {} of it would be {} %", key_of(counter),
                                  number, number * 100),
                      "of a hundred: " + shown(corrected));
    }

    BudgetCondition read_condition() {
        skip_blanks();
        const std::size_t begin = at_;
        BudgetCondition condition{.name = std::string(read_word()), .words = {}};
        if (condition.name.empty() || at_ == value_.text.size() || value_.text[at_] != '=')
            value_.refuse(begin, "expected a condition like stride=1..8 or pattern=offset here");
        const std::size_t words_at = ++at_;
        if (is_quote_next()) {
            read_quoted(condition);
            return condition;
        }
        const std::string_view words = read_plain_words();
        if (words.empty()) value_.refuse(words_at, "expected a value here");
        refuse_joined_conditions(condition.name, words, words_at);
        if (are_numbers(words))
            read_numbers(condition, words);
        else if (condition.name.ends_with("_bytes") && words.front() >= '0' && words.front() <= '9')
            condition.numbers = parse_range_of_sizes(words, option_of(condition));
        for (std::size_t at = 0; at <= words.size();) {
            const std::size_t end = std::min(words.find(',', at), words.size());
            condition.words.push_back(without_blanks(words.substr(at, end - at)));
            at = end + 1;
        }
        return condition;
    }
    bool is_quote_next() const {
        return at_ < value_.text.size() && (value_.text[at_] == '"' || value_.text[at_] == '\'');
    }
    // 'i*2', 'a<1, 2>': several between commas.
    void read_quoted(BudgetCondition& condition) {
        condition.is_quoted = true;
        do {
            if (!is_quote_next()) value_.refuse(at_, "expected a quoted value here");
            const std::size_t begin = at_ + 1;
            const std::size_t end = value_.text.find(value_.text[at_], begin);
            if (end == value_.text.npos) value_.refuse(at_, "this quote is not closed");
            condition.words.push_back(without_blanks(value_.text.substr(begin, end - begin)));
            at_ = end + 1;
        } while (at_ < value_.text.size() && value_.text[at_] == ',' && ++at_);
    }
    // Reads up to "and" or the end, and stops before a word with "=": that may be the next
    // condition after a forgotten "and".
    std::string_view read_plain_words() {
        const std::size_t begin = at_;
        const auto to_blank = [&] {
            const std::size_t from = at_;
            at_ = std::min(value_.text.find_first_of(" \t", at_), value_.text.size());
            return value_.text.substr(from, at_ - from);
        };
        std::size_t end = begin + to_blank().size();
        while (end > begin && !are_numbers(value_.text.substr(begin, end - begin))) {
            skip_blanks();
            const std::string_view more = to_blank();
            if (more.empty() || more == "and" || more.find('=') != more.npos) break;
            end = at_;
        }
        at_ = end;
        return value_.text.substr(begin, end - begin);
    }
    static bool are_numbers(std::string_view words) {
        return words.find_first_not_of("0123456789.,:*-") == words.npos &&
               words.find_first_of("0123456789") != words.npos;
    }
    // "name=a,array=b" would accept any name that is a. Points are called "k=0", so that a first
    // value may have a key, and others the same one.
    void refuse_joined_conditions(std::string_view name, std::string_view words,
                                  std::size_t words_at) const {
        std::string_view first_key;
        for (std::size_t at = 0; at < words.size();) {
            const std::size_t end = std::min(words.find(',', at), words.size());
            const std::string_view key = key_in(words.substr(at, end - at));
            if (at == 0) first_key = key;
            if (!key.empty() && key != first_key)
                value_.refuse(words_at + at,
                              fmt::format("this is another condition, no value of {}", shown(name)),
                              "join conditions with `and`");
            at = end + 1;
        }
    }
    // "array" in "array=b"; empty: a plain value.
    static std::string_view key_in(std::string_view word) {
        const std::size_t end = std::min(word.find('='), word.size());
        const std::string_view key = word.substr(0, end);
        return end < word.size() && std::ranges::all_of(key, is_word_char) ? key
                                                                           : std::string_view{};
    }
    void read_numbers(BudgetCondition& condition, std::string_view words) const {
        // A machine is called 9.0: anything that is no range is a word.
        if (words.find('.') != words.npos && words.find("..") == words.npos) return;
        condition.numbers = parse_signed_range(words, option_of(condition));
    }
    std::string option_of(const BudgetCondition& condition) const {
        return fmt::format("{} {}: {}=", value_.option, shown(value_.text), condition.name);
    }
    bool accept_and() {
        skip_blanks();
        if (at_ == value_.text.size()) return false;
        const std::size_t begin = at_;
        if (read_word() != "and")
            value_.refuse(begin, "expected 'and' or the end here",
                          "join conditions with `and`; quote a value like \"i == 0\"");
        return true;
    }

    OptionText value_;
    std::size_t at_ = 0;
};

// Matches `text` against `pattern`, in which * matches any text.
bool matches(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = pattern.npos;
    std::size_t after = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            after = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++after;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

// `text`: of the value, made on demand.
bool allows(const BudgetCondition& condition, const Value& value, std::string& text) {
    if (const auto* number = std::get_if<std::int64_t>(&value); number && condition.numbers)
        return condition.numbers->contains(static_cast<std::uint64_t>(*number));
    if (text.empty()) text = without_blanks(text_of(value));
    return std::ranges::any_of(condition.words, [&](const std::string& word) {
        return condition.is_quoted ? word == text : matches(word, text);
    });
}

bool is_kept(Relation relation, double value, double limit) {
    switch (relation) {
        case Relation::at_most:
            return value <= limit;
        case Relation::below:
            return value < limit;
        case Relation::at_least:
            return value >= limit;
        case Relation::above:
            return value > limit;
        case Relation::equal:
            return value == limit;
        case Relation::unequal:
            return value != limit;
    }
    return false;
}

constexpr std::array facts_of_instructions{std::string_view("array"), std::string_view("index")};

}  // namespace

bool Budget::is_of_instructions() const {
    return std::ranges::any_of(conditions, [](const BudgetCondition& one) {
        return std::ranges::count(facts_of_instructions, one.name) > 0;
    });
}

Budget parse_budget(std::string_view text, std::string_view option) {
    return BudgetParser(trimmed(text), option).parse();
}

std::vector<Budget> read_budget_file(const std::string& path) {
    constexpr std::size_t most_bytes = 1u << 20;
    const auto whole = read_whole(*open_bytes(path), most_bytes);
    if (!whole)
        throw UsageError(fmt::format("--budget-file {}: it is too long for budgets", shown(path)));
    const std::string_view text = *whole;
    std::vector<Budget> budgets;
    std::size_t line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view content = text.substr(at, end - at);
        content = trimmed(content.substr(0, std::min(content.find('#'), content.size())));
        at = end + 1;
        if (content.empty()) continue;
        if (budgets.size() == most_budgets)
            throw UsageError(
                fmt::format("--budget-file {}: more than {} budgets", shown(path), most_budgets));
        budgets.push_back(parse_budget(content, fmt::format("{}:{}:", shown(path), line)));
    }
    if (budgets.empty())
        throw UsageError(fmt::format("--budget-file {}: it holds no budget", shown(path)),
                         std::string(budget_hint));
    return budgets;
}

BudgetJudge::BudgetJudge(std::vector<Budget> budgets, ResultSink* next)
    : budgets_(std::move(budgets)), next_(next) {
    report_.command = "check";
    const std::size_t kept_each = most_kept_of_all / std::max<std::size_t>(budgets_.size(), 1);
    for (const Budget& budget : budgets_) {
        report_.cases.emplace_back(budget.text,
                                   std::clamp<std::size_t>(kept_each, 1, most_kept_findings));
        seen_.emplace_back(budget.conditions.size());
        lines_.emplace_back();
        has_point_.push_back(false);
        asks_.emplace_back();
        for (const BudgetCondition& condition : budget.conditions) {
            const auto known = std::ranges::find(asked_, condition.name, &Fact::name);
            asks_.back().push_back(static_cast<std::size_t>(known - asked_.begin()));
            if (known == asked_.end()) asked_.push_back({condition.name});
        }
    }
}

// A `next` that wants no more points still gets the exit code.
template <typename Work>
void BudgetJudge::hand_on(Work work) {
    if (!next_) return;
    try {
        work(*next_);
    } catch (const ReaderGone&) {
        next_ = nullptr;
    }
}

void BudgetJudge::begin(const ResultHead& head) {
    facts_ = values_of(head.sweep);
    if (head.sweep.pattern == "formula") formulas_file_ = head.sweep.file;
    facts_.emplace_back("machine", head.machine.name);
    if (head.device) facts_.emplace_back("device", head.device->name);
    hand_on([&](ResultSink& next) { next.begin(head); });
}

void BudgetJudge::point(const Point& point) {
    ++report_.points;
    for (const auto& [name, value] : point.parameters)
        if (names_.size() < most_names && std::ranges::find(names_, name) == names_.end())
            names_.push_back(name);
    if (GatePlace place = place_of(point); !place.file.empty())
        places_.emplace(point.name, std::move(place));
    has_instructions_ |= !point.instructions.empty();
    if (!point.failure.empty() && find_value(point.parameters, "kernel")) look_at_failure(point);
    judge_all(point, nullptr);
    for (const InstructionResult& one : point.instructions) judge_all(point, &one);
    hand_on([&](ResultSink& next) { next.point(point); });
}

// A kernel whose launch a GPU stops keeps no budget, nor do its lines.
void BudgetJudge::look_at_failure(const Point& point) {
    constexpr std::size_t most = 20;
    if (report_.losses.size() < most)
        report_.losses.push_back(
            fmt::format("point {} failed: {}", printable(point.name), printable(point.failure)));
}

// Judges the whole point, or one of its instructions.
void BudgetJudge::judge_all(const Point& point, const InstructionResult* instruction) {
    const auto concerns = [&](const Budget& budget) {
        // Points of a kernel's lines are single instructions already.
        return budget.is_of_instructions() ? instruction || find_value(point.parameters, "array")
                                           : !instruction;
    };
    if (std::ranges::none_of(budgets_, concerns)) return;
    look_up_facts(point, instruction);
    for (std::size_t i = 0; i < budgets_.size(); ++i)
        if (concerns(budgets_[i]) && holds_at(i)) judge_point(i, point, instruction);
}

void BudgetJudge::judge_point(std::size_t budget, const Point& point,
                              const InstructionResult* instruction) {
    const auto judge_into = [&](GateCase& found) {
        for (const BudgetTerm& term : budgets_[budget].terms)
            judge(budgets_[budget], term, point, instruction, found);
    };
    const Value* kernel = instruction ? nullptr : find_value(point.parameters, "kernel");
    const Value* line = find_value(point.parameters, "line");
    const bool is_whole =
        line ? text_of(*line) == "all" : find_value(point.parameters, verdict_parameter) != nullptr;
    if (kernel && is_whole) {
        KernelCase& one = kernels_.emplace_back(
            KernelCase{budget, text_of(*kernel), GateCase({}, budgets_[budget].terms.size())});
        return judge_into(one.found);
    }
    GateCase& found = report_.cases[budget];
    const std::uint64_t broken = found.count(Kind::broken);
    const std::uint64_t held = found.held();
    judge_into(found);
    const bool is_broken = found.count(Kind::broken) > broken;
    if (kernel && line && (is_broken || found.held() > held))
        lines_[budget][text_of(*kernel)] |= is_broken;
}

// A kernel counts if none of its lines was judged, and if it alone breaks the budget.
void BudgetJudge::add_kernels() {
    for (const KernelCase& kernel : kernels_) {
        const auto line = lines_[kernel.budget].find(kernel.kernel);
        const bool has_line = line != lines_[kernel.budget].end();
        if (has_line && (line->second || kernel.found.count(Kind::broken) == 0)) continue;
        GateCase& all = report_.cases[kernel.budget];
        for (std::uint64_t k = 0; k < kernel.found.held(); ++k) all.hold();
        for (GateFinding& finding : kernel.found.findings()) all.add(std::move(finding));
    }
}

void BudgetJudge::finish(const ResultTail& tail) {
    if (tail.status == Status::interrupted) report_.losses.emplace_back("the result is not whole");
    causes_ = tail.findings;
    hand_on([&](ResultSink& next) { next.finish(tail); });
}

void BudgetJudge::look_up_facts(const Point& point, const InstructionResult* instruction) {
    name_ = point.name;
    if (instruction)
        of_instruction_ = {{"array", instruction->array},
                           {"index", instruction->index},
                           {"op", instruction->op},
                           {"type", instruction->type}};
    for (Fact& fact : asked_) {
        fact.value = instruction ? find_value(of_instruction_, fact.name) : nullptr;
        if (!fact.value) fact.value = find_value(point.parameters, fact.name);
        // A formula's --name is `formula` in results.
        if (!fact.value && fact.name == "name") {
            fact.value = find_value(point.parameters, "formula");
            fact.other = fact.value ? &name_ : nullptr;
            if (!fact.value) fact.value = &name_;
        }
        if (!fact.value) fact.value = find_value(facts_, fact.name);
        if (fact.name != "name") fact.other = nullptr;
        fact.text.clear();
    }
}

bool BudgetJudge::holds_at(std::size_t budget) {
    bool holds = true;
    for (std::size_t k = 0; k < budgets_[budget].conditions.size(); ++k) {
        Seen& seen = seen_[budget][k];
        Fact& fact = asked_[asks_[budget][k]];
        const BudgetCondition& condition = budgets_[budget].conditions[k];
        std::string other;
        const bool is_kept = fact.value && (allows(condition, *fact.value, fact.text) ||
                                            (fact.other && allows(condition, *fact.other, other)));
        seen.is_kept |= is_kept;
        holds &= is_kept;
        if (seen.is_kept || seen.has_more || !fact.value) continue;
        std::string value = text_of(*fact.value);
        if (std::ranges::find(seen.values, value) != seen.values.end()) continue;
        if (seen.values.size() < most_values)
            seen.values.push_back(std::move(value));
        else
            seen.has_more = true;
    }
    if (holds) has_point_[budget] = true;
    return holds;
}

std::string BudgetJudge::unknown_fact(const std::string& name) const {
    std::vector<std::string_view> known(names_.begin(), names_.end());
    known.push_back("name");
    if (has_instructions_)
        known.insert(known.end(), facts_of_instructions.begin(), facts_of_instructions.end());
    std::vector<std::string_view> all = known;
    for (const auto& [fact, value] : facts_) all.push_back(fact);
    std::string text = unknown_word("parameter", name, all);
    if (nearest(name, all)) return text;
    NameList list(12);
    for (const std::string_view one : known) list.add(shown(one));
    return fmt::format("unknown parameter '{}': points have {}", shown(name), list.text());
}

// The reason why a budget applied to no point.
std::string BudgetJudge::why_nowhere(std::size_t budget) const {
    const std::vector<BudgetCondition>& conditions = budgets_[budget].conditions;
    for (std::size_t k = 0; k < conditions.size(); ++k) {
        const Seen& seen = seen_[budget][k];
        if (seen.is_kept) continue;
        const std::string& name = conditions[k].name;
        if (seen.values.empty()) return unknown_fact(name);
        const std::string values = joined(seen.values, [](const std::string& value) {
            return fmt::format("{0}{1}{0}", value.find(',') == value.npos ? "" : "\"",
                               shown(value));
        });
        return fmt::format(
            "no point has {}={}: there {} {}{}", name, shown(joined(conditions[k].words, ",")),
            seen.values.size() == 1 ? "is" : "are", values, seen.has_more ? ", ..." : "");
    }
    return conditions.size() > 1 && !has_point_[budget]
               ? "each condition fits some point, but no point fits all"
               : fmt::format("no point{} has {}", conditions.empty() ? "" : " of these conditions",
                             budgets_[budget].word);
}

namespace {

// The readings that a budget limits: one side of a point or of one of its instructions.
struct Side {
    const Readings* readings;
    std::string_view name;
};
// The excess of all accesses of a point or an instruction; absent where not all of them have both
// numbers.
Reading whole_excess(const Readings& readings) {
    double sectors = 0;
    double ideal = 0;
    for (const AccessKind kind : access_kinds) {
        const Reading& all = readings[access_counter(kind, AccessField::sectors)];
        const Reading& least = readings[access_counter(kind, AccessField::ideal_sectors)];
        if (!is_present(all) || (is_number(all) && number_in(all) == 0)) continue;
        if (!is_number(all) || !is_number(least)) return is_number(all) ? least : all;
        sectors += number_in(all);
        ideal += number_in(least);
    }
    if (!(ideal > 0)) return {};
    return std::max(sectors - ideal, 0.0) / ideal;
}

Reading reading_of(const BudgetTerm& term, const Readings& readings) {
    return term.is_of_all ? whole_excess(readings) : readings[term.counter];
}

// `coalprof run` knows a kernel's excess without its ideal sectors.
Reading excess_of_kernel(const Point& point) {
    const auto excess = number_of(find_value(point.parameters, excess_word));
    return excess && find_value(point.parameters, verdict_parameter) ? Reading{*excess} : Reading{};
}

Side side_of(const Budget& budget, const BudgetTerm& term, const Point& point,
             const InstructionResult* instruction) {
    static const Readings nothing;
    if (instruction)
        return budget.side == BudgetSide::measured ? Side{&nothing, "measured"}
                                                   : Side{&instruction->predicted, "predicted"};
    if (budget.side != BudgetSide::predicted && point.measured &&
        (budget.side == BudgetSide::measured || is_number(reading_of(term, *point.measured))))
        return {&*point.measured, "measured"};
    if (budget.side == BudgetSide::measured) return {&nothing, "predicted"};
    return {&point.predicted, "predicted"};
}

std::string name_of_instruction(const InstructionResult& one) {
    if (!one.access.empty()) return fmt::format(" {} {}", one.op, one.access);
    return fmt::format(" {} {}{}", one.op, one.array,
                       one.index.empty() ? std::string() : "[" + one.index + "]");
}

}  // namespace

void BudgetJudge::judge(const Budget& budget, const BudgetTerm& term, const Point& point,
                        const InstructionResult* instruction, GateCase& found) const {
    Side side = side_of(budget, term, point, instruction);
    Reading reading = reading_of(term, *side.readings);
    if (term.is_of_all && !instruction && budget.side != BudgetSide::predicted)
        if (const Reading excess = excess_of_kernel(point); is_number(excess)) {
            reading = excess;
            side.name = "measured";
        }
    const std::string_view key = term.is_of_all ? excess_word : key_of(term.counter);
    const Reading base = term.base ? (*side.readings)[*term.base] : Reading{std::uint64_t{1}};
    const bool has_numbers = is_number(reading) && is_number(base);
    const double value = has_numbers ? number_in(reading) : 0;
    const double limit = has_numbers ? budget.limit * number_in(base) : budget.limit;
    if (has_numbers && is_kept(budget.relation, value, limit)) return found.hold();
    const auto [low, high] = std::minmax(value, limit);
    const double weight = low > 0 ? high / low : std::numeric_limits<double>::infinity();
    // If everything breaks a budget, most findings are only counted.
    if (has_numbers && !found.keeps(Kind::broken, weight)) return found.count_only(Kind::broken);
    GateFinding finding{
        .kind = Kind::missing,
        .point = point.name + (instruction ? name_of_instruction(*instruction) : std::string()),
        .side = side.name,
        .counter = key,
        .before = limit,
        .place = place_of_finding(point),
        .kernel = text_of(point.parameters, "kernel")};
    if (!has_numbers) {
        // A counter without a reading does not concern the point, unless a measurement was asked
        // for, or the point failed.
        const Reading& lacked = is_number(reading) ? base : reading;
        const auto* none = std::get_if<Unavailable>(&lacked);
        const bool was_asked = budget.side == BudgetSide::measured && !point.measured;
        if (!none && !was_asked && point.failure.empty()) return;
        finding.text =
            fmt::format("{} is not there: {}", is_number(reading) ? key_of(*term.base) : key,
                        !point.failure.empty() ? printable(point.failure)
                        : none                 ? printable(none->reason)
                                               : "nothing was measured");
        return found.add(std::move(finding));
    }
    finding.kind = Kind::broken;
    finding.now = value;
    finding.weight = weight;
    finding.text = fmt::format("{} is {}, {}", key, value_text(term.counter, value), side.name);
    found.add(std::move(finding));
}

// For a line of source, or a formula of a saved set.
GatePlace BudgetJudge::place_of_finding(const Point& point) const {
    GatePlace place = place_of(point);
    const Value* formula = find_value(point.parameters, "formula");
    if (!place.file.empty() || !formula || formulas_file_.empty() || formulas_file_ == "-")
        return place;
    if (!formula_lines_) formula_lines_ = lines_of_formulas(formulas_file_);
    const auto line = formula_lines_->find(text_of(*formula));
    return {formulas_file_, line == formula_lines_->end() ? 0 : line->second};
}

// The cause of a line, or the worst one of a kernel.
void BudgetJudge::explain(GateFinding& finding) const {
    const auto is_of_line = [&](const LineFinding& one) {
        return one.point == finding.point || std::ranges::count(one.others, finding.point) > 0;
    };
    auto cause = std::ranges::find_if(causes_, is_of_line);
    if (cause == causes_.end() && finding.place.file.empty() && !finding.kernel.empty()) {
        cause = std::ranges::find(causes_, finding.kernel, &LineFinding::kernel);
        finding.is_of_whole_kernel = true;
    }
    if (cause == causes_.end()) return;
    finding.cause = fmt::format("{} Fix: {}", cause->text, cause->fix);
    finding.cause_point = cause->point;
    if (const auto place = places_.find(cause->point);
        finding.place.file.empty() && place != places_.end())
        finding.place = place->second;
}

GateReport BudgetJudge::report() && {
    add_kernels();
    for (std::size_t i = 0; i < budgets_.size(); ++i)
        if (GateCase& one = report_.cases[i];
            one.held() == 0 && one.count(Kind::broken) == 0 && one.count(Kind::missing) == 0)
            one.add({.kind = Kind::missing, .text = why_nowhere(i)});
    for (GateCase& one : report_.cases)
        one.change_each([this](GateFinding& finding) { explain(finding); });
    return std::move(report_);
}

}  // namespace coalprof
