#include "core/judge/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/access/warp_access.h"
#include "core/result/counter.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/outputs.h"

namespace coalprof {
namespace {

using Kind = GateFinding::Kind;
using Relation = Budget::Relation;

constexpr std::string_view verdict_parameter = "verdict";
constexpr std::size_t most_kept_of_all = 100'000;  // findings of all budgets together
constexpr std::size_t most_values = 5;             // named where none fits
constexpr std::size_t most_names = 1000;           // parameters' names for messages

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
        case Relation::at_most: return value <= limit;
        case Relation::below: return value < limit;
        case Relation::at_least: return value >= limit;
        case Relation::above: return value > limit;
        case Relation::equal: return value == limit;
        case Relation::unequal: return value != limit;
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

BudgetJudge::BudgetJudge(std::vector<Budget> budgets, ResultSink* next, BudgetExceptions exceptions)
    : budgets_(std::move(budgets)), next_(next), exceptions_(std::move(exceptions)) {
    report_.command = "check";
    const std::size_t kept_each = most_kept_of_all / std::max<std::size_t>(budgets_.size(), 1);
    for (const Budget& budget : budgets_) {
        report_.cases.emplace_back(budget.text,
                                   std::clamp<std::size_t>(kept_each, 1, most_kept_findings));
        seen_.emplace_back(budget.conditions.size());
        lines_.emplace_back();
        nouns_.emplace_back();
        has_point_.push_back(false);
        asks_.emplace_back();
        for (const BudgetCondition& condition : budget.conditions) {
            const auto known = std::ranges::find(asked_, condition.name, &Fact::name);
            asks_.back().push_back(static_cast<std::size_t>(known - asked_.begin()));
            if (known == asked_.end()) asked_.push_back({condition.name});
        }
    }
}

void BudgetJudge::hold_against(std::unique_ptr<Comparison> base, std::string file) {
    base_ = std::move(base);
    base_file_ = std::move(file);
}

bool BudgetExceptions::allow(std::string_view line, const GatePlace& place) {
    const auto is_it = [&](const std::string& one) { return is_line_named(line, place, one); };
    const auto found = std::ranges::find_if(lines, is_it);
    if (found == lines.end()) return false;
    used.insert(*found);
    return true;
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
    facts_.emplace_back("machine", head.machine.name);
    if (head.device) facts_.emplace_back("device", head.device->name);
    if (base_) base_->newer().begin(head);
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
    report_.lines += is_source_line(point) ? 1 : 0;
    if (!point.failure.empty() && find_value(point.parameters, "kernel")) look_at_failure(point);
    judge_all(point, nullptr);
    for (const InstructionResult& one : point.instructions) judge_all(point, &one);
    if (base_) base_->newer().point(point);
    hand_on([&](ResultSink& next) { next.point(point); });
}

// A kernel whose launch a GPU stops keeps no budget, nor do its lines.
void BudgetJudge::look_at_failure(const Point& point) {
    failed_kernels_.insert(text_of(point.parameters, "kernel"));
    constexpr std::size_t most = 20;
    if (report_.losses.size() < most)
        report_.losses.push_back(
            fmt::format("point {} failed: {}", printable(point.name), printable(point.failure)));
}

// Lines follow their kernel. Points of several launches have no lines, and fail on their own.
bool BudgetJudge::is_of_failed_launch(const Point& point) const {
    const std::string kernel = text_of(point.parameters, "kernel");
    return !kernel.empty() &&
           (!point.failure.empty() || (is_source_line(point) && failed_kernels_.contains(kernel)));
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
    // Its kernel breaks the budget because of it.
    if (!exceptions_.lines.empty() && kernel && is_source_line(point)) {
        GateCase allowed({});
        judge_into(allowed);
        if (allowed.count(Kind::broken) > 0 && exceptions_.allow(text_of(*line), place_of(point))) {
            lines_[budget][text_of(*kernel)] = true;
            return report_.cases[budget].hold();
        }
    }
    GateCase& found = report_.cases[budget];
    const std::uint64_t broken = found.count(Kind::broken);
    const std::uint64_t held = found.held();
    judge_into(found);
    const bool is_broken = found.count(Kind::broken) > broken;
    if (is_broken || found.held() > held)
        nouns_[budget].insert(is_source_line(point) ? "line" : "point");
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
        nouns_[kernel.budget].insert("kernel");
        for (std::uint64_t k = 0; k < kernel.found.held(); ++k) all.hold();
        for (GateFinding& finding : kernel.found.findings()) all.add(std::move(finding));
    }
}

void BudgetJudge::finish(const ResultTail& tail) {
    if (tail.status == Status::interrupted) report_.losses.emplace_back("the result is not whole");
    causes_ = tail.findings;
    if (base_) base_->newer().finish(tail);
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
        const bool is_there = fact.value && (allows(condition, *fact.value, fact.text) ||
                                             (fact.other && allows(condition, *fact.other, other)));
        const bool is_whole =
            condition.is_not && fact.name == "line" && fact.value && text_of(*fact.value) == "all";
        const bool is_kept = fact.value && is_there != condition.is_not && !is_whole;
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
    if (std::ranges::count(all, name) > 0)
        return fmt::format("no point with this counter has a value of '{}'", shown(name));
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
            "no point has {}{}{}: there {} {}{}", name, conditions[k].is_not ? "!=" : "=",
            shown(joined(conditions[k].words, ",")), seen.values.size() == 1 ? "is" : "are", values,
            seen.has_more ? ", ..." : "");
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

// What the budget may mean rather; empty: what it says.
std::string remark_on(const Budget& budget, const BudgetTerm& term) {
    const bool is_upper =
        budget.relation == Relation::at_most || budget.relation == Relation::below;
    if (is_upper && info(term.counter).better == Better::more)
        return "; more of it is better, so that >= may be meant";
    const std::string of_request = fmt::format("{}_per_request", key_of(term.counter));
    if (is_upper && !term.base && budget.limit <= warp_lanes && find_counter(of_request))
        return fmt::format(", a total; {} is of one request", of_request);
    return {};
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
    const bool keeps = has_numbers && is_kept(budget.relation, value, limit);
    if (keeps && !is_of_failed_launch(point)) return found.hold();
    const auto [low, high] = std::minmax(value, limit);
    const double weight = low > 0 ? high / low : std::numeric_limits<double>::infinity();
    // If everything breaks a budget, most findings are only counted.
    if (has_numbers && !keeps && !found.keeps(Kind::broken, weight))
        return found.count_only(Kind::broken);
    GateFinding finding{
        .kind = Kind::missing,
        .point = point.name + (instruction ? name_of_instruction(*instruction) : std::string()),
        .side = side.name,
        .counter = key,
        .before = limit,
        .place = place_of(point),
        .kernel = text_of(point.parameters, "kernel")};
    if (keeps) {
        finding.text = fmt::format("{} does not count: the launch failed", key);
        return found.add(std::move(finding));
    }
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
    finding.text = fmt::format("{} is {}, {}{}", key, value_text(term.counter, value), side.name,
                               remark_on(budget, term));
    found.add(std::move(finding));
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

// Lines, whose kernels say no more; of a result without lines its points.
void BudgetJudge::add_base() {
    const GateReport compared = base_->report();
    const std::string_view noun = compared.lines > 0 ? "line" : "point";
    GateCase& one =
        report_.cases.emplace_back(fmt::format("no {} worse than in {}", noun, shown(base_file_)));
    one.set_noun(noun);
    std::set<std::string> worse;
    const auto add = [&](const GateFinding& finding) {
        if (finding.kind == Kind::missing && !exceptions_.may_lack) one.add(finding);
        if (finding.kind != Kind::broken || !worse.insert(finding.point + finding.kernel).second)
            return;
        if (!finding.line.empty() && exceptions_.allow(finding.line, finding.place))
            return one.hold();
        one.add(finding);
    };
    for (const GateFinding& finding : compared.lines_changed) add(finding);
    for (const GateCase& counter : compared.cases)
        for (const GateFinding& finding : counter.findings())
            if (compared.lines == 0 || finding.kind == Kind::missing) add(finding);
    const std::uint64_t all = compared.lines > 0 ? compared.lines : compared.points;
    for (std::uint64_t held = worse.size(); held < all; ++held) one.hold();
    auto& lacked = exceptions_.may_lack ? report_.notes : report_.losses;
    lacked.insert(lacked.end(), compared.losses.begin(), compared.losses.end());
}

GateReport BudgetJudge::report() && {
    add_kernels();
    for (std::size_t i = 0; i < budgets_.size(); ++i) {
        GateCase& one = report_.cases[i];
        if (one.held() + one.count(Kind::broken) + one.count(Kind::missing) > 0) continue;
        if (exceptions_.may_lack)
            report_.notes.push_back(fmt::format("{}: {}", budgets_[i].text, why_nowhere(i)));
        else
            one.add({.kind = Kind::missing, .text = why_nowhere(i)});
    }
    for (std::size_t i = 0; i < nouns_.size(); ++i)
        if (nouns_[i].size() == 1) report_.cases[i].set_noun(*nouns_[i].begin());
    if (base_) add_base();
    for (const std::string& line : exceptions_.lines)
        report_.notes.push_back(
            exceptions_.used.contains(line)
                ? fmt::format("--allow {}: it breaks a budget, and may", shown(line))
                : fmt::format("--allow {}: no such line breaks a budget", shown(line)));
    for (GateCase& one : report_.cases)
        one.change_each([this](GateFinding& finding) { explain(finding); });
    return std::move(report_);
}

}  // namespace coalprof
