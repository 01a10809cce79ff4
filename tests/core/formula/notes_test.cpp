// What is said about a formula, part by part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/formula/formula.h"
#include "core/formula/user_formula.h"
#include "sentence_facts.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

// The facts of each note: terms, elements and bytes of a step, lanes; whether it goes down.
std::vector<std::string> notes_of(const std::string& text, ElementType type = ElementType::f32) {
    FormulaLaunch launch;
    launch.type = type;
    launch.shape.block_shape = {16, 16};
    const Program program = make_formula_program(
        std::make_shared<const ParsedFormula>(parse_formula(text, {})), launch);
    const auto& formula = dynamic_cast<const UserFormula&>(*program.instructions[0].formula);
    std::vector<std::string> facts;
    for (const std::string& note : formula_notes(formula, bytes_of(type), 64, 32))
        facts.push_back(facts_in(note) + (note.find(" down") != note.npos ? " down" : ""));
    return facts;
}

TEST(FormulaNotes, name_the_step_between_neighbours) {
    EXPECT_THAT(notes_of("i"), ElementsAre("1 4"));
    EXPECT_THAT(notes_of("i*3"), ElementsAre("3 12"));
    EXPECT_THAT(notes_of("i*1024", ElementType::u8), ElementsAre("1024 1024"));
    EXPECT_THAT(notes_of("5"), ElementsAre(""));  // the same in every lane
}

TEST(FormulaNotes, tell_the_terms_apart) {
    // 17 elements on from lane to lane, again every 16 lanes; 1 element every 16 lanes; together
    // 17 on, but from lane 15 to 16 15 * 17 - 1 = 254 down.
    EXPECT_THAT(notes_of("(i%16)*17 + i/16"),
                ElementsAre("'(i%16)*17' 17 68 16", "'i/16' 16 1 4", "17 68 254 1016 15 16 down"));
    // `bid` is the same in the whole warp: what moves is the whole story.
    EXPECT_THAT(notes_of("bid*256 + lane*100"), ElementsAre("'lane*100' 100 400"));
    EXPECT_THAT(notes_of("n - 1 - i")[0], "'- i' 1 4 down");
    // The warp of threads 64 to 95 is 8 lanes of one row of 24 and 24 of the next.
    EXPECT_THAT(notes_of("i%24 + 3")[0], "'i%24' 1 4 23 92 7 8 down");
}

TEST(FormulaNotes, say_where_a_misaligned_warp_begins_and_which_term_does_it) {
    // Thread 64 + 11 is element 75: byte 300 is 12 bytes into a sector of 8 elements.
    EXPECT_THAT(notes_of("i + 11").back(), "12 11 8");
    EXPECT_THAT(notes_of("i + n/2 - 7/2").back(), "20 '- 7/2' -3 8");
}

TEST(FormulaNotes, count_the_lanes_that_are_switched_off) {
    EXPECT_THAT(notes_of("i*2 if lane < 10"), ElementsAre("22 32", "2 8"));
    EXPECT_THAT(notes_of("i if 0"), ElementsAre("32"));
}

TEST(FormulaNotes, admit_when_there_is_no_rule) {
    EXPECT_THAT(notes_of("hash(i, 1000)"), ElementsAre(""));
}

LaneSteps::Kind kind_of(std::vector<std::int64_t> values) { return steps_of(values).kind; }

TEST(LaneSteps, are_recognised_by_their_differences) {
    using Kind = LaneSteps::Kind;
    EXPECT_EQ(kind_of({7}), Kind::same);
    EXPECT_EQ(kind_of({7, 7, 7}), Kind::same);
    EXPECT_EQ(kind_of({1, 4, 7}), Kind::even);
    EXPECT_EQ(kind_of({0, 0, 5, 5, 10, 10}), Kind::groups);
    EXPECT_EQ(kind_of({0, 0, 5, 5}), Kind::groups);
    EXPECT_EQ(kind_of({0, 1, 2, 0, 1, 2, 0, 1}), Kind::restarting);
    EXPECT_EQ(kind_of({4, 5, 6, 4, 5, 6}), Kind::restarting);
    EXPECT_EQ(kind_of({0, 1, 2, 10, 11, 12, 20, 21}), Kind::two_steps);
    EXPECT_EQ(kind_of({0, 1, 2, 3, 9, 10}), Kind::one_jump);
    EXPECT_EQ(kind_of({0, 1, 5, 6, 8, 9}), Kind::irregular);              // two sizes of jumps
    EXPECT_EQ(kind_of({0, 1, 5, 6, 7, 8, 12, 13, 17}), Kind::irregular);  // at no fixed distance
    // The first group may be cut short by the warp's start, but not be longer than the others.
    EXPECT_EQ(kind_of({2, 0, 1, 2, 0, 1, 2}), Kind::restarting);
    EXPECT_EQ(kind_of({0, 1, 2, 3, 4, 0, 1, 0, 1}), Kind::irregular);
    EXPECT_EQ(kind_of({0, 1, 2, 3, 4, 5, 10, 11, 16, 17}), Kind::irregular);
    EXPECT_EQ(kind_of({0, 1, 6, 7, 12, 13, 14, 15}), Kind::irregular);  // nor the last
}

}  // namespace
}  // namespace coalprof
