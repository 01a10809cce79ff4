// Formulas as sweeps: points of a grid, sets of formulas, and what is refused.
#include "core/sweep/formula_sweep.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/sweep/all_points.h"
#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

FormulaSweep sweep_of(const std::string& text, std::vector<FormulaParameter> parameters = {}) {
    FormulaSweep sweep;
    sweep.text = text;
    sweep.parameters = std::move(parameters);
    sweep.settings.launch.shape.size_bytes = 1 << 12;
    sweep.settings.machines = {find_machine("h200")};
    return sweep;
}
FormulaSweep named(const std::string& name, const std::string& text) {
    FormulaSweep sweep = sweep_of(text);
    sweep.name = name;
    return sweep;
}

std::vector<std::string> names_of(const std::vector<PlannedPoint>& points) {
    std::vector<std::string> names;
    for (const PlannedPoint& point : points) names.push_back(point.name);
    return names;
}

std::string refusal_of(const FormulaSweep& sweep) {
    return std::string(usage_error_of([&] { FormulaPoints({sweep}).check(); }).what());
}

TEST(FormulaSweep, has_a_point_for_every_cell_of_its_grid) {
    EXPECT_THAT(
        names_of(all_points(FormulaPoints({sweep_of("i*a + b", {{"a", {1, 2}}, {"b", {0, 5}}})}))),
        ElementsAre("a=1 b=0", "a=1 b=5", "a=2 b=0", "a=2 b=5"));
    EXPECT_THAT(names_of(all_points(FormulaPoints({sweep_of("i")}))), ElementsAre("formula"));
}

// 4 KiB are 256 times 16 bytes, or 512 times 8, whatever --type is.
TEST(FormulaSweep, types_that_accesses_say_themselves_are_those_of_the_launch) {
    const auto told = [](const std::string& text) { return describe_sweep(sweep_of(text)).type; };
    const auto threads = [](const std::string& text) {
        return all_points(FormulaPoints({sweep_of(text)})).front().plan.program.threads;
    };
    EXPECT_EQ(told("load.float4: a[i*2]"), "f32x4");
    EXPECT_EQ(threads("load.float4: a[i*2]"), 256u);
    EXPECT_EQ(told("load.f64: a[i]; load.s32: b[i]"), "f64+s32");
    EXPECT_EQ(threads("load.f64: a[i]; load.s32: b[i]"), 512u);
    EXPECT_EQ(told("load: a[i]; store.f64: b[i]"), "f32+f64");  // --type decides the first
    EXPECT_EQ(threads("load: a[i]; store.f64: b[i]"), 1024u);
}

// JSON would have one key twice, and its readers would see one of the two.
TEST(FormulaSweep, refuses_parameters_that_are_called_like_something_else_of_the_point) {
    for (const char* name :
         {"formula", "name",     "pattern",  "op",     "type",   "size_bytes", "block",   "block_x",
          "block_y", "block_z",  "grid_x",   "grid_y", "grid_z", "per_thread", "machine", "dlcm",
          "dscm",    "carveout", "l2_fetch", "alloc",  "path",   "device",     "failure"})
        EXPECT_THAT(refusal_of(sweep_of(fmt::format("i*{}", name), {{name, {1}}})),
                    HasSubstr("a setting of the sweep has this name"));
    for (const CounterInfo& counter : all_counters())  // CSV would have one column twice
        EXPECT_THAT(refusal_of(sweep_of(fmt::format("i*{}", counter.key),
                                        {{std::string(counter.key), {1}}})),
                    HasSubstr("a counter has this name"));
    EXPECT_THAT(refusal_of(sweep_of("i*k", {{"k", {1}}, {"k", {2}}})), HasSubstr("given twice"));
}

TEST(FormulaSweep, refuses_parameters_that_change_nothing) {
    EXPECT_THAT(refusal_of(sweep_of("i", {{"k", {1, 2}}})),
                HasSubstr("--var k: the formula has no 'k'"));
}

TEST(FormulaSweep, has_a_bounded_number_of_points) {
    const std::vector<std::int64_t> many(2000, 1);
    EXPECT_THAT(
        refusal_of(sweep_of("i*a*b*c*d", {{"a", many}, {"b", many}, {"c", many}, {"d", many}})),
        HasSubstr("a sweep has at most"));
}

TEST(FormulaSet, is_swept_one_formula_after_the_other) {
    FormulaSweep first = named("first", "i*k");
    first.parameters = {{"k", {1, 2}}};
    const auto points = all_points(FormulaPoints({first, named("second", "i")}));
    EXPECT_THAT(names_of(points),
                ElementsAre("formula=first k=1", "formula=first k=2", "formula=second"));
    // All settings are shared: none is a parameter.
    EXPECT_THAT(points[0].parameters, ElementsAre(Pair("formula", Value{std::string("first")}),
                                                  Pair("k", Value{std::int64_t{1}})));
}

TEST(FormulaSet, tells_settings_once_where_all_formulas_share_them_else_at_each_point) {
    FormulaSweep wide = named("wide", "tid.y");
    wide.settings.launch.type = ElementType::f64;
    wide.settings.launch.op = Op::store;
    wide.settings.launch.shape.block_shape = {32, 8};
    const std::vector<FormulaSweep> set{named("plain", "i"), wide};
    const auto points = all_points(FormulaPoints(set));
    EXPECT_THAT(points[1].parameters, ElementsAre(Pair("formula", Value{std::string("wide")}),
                                                  Pair("op", Value{std::string("store")}),
                                                  Pair("type", Value{std::string("f64")})));
    EXPECT_THAT(
        values_of(describe_sweep(set)),
        ElementsAre(
            Pair("pattern", Value{std::string("formula")}),
            Pair("size_bytes", Value{std::int64_t{4096}}), Pair("block", Value{std::int64_t{256}}),
            Pair("per_thread", Value{std::int64_t{1}}), Pair("block_z", Value{std::int64_t{1}}),
            Pair("dscm", Value{std::string("wb")}), Pair("carveout", Value{std::string("driver")}),
            Pair("l2_fetch", Value{std::string("driver")}),
            Pair("alloc", Value{std::string("device")}), Pair("path", Value{std::string("ld")}),
            Pair("formula.plain", Value{std::string("i")}),
            Pair("block_x.plain", Value{std::int64_t{256}}),
            Pair("block_y.plain", Value{std::int64_t{1}}),
            Pair("formula.wide", Value{std::string("tid.y")}),
            Pair("block_x.wide", Value{std::int64_t{32}}),
            Pair("block_y.wide", Value{std::int64_t{8}})));
}

TEST(FormulaSet, of_one_list_of_parameters_each_formula_keeps_those_that_occur_in_it) {
    std::vector<bool> occurs(3);
    FormulaSweep sweep = sweep_of("i*b", {{"a", {1, 2}}, {"b", {3, 4}}, {"c", {5}}});
    keep_occurring(sweep, occurs);
    ASSERT_EQ(sweep.parameters.size(), 1u);
    EXPECT_EQ(sweep.parameters[0].name, "b");
    EXPECT_THAT(sweep.parameters[0].values, ElementsAre(3, 4));
    EXPECT_THAT(occurs, ElementsAre(false, true, false));
}

}  // namespace
}  // namespace coalprof
