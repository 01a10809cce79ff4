#include "core/explain/explanation_read.h"

#include <algorithm>
#include <array>
#include <utility>

namespace coalprof {
namespace {

std::uint64_t below(std::uint64_t limit, JsonView value, std::string_view what) {
    const auto number = value.natural();
    if (!number || *number >= limit) complain(what, "a whole number in its range");
    return *number;
}

// Bit n for each n of the list.
std::uint32_t mask_from(JsonView list, std::string_view what) {
    std::uint32_t mask = 0;
    for (const JsonView item : list) mask |= 1u << below(warp_lanes, item, what);
    return mask;
}
std::uint32_t mask_in(JsonView object, std::string_view what, std::string_view name) {
    return mask_from(member_of(object, what, name), name);
}

std::string text_or_empty(JsonView object, std::string_view what, std::string_view name) {
    return member_of(object, what, name).is_null() ? "" : text_in(object, what, name);
}

ExplainedInstruction instruction_from(JsonView item, PointReader& reasons) {
    constexpr std::string_view what = "instructions";
    ExplainedInstruction instruction;
    instruction.kind = named_one(access_kinds, member_of(item, what, "kind"), "kind");
    instruction.array = text_or_empty(item, what, "array");
    KeyOrder keys;
    read_readings(member_of(item, what, "predicted"), "predicted", instruction.readings, keys);
    reasons.give_reasons(member_of(item, what, "unavailable"), instruction.readings, nullptr);
    return instruction;
}

void read_lanes(JsonView lanes, WarpAccess& access) {
    std::uint32_t lane = 0;
    for (const JsonView item : lanes) {
        if (lane == warp_lanes) complain("lanes", "a list of 32");
        if (!item.is_null()) {
            access.active_lanes |= 1u << lane;
            access.addresses[lane] = natural_in(item, "lanes", "byte");
        }
        ++lane;
    }
}

// Which bytes of a sector were used is not in files, but how many.
std::uint32_t lowest_bytes(std::uint64_t count) {
    return static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
}

TouchedLine line_from(JsonView item) {
    TouchedLine line{};
    line.address = natural_in(item, "lines", "byte");
    for (const JsonView touched : member_of(item, "lines", "sectors")) {
        const auto position =
            below(sectors_per_line, member_of(touched, "sectors", "sector"), "sector");
        TouchedSector& sector = line.sectors[position];
        sector.used_bytes = lowest_bytes(
            below(sector_bytes + 1, member_of(touched, "sectors", "used_bytes"), "used_bytes"));
        sector.lanes = mask_in(touched, "sectors", "lanes");
    }
    return line;
}

void read_passes(JsonView passes, ExplainedAccess& access) {
    for (const JsonView item : passes) {
        NearPass pass{.lanes = mask_in(item, "passes", "lanes")};
        if (const auto banks = item.find("banks")) {
            pass.banks = mask_from(*banks, "banks");
            if (!access.banks) access.banks.emplace();
            access.banks->passes.push_back(pass);
        } else {
            pass.address = natural_in(item, "passes", "byte");
            access.constant_passes.push_back(pass);
        }
    }
}

LaunchCensus census_from(JsonView launch) {
    constexpr std::string_view what = "launch";
    LaunchCensus census;
    census.warps = natural_in(launch, what, "warps");
    census.alike = natural_in(launch, what, "alike");
    const auto whole = member_of(launch, what, "whole").flag();
    if (!whole) complain("launch.whole", "true or false");
    census.is_whole = *whole;
    const auto read = [&](std::string_view name, std::uint64_t& sum, LaunchCensus::Span& span) {
        const JsonView counted = member_of(launch, what, name);
        sum = natural_in(counted, name, "sum");
        span = {natural_in(counted, name, "least"), natural_in(counted, name, "most")};
    };
    read("sectors", census.sum.sectors, census.sectors);
    read("lines", census.sum.lines, census.lines);
    census.sum.unique_bytes = natural_in(launch, what, "unique_bytes");
    return census;
}

Cause cause_from(JsonView text) {
    std::array<Cause, static_cast<std::size_t>(Cause::own_indices) + 1> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Cause>(i);
    return named_one(all, text, "cause");
}

ExplainedAccess access_from(JsonView item, PointReader& reasons) {
    constexpr std::string_view what = "accesses";
    const auto in = [&](std::string_view name) { return member_of(item, what, name); };
    ExplainedAccess access;
    for (const JsonView one : in("instructions"))
        access.instructions.push_back(instruction_from(one, reasons));
    access.access.space = named_one(all_spaces, in("space"), "space");
    access.access.width_bytes =
        static_cast<std::uint32_t>(below(17, in("width_bytes"), "width_bytes"));
    if (!access.instructions.empty()) access.access.kind = access.instructions.front().kind;
    access.origin_address = natural_in(item, what, "origin_address");
    read_lanes(in("lanes"), access.access);
    for (const JsonView line : in("lines")) access.lines.push_back(line_from(line));
    for (const JsonView block : in("transactions")) {
        if (!access.transactions) access.transactions.emplace();
        access.transactions->blocks.push_back(
            {natural_in(block, "transactions", "byte"),
             static_cast<std::uint32_t>(
                 below(line_bytes + 1, member_of(block, "transactions", "bytes"), "bytes"))});
    }
    read_passes(in("passes"), access);
    for (const JsonView note : in("notes")) {
        const auto text = note.text();
        if (!text) complain("notes", "a list of text");
        access.notes.emplace_back(*text);
    }
    access.reasons = {cause_from(in("cause")), text_in(item, what, "why"),
                      text_in(item, what, "mend")};
    if (const JsonView launch = in("launch"); !launch.is_null())
        access.launch = census_from(launch);
    return access;
}

double number_of(JsonView value, std::string_view what) {
    const auto number = value.number();
    if (!number) complain(what, "a number");
    return *number;
}

LaunchTime time_from(JsonView item) {
    constexpr std::string_view what = "time";
    LaunchTime time;
    time.seconds.middle =
        number_of(member_of(item, what, "duration_seconds"), "time.duration_seconds");
    std::vector<double> ends;
    for (const JsonView end : member_of(item, what, "interval"))
        ends.push_back(number_of(end, "time.interval"));
    if (ends.size() != 2) complain("time.interval", "two numbers");
    time.seconds.low = ends[0];
    time.seconds.high = ends[1];
    for (const JsonView word : member_of(item, what, "limits"))
        if (const auto limit = find_limit(word.text().value_or(""))) time.limit = *limit;
    return time;
}

Advice advice_from(JsonView item) {
    constexpr std::string_view what = "advice";
    Advice advice;
    advice.change = text_in(item, what, "change");
    if (!member_of(item, what, "counts").is_null()) {
        advice.what = text_in(item, what, "counts");
        advice.before = natural_in(item, what, "before");
        advice.after = natural_in(item, what, "after");
    }
    const JsonView time = member_of(item, what, "time");
    if (!time.is_null()) advice.time = time_from(time);
    return advice;
}

Explanation warp_from(JsonView object) {
    constexpr std::string_view what = "explanation";
    Explanation explanation;
    explanation.name = text_in(object, what, "name");
    explanation.formula = text_or_empty(object, what, "formula");
    explanation.machine = text_in(object, what, "machine");
    explanation.warp = natural_in(object, what, "warp");
    explanation.warps = natural_in(object, what, "warps");
    explanation.first_thread = natural_in(object, what, "first_thread");
    PointReader reasons;
    for (const JsonView item : member_of(object, what, "accesses"))
        explanation.accesses.push_back(access_from(item, reasons));
    if (const auto time = object.find("time")) explanation.time = time_from(*time);
    if (const auto advice = object.find("advice"))
        for (const JsonView item : *advice) explanation.advice.push_back(advice_from(item));
    return explanation;
}

}  // namespace

SavedExplanation explanation_from(JsonView document) {
    SavedExplanation saved;
    read_meta(member_of(document, "", "meta"), saved.head);
    Explanation& explanation = saved.explanation;
    explanation = warp_from(member_of(document, "", "explanation"));
    explanation.sweep = values_from(member_of(document, "", "sweep"), "sweep");
    explanation.evidence = saved.head.machine.evidence;
    explanation.warnings = warnings_from(member_of(document, "", "warnings"));
    if (const auto worst = document.find("worst")) saved.worst = warp_from(*worst);
    return saved;
}

}  // namespace coalprof
