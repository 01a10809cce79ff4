#include "core/judge/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/count/transactions.h"
#include "core/judge/moved_lines.h"
#include "core/machine/machine.h"
#include "core/result/differ.h"
#include "core/result/head.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

using Kind = GateFinding::Kind;

constexpr std::size_t most_named = 10;  // points in one result only

bool holds(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

// One reading of a point in both results.
struct Pair {
    const Reading& older;
    const Reading& newer;
    bool has_numbers() const { return is_number(older) && is_number(newer); }
};

bool has_parts(Counter counter, const Readings& older, const Readings& newer) {
    const auto& parts = info(counter).parts;
    const auto is_there = [&](Counter part) {
        return Pair{older[part], newer[part]}.has_numbers();
    };
    return parts && is_there(parts->above) && is_there(parts->below.value_or(parts->above));
}

// More hits are better only for the same number of sectors: their number alone follows the work.
Better better_of(Counter counter) {
    const CounterInfo& row = info(counter);
    return row.better == Better::more && row.unit == Unit::sector ? Better::neither : row.better;
}

bool is_estimate(Counter counter, const Point& point) {
    return point.estimates && point.estimates->of(counter);
}

// True if the model's number is exact, so that a measurement repeats it.
bool is_exact(Counter counter, const Point& point) {
    const Reading& reading = point.predicted[counter];
    if (const auto& parts = info(counter).parts)
        return is_exact(parts->above, point) &&
               is_exact(parts->below.value_or(parts->above), point);
    return std::holds_alternative<std::uint64_t>(reading) && !is_estimate(counter, point);
}

// The sum over a point's operations, predicted or else measured.
double sum_of(const Point& point, AccessField field) {
    double sum = 0;
    for (const AccessKind kind : access_kinds) {
        const Counter counter = access_counter(kind, field);
        const Reading* reading = &point.predicted[counter];
        if (!is_number(*reading) && point.measured) reading = &(*point.measured)[counter];
        if (is_number(*reading)) sum += number_in(*reading);
    }
    return sum;
}

// All instructions of a source line, before and now.
struct LineChange {
    double before = 0;
    double now = 0;
    double fewest = 0;  // sectors that it needs now
    bool was_there = false;
    std::vector<std::string> what = {};  // "a new load of p"
    GateFinding finding = {.kind = Kind::changed};
    std::optional<GateFinding> worst = std::nullopt;  // of one of its counters

    void see(const GateFinding& one) {
        if (!worst || std::tuple(worst->kind, -worst->weight) > std::tuple(one.kind, -one.weight))
            worst = one;
    }
    void add(const Point& point, const Point* old) {
        now += sum_of(point, AccessField::sectors);
        fewest += sum_of(point, AccessField::ideal_sectors);
        was_there |= old != nullptr;
        if (!old) return what.push_back("a new " + name_of_access(point));
        before += sum_of(*old, AccessField::sectors);
        const double requests = sum_of(point, AccessField::requests);
        const double requests_before = sum_of(*old, AccessField::requests);
        if (requests != requests_before && requests_before > 0)
            what.push_back(fmt::format("{} {:.3g} times as often", name_of_access(point),
                                       requests / requests_before));
        else if (sum_of(*old, AccessField::sectors) != sum_of(point, AccessField::sectors))
            what.push_back(name_of_access(point));
    }
    void add_gone(const Point& old) {
        was_there = true;
        before += sum_of(old, AccessField::sectors);
        what.push_back("no more " + name_of_access(old));
    }
    static std::string name_of_access(const Point& point) {
        const std::string op = text_of(point.parameters, "op");
        const std::string array = text_of(point.parameters, "array");
        const std::size_t place = text_of(point.parameters, "line").size() + 1;
        return op.empty() || array.empty() ? point.name.substr(std::min(place, point.name.size()))
                                           : fmt::format("{} of {}", op, array);
    }
    // None where nothing differs. A line that was not there is worse where it wastes sectors.
    std::optional<GateFinding> change() && {
        if (what.empty() && !worst) return std::nullopt;
        finding.text = joined(what);
        if (before != now) {
            finding.counter = "sectors";
            finding.before = before;
            finding.now = now;
            finding.weight =
                before > 0 && now > 0 ? std::max(now / before, before / now) : HUGE_VAL;
            const bool is_worse = was_there ? now > before : now > fewest;
            finding.kind = is_worse ? Kind::broken : was_there ? Kind::better : Kind::changed;
            finding.text +=
                before > 0 ? fmt::format(", {:+.3g} % sectors", 100 * (now / before - 1))
                           : fmt::format(", {} sectors", grouped(static_cast<std::uint64_t>(now)));
        } else if (worst) {
            finding.kind = worst->kind;
            finding.weight = worst->weight;
            finding.text += (what.empty() ? "" : ", ") + worst->text;
        }
        return std::move(finding);
    }
};

// True if the loads' modifier is that machine's default. Results of several machines state both.
bool has_usual_modifier(const ResultHead& head) {
    const std::string text = text_of(values_of(head.sweep), "dlcm");
    if (text.find(" on ") != text.npos) return true;
    try {
        const Machine machine = find_machine(head.machine.compute_capability);
        return text == name_of(usual_load_modifier(*machine.rules));
    } catch (const UsageError&) {  // a later version's machine
        return false;
    }
}

}  // namespace

