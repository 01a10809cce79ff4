#include "core/explain/explanation_json.h"

#include <bit>

#include "core/text/name_list.h"
#include "core/write/json_text.h"

namespace coalprof {
namespace {

Json numbers_of(std::uint32_t mask) {
    Json numbers = Json::array();
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
        numbers.push_back(std::countr_zero(rest));
    return numbers;
}

// Element n is lane n: the byte it touches, and of global memory its line and sector, of shared
// memory its bank; null for an idle lane.
Json lane_map(const ExplainedAccess& access) {
    Json lanes = Json::array();
    const std::uint64_t first_line = access.lines.empty() ? 0 : access.lines.front().address;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.access.active_lanes >> lane & 1) == 0) {
            lanes.push_back(nullptr);
            continue;
        }
        const std::uint64_t byte = access.access.addresses[lane];
        Json item = {{"byte", byte}};
        if (access.access.space == Space::global) {
            item["line"] = (byte - first_line) / line_bytes;
            item["sector"] = byte % line_bytes / sector_bytes;
        }
        if (access.access.space == Space::shared) item["bank"] = byte / 4 % 32;
        lanes.push_back(std::move(item));
    }
    return lanes;
}

Json lines_of(const ExplainedAccess& access) {
    Json lines = Json::array();
    for (const TouchedLine& line : access.lines) {
        Json sectors = Json::array();
        for (std::uint32_t i = 0; i < sectors_per_line; ++i) {
            const TouchedSector& sector = line.sectors[i];
            if (sector.lanes == 0) continue;
            sectors.push_back({{"sector", i},
                               {"used_bytes", std::popcount(sector.used_bytes)},
                               {"lanes", numbers_of(sector.lanes)}});
        }
        lines.push_back({{"line", (line.address - access.lines.front().address) / line_bytes},
                         {"byte", line.address},
                         {"sectors", std::move(sectors)}});
    }
    return lines;
}

// The passes through shared memory or the constant cache; null for other memories.
Json passes_of(const ExplainedAccess& access) {
    Json passes = Json::array();
    if (access.banks)
        for (const NearPass& pass : access.banks->passes)
            passes.push_back(
                {{"lanes", numbers_of(pass.lanes)}, {"banks", numbers_of(pass.banks)}});
    for (const NearPass& pass : access.constant_passes)
        passes.push_back({{"lanes", numbers_of(pass.lanes)}, {"byte", pass.address}});
    return passes;
}

Json number_of(const Reading& reading) {
    if (const auto* integer = std::get_if<std::uint64_t>(&reading)) return *integer;
    if (const auto* real = std::get_if<double>(&reading)) return *real;
    return nullptr;
}

Json instructions_of(const ExplainedAccess& access) {
    Json list = Json::array();
    for (const ExplainedInstruction& instruction : access.instructions) {
        Json item = {
            {"kind", name_of(instruction.kind)},
            {"array", instruction.array.empty() ? Json(nullptr) : Json(instruction.array)}};
        // The readings, and the reasons of those that are null.
        Json counts = Json::object();
        Json unavailable = Json::object();
        instruction.readings.each([&](Counter counter, const Reading& reading) {
            counts[std::string(key_of(counter))] = number_of(reading);
            if (const auto* none = std::get_if<Unavailable>(&reading))
                unavailable[std::string(key_of(counter))] = std::string(none->reason);
        });
        item["predicted"] = std::move(counts);
        item["unavailable"] = std::move(unavailable);
        list.push_back(std::move(item));
    }
    return list;
}

Json access_of(const ExplainedAccess& access) {
    const std::vector<LineFinding>& found = access.findings;
    return {{"instructions", instructions_of(access)},
            {"space", name_of(access.access.space)},
            {"width_bytes", access.access.width_bytes},
            {"origin_address", access.origin_address},
            {"lanes", lane_map(access)},
            {"lines", lines_of(access)},
            {"passes", passes_of(access)},
            {"cause", found.empty() ? std::string(name_of(access.reasons.cause)) : found[0].cause},
            {"why", found.empty() ? access.reasons.why : joined(found, &LineFinding::text, " ")},
            {"mend", found.empty() ? access.reasons.mend : joined(found, &LineFinding::fix, " ")}};
}

Json tree_of(const LaunchTime& time) {
    return {{"duration_seconds", time.seconds.middle},
            {"interval", {time.seconds.low, time.seconds.high}},
            {"limits", {name_of(time.limit)}}};
}

// Members that are only sometimes there are null elsewhere.

Json tree_of(const Explanation& explanation) {
    Json accesses = Json::array();
    for (const ExplainedAccess& access : explanation.accesses)
        accesses.push_back(access_of(access));
    Json tree = {
        {"name", explanation.name},
        {"formula", explanation.formula.empty() ? Json(nullptr) : Json(explanation.formula)},
        {"machine", explanation.machine},
        {"warp", explanation.warp},
        {"warps", explanation.warps},
        {"first_thread", explanation.first_thread},
        {"accesses", std::move(accesses)}};
    if (explanation.time) tree["time"] = tree_of(*explanation.time);
    return tree;
}

}  // namespace

std::string json_document(const ResultHead& head, const Explanation& explanation,
                          const Explanation* worst, Status status) {
    Json document = {{"schema", result_schema},
                     {"status", name_of(status)},
                     {"meta", meta_of(head)},
                     {"sweep", tree_of(explanation.sweep)},
                     {"explanation", tree_of(explanation)},
                     {"warnings", tree_of(explanation.warnings)}};
    if (worst) document["worst"] = tree_of(*worst);
    return text_of(document, 2) + '\n';
}

}  // namespace coalprof
