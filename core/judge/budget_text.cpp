#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <span>

#include "core/judge/budget.h"
#include "core/result/counter.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

constexpr std::string_view budget_hint =
    "budgets look like 'excess <= 5%', 'load_sectors <= 1.25*load_ideal_sectors' or 'measured "
    "duration_seconds < 20us if stride=1..8'";
constexpr std::string_view one_each_hint =
    "after the limit stands a condition, if stride=1; of two budgets each has its own --budget";
constexpr std::size_t most_budget_bytes = 4096;
constexpr std::size_t most_budgets = 1000;

struct Sign {
    std::string_view text;
    Budget::Relation relation;
};
// The longer one of two with the same beginning comes first.
constexpr std::array signs{
    Sign{"<=", Budget::Relation::at_most}, Sign{">=", Budget::Relation::at_least},
    Sign{"==", Budget::Relation::equal},   Sign{"!=", Budget::Relation::unequal},
    Sign{"<", Budget::Relation::below},    Sign{">", Budget::Relation::above}};

constexpr std::array second_units{UnitStep{1, "s"}, UnitStep{1e-3, "ms"}, UnitStep{1e-6, "us"},
                                  UnitStep{1e-6, "µs"}, UnitStep{1e-9, "ns"}};
constexpr std::array rate_units{UnitStep{1, "B/s"}, UnitStep{1e3, "kB/s"}, UnitStep{1e6, "MB/s"},
                                UnitStep{1e9, "GB/s"}, UnitStep{1e12, "TB/s"}};
constexpr std::array ratio_units{UnitStep{0.01, "%"}};

