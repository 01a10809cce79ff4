// The words of the formula language, each once, and the errors for other words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/formula/operators.h"
#include "core/formula/tree.h"

namespace coalprof {

// `tid`, also in CUDA's spelling: `threadIdx.x`.
std::optional<Variable> find_variable(std::string_view name);

// Null: there is no such function.
const OperatorInfo* find_function(std::string_view name);

std::optional<AccessKind> find_access_kind(std::string_view name);

// The reason why `name` cannot name a parameter, a definition or an array; empty: it can.
std::string reason_against_name(std::string_view name);

// Hints for unknown words: the closest known one, or its replacement.
std::string hint_for_name(std::string_view name, std::span<const std::string> own_names);
std::string hint_for_function(std::string_view name);
std::string hint_for_prefix(std::string_view name);
// For a division as Python writes it; empty where the text has no "//".
std::string hint_for_slashes(std::string_view text);
// True for a comment that may divide what is before it: "// 2", "// n", "//4".
bool is_divisor(std::string_view comment);

}  // namespace coalprof
