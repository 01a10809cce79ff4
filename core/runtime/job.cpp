#include "core/runtime/job.h"

#include <algorithm>
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"

namespace coalprof {
namespace {

// Depth of the job whose item this thread works on; 0 outside of all.
thread_local unsigned current_depth = 0;

}  // namespace

std::uint64_t Items::left() const {
    return count_ - std::min(count_, next_.load(std::memory_order_relaxed));
}

void Items::fail(std::uint64_t item, std::exception_ptr failure) {
    drop();
    const std::lock_guard lock(failing_);
    if (failure_ && failed_item_ <= item) return;
    failed_item_ = item;
    failure_ = std::move(failure);
}

void Items::rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
}

// The threads of this process, started when there is work for them, and the jobs that they may work
// on. The lock is taken once when a thread begins with a job, not for each item.
//
// No deadlock: a thread that waits for items of a job works only on jobs of the same depth or
// deeper. So an item is held up by deeper items alone, and depth ends.
class Pool {
 public:
    static Pool& instance() {
        static Pool pool;
        return pool;
    }
    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void open(Job& job) {
        {
            const std::lock_guard lock(mutex_);
            open_.push_back(&job);
            start_threads();
        }
        changed_.notify_all();
    }

    // Waits for the threads that take part in it.
    void close(Job& job) {
        std::unique_lock lock(mutex_);
        while (job.helpers_ > 0) {
            if (Job* other = deepest(job.depth_))
                help(*other, lock);
            else
                changed_.wait(lock);
        }
        std::erase(open_, &job);
    }

 private:
    // As many as there are items, up to thread_count() with the caller. If no more threads can be
    // started, the existing ones do the work.
    void start_threads() {
        const std::size_t most = thread_count() - 1;
        if (threads_.size() >= most) return;
        std::uint64_t items = 0;
        for (const Job* job : open_) items += std::min<std::uint64_t>(job->items_.left(), most);
        const std::size_t wanted = std::min<std::uint64_t>(most, busy_ + items);
        if (threads_.size() >= wanted) return;
        const SignalsHeld held;
        try {
            while (threads_.size() < wanted)
                threads_.emplace_back([this, number = threads_.size()] { serve(number); });
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {  // no memory for a thread
        }
    }

    void serve(std::size_t number) {
        std::unique_lock lock(mutex_);
        while (!ends_) {
            // The number of threads may have been lowered since this thread was started.
            Job* job = number + 1 < thread_count() ? deepest(1) : nullptr;
            if (!job) {
                changed_.wait(lock);
                continue;
            }
            ++busy_;
            help(*job, lock);
            --busy_;
        }
    }

    // The deepest job, since it is part of something begun and ends it sooner; else the oldest.
    Job* deepest(unsigned least_depth) const {
        Job* found = nullptr;
        for (Job* job : open_)
            if (job->depth_ >= least_depth && job->items_.left() > 0 &&
                (!found || job->depth_ > found->depth_))
                found = job;
        return found;
    }

    void help(Job& job, std::unique_lock<std::mutex>& lock) {
        ++job.helpers_;
        lock.unlock();
        job.take_part();
        lock.lock();
        if (--job.helpers_ == 0) changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Job*> open_;
    std::vector<std::thread> threads_;
    std::size_t busy_ = 0;
    bool ends_ = false;
};

Job::Job(std::uint64_t items, std::function<void(Items&)> take_part)
    : items_(items), take_part_(std::move(take_part)), depth_(current_depth + 1) {
    if (thread_count() == 1) return;
    Pool::instance().open(*this);
    is_open_ = true;
}

Job::~Job() {
    items_.drop();
    close();
}

void Job::finish() {
    take_part();
    close();
    items_.rethrow_failure();
}

void Job::close() {
    if (is_open_) Pool::instance().close(*this);
    is_open_ = false;
}

void Job::take_part() noexcept {
    const unsigned outer = current_depth;
    current_depth = depth_;
    try {
        take_part_(items_);
    } catch (...) {  // memory ran out between two items
        items_.fail(~0ull, std::current_exception());
    }
    current_depth = outer;
}

}  // namespace coalprof
