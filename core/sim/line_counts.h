// How often lines are asked for, in a table that all lines share: what falls together there is too
// little to matter beside the line that most ask for. The same whatever order they come in.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace coalprof {

class LineCounts {
 public:
    void add(std::uint64_t line, std::uint64_t times) {
        const std::size_t cell = cell_of(line);
        if (attempt_[cell] == 0) touched_.push_back(static_cast<std::uint16_t>(cell));
        attempt_[cell] += times;
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
    std::uint64_t most() const { return *std::ranges::max_element(kept_); }

 private:
    static constexpr std::size_t cells = 4096;
    // Neighbours never fall together, nor do the first lines of arrays, which are 2^35 lines apart.
    static std::size_t cell_of(std::uint64_t line) { return (line + 1031 * (line >> 35)) % cells; }
    std::array<std::uint64_t, cells> kept_{}, attempt_{};
    std::vector<std::uint16_t> touched_;
};

}  // namespace coalprof
