#include "core/explain/explanation_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/explain/cases.h"
#include "core/explain/drawing.h"

namespace coalprof {
namespace {

using explain_cases::plan_of;
using Json = nlohmann::json;

Json json_for(const Plan& plan, const char* machine = "h200") {
    return Json::parse(
        json_document({}, explanation_of(plan, find_machine(machine))))["explanation"];
}

TEST(ExplanationJson, maps_lanes_to_sectors_and_sectors_to_bytes) {
    const Json json = json_for(plan_of("offset", 11, Op::rmw, ElementType::f32));
    EXPECT_EQ(json["name"], "offset=11");
    EXPECT_EQ(json["formula"], "a[i + offset]");
    const Json& access = json["accesses"][0];
    // Lane 0 touches byte 44: sector 1 of line 0. Lane 31 byte 168: line 1, byte 40 of it,
    // sector 1.
    EXPECT_EQ(access["lanes"].size(), 32u);
    EXPECT_EQ(access["lanes"][0], Json({{"byte", 44}, {"line", 0}, {"sector", 1}}));
    EXPECT_EQ(access["lanes"][31], Json({{"byte", 168}, {"line", 1}, {"sector", 1}}));
    ASSERT_EQ(access["lines"].size(), 2u);
    EXPECT_EQ(access["lines"][0]["sectors"][0],
              Json({{"sector", 1}, {"used_bytes", 20}, {"lanes", {0, 1, 2, 3, 4}}}));
    EXPECT_EQ(access["cause"], "misaligned");
    EXPECT_EQ(access["instructions"][0]["kind"], "load");
    EXPECT_EQ(access["instructions"][0]["predicted"]["load_sectors"], 5);
    EXPECT_EQ(access["instructions"][1]["predicted"]["store_sectors"], 5);
}

TEST(ExplanationJson, sectors_add_up_for_every_pattern) {
    std::uint32_t number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        if (++number % 53 != 0) return;
        SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value));
        const Json explanation = json_for(plan);
        for (const Json& access : explanation["accesses"]) {
            std::size_t sectors = 0;
            std::size_t lanes = 0;
            std::size_t bytes = 0;
            for (const Json& line : access["lines"])
                for (const Json& sector : line["sectors"]) {
                    ++sectors;
                    lanes += sector["lanes"].size();
                    bytes += sector["used_bytes"].get<std::size_t>();
                }
            const Json& first = access["instructions"][0];
            const std::string kind = first["kind"];
            const Json& counts = first["predicted"];
            if (kind == "load" || kind == "store") {
                EXPECT_EQ(counts[kind + "_sectors"], sectors);
            }
            EXPECT_EQ(counts[kind + "_unique_bytes"], bytes);
            std::size_t active = 0;
            for (const Json& lane : access["lanes"]) active += !lane.is_null();
            EXPECT_EQ(lanes, active);
        }
    });
}

TEST(ExplanationJson, absent_counts_are_null_with_their_reason) {
    const Json json = json_for(plan_of("stride", 32, Op::load, ElementType::f32), "8.0");
    const Json& load = json["accesses"][0]["instructions"][0];
    EXPECT_TRUE(load["predicted"]["load_tag_wavefronts"].is_null());
    EXPECT_EQ(load["unavailable"]["load_tag_wavefronts"],
              "the hash of the tag banks is known for compute capability 9.0 only");
}

TEST(ExplanationJson, idle_lanes_are_null) {
    const Json json = json_for(plan_of("row", 96, Op::load, ElementType::f32));
    EXPECT_FALSE(json["accesses"][0]["lanes"][23].is_null());
    EXPECT_TRUE(json["accesses"][0]["lanes"][24].is_null());
}

TEST(ExplanationJson, near_memories_have_passes_instead_of_lines) {
    const Json shared = json_for(plan_of("shared-stride", 2, Op::load, ElementType::f32));
    const Json& access = shared["accesses"][0];
    EXPECT_EQ(access["space"], "shared");
    EXPECT_EQ(access["passes"].size(), 2u);
    EXPECT_EQ(access["lanes"][17], Json({{"byte", 136}, {"bank", 2}}));  // word 34
    EXPECT_TRUE(access["lines"].empty());
    EXPECT_EQ(access["instructions"][0]["predicted"]["shared_load_wavefronts"], 2);
    const Json constant = json_for(plan_of("constant", 4, Op::load, ElementType::f32));
    EXPECT_EQ(constant["accesses"][0]["passes"].size(), 4u);
    EXPECT_EQ(constant["accesses"][0]["passes"][1]["byte"], 4);
    const Json local = json_for(plan_of("local", 4, Op::load, ElementType::f32));
    EXPECT_EQ(local["accesses"][0]["lines"].size(), 4u);
}

// Accesses of 32 bytes came with compute capability 10.0.
TEST(ExplanationJson, the_document_warns_where_the_machine_could_not_run_the_launch) {
    const Plan plan = plan_of("offset", 0, Op::load, ElementType::f64x4);
    const auto warnings_on = [&](const char* machine) {
        return Json::parse(
            json_document({}, explanation_of(plan, find_machine(machine))))["warnings"];
    };
    EXPECT_TRUE(warnings_on("10.0").empty());
    ASSERT_EQ(warnings_on("h200").size(), 1u);
    EXPECT_EQ(warnings_on("h200")[0]["code"], "W-IMPOSSIBLE");
    EXPECT_NE(
        draw(explanation_of(plan, find_machine("h200")), {}).find("warning W-IMPOSSIBLE: h200"),
        std::string::npos);
}

TEST(ExplanationJson, the_document_has_the_head_of_every_other) {
    ResultHead head;
    head.coalprof_version = "1.2.3";
    head.argv = {"coalprof", "explain", "offset"};
    head.time_utc = "2026-11-21T00:00:00Z";
    head.backend = "model";
    const std::string text = json_document(
        head,
        explanation_of(plan_of("offset", 11, Op::load, ElementType::f32), find_machine("h200")));
    EXPECT_EQ(text.back(), '\n');
    const Json json = Json::parse(text);
    EXPECT_EQ(json["schema"], "coalprof/1");
    EXPECT_EQ(json["status"], "complete");
    EXPECT_EQ(json["meta"]["coalprof"], "1.2.3");
    EXPECT_EQ(json["sweep"]["pattern"], "offset");
    EXPECT_EQ(json["sweep"]["value"], 11);
    EXPECT_EQ(json["explanation"]["warp"], 0);
}

}  // namespace
}  // namespace coalprof
