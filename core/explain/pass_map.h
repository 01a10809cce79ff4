// The map of an access to shared or constant memory: a row for each pass with the lanes that it
// serves; for shared memory also a character for each of the 32 banks.
#pragma once

#include <span>
#include <vector>

#include "core/explain/line_map.h"
#include "core/explain/near_memory.h"
#include "core/explain/styled_text.h"

namespace coalprof {

// A heading and the rows; where they are many, those in the middle are folded.
std::vector<StyledLine> bank_rows(std::span<const NearPass> passes, const MapStyle& style);
std::vector<StyledLine> constant_rows(std::span<const NearPass> passes, const MapStyle& style);
// The meaning of the characters of bank_rows().
StyledLine bank_legend(std::span<const NearPass> passes, bool ascii);

}  // namespace coalprof
