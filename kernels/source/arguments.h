// The arguments of a kernel, byte for byte the same on host and GPU. Plain C++ without any header
// of the standard library: NVRTC reads it as it stands.
#pragma once

#include "core/pattern/formulas.h"

namespace coalprof {

using Word = unsigned int;  // 32 bits both on the host and in CUDA

// The array of one instruction. Each instruction has a separate operand, even where two name the
// same array: with one base address, ptxas would see that two loads meet and drop the second.
struct Operand {
    Index base = 0;       // address of element 0; shared memory: offset into the block's
    Index rows_base = 0;  // tables only: address of row 0 of the array whose rows it lists
    Index row_bytes = 0;  // tables only: from one of those rows to the next
    Word seed = 0;        // seed of the array's values
    Word elements = 0;    // shared and local memory only: number of elements
    Index texture = 0;    // the texture object over the array, for loads through one
};

// Arguments for the launch as a whole.
struct LaunchArgument {
    Index threads = 0;          // logical indices 0 .. threads-1
    Index fault = 0;            // address of a WrongResult
    Index bound = 0;            // the most that atomics of one launch add to one element
    Index increment = 0;        // what integer atomics add (modulo 2^32 or 2^64)
    double real_increment = 0;  // what floating-point atomics add
    Index nothing = 0;          // always 0, which the compiler cannot know
    // For programs of memories other than global: the bits of loaded values that are checked, and
    // how often constant memory is read: once, or never, to count the kernel's other loads.
    Word checked_bits = 0;
    Word rounds = 1;
};

// Written by a thread that loaded another value than the array's.
struct WrongResult {
    Index thread_plus_one = 0;  // logical index of the thread's first element; 0: no fault
    Index differing_bits = 0;
};

// For a block that reads clocks: cycles of its multiprocessor.
struct ClockRecord {
    Index begin = 0;
    Index end = 0;
    Index nanoseconds = 0;  // time between them, if asked for
    Index multiprocessor = 0;
};

// One warp instruction with its addresses (`coalprof warps`).
struct WarpArgument {
    Index address[32] = {};  // true addresses; for shared memory offsets into the block's
    Word active_lanes = 0;
    Word value = 0;    // written by a store, added by an atomic
    Word nothing = 0;  // always 0, which the compiler cannot know
    Word unused = 0;
    Index sink = 0;  // never written; gives loaded values somewhere to go
};

}  // namespace coalprof
