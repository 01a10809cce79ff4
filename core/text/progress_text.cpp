#include "core/text/progress_text.h"

#include <fmt/format.h>

#include <cmath>

namespace coalprof {
namespace {

// "5 s", "3 min", "2 h": nobody plans by less than that.
std::string rounded_time(double seconds) {
    if (seconds < 99.5) return fmt::format("{:.0f} s", std::ceil(seconds));
    if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.0f} h", seconds / 3600);
}

// Three digits: 0.0213, 4.15, 1230
std::string rate_text(double rate) {
    return rate < 1000 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

}  // namespace

std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> all, double seconds) {
    std::string text = all ? fmt::format("{} of {} points", done, *all)
                           : fmt::format("{} point{}", done, done == 1 ? "" : "s");
    if (done == 0 || !(seconds > 0)) return text + fmt::format(", {}", rounded_time(seconds));
    const double rate = static_cast<double>(done) / seconds;
    text += fmt::format(", {} a second", rate_text(rate));
    if (all && *all > done)
        text += fmt::format(", {} left", rounded_time(static_cast<double>(*all - done) / rate));
    return text;
}

}  // namespace coalprof