std::span<const UnitStep> units_of(Unit unit) {
    switch (unit) {
        case Unit::byte: return size_units;
        case Unit::second: return second_units;
        case Unit::byte_per_second: return rate_units;
        case Unit::ratio: return ratio_units;
        case Unit::one:
        case Unit::sector:
        case Unit::line: break;
    }
    return {};
}

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
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
        if (read_word() != "if")
            value_.refuse(if_at, "expected 'if' or the end here", one_each_hint);
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
        if (word.empty() || is_digit(word.front()) || word == "if")
            value_.refuse(begin, "expected a counter here");
        budget.word = word;
        if (word == excess_word)
            budget.terms.push_back({.counter = Counter::load_excess, .is_of_all = true});
        else
            for (const Counter counter : counters_of(word))
                budget.terms.push_back({.counter = counter});
        if (budget.terms.empty())
            value_.refuse(begin, unknown_counter("counter", word), hint_for_counter(word));
    }
    // "load_sectors", or "sectors" for those of each operation; nothing if unknown.
    static std::vector<Counter> counters_of(std::string_view word) {
        if (const auto counter = find_counter(word)) return {*counter};
        std::vector<Counter> each;
        for (const AccessKind kind : access_kinds)
            if (const auto counter = find_counter(fmt::format("{}_{}", name_of(kind), word)))
                each.push_back(*counter);
        return each;
    }

    Budget::Relation read_sign() {
        skip_blanks();
        for (const Sign& sign : signs)
            if (value_.text.substr(at_).starts_with(sign.text)) {
                at_ += sign.text.size();
                return sign.relation;
            }
        const std::string_view rest = value_.text.substr(at_);
        const std::size_t sign = value_.text.find_first_of("<>=!");
        const bool has_sign = sign != value_.text.npos;  // behind a heading: sectors/request
        value_.refuse(at_, "expected <=, <, >=, >, == or != here",
                      rest.starts_with("=<")   ? "write <="
                      : rest.starts_with("=>") ? "write >="
                      : rest.starts_with("=")  ? "write == or <="
                      : has_sign               ? hint_for_counter(value_.text.substr(0, sign))
                                               : value_.hint);
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
        for (std::size_t i = 0; i < budget.terms.size(); ++i) {
            const Counter base = bases[bases.size() > 1 ? i : 0];
            const Counter counter = budget.terms[i].counter;
            if (const auto [a, b] = std::pair(kind_of(counter), kind_of(base)); a != b)
                value_.refuse(at_ - word.size(),
                              fmt::format("{} is {} and {} {}: they cannot be compared",
                                          key_of(counter), a, key_of(base), b));
            budget.terms[i].base = base;
        }
    }
    // Counters of one kind can be multiples of each other.
    static std::string_view kind_of(Counter counter) {
        switch (info(counter).unit) {
            case Unit::ratio: return "a ratio";
            case Unit::second: return "a time";
            case Unit::byte_per_second: return "a rate";
            default: break;
        }
        return key_of(counter).find("_per_") == std::string_view::npos ? "a count" : "a quotient";
    }
    void read_unit(Budget& budget, std::size_t begin) {
        const Counter counter = budget.terms.front().counter;
        const std::size_t number_end = at_;
        skip_blanks();
        const std::size_t unit_at = at_;
        at_ = std::min(value_.text.find_first_of(" \t", at_), value_.text.size());
        std::string_view unit = value_.text.substr(unit_at, at_ - unit_at);
        if (unit == "if") {
            unit = {};
            at_ = unit_at;
        }
        const Unit kind = info(counter).unit;
        const auto units = units_of(kind);
        const std::string list = joined(units, &UnitStep::unit);
        // Nobody means 50 seconds, or 3000 bytes a second.
        const bool needs_unit = kind == Unit::second || kind == Unit::byte_per_second;
        if (unit.empty() && kind == Unit::ratio && budget.limit > 1)
            refuse_percent(begin, number_end, counter, budget.limit);
        if (unit.empty() && needs_unit && budget.limit != 0)
            value_.refuse(unit_at, fmt::format("{} is {}: its limit needs a unit, {}",
                                               key_of(counter), kind_of(counter), list));
        for (const UnitStep& known : units)
            if (known.unit == unit) budget.limit *= known.factor;
        // A share of what is fetched, where more is better.
        if (key_of(counter).ends_with("_efficiency") && budget.limit > 1)
            value_.refuse(begin, fmt::format("{} is 100 % at most", key_of(counter)));
        if (!unit.empty() && std::ranges::find(units, unit, &UnitStep::unit) == units.end())
            value_.refuse(unit_at,
                          fmt::format("'{}' is no unit of {}{}", shown(unit), key_of(counter),
                                      list.empty() ? ", which takes none" : ": use " + list),
                          one_each_hint);
    }

    [[noreturn]] void refuse_percent(std::size_t at, std::size_t end, Counter counter,
                                     double number) const {
        std::string corrected(value_.text);
        corrected.insert(end, "%");
        value_.refuse(at,
                      fmt::format("{} is a ratio, and {} of it would be {} %", key_of(counter),
                                  number, number * 100),
                      "of a hundred: " + shown(corrected));
    }

    BudgetCondition read_condition() {
        skip_blanks();
        const std::size_t begin = at_;
        BudgetCondition condition{.name = std::string(read_word()), .words = {}};
        const std::string_view sign = value_.text.substr(std::min(at_, value_.text.size()), 2);
        condition.is_not = sign == "!=";
        if (condition.name.empty() || !(condition.is_not || sign.starts_with('=')))
            value_.refuse(begin,
                          "expected a condition without blanks, stride=1..8, pattern=offset or "
                          "line!=app.cu:9, here");
        at_ += condition.is_not || sign == "==" ? 2 : 1;
        const std::size_t words_at = at_;
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
        for (const std::string& word : list_items(std::string(words)))
            condition.words.push_back(without_blanks(word));
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

}  // namespace

std::string without_blanks(std::string_view text) {
    std::string bare(text);
    std::erase_if(bare, [](char c) { return c == ' ' || c == '\t'; });
    return bare;
}

Budget parse_budget(std::string_view text, std::string_view option) {
    return BudgetParser(trimmed(text), option).parse();
}

std::vector<Budget> read_budget_file(const std::string& path) {
    constexpr std::size_t most_bytes = 1u << 20;
    if (path.find_first_of("<>=") != path.npos && !std::filesystem::exists(path))
        throw UsageError(fmt::format("--budget-file {}: there is no such file", shown(path)),
                         "a budget itself is given by --budget");
    const auto whole = read_whole(*open_bytes(path), most_bytes);
    if (!whole)
        throw UsageError(fmt::format("--budget-file {}: it is too long for budgets", shown(path)));
    const std::string_view text = *whole;
    if (!way_of_file(text, path).empty()) refuse_kind(text, path, "a file of budgets", {});
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

}  // namespace coalprof
