// Functions of the C library that are newer than glibc 2.28 (RHEL 8) and that release builds need,
// made from what 2.28 has. scripts/package links this file, before libstdc++.a;
// tests/cli/binary_test.py checks the versions in the result.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#define OLDEST "GLIBC_2.2.5"
#else
#define OLDEST "GLIBC_2.17"
#endif
// For this program alone: libraries that it loads use those of the C library. The attribute is
// ignored for functions that the compiler knows.
#define HIDDEN(name) __asm__(".hidden " #name)
// glibc 2.29 gave these a new version because they no longer call matherr(); the values are the
// same.
#define OF_OLDEST(name, parameters, arguments)             \
    HIDDEN(name);                                          \
    double oldest_##name parameters;                       \
    __asm__(".symver oldest_" #name "," #name "@" OLDEST); \
    double name parameters { return oldest_##name arguments; }

extern "C" {

OF_OLDEST(exp, (double x), (x))
OF_OLDEST(log, (double x), (x))
OF_OLDEST(log2, (double x), (x))
OF_OLDEST(pow, (double x, double y), (x, y))

// glibc 2.32: true if atomic operations can be left out. They cannot.
HIDDEN(__libc_single_threaded);
char __libc_single_threaded = 0;

// glibc 2.36; std::random_device reads it. getrandom() is as good.
HIDDEN(arc4random);
std::uint32_t arc4random() {
    std::uint32_t value = 0;
    while (::getrandom(&value, sizeof value, 0) != sizeof value) {
    }
    return value;
}

// glibc 2.30; std::condition_variable waits for steady_clock with it. Older ones wait for a time of
// day; std::condition_variable looks at its own clock again.
HIDDEN(pthread_cond_clockwait);
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
    using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
    static const auto newer =
        reinterpret_cast<Wait>(::dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
    if (newer) return newer(condition, mutex, clock, until);
    timespec now{};
    timespec time_of_day{};
    if (::clock_gettime(clock, &now) != 0 || ::clock_gettime(CLOCK_REALTIME, &time_of_day) != 0)
        return errno;
    constexpr std::int64_t second = 1'000'000'000;  // nanoseconds
    const std::int64_t nanoseconds = time_of_day.tv_nsec + until->tv_nsec - now.tv_nsec + second;
    time_of_day.tv_sec += until->tv_sec - now.tv_sec + nanoseconds / second - 1;
    time_of_day.tv_nsec = nanoseconds % second;
    return ::pthread_cond_timedwait(condition, mutex, &time_of_day);
}

}  // extern "C"
