// Objects that cost much to make, kept from one use to the next: as many as were ever in use at the
// same time. Not thread_local: for one that has a destructor glibc takes memory when a thread first
// comes to it, and ends the process where there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace coalprof {

template <typename T>
class Spares {
 public:
    // One that nobody else has until this goes; as its last user left it, or new.
    class Lent {
     public:
        explicit Lent(Spares& spares) : spares_(spares), own_(spares.take()) {}
        ~Lent() { spares_.give_back(std::move(own_)); }
        Lent(const Lent&) = delete;
        Lent& operator=(const Lent&) = delete;
        T& get() const { return *own_; }

     private:
        Spares& spares_;
        std::unique_ptr<T> own_;
    };

 private:
    std::unique_ptr<T> take() {
        {
            const std::lock_guard lock(mutex_);
            if (!spare_.empty()) {
                std::unique_ptr<T> one = std::move(spare_.back());
                spare_.pop_back();
                return one;
            }
            spare_.reserve(made_ + 1);  // giving back must not fail
            ++made_;
        }
        try {
            return std::make_unique<T>();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            --made_;
            throw;
        }
    }
    void give_back(std::unique_ptr<T> one) noexcept {
        const std::lock_guard lock(mutex_);
        spare_.push_back(std::move(one));
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> spare_;
    std::size_t made_ = 0;
};

// Those of the process; never destroyed: threads may outlive static objects.
template <typename T>
Spares<T>& spares_of() {
    static auto& spares = *new Spares<T>;
    return spares;
}

}  // namespace coalprof
