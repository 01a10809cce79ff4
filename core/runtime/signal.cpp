#include "core/runtime/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/runtime/work_limits.h"

namespace coalprof {

namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1};
// The process's spare objects; never destroyed: threads may outlive static objects.
constexpr std::int64_t same_wish_nanoseconds = 2'000'000'000;

std::atomic<int> caught{0};                       // also read by threads other than the handler's
std::atomic<std::int64_t> caught_nanoseconds{0};  // when; 0: not yet
static_assert(std::atomic<int>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may not wait");
std::array<std::atomic<const char*>, 16> unfinished_files{};

std::int64_t nanoseconds_since_boot() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void end_at_once(int signal) {
    remove_unfinished_files();
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // delivered when the handler returns
}

// A call that begins to wait just after the flag was checked would wait for ever: from the first
// signal on, a timer signal interrupts every second. Only functions that are safe in a signal
// handler.
extern "C" void handle_signal(int signal, siginfo_t* info, void*) {
    const bool is_our_own = signal == SIGALRM && info->si_code == SI_KERNEL && caught != 0;
    ::alarm(1);
    if (is_our_own) return;
    const int error = errno;
    const std::int64_t now = nanoseconds_since_boot();
    std::int64_t first = 0;
    if (caught_nanoseconds.compare_exchange_strong(first, now))
        caught = signal;
    else if (now - first >= same_wish_nanoseconds)
        end_at_once(signal);
    errno = error;
}

}  // namespace

void stop_on_signals() {
    for (const int signal : ending_signals) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_sigaction = handle_signal;
        action.sa_flags = SA_SIGINFO;
        ::sigfillset(&action.sa_mask);  // one at a time
        // No SA_RESTART: a read that waits for input has to return.
        ::sigaction(signal, &action, nullptr);
    }
}

int stop_signal() { return caught; }

void stop_if_asked() {
    if (stop_signal() != 0) throw Stopped{};
    require_time_left();
}

SignalsHeld::SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeld::~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void remove_unfinished_files() noexcept {
    for (const auto& file : unfinished_files)
        if (const char* path = file.load())
            if (::unlink(path) != 0 && errno == EISDIR) remove_folder(path);
}

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

namespace {

// readdir() allocates memory, which a signal handler must not, so this uses the system call. An
// entry: two numbers of 64 bits, its length in 16 bits, its kind in 8, its name.
constexpr std::size_t length_offset = 16;
constexpr std::size_t name_offset = 19;
constexpr int deepest = 16;
constexpr int most_rounds = 100;  // another process may add files all the while

void empty_folder(int folder, int depth) noexcept;

// True if it is gone.
bool remove_entry(int folder, const char* name, int depth) noexcept {
    if (::unlinkat(folder, name, 0) == 0) return true;
    if (errno != EISDIR || depth == deepest) return false;
    const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) {
        empty_folder(inner, depth + 1);
        ::close(inner);
    }
    return ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void empty_folder(int folder, int depth) noexcept {
    alignas(std::uint64_t) std::array<char, 2048> entries;
    // The order of entries after removed ones is undefined: read again until none is removed.
    bool has_removed = true;
    for (int round = 0; has_removed && round < most_rounds; ++round) {
        has_removed = false;
        ::lseek(folder, 0, SEEK_SET);
        long bytes = 0;
        while ((bytes = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0)
            for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
                std::uint16_t length = 0;
                std::memcpy(&length, &entries[at + length_offset], sizeof length);
                const std::string_view name = &entries[at + name_offset];
                at += length;
                if (name != "." && name != "..")
                    has_removed = remove_entry(folder, name.data(), depth) || has_removed;
            }
    }
}

}  // namespace

void remove_folder(const char* path) noexcept { remove_entry(AT_FDCWD, path, 0); }

}  // namespace coalprof
