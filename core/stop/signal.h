// Ctrl-C and SIGTERM: the flag that work looks at, and the exception that leaves long work which
// cannot deliver a part of itself. A second signal ends the process at once; files that were being
// written beside their targets are removed first.
#pragma once

#include <csignal>
#include <string>

namespace coalprof {

void stop_on_signals();
// The signal that asked for the end (SIGINT, SIGTERM), or 0.
int stop_signal();

// Thrown where work ends because of the signal; not an Error, as nothing is wrong.
struct Stopped {};
inline void stop_if_asked() {
    if (stop_signal() != 0) throw Stopped{};
}

// The file is removed when a second signal ends the process. The string must stay where it is until
// it is taken back. Beyond 16 files at a time nothing is promised.
void remove_when_killed(const std::string& path);
void keep_when_killed(const std::string& path);

}  // namespace coalprof
