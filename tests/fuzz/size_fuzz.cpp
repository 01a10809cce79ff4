// parse_size_bytes(): refused with a printable error, or as many bytes as a plain reading of the
// text has; and what that understands is not refused.
#include <array>
#include <optional>
#include <utility>

#include "core/text/number.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;

__extension__ using Wide = unsigned __int128;

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 11> units{{
    {"", 1},
    {"B", 1},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", 1073741824},
    {"TiB", 1099511627776},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
}};

std::string_view digits_at_front(std::string_view text) {
    return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

// Of what is written as DIGITS, DIGITS UNIT or DIGITS.DIGITS UNIT with few enough digits. 0 bytes
// and more than 64 bits count are refused.
std::optional<std::uint64_t> plain_size(std::string_view text) {
    std::string_view whole = digits_at_front(text);
    text.remove_prefix(whole.size());
    std::string digits(whole);
    std::size_t places = 0;
    if (text.starts_with('.')) {
        const std::string_view fraction = digits_at_front(text.substr(1));
        places = fraction.size();
        if (places == 0) return std::nullopt;
        digits += fraction;
        text.remove_prefix(1 + places);
    }
    if (whole.empty() || digits.size() > 20) return std::nullopt;
    Wide bytes = 0;
    for (const char digit : digits) bytes = bytes * 10 + static_cast<unsigned>(digit - '0');
    for (const auto& [name, unit] : units) {
        if (name != text) continue;
        bytes *= unit;
        for (; places > 0; --places) {
            if (bytes % 10 != 0) return std::nullopt;
            bytes /= 10;
        }
        if (bytes == 0 || bytes > ~std::uint64_t{0}) return std::nullopt;
        return static_cast<std::uint64_t>(bytes);
    }
    return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const auto plain = plain_size(text);
    try {
        const std::uint64_t bytes = parse_size_bytes(text, "--size");
        fuzz::claim(bytes >= 1, "a size is at least 1 byte");
        fuzz::claim(!plain || bytes == *plain, "the number that the text says");
        fuzz::claim(plain || text.size() > 20, "what is no size is refused");
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
        fuzz::claim(!plain, "a size is not refused");
    }
    return 0;
}
