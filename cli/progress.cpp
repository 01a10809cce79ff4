#include "cli/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "cli/print.h"
#include "core/runtime/signal.h"
#include "core/text/progress_text.h"

namespace coalprof {
namespace {

// What takes less needs no word.
constexpr std::chrono::seconds silence{1};
constexpr std::chrono::milliseconds between{250};

bool has_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb";
}

}  // namespace

Progress::Progress(ResultSink& sink, const OutputOptions& options)
    : sink_(sink), is_shown_(!options.quiet && !options.no_progress && has_terminal()) {}

void Progress::begin(const ResultHead& head) {
    sink_.begin(head);
    all_ = head.points;
    start_ = std::chrono::steady_clock::now();
    if (!is_shown_) return;
    const SignalsHeld held;  // the thread that begins here gets none
    try {
        thread_ = std::thread([this] { show_until_stopped(); });
    } catch (const std::system_error&) {  // without a thread there is no progress to be seen
    }
}

void Progress::point(const Point& point) {
    if (!is_shown_) return sink_.point(point);
    // Standard output may be the same terminal: no status comes in between.
    const std::lock_guard lock(mutex_);
    show_status({});
    sink_.point(point);
    ++done_;
}

void Progress::finish(const ResultTail& tail) {
    stop();
    sink_.finish(tail);
}

void Progress::show_until_stopped() {
    std::unique_lock lock(mutex_);
    const auto has_stopped = [this] { return has_stopped_; };
    changed_.wait_for(lock, silence, has_stopped);
    while (!has_stopped_) {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
        show_status(progress_text(done_, all_, taken.count()));
        changed_.wait_for(lock, between, has_stopped);
    }
}

void Progress::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        has_stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
    show_status({});
}

}  // namespace coalprof
