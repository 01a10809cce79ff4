#include "kernels/host_checks.h"

#include <algorithm>
#include <memory>

#include "core/runtime/parallel.h"

namespace coalprof {

namespace {

constexpr unsigned most_checks = 4;  // with 16 MiB of arrays each at most

}  // namespace

// One of the threads is left to the one that enqueues launches: any delay of it could be taken for
// time of the GPU.
HostChecks::HostChecks(unsigned threads) : slots_(std::clamp(threads, 2u, most_checks + 1) - 1) {}

std::span<std::byte> HostChecks::room(std::uint64_t bytes) {
    current_ = (current_ + 1) % slots_.size();
    Slot& slot = slots_[current_];
    slot.wait();
    if (slot.bytes.size() < bytes) slot.bytes.resize(bytes);
    return std::span(slot.bytes).first(bytes);
}

std::shared_future<void> HostChecks::start(std::function<void()> compare) {
    // Begun by an idle thread, one of those that predict as well: more threads would keep the
    // launching one from running. Else the thread that waits for it does it.
    const auto answer = std::make_shared<Answer<bool>>([compare = std::move(compare)] {
        compare();
        return true;
    });
    slots_[current_].check =
        std::async(std::launch::deferred, [answer] { static_cast<void>(answer->get()); }).share();
    return slots_[current_].check;
}

void HostChecks::finish() const {
    for (const Slot& slot : slots_) slot.wait();
}

}  // namespace coalprof
