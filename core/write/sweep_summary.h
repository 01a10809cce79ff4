// A sweep in one sentence: "offsets that are no multiple of 8 cost 25 % more sectors". It is made
// from all points, holds for every one of them, and is absent if no such sentence holds, or if they
// differ in several parameters.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/json/value.h"
#include "core/result/result.h"

namespace coalprof {

class SweepSummary {
 public:
    void begin(const ResultHead& head);
    void look_at(const Point& point);
    // Ends in a full stop; empty if none was found.
    std::string sentence() const;

    // The cost of an access, with its ideal if known.
    struct Cost {
        double spent = 0;
        std::optional<double> ideal = {};
    };
    // Sectors, bytes moved (for machines without sectors), passes of shared and of constant memory,
    // sectors of local memory.
    static constexpr std::size_t kinds = 5;
    struct Time {
        double low = 0;
        double middle = 0;
        double high = 0;
        bool is_measured = false;
    };
    struct SeenPoint {
        NamedValues parameters;
        std::array<std::optional<Cost>, kinds> costs;
        std::optional<Time> time;
        std::optional<double> useful_bytes;
    };

 private:
    bool is_of_sweep_ = false;
    bool has_grid_ = false;
    std::vector<SeenPoint> points_;
};

}  // namespace coalprof
