#include "core/result/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/text/describe.h"

namespace coalprof {

void complain(std::string_view what, std::string_view expected) {
    throw PartError(fmt::format("{} is not {}", shown(what), expected));
}

namespace {

constexpr std::string_view schema_name = "coalprof/";
constexpr std::string_view schema_major = "1";

std::string path_of(std::string_view what, std::string_view member) {
    return what.empty() ? std::string(member) : fmt::format("{}.{}", what, member);
}

std::string text_of(JsonView value, std::string_view what) {
    const auto text = value.text();
    if (!text) complain(what, "text");
    return std::string(*text);
}
template <typename Number>
Number natural_up_to(JsonView object, std::string_view what, std::string_view name) {
    const std::uint64_t number = natural_in(object, what, name);
    if (!std::in_range<Number>(number)) complain(path_of(what, name), "a number of this size");
    return static_cast<Number>(number);
}
// NaN for null: writers replace numbers that are not finite by null.
double number_in(JsonView object, std::string_view what, std::string_view name) {
    const JsonView member = member_of(object, what, name);
    if (member.is_null()) return std::numeric_limits<double>::quiet_NaN();
    const auto number = member.number();
    if (!number) complain(path_of(what, name), "a number");
    return *number;
}

// The part of a head of which `from` knows the members.
template <typename From>
auto part_from(JsonView object, std::string_view what, From from) {
    try {
        return from(values_from(object, what));
    } catch (const std::invalid_argument& error) {
        complain(path_of(what, error.what()), "what coalprof writes there");
    }
}

std::vector<Counter> counters_from(JsonView list, std::string_view what) {
    std::vector<Counter> counters;
    for (const JsonView item : list)
        if (const auto counter = find_counter(text_of(item, what))) counters.push_back(*counter);
    return counters;
}

Verdict verdict_from(JsonView item) {
    constexpr std::string_view what = "verdicts";
    Verdict verdict{.scope = values_from(member_of(item, what, "scope"), "verdicts.scope"),
                    .combinations = natural_in(item, what, "combinations"),
                    .values = natural_in(item, what, "values"),
                    .text = text_in(item, what, "text")};
    const JsonView gain = member_of(item, what, "gain");
    verdict.gain =
        gain.is_null() ? std::numeric_limits<double>::infinity() : number_in(item, what, "gain");
    for (const JsonView settings : member_of(item, what, "best"))
        verdict.best.push_back(values_from(settings, "verdicts.best"));
    return verdict;
}

std::array<double, 2> interval_in(JsonView list, const std::string& what) {
    std::array<double, 2> ends{};
    std::size_t count = 0;
    for (const JsonView end : list) {
        const auto number = end.number();
        if (!number) count = ends.size();
        if (count < ends.size()) ends[count] = *number;
        ++count;
    }
    if (count != ends.size() || ends[0] > ends[1])
        complain(what, "two numbers, the lowest and the highest");
    return ends;
}

LineFinding finding_from(JsonView item) {
    constexpr std::string_view what = "findings";
    LineFinding finding{.point = text_in(item, what, "point"),
                        .cause = text_in(item, what, "cause"),
                        .text = text_in(item, what, "text"),
                        .fix = text_in(item, what, "fix"),
                        .like = {}};
    if (!member_of(item, what, "like").is_null()) finding.like = text_in(item, what, "like");
    if (!member_of(item, what, "saves_seconds").is_null())
        finding.saves_seconds = number_in(item, what, "saves_seconds");
    if (finding.saves_seconds.value_or(0) < 0)
        complain("findings.saves_seconds", "no negative number");
    if (const auto interval = item.find("saves_interval_seconds")) {
        finding.saves_interval_seconds = interval_in(*interval, "findings.saves_interval_seconds");
        if (finding.saves_interval_seconds->front() < 0)
            complain("findings.saves_interval_seconds", "no negative number");
    }
    if (const auto others = item.find("other_points"))
        for (const JsonView name : *others)
            finding.others.push_back(text_of(name, "findings.other_points"));
    if (item.find("warp")) finding.warp = text_in(item, what, "warp");
    if (item.find("kernel")) finding.kernel = text_in(item, what, "kernel");
    if (item.find("kernel_seconds"))
        finding.kernel_seconds = number_in(item, what, "kernel_seconds");
    if (item.find("launches")) finding.launches = natural_in(item, what, "launches");
    return finding;
}

Timing timing_from(JsonView object) {
    constexpr std::string_view what = "timing";
    return {.repeats = natural_in(object, what, "repeats"),
            .median_seconds = number_in(object, what, "median_seconds"),
            .low_seconds = number_in(object, what, "low_seconds"),
            .high_seconds = number_in(object, what, "high_seconds"),
            .min_seconds = number_in(object, what, "min_seconds"),
            .max_seconds = number_in(object, what, "max_seconds")};
}

template <typename Number>
std::optional<Number> natural_or_none(JsonView object, std::string_view what,
                                      std::string_view name) {
    if (member_of(object, what, name).is_null()) return std::nullopt;
    return natural_up_to<Number>(object, what, name);
}

LaunchSettings launch_from(JsonView object) {
    constexpr std::string_view what = "launch";
    const auto small = [&](std::string_view name) {
        return natural_up_to<std::uint32_t>(object, what, name);
    };
    return {.architecture = text_in(object, what, "architecture"),
            .grid_blocks = natural_in(object, what, "grid_blocks"),
            .block_threads = small("block_threads"),
            .registers = small("registers"),
            .local_bytes = natural_in(object, what, "local_bytes"),
            .shared_bytes = natural_in(object, what, "shared_bytes"),
            .blocks_per_multiprocessor = small("blocks_per_multiprocessor"),
            .occupancy = number_in(object, what, "occupancy"),
            .carveout_percent = natural_or_none<std::uint32_t>(object, what, "carveout_percent"),
            .l2_fetch_bytes = natural_or_none<std::uint64_t>(object, what, "l2_fetch_bytes")};
}

// The part of a head whose members `from` knows.
Estimates estimates_from(JsonView object, KeyOrder& keys) {
    constexpr std::string_view what = "estimates";
    if (!object.is_object()) complain(what, "an object");
    keys.start();
    Estimates estimates;
    for (const JsonView member : object) {
        const auto counter = keys.find(member.name());
        if (!counter) continue;
        const auto [low, high] = interval_in(member, path_of(what, key_of(*counter)));
        estimates.intervals.push_back({*counter, low, high});
    }
    if (const auto limits = object.find("limits"))
        for (const JsonView limit : *limits)
            if (const auto known = find_limit(text_of(limit, "estimates.limits")))
                estimates.limits.push_back(*known);
    return estimates;
}

// Intervals of counters, and names of limits, as far as this version knows them.
struct TwoReasons {
    std::string_view predicted;
    std::string_view measured;
};
TwoReasons split(std::string_view reason) {
    constexpr std::string_view first = "prediction: ";
    constexpr std::string_view second = "; measurement: ";
    const std::size_t at = reason.find(second);
    if (!reason.starts_with(first) || at == reason.npos) return {reason, reason};
    return {reason.substr(first.size(), at - first.size()), reason.substr(at + second.size())};
}

Reading reading_of(JsonView value, Counter counter, std::string_view what) {
    if (value.is_null()) return Unavailable{"the reason is not known"};
    if (info(counter).is_integer)
        if (const auto natural = value.natural()) return *natural;
    if (const auto number = value.number()) return *number;
    complain(path_of(what, key_of(counter)), "a number");
}

// The two parts of a counter's reason if prediction and measurement have different ones.
void read_readings(JsonView object, std::string_view what, Readings& readings, KeyOrder& keys) {
    if (!object.is_object()) complain(what, "an object");
    keys.start();
    for (const JsonView member : object)
        if (const auto counter = keys.find(member.name()))
            readings[*counter] = reading_of(member, *counter, what);
}

// Readings by key; null ones get their reasons later.
void read_meta(JsonView meta, ResultHead& head) {
    const auto in = [&](std::string_view name) { return member_of(meta, "meta", name); };
    read_origin(meta, head);
    if (const auto environment = meta.find("environment"))
        head.environment = values_from(*environment, "meta.environment");
    head.machine = part_from(in("machine"), "meta.machine", machine_from);
    if (const JsonView device = in("device"); !device.is_null())
        head.device = part_from(device, "meta.device", device_from);
    head.backend = text_in(meta, "meta", "backend");
    head.passes = natural_in(meta, "meta", "passes");
    if (const auto counters = meta.find("counters"))
        head.columns = counters_from(*counters, "meta.counters");
}

std::vector<Warning> warnings_from(JsonView list) {
    std::vector<Warning> warnings;
    for (const JsonView item : list) {
        const JsonView point = member_of(item, "warnings", "point");
        warnings.push_back({text_in(item, "warnings", "code"),
                            point.is_null() ? "" : text_of(point, "warnings.point"),
                            text_in(item, "warnings", "text")});
    }
    return warnings;
}

}  // namespace

JsonView member_of(JsonView object, std::string_view what, std::string_view name) {
    const auto member = object.find(name);
    if (!member) throw PartError(fmt::format("{} is missing", path_of(what, name)));
    return *member;
}

std::string text_in(JsonView object, std::string_view what, std::string_view name) {
    const auto text = member_of(object, what, name).text();
    if (!text) complain(path_of(what, name), "text");
    return std::string(*text);
}
std::uint64_t natural_in(JsonView object, std::string_view what, std::string_view name) {
    const auto number = member_of(object, what, name).natural();
    if (!number) complain(path_of(what, name), "a whole number from 0");
    return *number;
}
void read_origin(JsonView meta, ResultHead& head) {
    head.coalprof_version = text_in(meta, "meta", "coalprof");
    for (const JsonView word : member_of(meta, "meta", "argv"))
        head.argv.push_back(text_of(word, "meta.argv"));
    head.time_utc = text_in(meta, "meta", "time");
}

bool is_readable_schema(JsonView document) {
    const auto schema = document.find("schema");
    const auto text = schema ? schema->text() : std::nullopt;
    if (!text || !text->starts_with(schema_name))
        throw PartError("it names no schema of coalprof, so coalprof did not write it");
    const std::string_view version = text->substr(schema_name.size());
    return version == schema_major || version.starts_with("1.");
}

NamedValues values_from(JsonView object, std::string_view what) {
    if (!object.is_object()) complain(what, "an object");
    NamedValues values;
    for (const JsonView member : object)
        if (std::optional<Value> value = member.value())
            values.emplace_back(member.name(), std::move(*value));
    return values;
}

std::optional<Counter> KeyOrder::find(std::string_view key) {
    if (next_ < counters_.size() && key_of(counters_[next_]) == key) return counters_[next_++];
    // All of a head except its sweep.
    const auto all = all_counters();
    const std::size_t from =
        next_ == 0 || next_ > counters_.size() ? 0 : static_cast<std::size_t>(counters_[next_ - 1]);
    const auto behind = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(),
                                     [&](const CounterInfo& row) { return row.key == key; });
    const auto counter = behind != all.end() ? std::optional(behind->counter) : find_counter(key);
    if (!counter) return std::nullopt;
    if (next_ < counters_.size())
        counters_[next_++] = *counter;
    else if (next_ < most) {
        counters_.push_back(*counter);
        ++next_;
    }
    return counter;
}

