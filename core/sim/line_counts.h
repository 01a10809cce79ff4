// How often lines are asked for, in a table that all lines share. The same whatever order they come
// in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/sim/random.h"

namespace coalprof {

// How accesses are distributed among lines.
struct LineShares {
    double lines = 0;    // as many neighbours with equal shares are as uneven
    double busiest = 0;  // the share of the line that has most
};

class LineCounts {
 public:
    // Lines that are `together` count as one, times as many.
    explicit LineCounts(std::uint64_t together = 1) : together_(together) {}
    void add(std::uint64_t line, std::uint64_t times) {
        const std::size_t cell = mixed(line / together_) % cells;
        if (attempt_[cell] == 0) touched_.push_back(static_cast<std::uint16_t>(cell));
        attempt_[cell] += times;
    }
    // Lines that are `step` apart; the first `most` that come, as those that run together meet.
    void add_run(std::uint64_t first, std::uint64_t step, std::uint64_t count, std::uint64_t times,
                 std::uint64_t most) {
        count = std::min(count, most - std::min(most, runs_));
        runs_ += count;
        for (std::uint64_t i = 0; i < count; ++i) add(first + i * step, times);
    }
    void add(const LineCounts& other) {
        for (std::size_t i = 0; i < cells; ++i) kept_[i] += other.kept_[i];
    }
    void keep() {
        for (const std::uint16_t cell : touched_) kept_[cell] += attempt_[cell];
        drop();
    }
    void drop() {
        for (const std::uint16_t cell : touched_) attempt_[cell] = 0;
        touched_.clear();
    }
    LineShares shares() const {
        double all = 0, squares = 0, most = 0;
        for (const std::uint64_t one : kept_) {
            const auto times = static_cast<double>(one);
            all += times;
            squares += times * times;
            most = std::max(most, times);
        }
        if (all == 0) return {};
        // Lines that share a cell by chance make the rest of the squares.
        constexpr double by_chance = 1.0 / cells, least = 1e-9;
        const double places = 1 / std::max(least, squares / (all * all) - by_chance);
        return {places * static_cast<double>(together_), most / all};
    }

 private:
    std::uint64_t together_;
    static constexpr std::size_t cells = 4096;
    std::array<std::uint64_t, cells> kept_{}, attempt_{};
    std::vector<std::uint16_t> touched_;
    std::uint64_t runs_ = 0;  // lines that came in runs
};

}  // namespace coalprof
