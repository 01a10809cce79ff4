#include "cupti/attach/launch_counter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/device/device.h"

namespace coalprof {

LaunchCounter::~LaunchCounter() {
    try {
        close();
    } catch (const Error&) {
        // deliver() throws if the trace cannot be written. The command sees where it stops.
    }
}

bool LaunchCounter::begin(std::uint64_t number, const TracedKernel& kernel) {
    if (has_failed_) return false;
    const bool is_full = pending_.size() >= setup_.most_pending;
    if (is_full) drain();
    if (has_failed_) return is_full;
    try {
        if (!session_)
            session_.emplace(setup_.api, setup_.context, setup_.config, setup_.most_pending);
        if (!is_started_) session_->start();
        is_started_ = true;
        session_->push(fmt::format("{}", pending_.size()));
        is_in_range_ = true;
        pending_.push_back({.launch = {.number = number, .kernel = kernel, .measured = {}}});
        most_held_ = std::max(most_held_, pending_.size());
    } catch (const CountersError& error) {
        fail(error.what());
    }
    return is_full;
}

void LaunchCounter::end(bool was_launched) {
    if (!is_in_range_) return;
    is_in_range_ = false;
    pending_.back().was_launched = was_launched;
    try {
        session_->pop();
    } catch (const CountersError& error) {
        fail(error.what());
    }
}

void LaunchCounter::drain() {
    if (!is_started_ || is_in_range_) return;
    try {
        fetch();
        session_->clear();
    } catch (const CountersError& error) {
        fail(error.what());
    }
    pending_.clear();
}

void LaunchCounter::fetch() {
    is_started_ = false;
    session_->stop();
    const std::size_t dropped = session_->decode();
    for (const CollectedRange& range : session_->ranges()) {
        std::size_t index = 0;
        const char* end = range.name.data() + range.name.size();
        const auto read = std::from_chars(range.name.data(), end, index);
        if (read.ec != std::errc{} || read.ptr != end || index >= pending_.size()) continue;
        if (!pending_[index].was_launched) continue;
        CountedLaunch& launch = pending_[index].launch;
        launch.measured = setup_.metrics.readings(
            setup_.config.evaluate(session_->counter_data(), range.index), is_graph(launch.kernel));
        setup_.deliver(launch);
    }
    if (dropped > 0) setup_.problem(fmt::format("CUPTI lost {} counted launches", dropped));
}

void LaunchCounter::close() {
    drain();
    // Unused room is not reserved again.
    setup_.most_pending = std::min(setup_.most_pending, std::max(most_held_, least_room));
    session_.reset();
    is_in_range_ = false;
    is_started_ = false;
}

std::size_t LaunchCounter::unfetched() const {
    return static_cast<std::size_t>(std::ranges::count(pending_, true, &Pending::was_launched));
}

void LaunchCounter::fail(const std::string& sentence) {
    has_failed_ = true;
    is_in_range_ = false;
    is_started_ = false;
    session_.reset();
    setup_.problem(sentence);
}

}  // namespace coalprof
