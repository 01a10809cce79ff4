// The operators and functions of a formula, each defined once: how it is written, what it computes
// and when it fails, what its results range over and how they repeat. The parser, both evaluators,
// the proofs and the emitter are derived from these.
//
// An operator has `info` and
//   of(a, b)  its value as integers of any width have it; beyond 64 signed bits it overflows
// and, where that does not say all,
//   fault(a, b)          operands for which it has no value
//   lane(a, b)           the value in code that never traps, and wraps around where it overflows;
//                        without it of()
//   failed(a, b, lane)   of those that may overflow: a word whose sign says that lane() is not the
//                        value; of others fault() says it
//   range(a, b)          from ranges to the range of the results; without it of() at their corners
//   same_as(a, b)        which operand it always equals, given these ranges
//   motion, step(a, b)   how the results move from thread to thread (facts.cpp)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "core/formula/ranges.h"
#include "core/formula/tree.h"
#include "core/pattern/formulas.h"

namespace coalprof {

enum class Fault : std::uint8_t {
    none,
    overflow,          // the result does not fit 64 signed bits
    division_by_zero,  // / or % by 0
    shift_count,       // not 0 to 63
    bucket_count,      // hash(x, buckets) with fewer than one bucket
    outside_table,     // an index beyond the contents of an array
    negative_index,
    index_too_large,
};

// Its spelling in a formula and in C++.
struct OperatorInfo {
    NodeKind kind = NodeKind::add;
    std::string_view name{};    // its sign, or the name of a function
    int power = 0;              // how tightly a binary operator binds in C; 0: it has one operand
    std::string_view source{};  // C code of operands {0}, {1}, {2}; empty: written as in a formula
    std::string_view usage{};   // a function's call: "min(a, b)"
    std::size_t fewest_arguments = 0;
    std::size_t most_arguments = 0;
};

// The motion of results when operands move, where that does not depend on the operands' values.
enum class Motion : std::uint8_t {
    together,  // op(a + x, b + x) - op(a, b) depends on x alone
    linear,    // op(a + x, b + y) - op(a, b) depends on x and y alone
};

namespace operators {

using I64 = std::int64_t;
using U64 = std::uint64_t;
using U32 = std::uint32_t;
using Operand = std::optional<std::size_t>;  // 0 or 1
constexpr I64 lowest = std::numeric_limits<I64>::min();

constexpr U64 bits(I64 value) { return static_cast<U64>(value); }
constexpr I64 number(U64 value) { return static_cast<I64>(value); }
// All ones where `flag` holds.
constexpr I64 mask_of(bool flag) { return -I64{flag}; }

// ---- of one operand; b is that, too ----

struct Negate {
    static constexpr OperatorInfo info{NodeKind::negate, "-"};
    static constexpr Motion motion = Motion::linear;
    static auto of(auto a, auto) { return 0 - a; }
    static I64 lane(I64 a, I64) { return number(0 - bits(a)); }
    static I64 failed(I64 a, I64, I64 value) { return a & value; }
};
struct Complement {
    static constexpr OperatorInfo info{NodeKind::complement, "~"};
    static constexpr Motion motion = Motion::linear;
    static auto of(auto a, auto) { return ~a; }
};
struct LogicalNot {
    static constexpr OperatorInfo info{NodeKind::logical_not, "!"};
    static auto of(auto a, auto) { return a == 0; }
    static RangeOfResult range(const ValueRange& a, const ValueRange&);
};
struct Absolute {
    static constexpr OperatorInfo info{NodeKind::absolute, "abs", 0, "{0} < 0 ? -{0} : {0}",
                                       "abs(a)",           1,     1};
    static auto of(auto a, auto) { return a < 0 ? -a : a; }
    static I64 lane(I64 a, I64) { return a < 0 ? number(0 - bits(a)) : a; }
    static I64 failed(I64 a, I64, I64 value) { return a & value; }
    static RangeOfResult range(const ValueRange& a, const ValueRange&);
    static Operand same_as(const ValueRange& a, const ValueRange&) {
        return a.low >= 0 ? Operand(0) : std::nullopt;
    }
};

// Population count of the low 32 bits.
struct Population {
    static constexpr OperatorInfo info{
        NodeKind::population,
        "__popc",
        0,
        "static_cast<long long>(Bits32::population(static_cast<Index>({0})))",
        "__popc(a)",
        1,
        1};
    static I64 of(I64 a, I64) { return number(Bits32::population(bits(a))); }
    static RangeOfResult range(const ValueRange&, const ValueRange&);
};
struct LeadingZeros {
    static constexpr OperatorInfo info{
        NodeKind::leading_zeros,
        "__clz",
        0,
        "static_cast<long long>(Bits32::leading_zeros(static_cast<Index>({0})))",
        "__clz(a)",
        1,
        1};
    static I64 of(I64 a, I64) { return number(Bits32::leading_zeros(bits(a))); }
    static RangeOfResult range(const ValueRange&, const ValueRange&);
};
struct Reversed {
    static constexpr OperatorInfo info{
        NodeKind::reversed,
        "__brev",
        0,
        "static_cast<long long>(Bits32::reversed(static_cast<Index>({0})))",
        "__brev(a)",
        1,
        1};
    static I64 of(I64 a, I64) { return number(Bits32::reversed(bits(a))); }
    static RangeOfResult range(const ValueRange&, const ValueRange&);
};

// ---- arithmetic ----

struct Multiply {
    static constexpr OperatorInfo info{NodeKind::multiply, "*", 11};
    static auto of(auto a, auto b) { return a * b; }
    static I64 lane(I64 a, I64 b) { return number(bits(a) * bits(b)); }
    static I64 failed(I64 a, I64 b, I64) {
        I64 product = 0;
        return mask_of(__builtin_mul_overflow(a, b, &product));
    }
    static constexpr bool commutes = true;
    static std::optional<U64> step(const ValueRange&, const ValueRange& b);
};
struct Add {
    static constexpr OperatorInfo info{NodeKind::add, "+", 10};
    static constexpr Motion motion = Motion::linear;
    static auto of(auto a, auto b) { return a + b; }
    static I64 lane(I64 a, I64 b) { return number(bits(a) + bits(b)); }
    static I64 failed(I64 a, I64 b, I64 value) { return (a ^ value) & (b ^ value); }
};
struct Subtract {
    static constexpr OperatorInfo info{NodeKind::subtract, "-", 10};
    static constexpr Motion motion = Motion::linear;
    static auto of(auto a, auto b) { return a - b; }
    static I64 lane(I64 a, I64 b) { return number(bits(a) - bits(b)); }
    static I64 failed(I64 a, I64 b, I64 value) { return (a ^ b) & (a ^ value); }
};

// C's division, towards zero.
struct Division {
    static constexpr Fault fault(I64 a, I64 b) {
        if (b == 0) return Fault::division_by_zero;
        return a == lowest && b == -1 ? Fault::overflow : Fault::none;
    }
    // Divisors that would trap are replaced.
    static I64 divisor(I64 a, I64 b) { return b == 0 || (b == -1 && a == lowest) ? 1 : b; }
    // Both are from 0 to 2^32-1: processors divide 32 bits faster.
    static bool are_short(I64 a, I64 b) { return (bits(a) | bits(b)) >> 32 == 0; }
    static std::optional<U64> step(const ValueRange& a, const ValueRange& b);
};
struct Divide : Division {
    static constexpr OperatorInfo info{NodeKind::divide, "/", 11};
    static auto of(auto a, auto b) { return a / b; }
    static I64 lane(I64 a, I64 b) {
        b = divisor(a, b);
        return are_short(a, b) ? static_cast<U32>(a) / static_cast<U32>(b) : a / b;
    }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
};
struct Remainder : Division {
    static constexpr OperatorInfo info{NodeKind::remainder, "%", 11};
    static auto of(auto a, auto b) { return a % b; }
    static I64 lane(I64 a, I64 b) {
        b = divisor(a, b);
        return are_short(a, b) ? static_cast<U32>(a) % static_cast<U32>(b) : a % b;
    }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
    static Operand same_as(const ValueRange& a, const ValueRange& b) {
        return a.low >= 0 && b.low > a.high ? Operand(0) : std::nullopt;
    }
};

struct Shift {
    static constexpr Fault fault(I64, I64 b) {
        return b < 0 || b > 63 ? Fault::shift_count : Fault::none;
    }
};
struct ShiftLeft : Shift {
    // Unsigned: shifting a negative number was undefined before C++20.
    static constexpr OperatorInfo info{NodeKind::shift_left, "<<", 9,
                                       "static_cast<long long>(static_cast<Index>({0}) << {1})"};
    static auto of(auto a, auto b) { return a * (decltype(a){1} << b); }
    static I64 lane(I64 a, I64 b) { return number(bits(a) << (b & 63)); }
    static I64 failed(I64 a, I64 b, I64 value) {
        return mask_of(b < 0 || b > 63 || (value >> (b & 63)) != a);
    }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
    static std::optional<U64> step(const ValueRange&, const ValueRange& b);
};
struct ShiftRight : Shift {
    static constexpr OperatorInfo info{NodeKind::shift_right, ">>", 9};
    static auto of(auto a, auto b) { return a >> b; }
    static I64 lane(I64 a, I64 b) { return a >> (b & 63); }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
    static std::optional<U64> step(const ValueRange&, const ValueRange& b);
};

// ---- comparisons ----

struct Comparison {
    static constexpr Motion motion = Motion::together;
};
struct Less : Comparison {
    static constexpr OperatorInfo info{NodeKind::less, "<", 8};
    static auto of(auto a, auto b) { return a < b; }
};
struct LessEqual : Comparison {
    static constexpr OperatorInfo info{NodeKind::less_equal, "<=", 8};
    static auto of(auto a, auto b) { return a <= b; }
};
struct Greater : Comparison {
    static constexpr OperatorInfo info{NodeKind::greater, ">", 8};
    static auto of(auto a, auto b) { return a > b; }
};
struct GreaterEqual : Comparison {
    static constexpr OperatorInfo info{NodeKind::greater_equal, ">=", 8};
    static auto of(auto a, auto b) { return a >= b; }
};
struct Equal : Comparison {
    static constexpr OperatorInfo info{NodeKind::equal, "==", 7};
    static auto of(auto a, auto b) { return a == b; }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
};
struct NotEqual : Comparison {
    static constexpr OperatorInfo info{NodeKind::not_equal, "!=", 7};
    static auto of(auto a, auto b) { return a != b; }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
};

// ---- bits ----

struct Bitwise {
    static constexpr bool commutes = true;
    static std::optional<U64> step(const ValueRange& x, const ValueRange& mask);
};
struct BitAnd : Bitwise {
    static constexpr OperatorInfo info{NodeKind::bit_and, "&", 6};
    static auto of(auto a, auto b) { return a & b; }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
    static Operand same_as(const ValueRange& a, const ValueRange& b) {
        const bool is_ones = b.is_single() && (bits(b.low) & (bits(b.low) + 1)) == 0;
        return a.low >= 0 && is_ones && b.low >= a.high ? Operand(0) : std::nullopt;
    }
};
struct BitXor : Bitwise {
    static constexpr OperatorInfo info{NodeKind::bit_xor, "^", 5};
    static auto of(auto a, auto b) { return a ^ b; }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
};
struct BitOr : Bitwise {
    static constexpr OperatorInfo info{NodeKind::bit_or, "|", 4};
    static auto of(auto a, auto b) { return a | b; }
    static RangeOfResult range(const ValueRange& a, const ValueRange& b);
};

// ---- functions of two and three ----

struct Minimum {
    static constexpr OperatorInfo info{NodeKind::minimum, "min", 0, "{0} < {1} ? {0} : {1}",
                                       "min(a, b)",       2,     16};
    static constexpr Motion motion = Motion::together;
    static auto of(auto a, auto b) { return a < b ? a : b; }
    static Operand same_as(const ValueRange& a, const ValueRange& b) {
        if (a.high <= b.low) return 0;
        return b.high <= a.low ? Operand(1) : std::nullopt;
    }
};
struct Maximum {
    static constexpr OperatorInfo info{NodeKind::maximum, "max", 0, "{0} > {1} ? {0} : {1}",
                                       "max(a, b)",       2,     16};
    static constexpr Motion motion = Motion::together;
    static auto of(auto a, auto b) { return a > b ? a : b; }
    static Operand same_as(const ValueRange& a, const ValueRange& b) {
        if (b.high <= a.low) return 0;
        return a.high <= b.low ? Operand(1) : std::nullopt;
    }
};

// hash(x, buckets, seed): the bucket that pattern `scatter` gives index x.
struct Hash {
    static constexpr OperatorInfo info{
        NodeKind::hash,
        "hash",
        0,
        "static_cast<long long>(Scatter{{static_cast<Index>({1}), static_cast<Index>({2})}}"
        "(static_cast<Index>({0})))",
        "hash(x, buckets) or hash(x, buckets, seed)",
        2,
        3};
    static I64 of(I64 x, I64 buckets, I64 seed) {
        return number(Scatter{bits(buckets), bits(seed)}(bits(x)));
    }
    static I64 lane(I64 x, I64 buckets, I64 seed) { return of(x, buckets < 1 ? 1 : buckets, seed); }
    static constexpr Fault fault(I64, I64 buckets) {
        return buckets < 1 ? Fault::bucket_count : Fault::none;
    }
    static RangeOfResult range(const ValueRange&, const ValueRange& buckets);
};

// ---- operators that evaluate their second operand only where the first one leaves it open ----

struct LogicalAnd {
    static constexpr OperatorInfo info{NodeKind::logical_and, "&&", 3};
};
struct LogicalOr {
    static constexpr OperatorInfo info{NodeKind::logical_or, "||", 2};
};

template <typename... Operator>
struct List {};
// Operators that evaluate all their operands.
using Strict =
    List<Negate, Complement, LogicalNot, Absolute, Population, LeadingZeros, Reversed, Multiply,
         Add, Subtract, Divide, Remainder, ShiftLeft, ShiftRight, Less, LessEqual, Greater,
         GreaterEqual, Equal, NotEqual, BitAnd, BitXor, BitOr, Minimum, Maximum, Hash>;

}  // namespace operators

template <typename Operator>
inline constexpr bool can_overflow = requires(std::int64_t value) {
    Operator::failed(value, value, value);
};

// All operators and functions but ?:, which has three operands.
inline constexpr auto operator_table = []<typename... Operator>(operators::List<Operator...>) {
    return std::array{Operator::info..., operators::LogicalAnd::info, operators::LogicalOr::info};
}(operators::Strict{});

// visit(Operator{}), of a strict operator.
template <typename Visit>
auto visit_operator(NodeKind kind, Visit visit) {
    decltype(visit(operators::Add{})) result{};
    [&]<typename... Operator>(operators::List<Operator...>) {
        static_cast<void>(
            ((kind == Operator::info.kind && (result = visit(Operator{}), true)) || ...));
    }(operators::Strict{});
    return result;
}

}  // namespace coalprof
