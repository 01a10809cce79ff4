// The reasons why a formula touches memory as it does, part by part: which term moves from lane to
// lane, by how many bytes, and where the warp starts. For `coalprof explain`, beside the drawing of
// the warp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/formula/user_formula.h"

namespace coalprof {

// Sentences about the warp whose lane 0 is `first_thread` and which has `lanes` lanes; elements are
// `width_bytes` wide. The launch was checked. At least one sentence.
std::vector<std::string> formula_notes(const UserFormula& formula, std::uint32_t width_bytes,
                                       std::uint64_t first_thread, std::uint32_t lanes);

}  // namespace coalprof
