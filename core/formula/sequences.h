// Repetition of values from thread to thread: from the sequences of the operands to the sequence of
// the result.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

#include "core/formula/facts.h"

namespace coalprof {

// The sequence of a variable; none where it repeats only after `most_threads`.
std::optional<Sequence> sequence_of(Variable variable, const Scope& scope);

// The sequence of an operator on operands with these facts. None where no repetition within
// `most_threads` can be proven.
std::optional<Sequence> sequence_of_result(NodeKind kind,
                                           const std::array<const NodeFacts*, 3>& operands,
                                           std::uint64_t most_threads);

// The least common multiple; none above `most`.
inline std::optional<std::uint64_t> common_multiple(std::uint64_t a, std::uint64_t b,
                                                    std::uint64_t most) {
    std::uint64_t multiple = 0;
    if (__builtin_mul_overflow(a / std::gcd(a, b), b, &multiple) || multiple > most)
        return std::nullopt;
    return multiple;
}

}  // namespace coalprof
