#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/count/obstacles.h"
#include "core/count/predict.h"
#include "core/run/backend.h"
#include "core/runtime/parallel.h"
#include "core/runtime/steps.h"
#include "core/sim/estimate.h"

namespace coalprof {
namespace {

using Seconds = std::chrono::duration<double>;

// Some points take a microsecond, others a minute. As many go to a thread together as take about
// this long: much longer than the handing over, and short enough not to be noticed.
constexpr Seconds least_work{200e-6};
constexpr Seconds most_work{1e-3};
constexpr std::size_t most_together = 64;

struct AnsweredPoint {
    PlannedPoint planned;
    Point point;
    std::vector<Warning> obstacles;  // limits of the machine that the launch exceeds
};

// Points for one thread to answer. Storage is reused.
struct Chunk {
    std::deque<AnsweredPoint> points;
    std::size_t size = 0;      // points in use
    std::size_t answered = 0;  // how many of them are answered
    Seconds took{};
    // None: the thread that waits for the chunk answers it. Last: it ends before the points go.
    std::optional<Answer<bool>> done;
};

void answer_point(const Predictor& predictor, CacheState cache, AnsweredPoint& one) {
    one.point.name = one.planned.name;
    one.point.parameters = one.planned.parameters;
    if (one.planned.warp) {
        one.point.estimates.reset();
        one.point.instructions.clear();
        predictor.predict_warp(*one.planned.warp, one.point.predicted);
        return;
    }
    one.point.predicted = predictor.predict_launch(one.planned.plan, {}, &one.point.instructions);
    one.point.estimates =
        add_estimates(one.planned.machine, one.planned.plan, cache, one.point.predicted);
    one.obstacles = launch_warnings(one.planned.machine, one.planned.plan);
}

void answer_chunk(const PointSource& source, CacheState cache, Chunk& chunk) {
    const Step step("points predicted", chunk.size);
    const auto start = std::chrono::steady_clock::now();
    std::optional<Predictor> predictor;
    for (; chunk.answered < chunk.size; ++chunk.answered) {
        AnsweredPoint& one = chunk.points[chunk.answered];
        source.make(one.planned);
        if (!predictor || predictor->machine().name != one.planned.machine.name)
            predictor.emplace(one.planned.machine);
        answer_point(*predictor, cache, one);
    }
    chunk.took = std::chrono::steady_clock::now() - start;
}

// The chunks in flight, in the order of their points.
class Window {
 public:
    Window(PointSource& source, CacheState cache, Delivery& delivery)
        : source_(source), cache_(cache), delivery_(delivery) {}

    bool is_empty() const { return asked_.empty(); }
    // While the first chunk is waited for, every thread has one and finds another.
    bool is_full() const { return asked_.size() >= (is_shared_ ? 2 * thread_count() : 1); }

    // Starts the next points; false at the end.
    bool ask() {
        std::unique_ptr<Chunk> chunk = take_free();
        bool has_more = true;
        while (chunk->size < together_) {
            if (chunk->size == chunk->points.size()) chunk->points.emplace_back();
            has_more = source_.next(chunk->points[chunk->size].planned);
            if (!has_more) break;
            ++chunk->size;
            if (!source_.is_ready()) break;
        }
        if (chunk->size == 0) return false;
        if (is_shared_)
            chunk->done = start_answer([&source = source_, cache = cache_, &asked = *chunk] {
                answer_chunk(source, cache, asked);
                return true;
            });
        asked_.push_back(std::move(chunk));
        return has_more;
    }

    // Waits for the first chunk and delivers its points, also if the rest of them failed.
    void deliver_first() {
        std::unique_ptr<Chunk> chunk = std::move(asked_.front());
        asked_.pop_front();
        std::exception_ptr failure;
        try {
            if (chunk->done)
                chunk->done->get();
            else
                answer_chunk(source_, cache_, *chunk);
        } catch (...) {
            failure = std::current_exception();
        }
        for (std::size_t i = 0; i < chunk->answered; ++i) deliver(chunk->points[i]);
        if (failure) std::rethrow_exception(failure);
        if (chunk->took > most_work) together_ = std::max<std::size_t>(together_ / 2, 1);
        if (chunk->took < least_work) together_ = std::min(2 * together_, most_together);
        // Small work is faster than starting another thread.
        const bool is_small = chunk->took < least_work && together_ < most_together;
        is_shared_ = is_shared_ || (!is_small && thread_count() > 1);
        free_.push_back(std::move(chunk));
    }

 private:
    std::unique_ptr<Chunk> take_free() {
        if (free_.empty()) return std::make_unique<Chunk>();
        std::unique_ptr<Chunk> chunk = std::move(free_.back());
        free_.pop_back();
        chunk->size = chunk->answered = 0;
        chunk->done.reset();
        return chunk;
    }

    void deliver(const AnsweredPoint& one) {
        delivery_.point(one.point);
        for (const Warning& found : one.obstacles)
            if (told_.insert(found.text).second) delivery_.warn(found);
    }

    PointSource& source_;
    CacheState cache_;
    Delivery& delivery_;
    std::size_t together_ = 1;
    bool is_shared_ = false;  // other threads use it too
    std::set<std::string> told_;
    std::vector<std::unique_ptr<Chunk>> free_;
    std::deque<std::unique_ptr<Chunk>> asked_;
};

}  // namespace

void ModelBackend::begin(ResultHead& head) { head.backend = "model"; }

void ModelBackend::answer(PointSource& source, Delivery& delivery) {
    Window window(source, cache_, delivery);
    for (bool more = true; more || !window.is_empty();) {
        const bool asks = more && !window.is_full() && (window.is_empty() || source.is_ready());
        if (asks)
            more = window.ask();
        else
            window.deliver_first();
    }
}

}  // namespace coalprof
