// Workers that deliver points at the same time, each in a separate thread. One thread takes the
// points.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/result/result.h"
#include "core/run/backend.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// The most points by which one may be ahead of the slowest: points that wait for their place in the
// result are in memory.
inline constexpr std::size_t most_points_ahead = 1024;

class SideBySide {
 public:
    // Calls `work(k, delivery)` for every k below `count`, beginning with take_all().
    SideBySide(std::size_t count, std::function<void(std::size_t, Delivery&)> work);
    ~SideBySide();
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    // Calls point() for each delivered point and end() when a leg has ended, each in its order,
    // until all have. `waiting` says how many points of one have been taken and wait for those of
    // others. After an exception nothing more is taken, and the rest end.
    struct Taker {
        std::function<void(std::size_t of, PlannedPoint planned, Point point)> point;
        std::function<void(std::size_t of)> end;
        std::function<std::size_t(std::size_t of)> waiting;
    };
    void take_all(const Taker& taker);

    // Afterwards: the warnings of one of them, and why it ended early.
    const std::vector<Warning>& warnings(std::size_t of) const { return workers_[of].warnings; }
    bool was_interrupted() const;
    // The exception of the first that failed.
    std::exception_ptr failure() const;
    // True if no more points are taken.
    const std::atomic<bool>& is_over() const { return is_over_; }

 private:
    class Put;
    struct Worker {
        std::thread thread;
        std::size_t ahead = 0;  // points that were put and not yet taken
        bool has_ended = false;
        bool is_told = false;  // that it has ended
        std::vector<Warning> warnings;
        bool was_interrupted = false;
        std::exception_ptr failure;
    };
    struct Item {
        std::size_t of = 0;
        PlannedPoint planned;
        Point point;
    };
    void start();
    void run(std::size_t of) noexcept;
    void put(Item item);
    void end(std::size_t of) noexcept;
    void take(const Taker& taker);
    std::vector<std::size_t> take_items(std::deque<Item>& items);
    void join();

    std::function<void(std::size_t, Delivery&)> work_;
    std::deque<Worker> workers_;
    std::atomic<bool> is_over_{false};
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Item> items_;
};

// Points that several legs answer, in the order of the result: the first of every leg, then the
// second of every leg, whichever is answered first.

class ResultOrder {
 public:
    using HandOn = std::function<void(const PlannedPoint& planned, const Point& point)>;
    ResultOrder(std::size_t legs, HandOn hand_on) : hand_on_(std::move(hand_on)), legs_(legs) {}

    // The next point of this leg. Passes on all points that are next in order.
    void add(std::size_t leg, PlannedPoint planned, Point point);
    // This leg has no more points: nothing waits for them.
    void end(std::size_t leg);
    // Points of this leg that wait for those of others.
    std::size_t waiting(std::size_t leg) const { return legs_[leg].waiting.size(); }

 private:
    struct Waiting {
        PlannedPoint planned;
        Point point;
    };
    struct OfLeg {
        std::deque<Waiting> waiting;
        bool has_ended = false;
    };
    void hand_on();

    HandOn hand_on_;
    std::vector<OfLeg> legs_;
    std::size_t turn_ = 0;
};

}  // namespace coalprof
