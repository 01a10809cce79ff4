#include "core/run/device_counters.h"

#include <algorithm>

namespace coalprof {

bool concerns(Counter counter, AccessSet accesses) {
    const bool is_of_textures = counter == Counter::texture_requests ||
                                counter == Counter::texture_sectors ||
                                counter == Counter::texture_hit_sectors;
    if (is_of_textures) return accesses.has(Access::texture_load);
    const bool is_of_loads =
        counter == Counter::l1_hit_sectors ||
        static_cast<std::size_t>(counter) < access_field_count;  // those of AccessKind::load
    return !is_of_loads || accesses.has(Access::global_load);
}

void merge(const Readings& from, AccessSet accesses, Readings& into) {
    from.each([&](Counter counter, const Reading& reading) {
        if (concerns(counter, accesses)) into[counter] = reading;
    });
}

void set_missing(const std::vector<Counter>& wanted, AccessSet accesses, std::string_view reason,
                 Readings& measured) {
    for (const Counter counter : wanted)
        if (!is_present(measured[counter]) && concerns(counter, accesses))
            measured[counter] = Unavailable{keep_reason(reason)};
}

bool counts_constants(AccessSet accesses, const std::vector<Counter>& wanted) {
    return accesses.has(Access::constant_load) &&
           std::find(wanted.begin(), wanted.end(), Counter::constant_requests) != wanted.end();
}

void take_off_constants(const Readings& without, Readings& measured) {
    Reading& all = measured[Counter::constant_requests];
    const Reading& besides = without[Counter::constant_requests];
    if (!is_number(all)) return;
    if (!is_number(besides))
        all = besides;
    else if (number_in(besides) > number_in(all))
        all = Unavailable{"the kernel counts less with its accesses than without them"};
    else
        all = static_cast<std::uint64_t>(number_in(all) - number_in(besides));
}

}  // namespace coalprof
