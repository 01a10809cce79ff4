#include "core/text/option_text.h"

#include <string>

#include "core/text/describe.h"
#include "fmt/format.h"

namespace coalprof {

void OptionText::refuse(std::size_t caret, std::string_view why) const { refuse(caret, why, hint); }

void OptionText::refuse(std::size_t caret, std::string_view why,
                        std::string_view other_hint) const {
    const bool joined = text.empty() || option.ends_with('=');
    throw UsageError(fmt::format("{}{}{}: {}", option, joined ? "" : " ", shown(text), why),
                     std::string(text), caret, std::string(other_hint));
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace coalprof