class Comparison::Impl {
 public:
    explicit Impl(CompareOptions options) : options_(std::move(options)) {}

    void begin_older(const ResultHead& head) { older_head_ = head; }
    void begin_newer(const ResultHead& head) {
        require_same_sweep(head);
        note_difference("coalprof", older_head_.coalprof_version, head.coalprof_version);
        note_difference("what is known of the machine's rules", older_head_.machine.evidence,
                        head.machine.evidence);
    }
    void add_older(const Point& point) {
        if (auto line = line_of(point)) older_lines_.push_back(*std::move(line));
        older_keys_.push_back(key_of_point(point));
        older_.push_back(point);
    }
    void add_newer(const Point& point) {
        if (auto line = line_of(point)) {
            newer_lines_.push_back(*std::move(line));
            newer_points_.push_back(point);
            return;
        }
        compare(point, key_of_point(point));
    }
    void compare(const Point& point, const std::string& key) {
        if (!unpack_older(key)) return remember(only_newer_, only_newer_count_, point.name);
        if (++report_.points == 1) {
            if (is_changed_formula_) note_changed_instructions(point);
            if (matches_values_ && old_.name != point.name)
                report_.notes.push_back(
                    fmt::format("points are matched by their values alone: {} is compared with {}",
                                shown(point.name), shown(old_.name)));
        }
        const bool is_as_before = old_.failure.empty() == point.failure.empty();
        if (!is_as_before) add_failure(point);
        look_at_work(point);
        compare_readings(point, is_as_before);
        add_time(point);
    }

    // Lines are compared when all are known: results list them by cost.
    void compare_lines() {
        const auto before = lines_before(older_lines_, newer_lines_);
        std::set<std::string> moved;                // several instructions of a line once
        std::map<std::string, std::string> places;  // of a line, before and now
        for (std::size_t i = 0; i < newer_points_.size(); ++i) {
            const auto known = before.find(newer_lines_[i].point);
            const bool is_known = known != before.end();
            const Point& point = newer_points_[i];
            line_ = &line_at(newer_lines_[i].place(), point);
            const std::uint64_t found = only_newer_count_;
            compare(point, is_known ? known->second.point : newer_lines_[i].point);
            line_->add(point, only_newer_count_ > found ? nullptr : &old_);
            line_ = nullptr;
            if (is_known) places.emplace(known->second.place(), newer_lines_[i].place());
            if (!is_known || known->second.place() == newer_lines_[i].place()) continue;
            moved.insert(fmt::format("{} (was {})", shown(newer_lines_[i].place()),
                                     shown(known->second.place())));
        }
        is_taken_.resize(older_.size());
        for (std::size_t i = 0; i < older_.size(); ++i)
            if (const auto line = line_of(older_[i]); line && !is_taken_[i]) {
                const auto now = places.find(line->place());
                line_at(now == places.end() ? line->place() : now->second, older_[i])
                    .add_gone(older_[i]);
            }
        report_.lines = lines_.size();
        for (auto& [place, line] : lines_)
            if (auto change = std::move(line).change())
                report_.lines_changed.push_back(*std::move(change));
        if (moved.empty()) return;
        NameList names(most_named);
        for (const std::string& one : moved) names.add(one);
        report_.notes.push_back("lines have moved, matched by kernel, instruction and order: " +
                                names.text());
    }

