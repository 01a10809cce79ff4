#include "core/judge/direction.h"

namespace coalprof {

Better better_of(Counter counter) {
    const std::string_view key = key_of(counter);
    if (key.ends_with("_unique_bytes") || key.ends_with("_ideal_sectors") ||
        counter == Counter::useful_bytes)
        return Better::neither;
    const bool is_share = key.ends_with("_efficiency") || key.ends_with("_bytes_per_sector");
    if (is_share || key.ends_with("_hit_sectors") || key.starts_with("bandwidth"))
        return Better::more;
    return Better::less;
}

std::optional<RatioParts> parts_of(Counter counter) {
    // Over a ceiling of the GPU, which is no counter.
    if (counter == Counter::bandwidth_share)
        return {{Counter::bandwidth_bytes_per_second, Counter::bandwidth_bytes_per_second}};
    return ratio_parts(counter);
}

}  // namespace coalprof
