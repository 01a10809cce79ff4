// One instruction of a warp in the memories of the multiprocessor: the lanes of each pass through
// the banks of shared memory or through the constant cache, and the places of the words of local
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/access/warp_access.h"
#include "core/count/shared_memory.h"
#include "core/explain/reasons.h"
#include "core/explain/shape.h"
#include "core/machine/rules.h"

namespace coalprof {

struct NearPass {
    std::uint32_t lanes = 0;    // served
    std::uint32_t banks = 0;    // shared memory: banks that give a word; bit n is bank n
    std::uint64_t address = 0;  // constant memory: the address that is served
    std::array<std::uint32_t, 32> lanes_of_bank{};  // shared memory: lanes that want its word
};

// A bank of shared memory. The order in which its words are served is not known; here it is lane
// order, and their number is the model's.
struct BankUse {
    SharedCounts counts;
    std::uint32_t group_lanes = warp_lanes;  // lanes that go through together
    std::uint32_t most_words = 0;            // most words that a group takes from one bank
    std::vector<NearPass> passes;
};
// `access` is a load or store on a machine with 32 banks that serve any lanes wanting the same word
// together (compute capability 5.0 on).
BankUse bank_use_of(const WarpAccess& access, const Rules& rules);

// Passes through the constant cache: one for each address, in lane order, and again for each
// instruction that a wide element takes.
std::vector<NearPass> constant_passes_of(const WarpAccess& access, const Rules& rules);

// The lines that an access to local memory touches in the memory of the warp, where the same word
// of all lanes is one line.
std::vector<TouchedLine> local_lines_of(const WarpAccess& access, const Rules& rules);

Reasons shared_reasons_of(const WarpShape& shape, const BankUse& use);
// For atomics and reductions, whose passes through the banks are not known.
Reasons shared_atomic_reasons_of(const WarpShape& shape);
// `instructions`: how many a lane's element takes.
Reasons constant_reasons_of(const WarpShape& shape, std::size_t passes, std::size_t instructions);
// `shape` is that of the lanes' own addresses, `lines` are in the interleaved memory.
Reasons local_reasons_of(const WarpShape& shape, std::span<const TouchedLine> lines);

// The fewest sectors for this number of lanes and this width: all at the same place of their
// arrays.
std::uint32_t ideal_local_sectors(const WarpShape& shape);
std::uint32_t sectors_in(std::span<const TouchedLine> lines);

}  // namespace coalprof
