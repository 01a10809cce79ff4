// Preloaded by tests of the program: lets one call of the system fail, or all of its kind from one
// on, as where a disk is full or memory is short.
//
//     COALPROF_FAIL=write:12:28          the twelfth write() answers errno 28 (ENOSPC)
//     COALPROF_FAIL=malloc:7+:12         that and all behind it
//     COALPROF_FAIL=rename:1:signal=9    the signal comes before the call, which is then made
//     COALPROF_FAIL=write:2:short        takes or gives half of the bytes; `none`: 0 of them
//     COALPROF_COUNT_TO=FILE             how many calls of each kind there were: "write 12" a line
//
// Programs that this one starts have it neither preloaded nor these variables.
//
// malloc stands for calloc() and realloc() too, and so for operator new. What the C library calls
// within itself does not come by here.
#undef _FORTIFY_SOURCE  // by which the headers define these functions themselves
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
}

namespace {

struct Call {
    const char* name;
    std::atomic<unsigned long> count{0};
};
Call calls[] = {{"malloc"},       {"open"},      {"read"},      {"write"},     {"fsync"},
                {"close"},        {"rename"},    {"unlink"},    {"stat"},      {"fstat"},
                {"lstat"},        {"readlink"},  {"realpath"},  {"fcntl"},     {"fchmod"},
                {"fchown"},       {"lseek"},     {"poll"},      {"getrandom"}, {"pthread_create"},
                {"flock"},        {"ftruncate"}, {"fdatasync"}, {"access"},    {"mkdtemp"},
                {"posix_spawnp"}, {"waitpid"},   {"fopen64"},   {"opendir"},   {"readdir"}};

Call& call_named(const char* name) {
    return *std::find_if(std::begin(calls), std::end(calls) - 1,
                         [&](const Call& call) { return ::strcmp(call.name, name) == 0; });
}

struct Fault {
    const Call* call = nullptr;  // none
    unsigned long number = 0;
    bool goes_on = false;
    bool is_none = false;
    bool is_short = false;
    int signal = 0;
    int error = 0;
};
Fault fault;

// "write:12+:28"; a text that is none ends the program.
Fault read_fault(const char* text) {
    Fault read;
    char name[20] = {};
    char mark[2] = {};
    char what[20] = {};
    const bool goes_on =
        ::sscanf(text, "%19[^:]:%lu%1[+]:%19s", name, &read.number, mark, what) == 4;
    if (!goes_on && ::sscanf(text, "%19[^:]:%lu:%19s", name, &read.number, what) != 3) ::abort();
    read.goes_on = goes_on;
    read.call = &call_named(name);
    if (::strcmp(read.call->name, name) != 0) ::abort();
    read.is_short = ::strcmp(what, "short") == 0;
    read.is_none = ::strcmp(what, "none") == 0;
    if (::sscanf(what, "signal=%d", &read.signal) != 1) read.error = ::atoi(what);
    return read;
}

const char* count_to = nullptr;

__attribute__((constructor)) void begin() {
    count_to = ::getenv("COALPROF_COUNT_TO");
    if (const char* text = ::getenv("COALPROF_FAIL")) fault = read_fault(text);
    for (const char* name : {"COALPROF_COUNT_TO", "COALPROF_FAIL", "LD_PRELOAD"}) ::unsetenv(name);
    // From here on: what the loader and the C++ library took is not ours.
    for (Call& call : calls) call.count = 0;
}

__attribute__((destructor)) void end() {
    if (!count_to) return;
    fault = {};
    unsigned long counts[std::size(calls)];
    for (std::size_t i = 0; i < std::size(calls); ++i) counts[i] = calls[i].count;
    FILE* file = ::fopen(count_to, "w");
    if (!file) return;
    for (std::size_t i = 0; i < std::size(calls); ++i)
        ::fprintf(file, "%s %lu\n", calls[i].name, counts[i]);
    ::fclose(file);
}

// Whether this call is the one, or one of those. Where that is a signal, it has been sent.
bool is_hit(Call& call) {
    const unsigned long number = ++call.count;
    if (fault.call != &call) return false;
    if (number != fault.number && !(fault.goes_on && number > fault.number)) return false;
    if (fault.signal == 0) return true;
    ::kill(::getpid(), fault.signal);
    return false;
}

bool fails(Call& call) {
    if (!is_hit(call)) return false;
    errno = fault.error;
    return true;
}

// The C library's own function. The first look for it may take memory, which is not the program's.
template <typename Function>
Function* real(Function*, const char* name) {
    const Fault kept = fault;
    const unsigned long count = calls[0].count;
    fault = {};
    void* found = ::dlsym(RTLD_NEXT, name);
    fault = kept;
    calls[0].count = count;
    return reinterpret_cast<Function*>(found);
}

// read() and write() may also take less than was given.
template <typename Function, typename Bytes>
ssize_t transfer(Call& call, Function* function, int fd, Bytes* bytes, std::size_t size) {
    if (!is_hit(call)) return function(fd, bytes, size);
    if (fault.is_none) return 0;
    if (fault.is_short) return function(fd, bytes, std::max<std::size_t>(1, size / 2));
    errno = fault.error;
    return -1;
}

}  // namespace

