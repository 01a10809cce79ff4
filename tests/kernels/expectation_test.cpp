#include "kernels/expectation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/formula/index_of.h"
#include "kernels/plans.h"
#include "kernels/source/values.h"

namespace coalprof {
namespace {

// An array of 32-bit words as it lies in memory.
std::span<const std::byte> bytes_of(const std::vector<Word>& words) {
    return std::as_bytes(std::span(words));
}

ArrayState state_of(std::size_t array, bool has_run, std::int64_t added = 0) {
    ArrayState state;
    state.array = array;
    state.operand.seed = 77;
    state.has_run = has_run;
    state.added = added;
    return state;
}

std::optional<WrongElement> check(const Plan& plan, const ArrayState& state,
                                  const std::vector<Word>& words) {
    return find_wrong_element(plan.program, shape_of(plan), state, bytes_of(words));
}

TEST(Values, differ_from_element_to_element_and_with_the_mark_of_a_store) {
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
        std::size_t same_as_next = 0;
        for (Index e = 0; e < 1000; ++e) {
            EXPECT_NE(touched_word(bytes, e, 0, 5), untouched_word(bytes, e, 0, 5));
            same_as_next += untouched_word(bytes, e, 0, 5) == untouched_word(bytes, e + 1, 0, 5);
        }
        EXPECT_LT(same_as_next, 20u) << bytes;  // 7 bits of a byte: one in 128 by chance
    }
    // Every byte of a stored element carries the mark, so that no byte can be left out.
    EXPECT_EQ(touched_word(4, 3, 0, 5) & 0x80808080u, 0x80808080u);
    EXPECT_EQ(untouched_word(4, 3, 0, 5) & 0x80808080u, 0u);
    EXPECT_EQ(mark_of(1), 0x80u);
    EXPECT_EQ(mark_of(2), 0x8080u);
}

// a[2 i + 1] = ..., 4 threads, 10 elements: 1 3 5 7 are stored to.
Plan odd_stores() {
    return handmade_plan({{AccessKind::store, 0, index_of("i*2 + 1", 4)}}, 1, 4, 10);
}

std::vector<Word> after_odd_stores() {
    std::vector<Word> words;
    for (Index e = 0; e < 10; ++e)
        words.push_back(e % 2 == 1 && e < 8 ? touched_word(4, e, 0, 77)
                                            : untouched_word(4, e, 0, 77));
    return words;
}

TEST(Expectation, holds_for_what_the_program_leaves_behind) {
    EXPECT_FALSE(check(odd_stores(), state_of(0, true), after_odd_stores()));
}

TEST(Expectation, finds_a_store_that_is_missing_or_went_elsewhere) {
    std::vector<Word> words = after_odd_stores();
    words[5] = untouched_word(4, 5, 0, 77);
    auto wrong = check(odd_stores(), state_of(0, true), words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 5u);
    words = after_odd_stores();
    words[4] = touched_word(4, 4, 0, 77);  // poison overwritten
    wrong = check(odd_stores(), state_of(0, true), words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 4u);
    words = after_odd_stores();
    words[9] ^= 1;  // one bit
    wrong = check(odd_stores(), state_of(0, true), words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 9u);
}

// The mark of a store is the highest bit of each byte: of elements of every width, among them the
// first and the last.
TEST(Expectation, finds_one_wrong_mark_anywhere_in_a_long_array) {
    constexpr std::uint64_t elements = 3 * 4000;
    for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
        Plan plan =
            handmade_plan({{AccessKind::store, 0, index_of("i*3 + 1", 4000)}}, 1, 4000, elements);
        plan.program.arrays[0].element_bytes = bytes;
        plan.program.instructions[0].width_bytes = bytes;
        std::vector<std::byte> memory(elements * bytes);
        for (std::uint64_t e = 0; e < elements; ++e)
            for (unsigned w = 0; w < words_of(bytes); ++w) {
                const Word word =
                    e % 3 == 1 ? touched_word(bytes, e, w, 77) : untouched_word(bytes, e, w, 77);
                std::memcpy(&memory[e * bytes + w * 4], &word, std::min(bytes, 4u));
            }
        const auto found = [&] {
            return find_wrong_element(plan.program, shape_of(plan), state_of(0, true), memory);
        };
        EXPECT_FALSE(found()) << bytes;
        for (const std::uint64_t at : {std::uint64_t{0}, elements / 2, elements - 1}) {
            std::byte& byte = memory[(at + 1) * bytes - 1];
            byte ^= std::byte{1 << 7};
            ASSERT_TRUE(found()) << bytes << " " << at;
            EXPECT_EQ(found()->element, at) << bytes;
            byte ^= std::byte{1 << 7};
        }
    }
}

TEST(Expectation, names_both_values) {
    std::vector<Word> words = after_odd_stores();
    words[5] = 0xDEAD;
    const auto wrong = check(odd_stores(), state_of(0, true), words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->found, "0x0000dead");
    char expected[11];
    std::snprintf(expected, sizeof expected, "0x%08x", touched_word(4, 5, 0, 77));
    EXPECT_EQ(wrong->expected, expected);
}

TEST(Expectation, before_the_first_launch_is_the_start) {
    std::vector<Word> start;
    for (Index e = 0; e < 10; ++e) start.push_back(untouched_word(4, e, 0, 77));
    EXPECT_FALSE(check(odd_stores(), state_of(0, false), start));
    EXPECT_TRUE(check(odd_stores(), state_of(0, true), start));
}

