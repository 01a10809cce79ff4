// Each operator against C itself, at the edges of 64 bits: the same value, and a failure exactly
// where C has none.
#include "core/formula/operators.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "core/formula/facts.h"
#include "core/formula/lane_program.h"
#include "core/formula/launch_check.h"

namespace coalprof {
namespace {

using I64 = std::int64_t;
using Value = std::optional<I64>;
constexpr I64 low = std::numeric_limits<I64>::min();
constexpr I64 high = std::numeric_limits<I64>::max();

template <typename Builtin>
Value unless_overflow(Builtin builtin) {
    I64 result = 0;
    return builtin(&result) ? std::nullopt : Value(result);
}
bool divides(I64 a, I64 b) { return b != 0 && !(a == low && b == -1); }

struct OfC {
    const char* text;
    Value (*value)(I64 k, I64 pitch);
};
const OfC all[] = {
    {"-k", [](I64 a, I64) { return a == low ? Value() : Value(-a); }},
    {"~k", [](I64 a, I64) { return Value(~a); }},
    {"!k", [](I64 a, I64) { return Value(!a); }},
    {"__popc(k)", [](I64 a, I64) { return Value(__builtin_popcount(static_cast<unsigned>(a))); }},
    {"__clz(k)",
     [](I64 a, I64) {
         const auto word = static_cast<unsigned>(a);
         return Value(word == 0 ? 32 : __builtin_clz(word));
     }},
    {"__brev(k)",
     [](I64 a, I64) {
         I64 turned = 0;
         for (int bit = 0; bit < 32; ++bit) turned |= (a >> bit & 1) << (31 - bit);
         return Value(turned);
     }},
    {"abs(k)", [](I64 a, I64) { return a == low ? Value() : Value(a < 0 ? -a : a); }},
    {"k * pitch",
     [](I64 a, I64 b) {
         return unless_overflow([&](I64* r) { return __builtin_mul_overflow(a, b, r); });
     }},
    {"k + pitch",
     [](I64 a, I64 b) {
         return unless_overflow([&](I64* r) { return __builtin_add_overflow(a, b, r); });
     }},
    {"k - pitch",
     [](I64 a, I64 b) {
         return unless_overflow([&](I64* r) { return __builtin_sub_overflow(a, b, r); });
     }},
    {"k / pitch", [](I64 a, I64 b) { return divides(a, b) ? Value(a / b) : Value(); }},
    {"k % pitch", [](I64 a, I64 b) { return divides(a, b) ? Value(a % b) : Value(); }},
    // a << b is a product by 2^b, 2^63 being no number of 64 signed bits.
    {"k << pitch",
     [](I64 a, I64 b) {
         if (b < 0 || b > 63) return Value();
         if (b == 63) return a == 0 ? Value(0) : a == -1 ? Value(low) : Value();
         return unless_overflow([&](I64* r) { return __builtin_mul_overflow(a, I64{1} << b, r); });
     }},
    {"k >> pitch", [](I64 a, I64 b) { return b < 0 || b > 63 ? Value() : Value(a >> b); }},
    {"k < pitch", [](I64 a, I64 b) { return Value(a < b); }},
    {"k <= pitch", [](I64 a, I64 b) { return Value(a <= b); }},
    {"k > pitch", [](I64 a, I64 b) { return Value(a > b); }},
    {"k >= pitch", [](I64 a, I64 b) { return Value(a >= b); }},
    {"k == pitch", [](I64 a, I64 b) { return Value(a == b); }},
    {"k != pitch", [](I64 a, I64 b) { return Value(a != b); }},
    {"k & pitch", [](I64 a, I64 b) { return Value(a & b); }},
    {"k ^ pitch", [](I64 a, I64 b) { return Value(a ^ b); }},
    {"k | pitch", [](I64 a, I64 b) { return Value(a | b); }},
    {"min(k, pitch)", [](I64 a, I64 b) { return Value(a < b ? a : b); }},
    {"max(k, pitch)", [](I64 a, I64 b) { return Value(a > b ? a : b); }},
};

constexpr I64 edges[] = {
    low,       low + 1,   -high / 2,  -(1ll << 32), -64,      -2,  -1,
    0,         1,         2,          62,           63,       64,  (1ll << 31) - 1,
    1ll << 31, 1ll << 32, 3037000500, high / 2,     high - 1, high};

TEST(Operators, compute_and_fail_as_c_does) {
    for (const OfC& c : all) {
        const ParsedFormula formula = parse_formula(c.text, {"k", "pitch"});
        const NodeId root = formula.accesses.front().index;
        for (const I64 a : edges)
            for (const I64 b : edges) {
                Scope scope;
                scope.values = {a, b};
                const Value expected = c.value(a, b);
                const ThreadValue found = evaluate_thread(formula.nodes, root, scope, 0);
                const std::string told =
                    std::string(c.text) + " of " + std::to_string(a) + ", " + std::to_string(b);
                const NodeFacts facts = prove_facts(formula.nodes, scope)[root];
                ASSERT_EQ(found.fault == Fault::none, expected.has_value()) << told;
                ASSERT_TRUE(expected || facts.subtree_can_fail) << told;
                if (!expected) continue;
                ASSERT_EQ(found.value, *expected) << told;
                ASSERT_LE(facts.range.low, *expected) << told;
                ASSERT_GE(facts.range.high, *expected) << told;
            }
    }
}

// The same in 32 lanes at once: operands of which only one lane holds the edge.
TEST(Operators, fail_in_one_lane_as_in_one_thread) {
    for (const OfC& c : all) {
        std::string text = c.text;  // in lane 5 the edges, in the others 3 and 2
        const std::string parts = "a = lane == 5 ? k : 3; b = lane == 5 ? pitch : 2; ";
        for (const auto& [name, part] : {std::pair{"pitch", "b"}, std::pair{"k", "a"}})
            if (const std::size_t at = text.find(name); at != std::string::npos)
                text.replace(at, std::string(name).size(), part);
        const ParsedFormula formula = parse_formula(parts + text, {"k", "pitch"});
        const NodeId root = formula.accesses.front().index;
        Scope scope;
        scope.threads = warp_lanes;
        scope.block = warp_lanes;
        scope.block_shape = {warp_lanes};
        for (const I64 a : edges)
            for (const I64 b : edges) {
                scope.values = {a, b};
                const LaneProgram program(formula.nodes, prove_facts(formula.nodes, scope), scope,
                                          root, std::nullopt, Checking::on, high);
                std::array<std::uint64_t, warp_lanes> elements;
                const bool failed = program.run(0, elements.data());
                const Value expected = c.value(a, b);
                const Value others = c.value(3, 2);
                const bool is_index = expected && *expected >= 0 && *others >= 0;
                const std::string told =
                    text + " of " + std::to_string(a) + ", " + std::to_string(b);
                ASSERT_EQ(failed, !is_index) << told;
                ASSERT_EQ(static_cast<I64>(elements[4]), *others) << told;
                ASSERT_EQ(expected ? static_cast<I64>(elements[5]) : 0, expected.value_or(0))
                    << told;
            }
    }
}

}  // namespace
}  // namespace coalprof
