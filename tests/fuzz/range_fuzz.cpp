// parse_range(): refused with a printable error, or the values that a plain reading of the text
// walks through, in their order; and what that understands is not refused.
#include <algorithm>
#include <charconv>
#include <optional>

#include "core/text/range.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;

// Long ranges cost time and show nothing that shorter ones do not.
constexpr std::uint64_t most_values = 1000;

void claim_count(const Range& range) {
    fuzz::claim(range.count() >= 1 && range.count() <= most_range_points, "1 to 100000 points");
}

__extension__ using Wide = __int128;

// A number of one end of a range, or a step: a sign where `signs` allows it, and digits.
std::optional<Wide> plain_number(std::string_view text, bool signs) {
    const bool is_negative = signs && text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    const Wide number = is_negative ? -Wide{value} : Wide{value};
    if (signs && number != static_cast<std::int64_t>(number)) return std::nullopt;
    return number;
}

// Adds the values of "7", "0..32", "0..128:4" or "1..1024*2"; false where it is none of these, or
// where there are too many to walk through.
bool add_piece(std::string_view piece, bool signs, std::vector<Wide>& values) {
    const std::size_t dots = piece.find("..");
    const auto first = plain_number(piece.substr(0, dots), signs);
    if (!first) return false;
    if (dots == piece.npos) {
        values.push_back(*first);
        return true;
    }
    const std::string_view rest = piece.substr(dots + 2);
    const std::size_t mark = rest.find_first_of(":*");
    const bool is_factor = mark != rest.npos && rest[mark] == '*';
    const auto last = plain_number(rest.substr(0, mark), signs);
    const auto by = mark == rest.npos ? Wide{1} : plain_number(rest.substr(mark + 1), false);
    if (!last || !by || *last < *first) return false;
    if (is_factor ? *by < 2 || *first < 1 : *by < 1) return false;
    for (Wide value = *first; value <= *last; value = is_factor ? value * *by : value + *by) {
        values.push_back(value);
        if (values.size() > most_values) return false;
        if (is_factor && value > *last / *by) break;  // the product could be beyond 128 bits
    }
    return true;
}

// Each value once, where it came first.
std::optional<std::vector<Wide>> plain_values(std::string_view text, bool signs) {
    std::vector<Wide> all;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t comma = std::min(text.find(',', begin), text.size());
        if (!add_piece(text.substr(begin, comma - begin), signs, all)) return std::nullopt;
        begin = comma + 1;
    }
    std::vector<Wide> values;
    for (const Wide value : all)
        if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    return values;
}

template <typename Value>
void claim_values(const Range& range, const std::vector<Value>& values, std::string_view text,
                  bool signs) {
    const bool is_one_piece = text.find(',') == std::string_view::npos;
    fuzz::claim(is_one_piece ? values.size() == range.count() : values.size() <= range.count(),
                "the count is the number of values");
    const auto plain = plain_values(text, signs);
    if (!plain) return;
    fuzz::claim(std::equal(values.begin(), values.end(), plain->begin(), plain->end()),
                "the values that the text says");
}

// Without signs both readers say the same.
void claim_signed(std::string_view text) {
    try {
        const Range range = parse_signed_range(text, "--var k=");
        claim_count(range);
        if (range.count() > most_values) return;
        const std::vector<std::int64_t> values = range.signed_values();
        claim_values(range, values, text, true);
        if (text.find('-') != std::string_view::npos) return;
        const std::vector<std::uint64_t> same = parse_range(text, "--range").values();
        fuzz::claim(std::equal(values.begin(), values.end(), same.begin(), same.end(),
                               [](std::int64_t a, std::uint64_t b) {
                                   return a == static_cast<std::int64_t>(b);
                               }),
                    "values without a sign");
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
        fuzz::claim(!plain_values(text, true), "a signed range is not refused");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    claim_signed(text);
    try {
        const Range range = parse_range(text, "--range");
        claim_count(range);
        if (range.count() > most_values) return 0;
        claim_values(range, range.values(), text, false);
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
        fuzz::claim(!plain_values(text, false), "a range is not refused");
    }
    return 0;
}
