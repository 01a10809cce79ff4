#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/print.h"
#include "cli/wiring.h"
#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/text/describe.h"
#include "core/text/fold.h"

namespace coalprof {
namespace {

// Shorter runs show no progress.
constexpr std::chrono::seconds silence{1};
constexpr std::chrono::milliseconds between{250};

bool has_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb";
}

}  // namespace

StatusLine::StatusLine(bool is_wanted, Text text)
    : text_(std::move(text)),
      on_terminal_(has_terminal()),
      start_(std::chrono::steady_clock::now()) {
    if (!is_wanted) return;
    const SignalsHeld held;  // the thread that begins here gets no signals
    try {
        thread_ = std::thread([this] { show_until_stopped(); });
    } catch (const std::system_error&) {  // without a thread there is no progress display
    }
}

void StatusLine::show_until_stopped() {
    std::unique_lock lock(mutex_);
    const auto has_stopped = [this] { return has_stopped_; };
    changed_.wait_for(lock, silence, has_stopped);
    while (!has_stopped_) {
        const auto taken = std::chrono::steady_clock::now() - start_;
        const std::string text = text_(std::chrono::duration<double>(taken).count());
        if (on_terminal_)
            show_status(text);
        else
            print_err(fmt::format("coalprof: {}\n", text));
        if (on_terminal_)
            changed_.wait_for(lock, between, has_stopped);
        else
            changed_.wait_for(lock, taken, has_stopped);
    }
}

void StatusLine::set_aside(const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    if (thread_.joinable() && on_terminal_) show_status({});
    work();
}

void StatusLine::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        has_stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (on_terminal_) show_status({});
}

bool wants_progress(const OutputOptions& options) { return !options.quiet && !options.no_progress; }

Progress::Progress(ResultSink& sink, const OutputOptions& options)
    : sink_(sink), is_wanted_(wants_progress(options)) {}

void Progress::begin(const ResultHead& head) {
    sink_.begin(head);
    all_ = head.points;
    status_.emplace(is_wanted_,
                    [this](double seconds) { return progress_text(done_, all_, seconds); });
}

void Progress::point(const Point& point) {
    status_->set_aside([&] {
        sink_.point(point);
        ++done_;
    });
}

void Progress::finish(const ResultTail& tail) {
    status_.reset();
    sink_.finish(tail);
}

namespace {

struct Sum {
    std::uint64_t count = 0;
    double seconds = 0;
};

// Never destroyed: a thread may still end a step.
struct Steps {
    std::mutex mutex;
    std::map<std::string_view, Sum> many;
};
Steps& steps() {
    static auto& steps = *new Steps;
    return steps;
}

void tell(std::string_view what, double seconds, std::uint64_t count) {
    if (count == 0) return print_err(fmt::format("coalprof: {} ({:.3f} s)\n", what, seconds));
    const std::lock_guard lock(steps().mutex);
    Sum& sum = steps().many[what];
    sum.count += count;
    sum.seconds += seconds;
}

}  // namespace

StepLines::StepLines(bool wanted) : wanted_(wanted) {
    if (wanted_) watch_steps(tell);
}

StepLines::~StepLines() {
    if (!wanted_) return;
    const std::lock_guard lock(steps().mutex);
    for (const auto& [what, sum] : steps().many)
        print_err(fmt::format("coalprof: {}: {} ({:.3f} s)\n", what, sum.count, sum.seconds));
    for (const std::string& path : loaded_cuda_libraries())
        print_err(fmt::format("coalprof: loaded {}\n", shown(path)));
}

}  // namespace coalprof
