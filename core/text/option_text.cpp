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

}  // namespace coalprof