TEST(Expectation, counts_what_atomics_add) {
    // 12 threads in groups of 4 on three elements: each gets 4; the fourth gets nothing.
    Plan plan = handmade_plan({{AccessKind::reduce, 0, index_of("i/4", 12)}}, 1, 12, 4);
    plan.type = ElementType::u32;
    std::vector<Word> words;
    for (Index e = 0; e < 4; ++e) words.push_back(start_count(e, 77) + (e < 3 ? 4 : 0));
    EXPECT_FALSE(check(plan, state_of(0, true, 1), words));
    words[1] -= 1;  // one lost
    const auto wrong = check(plan, state_of(0, true, 1), words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 1u);
}

TEST(Expectation, counts_in_floating_point_too) {
    Plan plan = handmade_plan({{AccessKind::atomic, 0, index_of("i/4", 12)}}, 1, 12, 3);
    plan.program.instructions.front().type = ElementType::f32;
    std::vector<Word> words;
    for (Index e = 0; e < 3; ++e) {
        const float value = static_cast<float>(start_count(e, 77)) + 4;
        Word word;
        std::memcpy(&word, &value, sizeof word);
        words.push_back(word);
    }
    EXPECT_FALSE(check(plan, state_of(0, true, 1), words));
}

TEST(Expectation, leaves_alone_what_idle_lanes_would_have_touched) {
    // Rows of 3 in row_threads of 32: 64 threads store to 2 rows of 3 elements, pitch 4.
    const Plan plan = handmade_plan(
        {{AccessKind::store, 0, index_of("i/32*4 + i%32 if i%32 < 3", 64)}}, 1, 64, 7);
    std::vector<Word> words;
    for (Index e = 0; e < 7; ++e)
        words.push_back(e == 3 ? untouched_word(4, e, 0, 77) : touched_word(4, e, 0, 77));
    EXPECT_FALSE(check(plan, state_of(0, true), words));
}

// b[e] = a[7 - e] for the four elements that are stored to; the others stay as they were.
TEST(Expectation, takes_moved_values_from_where_they_came) {
    Plan plan = handmade_plan(
        {{AccessKind::load, 0, index_of("i")}, {AccessKind::store, 1, index_of("i*2")}}, 2, 4, 8);
    plan.program.instructions[1].value_of = 0;
    plan.program.arrays[1].origin = Origin{0, index_of("7 - i", 8)};
    const ArrayState state = state_of(1, true);
    std::vector<Word> words;
    for (Index e = 0; e < 8; ++e)
        words.push_back(e % 2 == 0 ? untouched_word(4, 7 - e, 0, seed_of(0))
                                   : untouched_word(4, e, 0, 77));
    EXPECT_FALSE(check(plan, state, words));
    std::swap(words[0], words[2]);
    const auto wrong = check(plan, state, words);
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->element, 0u);
    char expected[11];
    std::snprintf(expected, sizeof expected, "0x%08x", untouched_word(4, 7, 0, seed_of(0)));
    EXPECT_EQ(wrong->expected, expected);
}

bool is_done(const std::shared_future<void>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Checks that are slow enough to be overtaken by whoever does not wait for them.
void dawdle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

// More than go on at a time: each still finds its own bytes, not those of a later one.
TEST(HostChecks, keep_what_they_compare_until_they_are_done) {
    for (const unsigned processors : {1u, 2u, 3u, 64u}) {
        HostChecks checks(processors);
        std::vector<std::shared_future<void>> answers;
        for (int k = 0; k < 12; ++k) {
            const std::span<std::byte> room = checks.room(1000);
            EXPECT_EQ(room.size(), 1000u);
            std::fill(room.begin(), room.end(), static_cast<std::byte>(k));
            answers.push_back(checks.start([room, k] {
                dawdle();
                if (std::count(room.begin(), room.end(), static_cast<std::byte>(k)) != 1000)
                    throw std::runtime_error("bytes of another check");
            }));
        }
        for (const auto& answer : answers) EXPECT_NO_THROW(answer.get()) << processors;
    }
}

TEST(HostChecks, answer_with_what_went_wrong) {
    for (const unsigned processors : {1u, 64u}) {
        HostChecks checks(processors);
        checks.room(1);
        const auto bad = checks.start([] { throw std::runtime_error("wrong"); });
        checks.room(1);
        const auto good = checks.start([] {});
        EXPECT_THROW(bad.get(), std::runtime_error);
        EXPECT_NO_THROW(good.get());
    }
}

// What they compare belongs to their owner: none may go on when that ends.
TEST(HostChecks, are_done_when_their_owner_ends) {
    for (const unsigned processors : {1u, 64u}) {
        std::shared_future<void> answer;
        {
            HostChecks checks(processors);
            checks.room(1);
            answer = checks.start(dawdle);
        }
        EXPECT_TRUE(is_done(answer)) << processors;
    }
}

TEST(HostChecks, are_all_done_when_they_are_finished) {
    HostChecks checks(64);
    std::vector<std::shared_future<void>> answers;
    for (int k = 0; k < 3; ++k) {
        checks.room(1);
        answers.push_back(checks.start(dawdle));
    }
    checks.finish();
    for (const auto& answer : answers) EXPECT_TRUE(is_done(answer));
}

}  // namespace
}  // namespace coalprof
