// Times as results write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace coalprof {

// Of "2026-11-22T19:22:40Z" the seconds since 1970; none of any other text.
std::optional<std::int64_t> seconds_since_1970(const std::string& utc);

}  // namespace coalprof
