// Signals that ask for the end: the flag for work to check, and the exception that leaves long work
// without a partial result.
#pragma once

#include <csignal>
#include <string>

namespace coalprof {

// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM and SIGUSR1 set the flag, unless
// the parent had the program ignore them. Within 2 s of the first, further ones are the same wish:
// timeout(1) signals the program and then its group, as terminals do. A later one ends the process
// at once, as if it were not caught; files that were being written beside their targets are removed
// first.
void stop_on_signals();
// The signal that asked for the end, or 0.
int stop_signal();

// Thrown where work ends because of the signal; not an Error, as nothing is wrong.
struct Stopped {};
// Throws Stopped where a signal asked for the end, LimitReached past the limit of time
// (core/runtime/work_limits.h).
void stop_if_asked();

// Signals of every kind wait while this lives. A thread that is started in that time gets none,
// ever: they go to the thread that reads, waits and writes, whose system calls have to return.
class SignalsHeld {
 public:
    SignalsHeld();
    ~SignalsHeld();
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;
    // The mask of signals before.
    const sigset_t& before() const { return before_; }

 private:
    sigset_t before_;
};

// Registers a file, or a folder with its content, that is removed when the process is ended at
// once. The string must not move until it is taken back. At most 16 at a time are guaranteed.
void remove_when_killed(const std::string& path);
void keep_when_killed(const std::string& path);
// For code that ends the process at once; takes no memory.
void remove_unfinished_files() noexcept;

// Removes a folder with its content, by functions that a signal handler may call.

// As far as possible: files that may not be removed stay. Links are removed, not followed.
void remove_folder(const char* path) noexcept;

}  // namespace coalprof