    GateReport report() {
        compare_lines();
        if (report_.points == 0)
            throw UsageError(options_.asker + ": the two results have no point in common",
                             older_head_.sweep.pattern == "kernel"
                                 ? "kernels are compared in one call: coalprof kernel FILE ONE "
                                   "OTHER --grid GRID,ITS_GRID"
                                 : "points are matched by their names, and with --across pattern "
                                   "by the values of their parameters");
        for (const auto& [is_part, which] :
             {std::pair(older.is_part, "old"), {newer.is_part, "new"}})
            if (is_part) report_.losses.push_back(fmt::format("the {} result is not whole", which));
        std::uint64_t missing = 0;
        std::vector<std::string> named;
        is_taken_.resize(older_.size());
        for (std::size_t i = 0; i < older_.size(); ++i)
            if (!is_taken_[i]) remember(named, missing, older_[i].name);
        if (missing > 0) report_.losses.push_back(only_in("old", named, missing));
        if (only_newer_count_ > 0)
            report_.notes.push_back(only_in("new", only_newer_, only_newer_count_));
        if (!only_older_machine_.empty()) {
            report_.notes.push_back(fmt::format("counters that only {} has: {}",
                                                shown(older_head_.machine.name),
                                                joined(only_older_machine_, coalprof::key_of)));
        }
        if (with_other_work_ > 0)
            report_.notes.push_back(
                fmt::format("not the same work at {} ({}): compare ratios, such as "
                            "load_sectors_per_request, not totals",
                            counted(with_other_work_, "point"), first_other_work_));
        report_.command = "compare";
        for (auto& [key, one] : cases_) report_.cases.push_back(std::move(one));
        return std::move(report_);
    }

 private:
    void require_same_sweep(const ResultHead& newer) {
        require_known_names(newer);
        std::vector<std::string> refused;
        std::vector<std::string> allowed;
        std::vector<std::string> names;
        const std::vector<HeadDifference> found = differences(older_head_, newer);
        are_machines_apart_ = std::ranges::any_of(
            found, [](const HeadDifference& one) { return one.name == "machine"; });
        for (const auto& [name, text] : found) {
            // A default one: it follows from the machines.
            const bool follows = name == "dlcm" && are_machines_apart_ &&
                                 has_usual_modifier(older_head_) && has_usual_modifier(newer);
            if (is_changed_formula(found)) break;
            const bool is_allowed = may_differ(follows ? "machine" : name);
            if (follows && !is_allowed) continue;
            (is_allowed ? allowed : refused).push_back(text);
            if (!is_allowed) names.push_back(name);
        }
        if (!refused.empty()) {
            // Those already given, too: the suggested option replaces them.
            names.insert(names.begin(), options_.across.begin(), options_.across.end());
            constexpr std::size_t few = 3;  // results that differ in more are of other sweeps
            NameList first(few);
            for (const std::string& one : refused) first.add(one);
            throw UsageError(
                fmt::format("{}: the results differ in {}", options_.asker, first.text()),
                options_.asker != "compare" ? "save a base of the same launch and machine"
                : refused.size() > few
                    ? "results of one sweep are compared; --across all compares any two"
                    : fmt::format("to compare them all the same: --across {}",
                                  shell_word(joined(names, ","))));
        }
        if (!allowed.empty()) report_.notes.push_back("compared across " + joined(allowed));
        if (is_changed_formula(found)) {
            for (const HeadDifference& one : found)
                report_.notes.push_back(one.text + ": changed, compared by the names of points");
            is_changed_formula_ = true;
            return;
        }
        matches_values_ = std::ranges::any_of(found, [](const HeadDifference& one) {
            return one.name == "pattern" || one.name == "parameter" || one.name == "formula";
        });
        if (matches_values_) rekey();
    }
    // An edited index is compared on purpose; other changes are differences.
    bool is_changed_formula(const std::vector<HeadDifference>& found) const {
        return older_head_.sweep.pattern == "formula" && !found.empty() &&
               std::ranges::all_of(found, [&](const HeadDifference& one) {
                   return (one.name == "formula" || one.name.starts_with("formula.")) &&
                          !may_differ(one.name);
               });
    }
    // Instructions of one array and operation, in their order.
    void note_changed_instructions(const Point& point) {
        const auto text_of_one = [](const InstructionResult& one) {
            return one.access.empty() ? fmt::format("{} {}[{}]", one.op, one.array, one.index)
                                      : fmt::format("{} {}", one.op, one.access);
        };
        std::vector<InstructionResult> before = old_.instructions;
        for (const InstructionResult& now : point.instructions) {
            const auto was = std::ranges::find_if(before, [&](const InstructionResult& one) {
                return one.op == now.op && one.array == now.array;
            });
            if (was == before.end()) {
                report_.notes.push_back("new: " + shown(text_of_one(now)));
                continue;
            }
            if (was->index != now.index || was->access != now.access)
                report_.notes.push_back(fmt::format(
                    "changed: {} is {} now", shown(text_of_one(*was)), shown(text_of_one(now))));
            before.erase(was);
        }
        for (const InstructionResult& gone : before)
            report_.notes.push_back("gone: " + shown(text_of_one(gone)));
    }
    void require_known_names(const ResultHead& newer) const {
        std::vector<std::string> known = comparable_names(older_head_, newer);
        known.emplace_back("all");
        const std::vector<std::string_view> words(known.begin(), known.end());
        for (const std::string& name : options_.across)
            if (!holds(known, name))
                throw UsageError(unknown_word("--across", name, words),
                                 fmt::format("what may differ: {}", joined(known, ", ")));
    }
    bool may_differ(std::string_view name) const {
        const bool follows = name == "formula" || name == "parameter";
        return holds(options_.across, "all") || holds(options_.across, name) ||
               (follows && holds(options_.across, "pattern"));
    }
    void note_difference(std::string_view what, const std::string& before, const std::string& now) {
        if (before != now)
            report_.notes.push_back(
                fmt::format("{} differs: '{}' and '{}'", what, shown(before), shown(now)));
    }

