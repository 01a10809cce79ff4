// What is known of a result from the ranges of its operands: no value lies outside, and where the
// operator allows it none of the range is given away.
#include "core/formula/ranges.h"

#include <gtest/gtest.h>

#include <limits>

namespace coalprof {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

struct RangeRow {
    NodeKind kind;
    ValueRange a, b, result;
    bool can_fail = false;
    ValueRange c{};
};

// By hand, from what each operator means in C.
const RangeRow range_rows[]{
    {NodeKind::absolute, {-5, 3}, {}, {0, 5}},
    {NodeKind::absolute, {-5, -3}, {}, {3, 5}},
    {NodeKind::absolute, {lowest, 0}, {}, {0, highest}, true},
    {NodeKind::logical_not, {0, 0}, {}, {1, 1}},
    {NodeKind::logical_not, {1, 5}, {}, {0, 0}},
    {NodeKind::logical_not, {0, 5}, {}, {0, 1}},
    {NodeKind::divide, {8, 16}, {2, 4}, {2, 8}},
    {NodeKind::divide, {8, 16}, {-4, -1}, {-16, -2}},
    {NodeKind::divide, {8, 16}, {-2, 4}, {-16, 16}, true},
    {NodeKind::divide, {8, 16}, {0, 4}, {2, 16}, true},
    {NodeKind::divide, {1, 2}, {0, 0}, {0, 0}, true},
    {NodeKind::divide, {lowest, lowest}, {-1, -1}, {highest, highest}, true},
    {NodeKind::remainder, {0, 100}, {8, 8}, {0, 7}},
    {NodeKind::remainder, {0, 5}, {1, 8}, {0, 5}},
    {NodeKind::remainder, {-3, 100}, {8, 8}, {-3, 7}},
    {NodeKind::remainder, {-100, -1}, {8, 8}, {-7, 0}},
    {NodeKind::remainder, {0, 100}, {0, 8}, {0, 7}, true},
    {NodeKind::remainder, {lowest, 0}, {-1, -1}, {0, 0}, true},
    {NodeKind::remainder, {lowest + 1, 0}, {-1, -1}, {0, 0}},
    {NodeKind::shift_left, {1, 3}, {0, 63}, {1, highest}, true},
    {NodeKind::shift_left, {0, 0}, {0, 63}, {0, 0}},
    {NodeKind::shift_left, {0, 0}, {0, 64}, {0, 0}, true},
    {NodeKind::shift_right, {0, 64}, {0, 63}, {0, 64}},
    {NodeKind::shift_right, {0, 64}, {-1, 3}, {0, 64}, true},
    {NodeKind::equal, {0, 3}, {4, 9}, {0, 0}},
    {NodeKind::equal, {0, 4}, {4, 9}, {0, 1}},
    {NodeKind::equal, {4, 9}, {0, 4}, {0, 1}},
    {NodeKind::equal, {5, 9}, {0, 4}, {0, 0}},
    {NodeKind::equal, {4, 4}, {4, 4}, {1, 1}},
    {NodeKind::not_equal, {0, 3}, {4, 9}, {1, 1}},
    {NodeKind::not_equal, {4, 4}, {4, 4}, {0, 0}},
    {NodeKind::bit_and, {0, 100}, {7, 7}, {0, 7}},
    {NodeKind::bit_and, {0, 100}, {-8, -1}, {0, 100}},
    {NodeKind::bit_and, {-8, -1}, {0, 9}, {0, 9}},
    {NodeKind::bit_and, {-8, -1}, {-3, -2}, {-8, -2}},
    {NodeKind::bit_or, {4, 5}, {1, 2}, {4, 7}},
    {NodeKind::bit_or, {-4, 5}, {1, 2}, {-4, 7}},
    {NodeKind::bit_or, {-4, -1}, {1, 2}, {-4, -1}},
    {NodeKind::bit_xor, {0, 5}, {0, 8}, {0, 15}},
    {NodeKind::bit_xor, {-4, -1}, {-8, -1}, {0, 7}},
    {NodeKind::bit_xor, {-4, -1}, {0, 7}, {-8, -1}},
    {NodeKind::bit_xor, {-4, 1}, {0, 7}, {-8, 7}},
    {NodeKind::logical_and, {0, 0}, {0, 9}, {0, 0}},
    {NodeKind::logical_and, {0, 9}, {0, 0}, {0, 0}},
    {NodeKind::logical_and, {1, 9}, {2, 3}, {1, 1}},
    {NodeKind::logical_and, {0, 9}, {2, 3}, {0, 1}},
    {NodeKind::logical_or, {1, 9}, {0, 9}, {1, 1}},
    {NodeKind::logical_or, {0, 9}, {-1, -1}, {1, 1}},
    {NodeKind::logical_or, {0, 0}, {0, 0}, {0, 0}},
    {NodeKind::logical_or, {0, 0}, {0, 9}, {0, 1}},
    {NodeKind::conditional, {0, 1}, {1, 2}, {1, 9}, false, {5, 9}},
    {NodeKind::conditional, {0, 1}, {5, 9}, {1, 9}, false, {1, 2}},
    {NodeKind::conditional, {3, 3}, {1, 2}, {1, 2}, false, {5, 9}},
    {NodeKind::conditional, {0, 0}, {1, 2}, {5, 9}, false, {5, 9}},
    {NodeKind::hash, {lowest, highest}, {1, 8}, {0, 7}},
    {NodeKind::hash, {0, 1}, {0, 8}, {0, 7}, true},
};

TEST(Ranges, of_results_give_nothing_away) {
    for (const RangeRow& row : range_rows) {
        const RangeOfResult found = range_of_result(row.kind, row.a, row.b, row.c);
        const auto told = [&] {
            return ::testing::Message()
                   << "operator " << static_cast<int>(row.kind) << " of " << row.a.low << ".."
                   << row.a.high << " and " << row.b.low << ".." << row.b.high;
        };
        EXPECT_EQ(found.range.low, row.result.low) << told();
        EXPECT_EQ(found.range.high, row.result.high) << told();
        EXPECT_EQ(found.can_fail, row.can_fail) << told();
    }
}

TEST(Ranges, are_true_where_no_value_is_zero) {
    EXPECT_EQ(truth_of({0, 0}), Truth::never);
    for (const ValueRange& range : {ValueRange{0, 5}, {-5, 0}, {-1, 1}})
        EXPECT_EQ(truth_of(range), Truth::sometimes);
    for (const ValueRange& range : {ValueRange{1, 5}, {-5, -1}})
        EXPECT_EQ(truth_of(range), Truth::always);
}

// && and the first answer of ?: where the test may be true, || and the second where it may be
// false.
TEST(Ranges, decide_which_operands_are_evaluated) {
    const ValueRange never{0, 0};
    const ValueRange always{1, 2};
    for (const auto& [kind, which, when_never, when_always] :
         {std::tuple{NodeKind::logical_and, 1u, false, true},
          {NodeKind::logical_or, 1u, true, false},
          {NodeKind::conditional, 1u, false, true},
          {NodeKind::conditional, 2u, true, false},
          {NodeKind::logical_or, 0u, true, true},
          {NodeKind::add, 1u, true, true}}) {
        EXPECT_EQ(is_evaluated(kind, which, never), when_never);
        EXPECT_EQ(is_evaluated(kind, which, always), when_always);
        EXPECT_TRUE(is_evaluated(kind, which, {0, 1}));
    }
}

}  // namespace
}  // namespace coalprof
