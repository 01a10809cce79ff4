#include "core/gate/direction.h"

#include "core/access/warp_access.h"

namespace coalprof {
namespace {

std::optional<std::pair<AccessField, AccessField>> parts_of(AccessField field) {
    switch (field) {
        case AccessField::sectors_per_request:
            return {{AccessField::sectors, AccessField::requests}};
        case AccessField::bytes_per_sector:
        case AccessField::efficiency:
            return {{AccessField::unique_bytes, AccessField::sectors}};
        default:
            return std::nullopt;
    }
}

}  // namespace

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

std::optional<std::pair<Counter, Counter>> parts_of(Counter counter) {
    if (counter == Counter::shared_load_conflict_degree)
        return {{Counter::shared_load_wavefronts, Counter::shared_load_requests}};
    if (counter == Counter::shared_store_conflict_degree)
        return {{Counter::shared_store_wavefronts, Counter::shared_store_requests}};
    if (counter == Counter::shared_atomic_conflict_degree)
        return {{Counter::shared_atomic_wavefronts, Counter::shared_atomic_requests}};
    if (counter == Counter::bandwidth_bytes_per_second)
        return {{Counter::useful_bytes, Counter::duration_seconds}};
    if (counter == Counter::bandwidth_share)
        return {{Counter::bandwidth_bytes_per_second, Counter::bandwidth_bytes_per_second}};
    const auto index = static_cast<std::size_t>(counter);
    if (index >= access_kinds.size() * access_field_count) return std::nullopt;
    const auto kind = static_cast<AccessKind>(index / access_field_count);
    const auto parts = parts_of(static_cast<AccessField>(index % access_field_count));
    if (!parts) return std::nullopt;
    return {{access_counter(kind, parts->first), access_counter(kind, parts->second)}};
}

}  // namespace coalprof
