// Saved formulas: what a file may say, in TOML and in JSON, and what is said where it is wrong.
#include "core/formula/formula_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/text/describe.h"
#include "core/text/file_value.h"

namespace coalprof {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* toml = R"(# patterns of our solver
[[formula]]
name = "padded row"
expr = "i / 1000 * pitch + i % 1000"
vars = { pitch = "1000..1016:8" }

[[formula]]
name = "tile"
expr = '''row = tid.y; a[row*pad + tid.x]; # no comment here is none
'''
)";

const std::string full_toml = R"(
[[formula]]
name = "all keys"
expr = "load: a[i*k + z]; store: b[i]"
op = "copy"
type = "f64"
size = "1MiB"
block = "32x8"
per_thread = 4
[formula.vars]
z = 7
k = [1, "2,-4"]
)";

const std::string full_json = R"({"formula": [{
    "name": "all keys", "expr": "load: a[i*k + z]; store: b[i]", "op": "copy", "type": "f64",
    "size": 1048576, "block": "32x8", "per_thread": 4, "vars": {"z": 7, "k": ["1,2", -4]}}]})";

// What the program prints; empty where the text is accepted.
std::string refusal_of(const std::string& text, const std::string& file) {
    try {
        parse_formula_file(text, file);
        return {};
    } catch (const UsageError& error) {
        return describe(error);
    }
}

TEST(FormulaFile, holds_every_key_in_toml_and_in_json_alike) {
    for (const auto& [text, file] : {std::pair(full_toml, "set.toml"), {full_json, "set.json"}}) {
        const auto formulas = parse_formula_file(text, file);
        ASSERT_EQ(formulas.size(), 1u);
        const SavedFormula& formula = formulas[0];
        EXPECT_EQ(formula.name, "all keys");
        EXPECT_EQ(formula.expr, "load: a[i*k + z]; store: b[i]");
        EXPECT_EQ(formula.op, Op::copy);
        EXPECT_EQ(formula.type, ElementType::f64);
        EXPECT_EQ(formula.size_bytes, 1u << 20);
        EXPECT_EQ(formula.block->threads, 256u);
        EXPECT_EQ(formula.block->width, 32u);
        EXPECT_EQ(formula.per_thread, 4u);
        ASSERT_EQ(formula.vars.size(), 2u);
        EXPECT_EQ(formula.vars[0].first, "z");  // in the order of the file
        EXPECT_THAT(formula.vars[0].second, ElementsAre(7));
        EXPECT_THAT(formula.vars[1].second, ElementsAre(1, 2, -4));
    }
}

TEST(FormulaFile, leaves_to_the_command_line_what_it_does_not_say) {
    const auto formulas = parse_formula_file(
        "[[formula]]\nname = 'x'\nexpr = 'i'\n[[formula]]\nname = 'y'\nexpr = 'lane'\n", "f.toml");
    ASSERT_EQ(formulas.size(), 2u);
    EXPECT_EQ(formulas[0].name, "x");
    EXPECT_EQ(formulas[1].name, "y");
    EXPECT_FALSE(formulas[0].op);
    EXPECT_FALSE(formulas[0].type);
    EXPECT_FALSE(formulas[0].size_bytes);
    EXPECT_FALSE(formulas[0].block);
    EXPECT_FALSE(formulas[0].per_thread);
    EXPECT_TRUE(formulas[0].vars.empty());
}

TEST(FormulaFile, points_into_the_formula_that_is_wrong) {
    EXPECT_EQ(refusal_of(toml, "solver.toml"),
              "coalprof: solver.toml:9:30: formula: unknown name 'pad'\n"
              "  row = tid.y; a[row*pad + tid.x]; # no comment here is none\n"
              "                     ^\n"
              "hint: known are i, n, tid, bid, lane, warp, bdim, gdim; give a number of your own "
              "with --var pad=64, or name a part: pad = i / 64; a[pad]\n");
}

struct Wrong {
    std::string text;
    const char* file;
    const char* sentence;
};
class WrongFormulaFile : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongFormulaFile, is_refused_with_the_place) {
    EXPECT_THAT(refusal_of(GetParam().text, GetParam().file), HasSubstr(GetParam().sentence));
}

std::string one(const std::string& lines) {
    return "[[formula]]\nname = 'x'\nexpr = 'i*k'\nvars = { k = 1 }\n" + lines;
}
std::string repeated(const std::string& piece, int times) {
    std::string text;
    for (int k = 0; k < times; ++k) text += piece;
    return text;
}

