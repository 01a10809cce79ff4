// The reasons for the cost of a warp's access, and a fix, in words. Every sentence follows from the
// shape of the access and the counts of the model; none is chosen by a pattern's name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/count/coalescer.h"
#include "core/explain/shape.h"

namespace coalprof {

// The cause of the number of sectors.
enum class Cause : std::uint8_t {
    no_lanes,         // none is active
    one_sector,       // all lanes are in one
    contiguous,       // one stretch of memory in the fewest sectors that can hold it
    misaligned,       // one stretch that begins inside a sector and takes one sector more for it
    full_sectors,     // several stretches, every sector used in full
    few_sectors,      // no more sectors than as many lanes side by side would need
    strided,          // places at one distance from each other
    pieces,           // several stretches whose ends fall inside sectors
    scattered,        // places at no fixed distance
    same_word,        // atomics: lanes that update one place wait for each other
    word_bank,        // atomics: lanes of different lines wait for each other
    unknown_packets,  // atomics whose packets are not known
    // For shared, constant and local memory (near_memory.h).
    not_documented,     // shared: atomics
    no_conflict,        // shared: no bank is asked for two words
    bank_conflict,      // shared: one is
    one_address,        // constant: all lanes want it
    several_addresses,  // constant: one pass for each
    interleaved,        // local: as few sectors as can be
    own_indices,        // local: lanes at different indices
};
std::string_view name_of(Cause cause);  // "misaligned", as in JSON

// The purpose of the touched places. Loads and stores that touch the same places share a text.
enum class Purpose : std::uint8_t { load, store, load_and_store, atomic };

struct Reasons {
    Cause cause = Cause::no_lanes;
    std::string why;   // one sentence or two
    std::string mend;  // one sentence
};

// "The 32 lanes", "The one active lane"
std::string lanes_text(const WarpShape& shape);
// The reasons of an access that has no active lane.
Reasons reasons_of_no_lanes();

// `counts` are the model's for this access, or for its first instruction where several share it.
Reasons reasons_of(const WarpShape& shape, Purpose purpose, const GlobalCounts& counts);

}  // namespace coalprof