ResultHead head_from(JsonView document) {
    ResultHead head;
    read_meta(member_of(document, "", "meta"), head);
    head.sweep = sweep_in(member_of(document, "", "sweep"));
    return head;
}

SweepFacts sweep_in(JsonView sweep) { return part_from(sweep, "sweep", sweep_from); }

ResultTail tail_from(JsonView document) {
    ResultTail tail{
        .status = named_one(std::array{Status::complete, Status::partial, Status::interrupted},
                            member_of(document, "", "status"), "status"),
        .warnings = warnings_from(member_of(document, "", "warnings"))};
    if (const auto verdicts = document.find("verdicts"))
        for (const JsonView item : *verdicts) tail.verdicts.push_back(verdict_from(item));
    if (const auto findings = document.find("findings"))
        for (const JsonView item : *findings) tail.findings.push_back(finding_from(item));
    return tail;
}

const Point& PointReader::read(JsonView point) {
    point_.predicted.clear();
    point_.estimates.reset();
    point_.measured.reset();
    point_.timing.reset();
    point_.launch.reset();
    point_.failure.clear();
    point_.name = text_in(point, "", "name");
    point_.parameters = values_from(member_of(point, "", "parameters"), "parameters");
    read_readings(member_of(point, "", "predicted"), "predicted", point_.predicted,
                  keys_of_predicted_);
    if (const auto measured = point.find("measured"); measured && !measured->is_null())
        read_readings(*measured, "measured", point_.measured.emplace(), keys_of_measured_);
    if (const auto estimates = point.find("estimates"))
        point_.estimates = estimates_from(*estimates, keys_of_estimates_);
    if (const auto unavailable = point.find("unavailable"))
        give_reasons(*unavailable, point_.predicted, point_.measured ? &*point_.measured : nullptr);
    read_instructions(point.find("instructions"));
    if (const auto timing = point.find("timing")) point_.timing = timing_from(*timing);
    if (const auto launch = point.find("launch")) point_.launch = launch_from(*launch);
    if (const auto failure = point.find("failure")) point_.failure = text_of(*failure, "failure");
    return point_;
}