const Wrong wrong_files[] = {
    {"", "f.toml", "f.toml: no formula"},
    {"{}", "f.json", "f.json: no formula"},
    {"[]", "f.json", "f.json:1:1: expected a table that holds 'formula', found a list"},
    {"{", "f.json", "f.json:1:1: not JSON"},
    {"{\"formula\": [\n  nul]}", "f.json", "f.json:2:6: not JSON"},
    {"formula = 3", "f.toml",
     "f.toml:1:11: expected a list of formulas ([[formula]]), found an integer"},
    {"formula = []", "f.toml", "f.toml:1:11: 0 formulas"},
    {"formula = [3]", "f.toml",
     "f.toml:1:12: expected a formula with name and expr, found an integer"},
    {"[[formulas]]", "f.toml", "f.toml:1:3: unknown key 'formulas'\nhint: did you mean 'formula'?"},
    {"[[formula]]\nexpr = 'i'", "f.toml", "f.toml:1:1: a formula needs a name"},
    {"[[formula]]\nname = 'x'", "f.toml", "f.toml:1:1: formula 'x' needs an expr"},
    {one("ops = 'load'"), "f.toml", "f.toml:5:1: unknown key 'ops'\nhint: did you mean 'op'?"},
    {one("colour = 'red'"), "f.toml", "hint: keys are name, expr, vars, op, type, size"},
    {one("op = 'laod'"), "f.toml", "f.toml:5:6: unknown op 'laod'. Did you mean 'load'?"},
    {one("op = 1"), "f.toml", "f.toml:5:6: expected text, found an integer"},
    {one("type = 'f23'"), "f.toml", "f.toml:5:8: unknown type 'f23'"},
    {one("size = '4 parsecs'"), "f.toml", "f.toml:5:10: size"},
    {one("size = 1.5"), "f.toml",
     "f.toml:5:8: expected an integer or text, found a number or date that is no decimal integer"},
    {one("size = -1"), "f.toml", "f.toml:5:8: size"},
    {one("block = 2048"), "f.toml", "f.toml:5:9: block 2048: a block has 1 to 1024 threads"},
    {one("per_thread = 0"), "f.toml", "f.toml:5:14: per_thread is 1 to 64"},
    {one("per_thread = true"), "f.toml", "found true or false"},
    {one("per_thread = 1979-05-27"), "f.toml", "found a number or date that is no decimal integer"},
    {one(one("")), "f.toml", "f.toml:5:1: the name 'x' comes twice"},
    {one("name = 'y'"), "f.toml", "f.toml:5:1: 'name' comes twice"},
    {"[[formula]]\nname = ''\nexpr = 'i'", "f.toml", "f.toml:2:8: a name is 1 to 64"},
    {"[[formula]]\nname = \"a\\u0007\"\nexpr = 'i'", "f.toml", "f.toml:2:11: the escapes"},
    {"[[formula]]\nname = \"a\\tb\"\nexpr = 'i'", "f.toml", "f.toml:2:8: a name is 1 to 64"},
    {"[[formula]]\nname = 'x'\nexpr = 'i'\nvars = { k = 1 }", "f.toml",
     "f.toml:3:8: 'k' of vars does not occur in the expr"},
    {"[[formula]]\nname = 'x'\nexpr = 'i*k'\nvars = { k = '9..1' }", "f.toml",
     "f.toml:4:18: vars.k=9..1"},
    {"[[formula]]\nname = 'x'\nexpr = 'i*k'\nvars = { k = [] }", "f.toml",
     "f.toml:4:14: a parameter needs a value"},
    {"[[formula]]\nname = 'x'\nexpr = 'i*k'\nvars = { k = [1, [2]] }", "f.toml",
     "f.toml:4:18: expected an integer or a range in quotes, found a list"},
    {"[[formula]]\nname = 'x'\nexpr = 'i*k'\nvars = { k = [1, '9..1'] }", "f.toml",
     "f.toml:4:22: vars.k=9..1"},
    {"[[formula]]\nname = 'x'\nexpr = 'i'\nvars = { tid = 1 }", "f.toml",
     "f.toml:4:10: --var: 'tid' cannot be a parameter"},
    {"{\"formula\": [{\"name\": \"x\", \"name\": \"y\"}]}", "f.json",
     "f.json:1:28: 'name' comes twice"},
    {"{\"formula\": [{\"name\": null}]}", "f.json", "f.json:1:23: expected text, found null"},
    {"{\"formula\": [{\"per_thread\": 99999999999999999999}]}", "f.json",
     "f.json:1:29: expected an integer"},
    {"{\"formula\": [{\"per_thread\": 18446744073709551615}]}", "f.json", "more than 63 bits"},
    {"\xFF", "f.toml", "f.toml: not UTF-8 text"},
    {"\"\xFF\"", "f.json", "f.json: not UTF-8 text"},
    {repeated("[", 100'000), "f.json", "f.json:1:17: nested deeper than 16 levels"},
    {"a = " + repeated("[", 100'000), "f.toml", "f.toml:1:21: nested deeper than 16"},
    {"a = " + repeated("{a=", 100'000), "f.toml", "nested deeper than 16"},
    {"[" + repeated("a.", 50'000) + "a]", "f.toml", "f.toml:1:34: nested deeper than 16"},
    // Not the end of the process, as it was with a library.
    {"[{", "f.toml", "f.toml:1:2: expected a name"},
    {"[[formula]", "f.toml", "f.toml:1:10: expected ']]'"},
    {"[formula]\n[[formula]]", "f.toml", "f.toml:2:3: 'formula' is no list"},
    {"[[formula]]\n[formula]", "f.toml", "f.toml:2:2: 'formula' comes twice"},
    {"x = 1\n[x.y]", "f.toml", "f.toml:2:2: 'x' is no table"},
    {one("vars.k = 1"), "f.toml", "f.toml:5:1: 'vars' comes twice"},
    {"[[formula]]\nvars.k = 1", "f.toml", "f.toml:2:5: names with dots are not read"},
    {one("size"), "f.toml", "f.toml:5:5: expected '='"},
    {one("size ="), "f.toml", "f.toml:5:7: expected a value"},
    {one("size = 1 2"), "f.toml", "f.toml:5:10: expected the end of the line"},
    {one("size = '1"), "f.toml", "f.toml:5:10: expected '"},
    {one("size = '1\n'"), "f.toml", "f.toml:5:10: expected ' before the end of the line"},
    {one("size = '''1"), "f.toml", "f.toml:5:12: expected '''"},
    {one("size = { a = 1"), "f.toml", "f.toml:5:15: expected ',' or '}'"},
    {one("size = [1 2]"), "f.toml", "f.toml:5:11: expected ',' or ']'"},
    {one("size = 010"), "f.toml",
     "f.toml:5:8: expected an integer or text, found a number or date"},
    {repeated(" ", (1 << 20) + 1), "f.toml", "larger than 1048576 bytes"},
    {repeated(" ", (1 << 20) + 1), "f.json", "larger than 1048576 bytes"},
};
INSTANTIATE_TEST_SUITE_P(One, WrongFormulaFile, ::testing::ValuesIn(wrong_files));

TEST(FormulaFile, has_a_bounded_number_of_names_in_a_table) {
    std::string names;
    std::string members;
    for (int k = 0; k < 2000; ++k) {
        names += "k" + std::to_string(k) + " = 1\n";
        members += (k == 0 ? "\"k" : ",\"k") + std::to_string(k) + "\":1";
    }
    EXPECT_THAT(refusal_of(names, "f.toml"), HasSubstr("f.toml:1001:6: more than 1000"));
    EXPECT_THAT(refusal_of("{" + members + "}", "f.json"),
                HasSubstr("f.json:1:8892: more than 1000"));
}

TEST(FormulaFile, that_is_missing_or_too_large_is_refused) {
    EXPECT_THROW(read_formula_file("/nonexistent/set.toml"), Error);
    EXPECT_THROW(read_formula_file("/"), Error);
    EXPECT_THROW(read_formula_file("/dev/zero"), UsageError);
    const std::string path = ::testing::TempDir() + "/formula_file_test.json";
    std::ofstream(path) << full_json;
    EXPECT_EQ(read_formula_file(path).size(), 1u);
}

TEST(FormulaFile, tells_json_from_toml_by_its_beginning_where_no_ending_does) {
    EXPECT_EQ(parse_formula_file(full_json, "standard input").size(), 1u);
    EXPECT_EQ(parse_formula_file("\n " + full_json, "set").size(), 1u);
    EXPECT_EQ(parse_formula_file(full_toml, "standard input").size(), 1u);
    EXPECT_THAT(refusal_of(full_json, "set.toml"), HasSubstr("set.toml:1:1: expected a name"));
}

// Whatever the quoting, a place in the formula is a place in the file.
TEST(FormulaFile, points_through_quotes_and_escapes) {
    const auto place_of = [](const std::string& text, const std::string& file) {
        const std::string told = refusal_of(text, file);
        return told.substr(0, told.find(": formula:"));
    };
    const std::string head = "[[formula]]\nname = 'x'\n";
    EXPECT_EQ(place_of(head + "expr = 'i + x'", "f.toml"), "coalprof: f.toml:3:13");
    EXPECT_EQ(place_of(head + "expr = \"i\\t+ x\"", "f.toml"), "coalprof: f.toml:3:14");
    EXPECT_EQ(place_of(head + "expr = '''\ni\n + x'''", "f.toml"), "coalprof: f.toml:5:4");
    EXPECT_EQ(place_of(head + "expr = 'i +'", "f.toml"), "coalprof: f.toml:3:12");
    const auto json = [](const std::string& expr) {
        return "\xEF\xBB\xBF{\"formula\":\n [{\"name\": \"x\",\n\"expr\": \"" + expr + "\"}]}";
    };
    // The text begins in column 10 of line 3.
    EXPECT_EQ(place_of(json("i + x"), "f.json"), "coalprof: f.json:3:14");
    EXPECT_EQ(place_of(json("i\\n+ x"), "f.json"), "coalprof: f.json:3:15");
    EXPECT_EQ(place_of(json("\\u0069 + x"), "f.json"), "coalprof: f.json:3:19");
    // A character of three bytes, and one of four as a pair of escapes: wrong themselves.
    EXPECT_EQ(place_of(json("i \\u20AC"), "f.json"), "coalprof: f.json:3:12");
    EXPECT_EQ(place_of(json("\\ud83d\\ude00"), "f.json"), "coalprof: f.json:3:10");
    EXPECT_EQ(place_of(json("i /"), "f.json"), "coalprof: f.json:3:13");
}

}  // namespace
}  // namespace coalprof
