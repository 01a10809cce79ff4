// Saved formulas: what a file may say, and what is said where it is wrong.
#include "core/formula/formula_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/text/describe.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string full = R"(// of our solver
{"formula": [{ /* all keys */
    "name": "all keys", "expr": "load: a[i*k + z]; store: b[i]", "op": "copy", "type": "f64",
    "size": 1048576, "block": "8x8x4", "per_thread": 4, "vars": {"z": 7/**/, "k": ["1,2", -4]}}]})";

// What the program prints; empty where the text is accepted.
std::string refusal_of(const std::string& text, const std::string& file) {
    try {
        parse_formula_file(text, file);
        return {};
    } catch (const UsageError& error) {
        return describe(error);
    }
}

TEST(FormulaFile, holds_every_key) {
    const auto formulas = parse_formula_file(full, "set.json");
    ASSERT_EQ(formulas.size(), 1u);
    const SavedFormula& formula = formulas[0];
    EXPECT_EQ(formula.name, "all keys");
    EXPECT_EQ(formula.expr, "load: a[i*k + z]; store: b[i]");
    EXPECT_EQ(formula.op, Op::copy);
    EXPECT_EQ(formula.type, ElementType::f64);
    EXPECT_EQ(formula.size_bytes, 1u << 20);
    EXPECT_EQ(formula.block, (Dimensions{8, 8, 4}));
    EXPECT_EQ(formula.per_thread, 4u);
    ASSERT_EQ(formula.vars.size(), 2u);
    EXPECT_EQ(formula.vars[0].first, "z");  // in the order of the file
    EXPECT_THAT(formula.vars[0].second, ElementsAre(7));
    EXPECT_THAT(formula.vars[1].second, ElementsAre(1, 2, -4));
}

TEST(FormulaFile, leaves_to_the_command_line_what_it_does_not_say) {
    const auto formulas = parse_formula_file(
        R"({"formula": [{"name": "x", "expr": "i"}, {"name": "y", "expr": "lane"}]})", "f.json");
    ASSERT_EQ(formulas.size(), 2u);
    EXPECT_EQ(formulas[0].name, "x");
    EXPECT_EQ(formulas[1].name, "y");
    EXPECT_FALSE(formulas[0].op);
    EXPECT_FALSE(formulas[0].type);
    EXPECT_FALSE(formulas[0].size_bytes);
    EXPECT_FALSE(formulas[0].block);
    EXPECT_FALSE(formulas[0].grid);
    EXPECT_FALSE(formulas[0].per_thread);
    EXPECT_TRUE(formulas[0].vars.empty());
}

TEST(FormulaFile, points_into_the_formula_that_is_wrong) {
    // The text begins in column 12 of line 3.
    EXPECT_EQ(
        refusal_of("{\"formula\": [{\"name\": \"tile\",\n\n  \"expr\": \"row = tid.y; "
                   "a[row*pad + tid.x]\"}]}",
                   "solver.json"),
        "coalprof: solver.json:3:31: formula: unknown name 'pad'\n"
        "  row = tid.y; a[row*pad + tid.x]\n"
        "                     ^\n"
        "hint: known are i, n, tid, bid, lane, warp, bdim, gdim, tid.x, bid.y, threadIdx.x, "
        "blockDim.y and the like; give a number of your own with --var pad=64, or name a part: "
        "pad = i / 64; a[pad]\n");
}

struct WrongFile {
    std::string text;
    const char* sentence;
    const char* file = "f.json";
};
class WrongFormulaFile : public ::testing::TestWithParam<WrongFile> {};

TEST_P(WrongFormulaFile, is_refused_with_the_place) {
    EXPECT_THAT(refusal_of(GetParam().text, GetParam().file), HasSubstr(GetParam().sentence));
}

// A file of one formula whose line 2 is `members`.
std::string one(const std::string& members) {
    return "{\"formula\": [{\"name\": \"x\", \"expr\": \"i*k\", \"vars\": {\"k\": 1},\n" + members +
           "}]}";
}
std::string with_var(const std::string& value) {
    return "{\"formula\": [{\"name\": \"x\", \"expr\": \"i*k\",\n\"vars\": {\"k\": " + value +
           "}}]}";
}
std::string repeated(const std::string& piece, int times) {
    std::string text;
    for (int k = 0; k < times; ++k) text += piece;
    return text;
}

