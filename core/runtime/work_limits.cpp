#include "core/runtime/work_limits.h"

#include <sys/resource.h>

#include <mutex>
#include <utility>

#include "core/runtime/parallel.h"

namespace coalprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Clock::rep never = 0;
std::atomic<Clock::rep> end{never};

// Never destroyed: threads may ask while the process ends.
std::mutex& counting() {
    static auto& mutex = *new std::mutex;
    return mutex;
}
CountedWork* innermost = nullptr;

// What RLIMIT_DATA counts beside the work: the program itself, and the stacks of its threads.
std::uint64_t bytes_beside_work() {
    constexpr std::uint64_t of_program = std::uint64_t{64} << 20;
    constexpr std::uint64_t of_thread = std::uint64_t{16} << 20;
    return of_program + (thread_count() + 1) * of_thread;
}

}  // namespace

CountedWork::CountedWork(std::string what, std::uint64_t all) : what_(std::move(what)), all_(all) {
    const std::lock_guard lock(counting());
    outer_ = std::exchange(innermost, this);
}

CountedWork::~CountedWork() {
    const std::lock_guard lock(counting());
    innermost = outer_;
}

WorkState work_state() {
    const std::lock_guard lock(counting());
    if (!innermost) return {};
    const std::chrono::duration<double> taken = Clock::now() - innermost->start_;
    return {innermost->what_, innermost->done_, innermost->all_, taken.count()};
}

LimitsHeld::LimitsHeld(const WorkLimits& limits) : seconds_(limits.seconds), bytes_before_(0) {
    begin_time();
    rlimit data{};
    if (limits.bytes == 0 || ::getrlimit(RLIMIT_DATA, &data) != 0) return;
    const std::uint64_t wanted = limits.bytes + bytes_beside_work();
    if (data.rlim_cur <= wanted) return;
    bytes_before_ = std::exchange(data.rlim_cur, wanted);
    ::setrlimit(RLIMIT_DATA, &data);
}

LimitsHeld::~LimitsHeld() {
    end = never;
    rlimit data{};
    if (bytes_before_ == 0 || ::getrlimit(RLIMIT_DATA, &data) != 0) return;
    data.rlim_cur = bytes_before_;
    ::setrlimit(RLIMIT_DATA, &data);
}

void LimitsHeld::answered() {
    has_answered_ = true;
    begin_time();
}

void LimitsHeld::begin_time() const {
    if (seconds_ == 0) return;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds_));
    end = until.time_since_epoch().count();
}

void require_time_left() {
    const Clock::rep until = end.load(std::memory_order_relaxed);
    if (until != never && Clock::now().time_since_epoch().count() > until)
        throw LimitReached{work_state()};
}

}  // namespace coalprof
