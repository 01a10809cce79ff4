// Our reader of JSON against nlohmann's, whose word on what JSON is counts.
#include "core/json/json_stream.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fewer_cases.h"
#include "text_source.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;
using Step = JsonStream::Step;

Json copy_of(JsonView view) {
    if (view.is_object()) {
        Json object = Json::object();
        for (const JsonView member : view) object[std::string(member.name())] = copy_of(member);
        return object;
    }
    if (view.is_list()) {
        Json list = Json::array();
        for (const JsonView item : view) list.push_back(copy_of(item));
        return list;
    }
    if (view.is_null()) return nullptr;
    if (const auto text = view.text()) return *text;
    if (const auto natural = view.natural()) return *natural;
    const auto value = view.value();
    if (const bool* flag = std::get_if<bool>(&*value)) return *flag;
    if (const auto* integer = std::get_if<std::int64_t>(&*value)) return *integer;
    return *view.number();
}

struct StreamReading {
    std::vector<Json> values;
    std::vector<Json> items;  // of the list "points", which is streamed
    Step last_step = Step::end;
    std::string problem;
    std::uint64_t line = 0;
    std::uint64_t bytes = 0;
};

StreamReading read(std::string_view text, std::size_t block_bytes = std::string_view::npos,
                   bool values_are_lines = false) {
    StreamReading reading;
    const auto source = bytes_of_text(text, block_bytes);
    JsonStream stream(*source, "points",
                      [&](JsonView, JsonView item) { reading.items.push_back(copy_of(item)); });
    if (values_are_lines) stream.values_are_lines();
    while ((reading.last_step = stream.next()) != Step::end) {
        if (reading.last_step == Step::value) {
            reading.values.push_back(copy_of(stream.value()));
            continue;
        }
        reading.problem = stream.problem();
        if (!values_are_lines) break;
        stream.skip_line();
    }
    reading.line = stream.line();
    reading.bytes = stream.bytes();
    return reading;
}

const std::vector<std::string> good{
    R"({})",
    R"([])",
    R"([[],{},[{}]])",
    R"({"a":1,"b":[true,false,null],"c":{"d":"e"}})",
    " \t\r\n{ \"a\" : [ 1 , 2 ] } \n",
    R"(["\"\\\/\b\f\n\r\t","\u0041\u00e9\u20AC\uD83D\ude00"])",
    R"([0,-1,1.5,-0.25,1e3,1E-3,2.5e+2,18446744073709551615,9223372036854775808])",
    R"([-9223372036854775808,36893488147419103232,123456789012345678901234567890,1e-400])",
    "[\"é€😀\"]",
    R"({"":""})"};
// Each wrong in one place; none is the beginning of something right.
const std::vector<std::string> bad{R"({"a" 1})",
                                   R"({"a":1,})",
                                   R"([1,])",
                                   R"([1 2])",
                                   R"({a:1})",
                                   R"([01])",
                                   R"([1.])",
                                   R"([.5])",
                                   R"([+1])",
                                   R"([-])",
                                   R"([1e])",
                                   R"([nul])",
                                   R"([True])",
                                   R"(["\x"])",
                                   R"(["\u12g4"])",
                                   R"(["\uD83D"])",
                                   R"(["\uDE00"])",
                                   R"(["\uD83D\u0041"])",
                                   "[\"a\nb\"]",
                                   "[\"\x01\"]",
                                   "[\"\xFF\"]",
                                   "[\"\xC0\x80\"]",
                                   "[\"\xED\xA0\x80\"]",
                                   R"([1e400])",
                                   R"([1}])",
                                   R"({"a":1])",
                                   "[1,\x01]",
                                   R"(])",
                                   R"({,})",
                                   R"([NaN])",
                                   R"([0x10])",
                                   R"(['a'])",
                                   std::string("[1,\0]", 5),
                                   std::string("[\"\0\"]", 5)};

TEST(JsonStream, reads_what_nlohmann_reads_and_as_it_does) {
    for (const std::string& text : good) {
        const StreamReading reading = read(text);
        EXPECT_EQ(reading.last_step, Step::end) << text << ": " << reading.problem;
        EXPECT_THAT(reading.values, ElementsAre(Json::parse(text))) << text;
    }
}

