#include "core/text/number.h"

#include "core/text/describe.h"
#include "core/text/option_text.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

std::string bounds(std::uint64_t least, std::uint64_t most) {
    if (most == largest_integer) return fmt::format("an integer from {} up", least);
    return fmt::format("an integer from {} to {}", least, most);
}

}  // namespace

std::uint64_t parse_integer(std::string_view text, std::string_view option, std::uint64_t least,
                            std::uint64_t most) {
    const OptionText value{option, text, ""};
    const ReadNumber number = read_integer(text);
    if (number.length < text.size() || text.empty())
        value.refuse(number.length, fmt::format("expected {}", bounds(least, most)));
    if (number.status == NumberStatus::too_large && most == largest_integer)
        value.refuse(0, fmt::format("the largest integer is {}", largest_integer));
    if (number.status == NumberStatus::too_large || number.value < least || number.value > most)
        value.refuse(0, fmt::format("expected {}", bounds(least, most)));
    return number.value;
}

}  // namespace coalprof
