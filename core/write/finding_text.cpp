#include "core/write/finding_text.h"

#include <fmt/format.h>

#include "core/text/shell_quote.h"
#include "core/write/number_text.h"

namespace coalprof {

std::string finding_text(const LineFinding& finding, bool is_ascii) {
    std::string text = fmt::format("{}: {} Fix: {}", finding.point, finding.text, finding.fix);
    if (finding.saves_seconds) {
        const NumberStyle style =
            scale_for(Unit::second, *finding.saves_seconds, is_ascii ? "us" : "µs");
        text += fmt::format(" Saves about {} {}", number_text(*finding.saves_seconds, style),
                            style.unit);
        if (const auto& interval = finding.saves_interval_seconds)
            text += fmt::format(" ({} to {})", number_text(interval->front(), style),
                                number_text(interval->back(), style));
        text += '.';
    }
    if (!finding.like.empty())
        text += fmt::format(" See coalprof explain {}.", shell_words(finding.like));
    return text;
}

}  // namespace coalprof
