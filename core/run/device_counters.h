// From a GPU's readings to a point's counters: selects those of the point and subtracts those that
// a kernel has without its accesses.
#pragma once

#include <vector>

#include "core/pattern/access_set.h"
#include "core/result/reading.h"

namespace coalprof {

// Points of a sweep that take different paths are asked for the counters of all: those of loads
// that it does not make are not a launch's own.
bool concerns(Counter counter, AccessSet accesses);

// Copies to `into` those counters of `from` that concern a launch with these accesses.
void merge(const Readings& from, AccessSet accesses, Readings& into);

// Marks those of `wanted` that concern a launch and are absent.
void set_missing(const std::vector<Counter>& wanted, AccessSet accesses, std::string_view reason,
                 Readings& measured);

// Constant memory also holds the parameters of kernels: loads of them must be subtracted.
bool counts_constants(AccessSet accesses, const std::vector<Counter>& wanted);

// Subtracts the counts of the kernel that jumps over its accesses to constant memory.
void take_off_constants(const Readings& without, Readings& measured);

}  // namespace coalprof
