// Code shared by patterns that make a program: sizes checked for overflow, and the instructions
// that an op makes of one patterned access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/pattern/plan.h"

namespace coalprof {

// Throws UsageError where the product does not fit; `what` names the quantity.
std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, const char* what);
std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b, const char* what);

// The number of elements of the plan's type in --size; at least 1.
std::uint64_t element_count(const Plan& plan);

// A parameter in bytes as a count of elements; throws UsageError where it is no positive multiple.
std::uint64_t elements_in(const Plan& plan, std::uint64_t bytes, const char* what);

// The access that a pattern describes, before an op makes instructions of it.
struct PatternedAccess {
    Formula formula = Offset{};
    std::uint64_t elements = 0;        // extent of the array
    std::uint64_t threads = 0;         // logical indices
    std::uint64_t active_threads = 0;  // not idle
    Formula contiguous = Offset{};     // of the second array of copy and add
    // A table of pointers that is read first; it leads to the element.
    std::optional<Formula> table = std::nullopt;
    std::uint64_t table_elements = 0;
    // Memories other than global take load, store and rmw; constant memory only load.
    Space space = Space::global;
};

// The instructions that an op makes of one access: those on its array, then what comes beside.
struct OpParts {
    std::vector<AccessKind> patterned;
    bool second_load = false;  // at the same place of a second array
    bool contiguous_store = false;
};
const OpParts& parts_of(Op op);

// The plan's op on that access: load, store, rmw, copy, add, atomic or reduce.
Program program_of(const Plan& plan, const PatternedAccess& access);

}  // namespace coalprof