const WrongFile wrong_files[] = {
    {"", "f.json:1:1: "},
    {"{}", "f.json: no formula"},
    {"[]", "f.json:1:1: expected an object that holds 'formula', found a list"},
    {"{", "f.json:1:2: "},
    {"{\"formula\": [\n  nul]}", "f.json:2:6: "},
    {"{\"formula\": [] /* no end", "f.json:1:25: "},
    {R"({"formula": [{"name": "x", "expr": "i"}]} / 2)", "f.json:1:44: "},
    {R"({"formula": [{"name": "x", "expr": "i"}]} {})", "f.json:1:45: a second document"},
    {R"({"formula": 3})", "f.json:1:13: expected a list of formulas, found an integer"},
    {R"({"formula": []})", "f.json:1:13: 0 formulas"},
    {R"({"formula": [3]})", "f.json:1:14: expected a formula with name and expr, found an integer"},
    {R"({"formulas": []})", "f.json:1:2: unknown key 'formulas'\nhint: did you mean 'formula'?"},
    {R"({"formula": [{"expr": "i"}]})", "f.json:1:14: a formula needs a name"},
    {R"({"formula": [{"name": "x"}]})", "f.json:1:14: formula 'x' needs an expr"},
    {one(R"("ops": "load")"), "f.json:2:1: unknown key 'ops'\nhint: did you mean 'op'?"},
    {one(R"("colour": "red")"), "hint: keys are name, expr, vars, op, type, size"},
    {one(R"("op": "laod")"), "f.json:2:7: unknown op 'laod'. Did you mean 'load'?"},
    {one(R"("op": 1)"), "f.json:2:7: expected text, found an integer"},
    {one(R"("type": "f23")"), "f.json:2:9: unknown type 'f23'"},
    {one(R"("size": "4 parsecs")"), "f.json:2:11: size"},
    {one(R"("size": 1.5)"),
     "f.json:2:9: expected an integer or text, found a number that is no integer"},
    {one(R"("size": -1)"), "f.json:2:9: size"},
    {one(R"("grid": "64x")"), "f.json:2:13"},
    {one(R"("block": 2048)"), "f.json:2:10: block 2048: a block has 1 to 1024 threads"},
    {one(R"("per_thread": 0)"), "f.json:2:15: per_thread is 1 to 64"},
    {one(R"("per_thread": true)"), "found true or false"},
    {R"({"formula": [{"name": "x", "expr": "i"},)"
     "\n"
     R"({"name": "x", "expr": "i"}]})",
     "f.json:2:1: the name 'x' comes twice"},
    {one(R"("name": "y")"), "f.json:2:1: 'name' comes twice"},
    {R"({"formula": [{"name": "", "expr": "i"}]})", "f.json:1:23: a name is 1 to 64"},
    {R"({"formula": [{"name": "a\u0007", "expr": "i"}]})", "f.json:1:23: a name is 1 to 64"},
    {R"({"formula": [{"name": "x", "vars": {"k": 1}, "expr": "i"}]})",
     "f.json:1:54: 'k' of vars does not occur in the expr"},
    {with_var(R"("9..1")"), "f.json:2:19: vars.k=9..1"},
    {with_var("[]"), "f.json:2:15: a parameter needs a value"},
    {with_var("[1, [2]]"), "f.json:2:19: expected an integer or a range in quotes, found a list"},
    {with_var(R"([1, "9..1"])"), "f.json:2:23: vars.k=9..1"},
    {R"({"formula": [{"name": "x", "expr": "i", "vars": {"tid": 1}}]})",
     "f.json:1:50: --var: 'tid' cannot be a parameter"},
    {R"({"formula": [{"name": null}]})", "f.json:1:23: expected text, found null"},
    {R"({"formula": [{"per_thread": 99999999999999999999}]})", "f.json:1:29: expected an integer"},
    {R"({"formula": [{"per_thread": 18446744073709551615}]})", "more than 63 bits"},
    {"\"\xFF\"", "not UTF-8"},
    {std::string("{\"formula\":// a\0 b", 18), "f.json:1:16: a byte of value 0"},
    {repeated("[", 100'000), "f.json:1:18: more than 16 levels"},
    {repeated("{\"a\":", 100'000), "f.json:1:82: more than 16 levels"},
    {repeated(" ", (1 << 20) + 1), "larger than 1048576 bytes"},
    // As files were before 1.0.
};
INSTANTIATE_TEST_SUITE_P(One, WrongFormulaFile, ::testing::ValuesIn(wrong_files));

// What a file may run is counted before it is made: 40 KB of such ranges were 4.7 GB of numbers.
TEST(FormulaFile, has_as_many_values_as_a_sweep_has_points) {
    const auto file_of = [](const char* last) {
        return R"({"formula": [{"name": "x", "expr": "i*k", "vars": {"k": "1..60000"}},)"
               "\n"
               R"({"name": "y", "expr": "i*k", "vars": {"k": [1, ")" +
               std::string(last) + "\"]}}]}";
    };
    EXPECT_EQ(refusal_of(file_of("1..39999"), "f.json"), "");
    EXPECT_THAT(refusal_of(file_of("1..40000"), "f.json"),
                HasSubstr("f.json:2:49: more than 100000 values"));
}

TEST(FormulaFile, that_is_missing_or_too_large_is_refused) {
    EXPECT_THROW(read_formula_file("/nonexistent/set.json"), Error);
    EXPECT_THROW(read_formula_file("/"), Error);
    EXPECT_THROW(read_formula_file("/dev/zero"), UsageError);
    const std::string path = ::testing::TempDir() + "/formula_file_test.json";
    std::ofstream(path) << full;
    EXPECT_EQ(read_formula_file(path).size(), 1u);
}

// However it is written, a place in the formula is a place in the file.
TEST(FormulaFile, points_through_escapes) {
    const auto place_of = [](const std::string& text, const std::string& file) {
        const std::string told = refusal_of(text, file);
        return told.substr(0, told.find(": formula:"));
    };
    const auto json = [](const std::string& expr) {
        return "\xEF\xBB\xBF{\"formula\":\n [{\"name\": \"x\",\n\"expr\": \"" + expr + "\"}]}";
    };
    // The text begins in column 10 of line 3.
    EXPECT_EQ(place_of(json("i + q"), "f.json"), "coalprof: f.json:3:14");
    EXPECT_EQ(place_of(json("i\\n+ q"), "f.json"), "coalprof: f.json:3:15");
    EXPECT_EQ(place_of(json("\\u0069 + q"), "f.json"), "coalprof: f.json:3:19");
    // A character of three bytes, and one of four as a pair of escapes: wrong themselves.
    EXPECT_EQ(place_of(json("i \\u20AC"), "f.json"), "coalprof: f.json:3:12");
    EXPECT_EQ(place_of(json("\\ud83d\\ude00"), "f.json"), "coalprof: f.json:3:10");
    EXPECT_EQ(place_of(json("i /"), "f.json"), "coalprof: f.json:3:13");
}

}  // namespace
}  // namespace coalprof