    // Point names begin with that of the parameter, which differs there.
    void rekey() {
        for (std::string& key : older_keys_) key = values_in_name(key);
    }
    // "11 cg" of "offset=11 dlcm=cg".
    static std::string values_in_name(std::string_view name) {
        std::string values;
        while (!name.empty()) {
            const std::size_t end = std::min(name.find(' '), name.size());
            const std::string_view word = name.substr(0, end);
            const std::size_t equals = word.find('=');
            values += word.substr(equals == word.npos ? 0 : equals + 1);
            values += ' ';
            name.remove_prefix(std::min(end + 1, name.size()));
        }
        return values;
    }
    std::string key_of_point(const Point& point) const {
        return matches_values_ ? values_in_name(point.name) : point.name;
    }

    // The next unmatched point of this key, into old_. False where there is none.
    bool unpack_older(const std::string& key) {
        const auto index = take_older(key);
        if (index) old_ = std::move(older_[*index]);
        return index.has_value();
    }
    // Usually the one at the same place.
    std::optional<std::size_t> take_older(const std::string& key) {
        const std::size_t here = next_++;
        is_taken_.resize(older_.size());
        if (here < older_.size() && !is_taken_[here] && older_keys_[here] == key) {
            is_taken_[here] = true;
            return here;
        }
        if (by_key_.empty()) sort_by_key();
        auto found = std::lower_bound(by_key_.begin(), by_key_.end(), key,
                                      [&](std::uint32_t index, const std::string& wanted) {
                                          return older_keys_[index] < wanted;
                                      });
        for (; found != by_key_.end() && older_keys_[*found] == key; ++found)
            if (!is_taken_[*found]) {
                is_taken_[*found] = true;
                return *found;
            }
        return std::nullopt;
    }
    void sort_by_key() {
        by_key_.resize(older_.size());
        std::iota(by_key_.begin(), by_key_.end(), 0u);
        std::sort(by_key_.begin(), by_key_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto by_name = older_keys_[a] <=> older_keys_[b];
            return by_name != 0 ? by_name < 0 : a < b;
        });
    }

    static void remember(std::vector<std::string>& named, std::uint64_t& count,
                         std::string_view name) {
        if (++count <= most_named) named.push_back(shown(name));
    }
    static std::string only_in(std::string_view which, const std::vector<std::string>& named,
                               std::uint64_t count) {
        return fmt::format("{} point{} of the {} result {} not in the other: {}{}", count,
                           count == 1 ? "" : "s", which, count == 1 ? "is" : "are", joined(named),
                           count > named.size() ? ", ..." : "");
    }

    GateCase& case_of(std::string_view side, std::optional<Counter> counter) {
        const auto key = std::pair(side, counter ? static_cast<int>(*counter) : -1);
        const auto found = cases_.find(key);
        if (found != cases_.end()) return found->second;
        std::string name =
            counter ? fmt::format("{} {}", side, coalprof::key_of(*counter)) : std::string(side);
        return cases_.emplace(key, GateCase(std::move(name))).first->second;
    }

    void add_failure(const Point& point) {
        if (point.failure.empty())
            return case_of("points", {})
                .add({.kind = Kind::better,
                      .point = point.name,
                      .text = "failed before, works now"});
        case_of("points", {})
            .add({.kind = Kind::missing,
                  .point = point.name,
                  .text = "fails now: " + shown(point.failure)});
    }

    void look_at_work(const Point& point) {
        const Pair useful{std::as_const(old_).predicted[Counter::useful_bytes],
                          point.predicted[Counter::useful_bytes]};
        if (!useful.has_numbers() || number_in(useful.older) == number_in(useful.newer)) return;
        const auto text = [](const Reading& reading) {
            return bytes_text(static_cast<std::uint64_t>(number_in(reading)));
        };
        if (++with_other_work_ == 1)
            first_other_work_ = fmt::format("{} needed {} and needs {}", shown(point.name),
                                            text(useful.older), text(useful.newer));
    }

    void compare_readings(const Point& point, bool with_measured) {
        static const Readings nothing;
        const Readings& old_predicted = old_.predicted;
        const Readings& old_measured = old_.measured && with_measured ? *old_.measured : nothing;
        const Readings& new_measured = point.measured ? *point.measured : nothing;
        for (const CounterInfo& row : all_counters()) {
            const Counter counter = row.counter;
            const Pair predicted{old_predicted[counter], point.predicted[counter]};
            const Pair measured{old_measured[counter], new_measured[counter]};
            if (!is_number(predicted.older) && !is_number(measured.older)) continue;
            const bool says_more = !has_parts(counter, old_.predicted, point.predicted);
            // Both say the same, so it is reported once.
            if (says_more && predicted.has_numbers() && measured.has_numbers() &&
                number_in(predicted.older) == number_in(measured.older) &&
                number_in(predicted.newer) == number_in(measured.newer)) {
                judge("predicted and measured", counter, predicted, point);
                continue;
            }
            if (says_more) judge("predicted", counter, predicted, point);
            if (!has_parts(counter, old_measured, new_measured))
                judge("measured", counter, measured, point);
        }
    }

    // A kernel is changed for the sake of its time, so its time is shown even where the uncertainty
    // allows no verdict.
    void add_time(const Point& point) {
        constexpr Counter time = Counter::duration_seconds;
        if (is_source_line(point) || !find_value(point.parameters, "kernel")) return;
        const bool is_measured = measured_amount(old_, time) && measured_amount(point, time);
        const auto amount_in = is_measured ? measured_amount : predicted_amount;
        const auto before = amount_in(old_, time);
        const auto now = amount_in(point, time);
        if (!before || !now) return;
        const std::string_view side = is_measured ? "measured" : "predicted";
        GateFinding found{.kind = Kind::changed,
                          .point = point.name,
                          .side = side,
                          .counter = coalprof::key_of(time),
                          .before = before->middle,
                          .now = now->middle};
        if (!is_same(side, time, before->middle, now->middle, point))
            found.kind = now->middle > before->middle ? Kind::broken : Kind::better;
        found.text = time_text(found);
        report_.times.push_back(std::move(found));
    }

    void judge(std::string_view side, Counter counter, const Pair& pair, const Point& point) {
        if (!is_number(pair.older)) return;
        const bool was_asked = side != "measured" || point.measured;
        if (are_machines_apart_ && was_asked && !is_number(pair.newer)) {
            only_older_machine_.insert(counter);
            return;
        }
        GateCase& here = case_of(side, counter);
        const double before = number_in(pair.older);
        if (is_number(pair.newer) && is_same(side, counter, before, number_in(pair.newer), point))
            return here.hold();
        GateFinding finding{.kind = Kind::missing,
                            .point = point.name,
                            .side = side,
                            .counter = coalprof::key_of(counter),
                            .before = before,
                            .place = place_of(point),
                            .line = line_ ? line_->finding.line : std::string(),
                            .kernel = text_of(point.parameters, "kernel")};
        if (!is_number(pair.newer)) {
            const auto* none = std::get_if<Unavailable>(&pair.newer);
            finding.text = fmt::format("{} is missing now{}{}", coalprof::key_of(counter),
                                       none ? ": " : "", none ? printable(none->reason) : "");
            return here.add(std::move(finding));
        }
        const double now = number_in(pair.newer);
        finding.now = now;
        const Better better = better_of(counter);
        const double up = before > 0 ? now / before : now > 0 ? HUGE_VAL : 1;
        const bool is_worse = better == Better::more ? now < before : now > before;
        finding.kind = better == Better::neither ? Kind::changed
                       : is_worse                ? Kind::broken
                                                 : Kind::better;
        finding.weight = up >= 1 ? up : up > 0 ? 1 / up : HUGE_VAL;
        finding.text = change_text(counter, before, now);
        if (line_) line_->see(finding);
        here.add(std::move(finding));
    }

    bool is_same(std::string_view side, Counter counter, double before, double now,
                 const Point& point) const {
        if (before == now) return true;
        const bool is_measured = side == "measured";
        const bool is_count = is_measured
                                  ? is_exact(counter, old_) && is_exact(counter, point)
                                  : !is_estimate(counter, old_) && !is_estimate(counter, point);
        const auto amount_in = is_measured ? measured_amount : predicted_amount;
        const auto then = amount_in(old_, counter);
        const auto today = amount_in(point, counter);
        if (is_count || !then || !today) return false;
        const bool is_time = is_measured && counter == Counter::duration_seconds;
        return differ(*then, *today, is_time ? options_.max_slowdown : options_.tolerance) !=
               Differ::surely;
    }

    LineChange& line_at(const std::string& place, const Point& point) {
        LineChange& line = lines_[{place, text_of(point.parameters, "kernel")}];
        line.finding.point = line.finding.line = place;
        line.finding.kernel = text_of(point.parameters, "kernel");
        // Points of the newer result come first, so the place is theirs.
        if (line.finding.place.file.empty()) line.finding.place = place_of(point);
        return line;
    }

    CompareOptions options_;
    ResultHead older_head_;
    std::deque<Point> older_;
    std::vector<std::string> older_keys_;  // what points are matched by
    std::vector<bool> is_taken_;
    std::vector<std::uint32_t> by_key_;  // indices, sorted; empty until points are out of order
    std::size_t next_ = 0;
    std::vector<LineOfPoint> older_lines_;
    std::vector<LineOfPoint> newer_lines_;
    std::deque<Point> newer_points_;                                   // points of those lines
    std::map<std::pair<std::string, std::string>, LineChange> lines_;  // by place and kernel
    LineChange* line_ = nullptr;  // the one whose points are being compared
    bool is_changed_formula_ = false;
    bool matches_values_ = false;
    bool are_machines_apart_ = false;
    std::set<Counter> only_older_machine_;  // counters that the newer one cannot have are no loss
    Point old_;                             // the point being compared
    std::map<std::pair<std::string_view, int>, GateCase> cases_;
    std::vector<std::string> only_newer_;
    std::uint64_t only_newer_count_ = 0;
    std::uint64_t with_other_work_ = 0;
    std::string first_other_work_;
    GateReport report_;

    // Passes what a reader reads to the members of its side.
    struct Side : ResultSink {
        Side(Impl& impl, bool is_newer) : impl_(impl), is_newer_(is_newer) {}
        void begin(const ResultHead& head) override {
            is_newer_ ? impl_.begin_newer(head) : impl_.begin_older(head);
        }
        void point(const Point& point) override {
            is_newer_ ? impl_.add_newer(point) : impl_.add_older(point);
        }
        void finish(const ResultTail& tail) override {
            is_part = tail.status == Status::interrupted;
        }
        bool is_part = false;

     private:
        Impl& impl_;
        bool is_newer_;
    };

 public:
    Side older{*this, false};
    Side newer{*this, true};
};

Comparison::Comparison(CompareOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
Comparison::~Comparison() = default;
ResultSink& Comparison::older() { return impl_->older; }
ResultSink& Comparison::newer() { return impl_->newer; }
GateReport Comparison::report() { return impl_->report(); }

}  // namespace coalprof
