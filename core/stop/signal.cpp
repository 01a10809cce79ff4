#include "core/stop/signal.h"

#include <errno.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace coalprof {
namespace {

volatile std::sig_atomic_t caught = 0;
std::array<std::atomic<const char*>, 16> unfinished_files{};

// Only what may be called in a signal handler.
extern "C" void handle_signal(int signal) {
    if (caught == 0) {
        caught = signal;
        return;
    }
    const int error = errno;
    for (const auto& file : unfinished_files)
        if (const char* path = file.load()) ::unlink(path);
    errno = error;
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // delivered when this handler returns
}

}  // namespace

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = handle_signal;
        ::sigemptyset(&action.sa_mask);
        // No SA_RESTART: a read that waits for input has to return.
        ::sigaction(signal, &action, nullptr);
    }
}

int stop_signal() { return caught; }

void remove_when_killed(const std::string& path) {
    for (auto& file : unfinished_files) {
        const char* none = nullptr;
        if (file.compare_exchange_strong(none, path.c_str())) return;
    }
}

void keep_when_killed(const std::string& path) {
    for (auto& file : unfinished_files) {
        const char* known = path.c_str();
        if (file.compare_exchange_strong(known, nullptr)) return;
    }
}

}  // namespace coalprof
