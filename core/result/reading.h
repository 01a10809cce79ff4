// What one source (the model or the device) says about the counters of one point. A counter that
// cannot be had is a value, Unavailable with its reason: never 0, never NaN. A counter that does
// not concern the point (stores of a pattern that only loads) is simply not there.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "core/result/counter.h"

namespace coalprof {

// `reason` lives as long as the program: a literal, or the answer of keep_reason().
struct Unavailable {
    std::string_view reason;
    friend bool operator==(const Unavailable&, const Unavailable&) = default;
};

// A sentence made at run time, kept (once for equal texts) until the program ends.
std::string_view keep_reason(std::string_view sentence);

using Reading = std::variant<std::monostate, std::uint64_t, double, Unavailable>;

inline bool is_present(const Reading& reading) {
    return !std::holds_alternative<std::monostate>(reading);
}
inline bool is_number(const Reading& reading) {
    return std::holds_alternative<std::uint64_t>(reading) ||
           std::holds_alternative<double>(reading);
}
// The number, an integer converted; the reading must hold one.
double number_in(const Reading& reading);
// The number where it holds one.
inline double number_or(const Reading& reading, double otherwise) {
    return is_number(reading) ? number_in(reading) : otherwise;
}

class Readings {
 public:
    Reading& operator[](Counter counter) { return slots_[static_cast<std::size_t>(counter)]; }
    const Reading& operator[](Counter counter) const {
        return slots_[static_cast<std::size_t>(counter)];
    }
    void clear() { slots_ = {}; }

    // Calls visit(Counter, const Reading&) for every reading that is there, in output order.
    template <typename Visit>
    void each(Visit visit) const {
        for (std::size_t i = 0; i < counter_count; ++i)
            if (is_present(slots_[i])) visit(static_cast<Counter>(i), slots_[i]);
    }

 private:
    std::array<Reading, counter_count> slots_{};
};

// Sets what follows from the sums that are there: excess sectors, and the ratios (sectors per
// request, excess, bytes per sector, efficiency; conflict degrees; bandwidth from useful bytes and
// duration). A ratio with nothing below the line is unavailable, and so is one of which a part is.
void derive_ratios(Readings& readings);

}  // namespace coalprof
