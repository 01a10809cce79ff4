// What people call counters, where these are asked for by key.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// "unknown --best 'time'", with the nearest key. `what`: where it was asked for.
std::string unknown_counter(std::string_view what, std::string_view word);
// Beside "unknown counter 'time'": which key that is, or where the keys are listed.
std::string hint_for_counter(std::string_view word);

}  // namespace coalprof
