#include "core/run/stop.h"

#include <initializer_list>

namespace coalprof {
namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember_signal(int signal) {
    caught = signal;
    std::signal(signal, SIG_DFL);  // the next one is not caught
}

}  // namespace

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM})
        if (std::signal(signal, remember_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

int stop_signal() { return caught; }

ExitCode exit_code_of(Status status) {
    switch (status) {
        case Status::complete:
            return ExitCode::done;
        case Status::partial:
            return ExitCode::partial;
        case Status::interrupted:
            break;
    }
    return stop_signal() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

}  // namespace coalprof
