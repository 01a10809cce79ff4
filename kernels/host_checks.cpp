#include "kernels/host_checks.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace coalprof {

namespace {

constexpr unsigned most_checks = 4;  // with 16 MiB of arrays each at most

}  // namespace

// One processor stays with the thread that enqueues launches: whatever keeps that from running
// could be taken for time of the GPU.
HostChecks::HostChecks() {
    const unsigned processors = std::thread::hardware_concurrency();
    has_threads_ = processors > 1;
    slots_.resize(has_threads_ ? std::min(processors - 1, most_checks) : 1);
}

HostChecks::~HostChecks() {
    for (const Slot& slot : slots_)
        if (slot.check.valid()) slot.check.wait();
}

std::span<std::byte> HostChecks::room(std::uint64_t bytes) {
    current_ = (current_ + 1) % slots_.size();
    Slot& slot = slots_[current_];
    if (slot.check.valid()) slot.check.wait();
    if (slot.bytes.size() < bytes) slot.bytes.resize(bytes);
    return std::span(slot.bytes).first(bytes);
}

std::shared_future<void> HostChecks::start(std::function<void()> compare) {
    std::shared_future<void>& check = slots_[current_].check;
    try {
        const auto how = has_threads_ ? std::launch::async : std::launch::deferred;
        check = std::async(how, compare).share();
    } catch (const std::system_error&) {  // no thread to be had: compared by whoever asks first
        check = std::async(std::launch::deferred, std::move(compare)).share();
    }
    return check;
}

}  // namespace coalprof
