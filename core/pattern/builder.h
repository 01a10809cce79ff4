// Code shared by patterns that make a program: sizes checked for overflow, and the instructions
// that an op makes of one patterned access.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pattern/plan.h"

namespace coalprof {

// Throws UsageError that `what`, a quantity, is larger than 2^64 bytes.
[[noreturn]] void refuse_overflow(const char* what);
// Throws it where the product is.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, const char* what);

// The number of elements of the plan's type in --size; at least 1.
std::uint64_t element_count(const Plan& plan);

// A parameter in bytes as a count of elements; throws UsageError where it is no positive multiple.
std::uint64_t elements_in(const Plan& plan, std::uint64_t bytes, std::string_view what);

// The instructions that an op makes of one access: those on its array, then what comes beside.
struct OpParts {
    std::vector<AccessKind> patterned;
    bool second_load = false;  // a second array is loaded at the same place
    bool contiguous_store = false;
};
const OpParts& parts_of(Op op);

}  // namespace coalprof
