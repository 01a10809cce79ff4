#include "core/write/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/number_text.h"

namespace coalprof {

namespace {

// "k.cu:12 ld.global.f32 A, also ld.global.f32 B, k.cu:13 and 2 more"
std::string places_of(const LineFinding& finding) {
    const auto place_of = [](const std::string& point) { return point.substr(0, point.find(' ')); };
    std::vector<std::string> seen;
    NameList others(3);
    for (const std::string& other : finding.others) {
        const std::string place = place_of(other);
        const bool is_here = place == place_of(finding.point) && other.size() > place.size();
        std::string name = is_here ? other.substr(place.size() + 1) : place;
        if (std::ranges::find(seen, name) != seen.end()) continue;
        others.add(name);
        seen.push_back(std::move(name));
    }
    return finding.point + (finding.others.empty() ? "" : ", also " + others.text());
}

}  // namespace

std::string finding_command(const LineFinding& finding) {
    return finding.like.empty() ? std::string() : "coalprof explain " + shell_words(finding.like);
}

std::string saving_text(const LineFinding& finding, bool is_ascii) {
    if (finding.saves_seconds.value_or(0) <= 0) return {};
    const NumberStyle style = estimate_style(
        scale_for(Unit::second, finding.kernel_seconds.value_or(*finding.saves_seconds),
                  is_ascii ? "us" : "µs"));
    std::string text = fmt::format("about {}", number_text(*finding.saves_seconds, style));
    if (finding.kernel_seconds)
        text += fmt::format(" of {}", number_text(*finding.kernel_seconds, style));
    text += fmt::format(" {}", style.unit);
    if (finding.kernel_seconds) text += " of this kernel";
    if (finding.launches && *finding.launches != 1)
        text += fmt::format(" over {} launches", *finding.launches);
    // The kernel may take longer than predicted; then more than the shown whole is saved.
    if (const auto& interval = finding.saves_interval_seconds)
        text += fmt::format(
            " ({} to {})", number_text(interval->front(), style),
            number_text(std::min(interval->back(), finding.kernel_seconds.value_or(HUGE_VAL)),
                        style));
    return text + '.';
}

std::string finding_text(const LineFinding& finding, bool is_ascii) {
    const std::string saving = saving_text(finding, is_ascii);
    return fmt::format("{}: {} Fix: {}{}{}", places_of(finding), finding.text, finding.fix,
                       saving.empty() ? "" : " Saves ", saving);
}

}  // namespace coalprof
