#include "core/run/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/runtime/signal.h"
#include "core/text/error.h"

namespace coalprof {

// The Delivery of one worker.
class SideBySide::Put : public Delivery {
 public:
    Put(SideBySide& all, std::size_t of) : all_(all), of_(of) {}
    void point(const PlannedPoint& planned, const Point& point) override {
        all_.put({of_, planned, point});
    }
    void warn(Warning warning) override {
        all_.workers_[of_].warnings.push_back(std::move(warning));
    }
    void interrupted() override { all_.workers_[of_].was_interrupted = true; }

 private:
    SideBySide& all_;
    std::size_t of_;
};

SideBySide::SideBySide(std::size_t count, std::function<void(std::size_t, Delivery&)> work)
    : work_(std::move(work)), workers_(count) {}

SideBySide::~SideBySide() { join(); }

void SideBySide::start() {
    const SignalsHeld held;  // the threads that begin here get no signals
    for (std::size_t of = 0; of < workers_.size(); ++of) {
        try {
            workers_[of].thread = std::thread([this, of] { run(of); });
        } catch (const std::system_error& error) {
            workers_[of].failure = std::make_exception_ptr(
                Error(fmt::format("no thread could be started: {}", error.what())));
            end(of);
        }
    }
}

void SideBySide::run(std::size_t of) noexcept {
    Worker& worker = workers_[of];
    try {
        Put delivery(*this, of);
        work_(of, delivery);
    } catch (const Stopped&) {
        worker.was_interrupted = true;
    } catch (...) {
        worker.failure = std::current_exception();
    }
    end(of);
}

// Throws Stopped when points are not wanted any more.
void SideBySide::put(Item item) {
    std::unique_lock lock(mutex_);
    Worker& worker = workers_[item.of];
    changed_.wait(lock, [&] { return is_over_ || worker.ahead < most_points_ahead; });
    if (is_over_) throw Stopped{};
    items_.push_back(std::move(item));
    ++worker.ahead;
    changed_.notify_all();
}

void SideBySide::end(std::size_t of) noexcept {
    const std::lock_guard lock(mutex_);
    workers_[of].has_ended = true;
    changed_.notify_all();
}

void SideBySide::take_all(const Taker& taker) {
    start();
    try {
        take(taker);
    } catch (...) {
        join();
        throw;
    }
    join();
}

void SideBySide::take(const Taker& taker) {
    for (std::size_t running = workers_.size(); running > 0;) {
        std::deque<Item> items;
        const std::vector<std::size_t> ended = take_items(items);
        for (Item& item : items)
            taker.point(item.of, std::move(item.planned), std::move(item.point));
        for (const std::size_t of : ended) taker.end(of);
        running -= ended.size();
        const std::lock_guard lock(mutex_);
        for (std::size_t of = 0; of < workers_.size(); ++of) workers_[of].ahead = taker.waiting(of);
        for (const Item& item : items_) ++workers_[item.of].ahead;
        changed_.notify_all();
    }
}

// Waits for items. Returns the legs that have ended after them.
std::vector<std::size_t> SideBySide::take_items(std::deque<Item>& items) {
    std::vector<std::size_t> ended;
    const auto look = [&] {
        for (std::size_t of = 0; of < workers_.size(); ++of)
            if (workers_[of].has_ended && !std::exchange(workers_[of].is_told, true))
                ended.push_back(of);
        return !ended.empty() || !items_.empty();
    };
    std::unique_lock lock(mutex_);
    changed_.wait(lock, look);
    items.swap(items_);
    return ended;
}

void SideBySide::join() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_all();
    for (Worker& worker : workers_)
        if (worker.thread.joinable()) worker.thread.join();
}

bool SideBySide::was_interrupted() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return worker.was_interrupted; });
}

std::exception_ptr SideBySide::failure() const {
    for (const Worker& worker : workers_)
        if (worker.failure) return worker.failure;
    return nullptr;
}

void ResultOrder::add(std::size_t leg, PlannedPoint planned, Point point) {
    legs_[leg].waiting.push_back({std::move(planned), std::move(point)});
    hand_on();
}

void ResultOrder::end(std::size_t leg) {
    legs_[leg].has_ended = true;
    hand_on();
}

void ResultOrder::hand_on() {
    // A round without a point: all that are left have ended, or the next one has none.
    for (std::size_t passed = 0; passed < legs_.size();) {
        OfLeg& leg = legs_[turn_];
        if (leg.waiting.empty() && !leg.has_ended) return;
        passed = leg.waiting.empty() ? passed + 1 : 0;
        turn_ = (turn_ + 1) % legs_.size();
        if (leg.waiting.empty()) continue;
        const Waiting next = std::move(leg.waiting.front());
        leg.waiting.pop_front();
        hand_on_(next.planned, next.point);
    }
}

}  // namespace coalprof
