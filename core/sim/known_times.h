// Times of plans that were simulated, for those that are simulated equally.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/sim/kernel_time.h"
#include "core/sim/random.h"

namespace coalprof {

// Tells launches from each other.
class Digest {
 public:
    void add(std::uint64_t word) {
        first_ = mixed(first_ ^ word) + word;
        second_ = mixed(second_ + word) ^ first_;
    }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
    std::pair<std::uint64_t, std::uint64_t> key() const { return {first_, second_}; }

 private:
    std::uint64_t first_ = 1, second_ = 2;
};

// Times of launches that differ by whole lines, as points of a sweep often do. It makes no
// difference which of them is simulated: their samples are equal.
class KnownTimes {
 public:
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    std::optional<SimulatedTime> find(const Key& key) {
        const std::scoped_lock lock(mutex_);
        const auto found = times_.find(key);
        return found == times_.end() ? std::nullopt : std::optional(found->second);
    }
    void keep(const Key& key, const SimulatedTime& time) {
        constexpr std::size_t most = 1024;
        const std::scoped_lock lock(mutex_);
        if (times_.size() == most) times_.clear();
        times_.emplace(key, time);
    }

 private:
    std::mutex mutex_;
    std::map<Key, SimulatedTime> times_;
};

}  // namespace coalprof
