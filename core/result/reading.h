// The values of one source (the model or the device) for the counters of one point. A counter that
// cannot be had is a value, Unavailable with its reason: never 0, never NaN. A counter that does
// not concern the point (stores of a pattern that only loads) is simply not there.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result/counter.h"

namespace coalprof {

// `reason` lives as long as the program: a literal, or a result of keep_reason().
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
bool is_finite_number(const Reading& reading);
// The number, or `other` without one.
inline double number_or(const Reading& reading, double otherwise) {
    return is_number(reading) ? number_in(reading) : otherwise;
}

class Readings {
 public:
    // The reference holds until another counter is first written.
    Reading& operator[](Counter counter) {
        const auto at = static_cast<std::size_t>(counter);
        if (slot_of_[at] == 0) {
            slots_.emplace_back();
            slot_of_[at] = static_cast<std::uint8_t>(slots_.size());
            touched_[at / 64] |= std::uint64_t{1} << at % 64;
        }
        return slots_[slot_of_[at] - 1u];
    }
    const Reading& operator[](Counter counter) const {
        static constexpr Reading absent{};
        const std::uint8_t slot = slot_of_[static_cast<std::size_t>(counter)];
        return slot == 0 ? absent : slots_[slot - 1u];
    }
    void clear() {
        slots_.clear();
        slot_of_ = {};
        touched_ = {};
    }

    // Calls visit(Counter, const Reading&) for every existing reading, in output order.
    template <typename Visit>
    void each(Visit visit) const {
        for (std::size_t word = 0; word < touched_.size(); ++word)
            for (std::uint64_t left = touched_[word]; left != 0; left &= left - 1) {
                const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
                if (const Reading& reading = slots_[slot_of_[at] - 1u]; is_present(reading))
                    visit(static_cast<Counter>(at), reading);
            }
    }

 private:
    // A point has a fifth of all counters, and a warps file a point for each line.
    std::vector<Reading> slots_;
    std::array<std::uint8_t, counter_count> slot_of_{};  // counter -> slot, from 1 on; 0: none
    std::array<std::uint64_t, (counter_count + 63) / 64> touched_{};
};
static_assert(counter_count < 256);

// Sets counters that follow from the sums: excess sectors, and the ratios (sectors per request,
// excess, bytes per sector, efficiency; conflict degrees; bandwidth from useful bytes and
// duration). A ratio with a denominator of 0 is unavailable, and so is one of which a part is.
void derive_ratios(Readings& readings);

}  // namespace coalprof