void PointReader::read_instructions(const std::optional<JsonView>& list) {
    constexpr std::string_view what = "instructions";
    point_.instructions.clear();
    if (!list) return;
    for (const JsonView item : *list) {
        InstructionResult& one = point_.instructions.emplace_back();
        one.array = text_in(item, what, "array");
        one.op = text_in(item, what, "op");
        one.type = text_in(item, what, "type");
        one.index = item.find("index") ? text_in(item, what, "index") : std::string();
        one.access = item.find("access") ? text_in(item, what, "access") : std::string();
        read_readings(member_of(item, what, "predicted"), "instructions.predicted", one.predicted,
                      keys_of_instructions_);
        if (const auto unavailable = item.find("unavailable"))
            give_reasons(*unavailable, one.predicted, nullptr);
    }
}

void PointReader::give_reasons(JsonView unavailable, Readings& first, Readings* second) {
    const auto waits = [](const Reading& reading) {
        return std::holds_alternative<Unavailable>(reading);
    };
    keys_of_unavailable_.start();
    for (const JsonView member : unavailable) {
        const auto counter = keys_of_unavailable_.find(member.name());
        const auto reason = member.text();
        if (!counter || !reason) continue;
        const auto position = static_cast<std::size_t>(*counter);
        const bool first_waits = waits(first[*counter]);
        const bool second_waits = second && waits((*second)[*counter]);
        const TwoReasons reasons =
            first_waits && second_waits ? split(*reason) : TwoReasons{*reason, *reason};
        if (first_waits) keep(reasons.predicted, last_of_first_[position], first[*counter]);
        if (second_waits) keep(reasons.measured, last_of_second_[position], (*second)[*counter]);
    }
}

void PointReader::keep(std::string_view reason, std::string_view& last, Reading& reading) {
    if (last != reason) {
        auto known = kept_.find(reason);
        if (known == kept_.end()) {
            // Reasons are kept until the program ends, so a file full of them must not fill memory.
            constexpr std::size_t most_kept_bytes = 64u << 20;
            kept_bytes_ += reason.size();
            if (kept_bytes_ > most_kept_bytes) {
                reading = Unavailable{"the file holds more different reasons than are kept"};
                return;
            }
            known = kept_.insert(keep_reason(reason)).first;
        }
        last = *known;
    }
    reading = Unavailable{last};
}

}  // namespace coalprof
