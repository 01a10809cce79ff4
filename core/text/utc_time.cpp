#include "core/text/utc_time.h"

#include <ctime>

namespace coalprof {

std::optional<std::int64_t> seconds_since_1970(const std::string& utc) {
    std::tm parts{};
    const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end != '\0') return std::nullopt;
    return ::timegm(&parts);
}

}  // namespace coalprof
