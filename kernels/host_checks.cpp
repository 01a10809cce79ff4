#include "kernels/host_checks.h"

#include <sched.h>

#include <algorithm>

#include "core/run/background.h"

namespace coalprof {

namespace {

constexpr unsigned most_checks = 4;  // with 16 MiB of arrays each at most

}  // namespace

unsigned HostChecks::processors_of_this_process() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    return static_cast<unsigned>(CPU_COUNT(&allowed));
}

// One processor stays with the thread that enqueues launches: whatever keeps that from running
// could be taken for time of the GPU.
HostChecks::HostChecks(unsigned processors)
    : slots_(std::clamp(processors, 2u, most_checks + 1) - 1), has_threads_(processors > 1) {}

std::span<std::byte> HostChecks::room(std::uint64_t bytes) {
    current_ = (current_ + 1) % slots_.size();
    Slot& slot = slots_[current_];
    slot.wait();
    if (slot.bytes.size() < bytes) slot.bytes.resize(bytes);
    return std::span(slot.bytes).first(bytes);
}

std::shared_future<void> HostChecks::start(std::function<void()> compare) {
    std::shared_future<void>& check = slots_[current_].check;
    check = has_threads_ ? in_background(std::move(compare)).share()
                         : std::async(std::launch::deferred, std::move(compare)).share();
    return check;
}

void HostChecks::finish() const {
    for (const Slot& slot : slots_) slot.wait();
}

}  // namespace coalprof