TEST(JsonStream, refuses_what_nlohmann_refuses) {
    for (const std::string& text : bad) {
        EXPECT_FALSE(Json::accept(text)) << text;
        EXPECT_EQ(read(text).last_step, Step::wrong) << text;
    }
}

TEST(JsonStream, reads_the_same_wherever_its_input_is_split) {
    for (const std::vector<std::string>& texts : {good, bad})
        for (const std::string& text : texts)
            for (std::size_t block = 1; block <= 9; ++block) {
                const StreamReading whole = read(text);
                const StreamReading split = read(text, block);
                EXPECT_EQ(split.values, whole.values) << text;
                EXPECT_EQ(split.last_step, whole.last_step) << text;
                EXPECT_EQ(split.problem, whole.problem) << text;
            }
}

TEST(JsonStream, says_of_every_beginning_that_it_is_cut) {
    const std::string text = R"({"a":[1,-2.5e1,"\u0041\n"],"points":[{"b":true},null],"é":{}})";
    for (std::size_t size = 1; size < text.size(); ++size)
        EXPECT_EQ(read(text.substr(0, size)).last_step, Step::cut) << text.substr(0, size);
}

TEST(JsonStream, streams_the_items_of_one_list_and_keeps_the_rest) {
    const StreamReading reading = read(R"({"a":{"points":[1]},"points":[{"x":[2]},3,[4]],"b":5})");
    EXPECT_THAT(reading.items, ElementsAre(Json::parse(R"({"x":[2]})"), Json(3), Json({4})));
    EXPECT_THAT(reading.values,
                ElementsAre(Json::parse(R"({"a":{"points":[1]},"points":[],"b":5})")));
}

TEST(JsonStream, knows_where_it_stands) {
    const StreamReading reading = read("{\"a\":1}\n\n{\"b\":2,\n\"c\":x}");
    EXPECT_EQ(reading.last_step, Step::wrong);
    EXPECT_EQ(reading.line, 4u);
    EXPECT_EQ(reading.bytes, 22u);  // up to the x's end
}

// The second line breaks off in text, the fourth in the middle; each ends there.
TEST(JsonStream, loses_of_lines_only_those_that_are_wrong) {
    const std::string lines = "{\"a\":1}\n{\"b\n[2]\n{\"c\":[\n[3]\n{\"d";
    for (const std::size_t block : {std::string_view::npos, std::size_t{1}, std::size_t{5}}) {
        const StreamReading reading = read(lines, block, true);
        EXPECT_THAT(reading.values, ElementsAre(Json({{"a", 1}}), Json({2}), Json({3})));
        EXPECT_EQ(reading.last_step, Step::end);
    }
}

TEST(JsonStream, refuses_what_is_larger_than_anything_that_is_written) {
    const std::string deep(17, '[');
    EXPECT_THAT(read(deep).problem, HasSubstr("16 levels"));
    EXPECT_EQ(read(std::string(16, '[') + std::string(16, ']')).last_step, Step::end);
    EXPECT_EQ(read("[\"" + std::string(most_json_bytes + 1, 'x') + "\"]").last_step, Step::wrong);
    std::string many = "[0";
    for (std::size_t i = 0; i < most_json_nodes; ++i) many += ",0";
    EXPECT_EQ(read(many + "]").last_step, Step::wrong);
}

TEST(JsonStream, takes_any_number_of_blanks_between_values) {
    const std::string blanks(most_json_bytes + (1 << 17), ' ');
    EXPECT_THAT(read("[1]" + blanks + "[2]" + blanks).values, ElementsAre(Json({1}), Json({2})));
}

TEST(JsonStream, says_that_a_number_is_too_large) {
    EXPECT_EQ(read("[1e400]").problem, "a number that 64 bits cannot hold");
}

// Twice as many items as a tree holds, each handed over and forgotten.
TEST(JsonStream, streams_any_number_of_items) {
    std::size_t items = 0;
    std::string text = "{\"points\":[0";
    for (std::size_t i = 0; i < 2 * most_json_nodes; ++i) text += ",0";
    text += "]}";
    const auto source = bytes_of_text(text);
    JsonStream stream(*source, "points", [&](JsonView, JsonView) { ++items; });
    EXPECT_EQ(stream.next(), Step::value);
    EXPECT_EQ(items, 2 * most_json_nodes + 1);
}

}  // namespace
}  // namespace coalprof
