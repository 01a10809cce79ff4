// What is said about a formula, part by part.
#include "core/formula/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/formula/formula.h"
#include "core/formula/steps.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> notes_of(const std::string& text, ElementType type = ElementType::f32) {
    FormulaLaunch launch;
    launch.type = type;
    launch.block_x = 16;
    const Program program = make_formula_program(
        std::make_shared<const ParsedFormula>(parse_formula(text, {})), launch);
    const auto& formula = dynamic_cast<const UserFormula&>(
        *std::get<std::shared_ptr<const CustomFormula>>(program.instructions[0].formula));
    return formula_notes(formula, bytes_of(type), 64, 32);
}

TEST(FormulaNotes, name_the_step_between_neighbours) {
    EXPECT_THAT(notes_of("i"),
                ElementsAre("The index moves 1 element (4 bytes) from lane to lane."));
    EXPECT_THAT(notes_of("i*3"),
                ElementsAre("The index moves 3 elements (12 bytes) from lane to lane."));
    EXPECT_THAT(notes_of("i*1024", ElementType::u8),
                ElementsAre("The index moves 1024 elements (1024 bytes) from lane to lane."));
    EXPECT_THAT(notes_of("5"), ElementsAre("The index is the same in every lane."));
}

TEST(FormulaNotes, tell_the_terms_apart) {
    EXPECT_THAT(
        notes_of("(i%16)*17 + i/16"),
        ElementsAre("'(i%16)*17' moves 17 elements (68 bytes) from lane to lane and starts again "
                    "every 16 lanes.",
                    "'i/16' is the same for 16 lanes, then moves 1 element (4 bytes).",
                    "The index moves 17 elements (68 bytes) from lane to lane, but 254 elements "
                    "(1016 bytes) down between lanes 15 and 16."));
    // `bid` is the same in the whole warp: what moves is the whole story.
    EXPECT_THAT(notes_of("bid*256 + lane*100"),
                ElementsAre("'lane*100' moves 100 elements (400 bytes) from lane to lane; the rest "
                            "is the same in every lane."));
    EXPECT_THAT(notes_of("n - 1 - i")[0],
                "'- i' moves 1 element (4 bytes) down from lane to lane; the rest is the same in "
                "every lane.");
    // The warp of threads 64 to 95 is 8 lanes of one row of 24 and 24 of the next.
    EXPECT_THAT(notes_of("i%24 + 3")[0],
                "'i%24' moves 1 element (4 bytes) from lane to lane, but 23 elements (92 bytes) "
                "down between lanes 7 and 8; the rest is the same in every lane.");
}

TEST(FormulaNotes, say_where_a_misaligned_warp_begins_and_which_term_does_it) {
    // Thread 64 + 11 is element 75: byte 300 is 12 bytes into a sector.
    EXPECT_THAT(notes_of("i + 11").back(),
                "The warp starts 12 bytes into a sector: 11, no multiple of a sector's 8 "
                "elements.");
    EXPECT_THAT(notes_of("i + n/2 - 7/2").back(),
                "The warp starts 20 bytes into a sector: '- 7/2' is -3, no multiple of a sector's "
                "8 elements.");
}

TEST(FormulaNotes, count_the_lanes_that_are_switched_off) {
    EXPECT_THAT(notes_of("i*2 if lane < 10"),
                ElementsAre("The condition switches 22 of 32 lanes off.",
                            "Over the active lanes, the index moves 2 elements (8 bytes) from lane "
                            "to lane."));
    EXPECT_THAT(notes_of("i if 0"), ElementsAre("The condition switches all 32 lanes off."));
}

TEST(FormulaNotes, admit_when_there_is_no_rule) {
    EXPECT_THAT(notes_of("hash(i, 1000)"), ElementsAre("The index moves by no fixed step."));
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
}

}  // namespace
}  // namespace coalprof
