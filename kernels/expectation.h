// The host reference: the content of an array after a program has run, computed on the CPU from the
// program alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/pattern/program.h"
#include "kernels/program_shape.h"
#include "kernels/source/arguments.h"

namespace coalprof {

struct WrongElement {
    std::uint64_t element = 0;
    std::string expected;  // hexadecimal, in memory words
    std::string found;
};

// The values of one array, addressed by element.
struct ArrayState {
    std::size_t array = 0;
    Operand operand;
    // Sum of the increments that all launches so far asked each atomic to add.
    std::int64_t added = 0;
    bool has_run = false;  // at least once
};

// The first wrong element of `found` (the whole array): stored values where the program stores, the
// start value everywhere else.
std::optional<WrongElement> find_wrong_element(const Program& program, const ProgramShape& shape,
                                               const ArrayState& state,
                                               std::span<const std::byte> found);

// The expected value of `element`; `hits` is how many instructions of one launch change it.
std::string expected_text(const Program& program, const ProgramShape& shape,
                          const ArrayState& state, std::uint64_t element, std::uint64_t hits);
std::string hexadecimal(std::span<const std::byte> element);

}  // namespace coalprof
