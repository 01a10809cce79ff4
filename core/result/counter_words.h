// What people call counters, where these are asked for by key.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// Beside "unknown counter 'time'": which key that is, or where the keys are listed.
std::string hint_for_counter(std::string_view word);

}  // namespace coalprof
