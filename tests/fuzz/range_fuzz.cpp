// parse_range(): refused with a printable error, or a range whose count is its number of values.
#include "core/text/range.h"
#include "fuzz/claim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace coalprof;
    try {
        const Range range = parse_range(fuzz::text_of(data, size), "--range");
        fuzz::claim(range.count() >= 1 && range.count() <= most_range_points, "1 to 100000 points");
        // Long ranges cost time and show nothing that shorter ones do not.
        if (range.count() > 1000) return 0;
        fuzz::claim(range.values().size() == range.count(), "the count is the number of values");
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
