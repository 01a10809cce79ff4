// The values of a formula's names in one launch: its shape and the values of the parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/formula/tree.h"
#include "core/pattern/dimensions.h"

namespace coalprof {

// The content of an array whose values make indices.
struct LookupTable {
    std::string name;
    std::shared_ptr<const std::vector<std::int64_t>> values;  // at least one
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    friend bool operator==(const LookupTable&, const LookupTable&) = default;
    bool holds(std::int64_t index) const {
        return index >= 0 && static_cast<std::uint64_t>(index) < values->size();
    }
};

struct Scope {
    std::uint64_t threads = 1;         // n: logical indices 0 .. threads-1
    std::uint32_t block = 1;           // bdim: threads of a block
    Dimensions block_shape = {};       // bdim.x, .y, .z: their product is `block`
    Dimensions grid_shape = {};        // gdim.x, .y, .z: no fewer than blocks()
    std::vector<std::int64_t> values;  // values of the parameters in the formula's order
    std::vector<LookupTable> tables = {};

    friend bool operator==(const Scope&, const Scope&) = default;
    std::uint64_t blocks() const { return (threads - 1) / block + 1; }
};

// A variable's value in a launch: counter / divisor % modulus, where one of the launch's counters
// moves from thread to thread; or a number that is the same in all of them.
struct VariablePart {
    enum class Counter : std::uint8_t { none, thread, thread_in_block, block };
    Counter counter = Counter::none;
    std::uint64_t number = 0;  // the value where there is no counter
    std::uint64_t divisor = 1;
    std::optional<std::uint64_t> modulus = std::nullopt;

    // Its value in a thread, by that thread's counters.
    std::int64_t value_at(std::uint64_t thread, std::uint64_t in_block, std::uint64_t block) const;
};
VariablePart part_of(Variable variable, const Scope& scope);

// Its value in one thread (any thread for a uniform one).
std::int64_t value_of(Variable variable, const Scope& scope, std::uint64_t thread);

// Its lowest and highest value in the launch.
struct ValueRange {
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool is_single() const { return low == high; }
    friend bool operator==(const ValueRange&, const ValueRange&) = default;
};
ValueRange range_of(Variable variable, const Scope& scope);

}  // namespace coalprof
