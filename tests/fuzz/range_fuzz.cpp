// parse_range(): refused with a printable error, or a range whose count is its number of values.
#include <algorithm>

#include "core/text/range.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;

// Long ranges cost time and show nothing that shorter ones do not.
constexpr std::uint64_t most_values = 1000;

void claim_count(const Range& range) {
    fuzz::claim(range.count() >= 1 && range.count() <= most_range_points, "1 to 100000 points");
}

// Each value once; fewer than were typed only where pieces repeat some.
template <typename Value>
void claim_values(const Range& range, std::vector<Value> values, std::string_view text) {
    const bool is_one_piece = text.find(',') == std::string_view::npos;
    fuzz::claim(is_one_piece ? values.size() == range.count() : values.size() <= range.count(),
                "the count is the number of values");
    std::sort(values.begin(), values.end());
    fuzz::claim(std::adjacent_find(values.begin(), values.end()) == values.end(),
                "no value comes twice");
}

// Without signs both readers say the same.
void claim_signed(std::string_view text) {
    try {
        const Range range = parse_signed_range(text, "--var k=");
        claim_count(range);
        if (range.count() > most_values) return;
        const std::vector<std::int64_t> values = range.signed_values();
        claim_values(range, values, text);
        if (text.find('-') != std::string_view::npos) return;
        const std::vector<std::uint64_t> same = parse_range(text, "--range").values();
        fuzz::claim(std::equal(values.begin(), values.end(), same.begin(), same.end(),
                               [](std::int64_t a, std::uint64_t b) {
                                   return a == static_cast<std::int64_t>(b);
                               }),
                    "values without a sign");
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
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
        claim_values(range, range.values(), text);
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
