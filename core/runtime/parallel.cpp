#include "core/runtime/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace coalprof {

namespace {

std::atomic<unsigned> asked_for{0};  // 0: by default

}  // namespace

unsigned processors_of_this_process() {
    cpu_set_t allowed;
    // Fails for more processors than the set holds, which is 1024.
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return std::max(1u, std::thread::hardware_concurrency());
    return static_cast<unsigned>(CPU_COUNT(&allowed));
}

unsigned thread_count() {
    static const unsigned processors = processors_of_this_process();
    const unsigned count = asked_for.load(std::memory_order_relaxed);
    return count != 0 ? count : processors;
}

void set_thread_count(unsigned count) { asked_for = count; }

}  // namespace coalprof
