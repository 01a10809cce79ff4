// Arrays that were copied back are compared with the host reference in other threads, while the GPU
// goes on with the next points: a check of 4 MiB takes 2 to 4 ms of CPU time, as long as all else
// about the point (hosts of two H200s, 2026-11-22).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <vector>

namespace coalprof {

class HostChecks {
 public:
    HostChecks();
    ~HostChecks();  // waits for the checks that are at work
    HostChecks(const HostChecks&) = delete;
    HostChecks& operator=(const HostChecks&) = delete;

    // Room for what the next check compares. Waits where as many checks are at work as this machine
    // has processors for.
    std::span<std::byte> room(std::uint64_t bytes);
    // Runs `compare` on what was put into the last room(). The answer throws what it throws.
    std::shared_future<void> start(std::function<void()> compare);

 private:
    struct Slot {
        std::vector<std::byte> bytes;
        std::shared_future<void> check;
    };

    std::vector<Slot> slots_;
    std::size_t current_ = 0;
    bool has_threads_;
};

}  // namespace coalprof
