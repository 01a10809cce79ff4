// Preloaded by allocation_test.py: lets one allocation of a program fail, or all from one on, as
// where memory is short. COALPROF_FAIL_AT=12: the twelfth; COALPROF_FAIL_FROM=12: that and all
// behind it. The number of allocations goes to the file that COALPROF_COUNT_TO names.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
}

namespace {

std::atomic<unsigned long> count{0};
unsigned long fail_at = 0;    // 0: none
unsigned long fail_from = 0;  // likewise

unsigned long number_in(const char* variable) {
    const char* text = ::getenv(variable);
    return text ? ::strtoul(text, nullptr, 10) : 0;
}

__attribute__((constructor)) void begin() {
    fail_at = number_in("COALPROF_FAIL_AT");
    fail_from = number_in("COALPROF_FAIL_FROM");
    count = 0;  // from here on: what the loader and the C++ library took is not ours
}

__attribute__((destructor)) void end() {
    const char* path = ::getenv("COALPROF_COUNT_TO");
    if (!path) return;
    char digits[20];
    int at = sizeof digits;
    for (unsigned long left = count; left > 0 || at == sizeof digits; left /= 10)
        digits[--at] = static_cast<char>('0' + left % 10);
    const int fd = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (::write(fd, digits + at, sizeof digits - static_cast<unsigned>(at)) < 0) return;
    ::close(fd);
}

bool fails() {
    const unsigned long number = ++count;
    if (number != fail_at && (fail_from == 0 || number < fail_from)) return false;
    errno = ENOMEM;
    return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t items, std::size_t size) {
    return fails() ? nullptr : __libc_calloc(items, size);
}
void* realloc(void* old, std::size_t size) { return fails() ? nullptr : __libc_realloc(old, size); }
}
