// What each operator of a formula does with 64-bit signed integers, and when it fails: C's
// semantics (division towards zero, arithmetic >>) with every overflow seen. The one home of these
// rules; the vectorised kernels and the emitted source are tested against it.
#pragma once

#include <cstdint>
#include <limits>

#include "core/formula/tree.h"
#include "core/pattern/formulas.h"

namespace coalprof {

enum class Fault : std::uint8_t {
    none,
    overflow,          // the result does not fit 64 signed bits
    division_by_zero,  // of / and %
    shift_count,       // not 0 to 63
    bucket_count,      // hash(x, buckets) with fewer than one bucket
    negative_index,
    index_too_large,
};

// hash(x, buckets, seed): the bucket that pattern `scatter` gives index x; buckets >= 1.
inline std::int64_t hashed(std::int64_t x, std::int64_t buckets, std::int64_t seed) {
    const Scatter scatter{static_cast<Index>(buckets), static_cast<Index>(seed)};
    return static_cast<std::int64_t>(scatter(static_cast<Index>(x)));
}

// One strict operator on its operands (not literal, parameter, variable; not a lazy one). Where it
// fails, `result` is not set.
inline Fault apply(NodeKind kind, std::int64_t a, std::int64_t b, std::int64_t c,
                   std::int64_t& result) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    const auto seen = [](bool overflow) { return overflow ? Fault::overflow : Fault::none; };
    switch (kind) {
        case NodeKind::negate:
            return seen(__builtin_sub_overflow(std::int64_t{0}, a, &result));
        case NodeKind::complement:
            result = ~a;
            return Fault::none;
        case NodeKind::logical_not:
            result = a == 0;
            return Fault::none;
        case NodeKind::absolute:
            if (a == lowest) return Fault::overflow;
            result = a < 0 ? -a : a;
            return Fault::none;
        case NodeKind::multiply:
            return seen(__builtin_mul_overflow(a, b, &result));
        case NodeKind::divide:
        case NodeKind::remainder:
            if (b == 0) return Fault::division_by_zero;
            if (a == lowest && b == -1) return Fault::overflow;
            result = kind == NodeKind::divide ? a / b : a % b;
            return Fault::none;
        case NodeKind::add:
            return seen(__builtin_add_overflow(a, b, &result));
        case NodeKind::subtract:
            return seen(__builtin_sub_overflow(a, b, &result));
        case NodeKind::shift_left: {
            if (b < 0 || b > 63) return Fault::shift_count;
            const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
            if ((shifted >> b) != a) return Fault::overflow;
            result = shifted;
            return Fault::none;
        }
        case NodeKind::shift_right:
            if (b < 0 || b > 63) return Fault::shift_count;
            result = a >> b;
            return Fault::none;
        case NodeKind::less:
            result = a < b;
            return Fault::none;
        case NodeKind::less_equal:
            result = a <= b;
            return Fault::none;
        case NodeKind::greater:
            result = a > b;
            return Fault::none;
        case NodeKind::greater_equal:
            result = a >= b;
            return Fault::none;
        case NodeKind::equal:
            result = a == b;
            return Fault::none;
        case NodeKind::not_equal:
            result = a != b;
            return Fault::none;
        case NodeKind::bit_and:
            result = a & b;
            return Fault::none;
        case NodeKind::bit_xor:
            result = a ^ b;
            return Fault::none;
        case NodeKind::bit_or:
            result = a | b;
            return Fault::none;
        case NodeKind::minimum:
            result = a < b ? a : b;
            return Fault::none;
        case NodeKind::maximum:
            result = a > b ? a : b;
            return Fault::none;
        case NodeKind::hash:
            if (b < 1) return Fault::bucket_count;
            result = hashed(a, b, c);
            return Fault::none;
        case NodeKind::literal:
        case NodeKind::parameter:
        case NodeKind::variable:
        case NodeKind::logical_and:
        case NodeKind::logical_or:
        case NodeKind::conditional:
            break;
    }
    result = 0;  // not reached: the callers handle leaves and lazy operators
    return Fault::none;
}

}  // namespace coalprof