// A function that is called as `name` with `arguments` and may fail with `failed`.
#define COALPROF_WRAP(result, name, parameters, arguments, failed)             \
    result name parameters {                                                   \
        static Call& call = call_named(#name);                                 \
        static auto* const function = real(&::name, #name);                    \
        return fails(call) ? static_cast<result>(failed) : function arguments; \
    }

extern "C" {

void* malloc(std::size_t size) { return fails(calls[0]) ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t items, std::size_t size) {
    return fails(calls[0]) ? nullptr : __libc_calloc(items, size);
}
void* realloc(void* old, std::size_t size) {
    return fails(calls[0]) ? nullptr : __libc_realloc(old, size);
}

COALPROF_WRAP(int, fsync, (int fd), (fd), -1)
COALPROF_WRAP(int, rename, (const char* from, const char* to), (from, to), -1)
COALPROF_WRAP(int, fdatasync, (int fd), (fd), -1)
COALPROF_WRAP(int, ftruncate, (int fd, off_t size), (fd, size), -1)
COALPROF_WRAP(int, flock, (int fd, int operation), (fd, operation), -1)
COALPROF_WRAP(int, access, (const char* path, int mode), (path, mode), -1)
COALPROF_WRAP(int, unlink, (const char* path), (path), -1)
COALPROF_WRAP(int, stat, (const char* path, struct stat* status), (path, status), -1)
COALPROF_WRAP(int, lstat, (const char* path, struct stat* status), (path, status), -1)
COALPROF_WRAP(int, fstat, (int fd, struct stat* status), (fd, status), -1)
COALPROF_WRAP(ssize_t, readlink, (const char* path, char* to, std::size_t size), (path, to, size),
              -1)
COALPROF_WRAP(char*, realpath, (const char* path, char* to), (path, to), nullptr)
COALPROF_WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
COALPROF_WRAP(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), -1)
COALPROF_WRAP(off_t, lseek, (int fd, off_t offset, int from), (fd, offset, from), -1)
COALPROF_WRAP(char*, mkdtemp, (char* name), (name), nullptr)
COALPROF_WRAP(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options), -1)
COALPROF_WRAP(FILE*, fopen64, (const char* path, const char* mode), (path, mode), nullptr)
COALPROF_WRAP(DIR*, opendir, (const char* path), (path), nullptr)
COALPROF_WRAP(dirent*, readdir, (DIR * folder), (folder), nullptr)
COALPROF_WRAP(int, poll, (pollfd * wanted, nfds_t count, int milliseconds),
              (wanted, count, milliseconds), -1)
COALPROF_WRAP(ssize_t, getrandom, (void* to, std::size_t size, unsigned flags), (to, size, flags),
              -1)

// Linux has released the descriptor before anything can go wrong.
int close(int fd) {
    static Call& call = call_named("close");
    static auto* const function = real(&::close, "close");
    const bool is_bad = fails(call);
    const int closed = function(fd);
    if (!is_bad) return closed;
    errno = fault.error;
    return -1;
}

// These two answer their error instead of setting errno.
int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
    static Call& call = call_named("posix_spawnp");
    static auto* const function = real(&::posix_spawnp, "posix_spawnp");
    return fails(call) ? fault.error : function(child, file, actions, attributes, words, variables);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                   void* argument) {
    static Call& call = call_named("pthread_create");
    static auto* const function = real(&::pthread_create, "pthread_create");
    return fails(call) ? fault.error : function(thread, attributes, work, argument);
}

ssize_t read(int fd, void* to, std::size_t size) {
    static Call& call = call_named("read");
    static auto* const function = real(&::read, "read");
    return transfer(call, function, fd, to, size);
}

ssize_t write(int fd, const void* from, std::size_t size) {
    static Call& call = call_named("write");
    static auto* const function = real(&::write, "write");
    return transfer(call, function, fd, from, size);
}

int open(const char* path, int flags, ...) {
    static Call& call = call_named("open");
    static auto* const function = real(&::open, "open");
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(call) ? -1 : function(path, flags, mode);
}

int fcntl(int fd, int command, ...) {
    static Call& call = call_named("fcntl");
    static auto* const function = real(&::fcntl, "fcntl");
    va_list rest;
    va_start(rest, command);
    void* const argument = va_arg(rest, void*);  // passed on as it came, a number too
    va_end(rest);
    return fails(call) ? -1 : function(fd, command, argument);
}

// As which a hardened program calls them.
ssize_t __read_chk(int fd, void* to, std::size_t size, std::size_t) { return read(fd, to, size); }
int __open_2(const char* path, int flags) { return open(path, flags); }
int __poll_chk(pollfd* wanted, nfds_t count, int milliseconds, std::size_t) {
    return poll(wanted, count, milliseconds);
}
char* __realpath_chk(const char* path, char* to, std::size_t) { return realpath(path, to); }
ssize_t __readlink_chk(const char* path, char* to, std::size_t size, std::size_t) {
    return readlink(path, to, size);
}
}
