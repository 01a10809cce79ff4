#include "core/write/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/file_descriptor.h"

namespace coalprof {
namespace {

// The target of `path` after following symbolic links at its end, also if nothing is there yet.
// Empty with errno set when they lead nowhere.
std::string follow_links(std::string path) {
    constexpr int most_links = 40;  // Linux's own limit
    for (int links = 0; links <= most_links; ++links) {
        char link[PATH_MAX];
        const ssize_t size = ::readlink(path.c_str(), link, sizeof link);
        if (size < 0) return errno == EINVAL || errno == ENOENT ? path : std::string();
        const std::string_view leads_to(link, static_cast<std::size_t>(size));
        const std::size_t slash = path.rfind('/');
        const bool is_relative = !leads_to.starts_with('/') && slash != path.npos;
        path = (is_relative ? path.substr(0, slash + 1) : std::string()).append(leads_to);
    }
    errno = ELOOP;
    return {};
}

struct SplitPath {
    std::string folder;  // absolute, without links; empty with errno set when there is no such
    std::string name;
};

SplitPath split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    const std::unique_ptr<char, decltype(&::free)> real(::realpath(folder.c_str(), nullptr),
                                                        &::free);
    if (!real && errno == ENOMEM) throw std::bad_alloc();
    SplitPath parts;
    if (real) parts.folder = real.get();
    parts.name = slash == path.npos ? path : path.substr(slash + 1);
    return parts;
}

// A name like the target's that cannot be guessed.
std::string temporary_name(const std::string& name) {
    unsigned long long random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) return {};
    constexpr std::size_t most_of_name = NAME_MAX - 22;  // bytes; two dots, 16 digits, ".tmp"
    return fmt::format(".{}.{:016x}.tmp", name.substr(0, most_of_name), random);
}

// "/dev/stdout" and its like name a descriptor that is open already. Opening its file again would
// start at its beginning; -1 for any other path.
int descriptor_named(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) continue;
        const std::string_view digits = path.substr(folder.size());
        int number = 0;
        for (const char c : digits) {
            if (c < '0' || c > '9' || number > 99'999) return -1;
            number = number * 10 + (c - '0');
        }
        return digits.empty() ? -1 : number;
    }
    return -1;
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    if (const int named = descriptor_named(path_); named >= 0) {
        fd_ = ::fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (fd_ < 0) fail("write", errno);
        claim({}, {.replaced = identity_of(fd_)});
        return;
    }
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) fail("create", errno);
    if (exists && S_ISDIR(old.st_mode)) fail("write", EISDIR);
    if (exists && !S_ISREG(old.st_mode))
        open_directly();
    else
        open_temporary(exists ? &old : nullptr);
}

void OutputFile::claim(const std::string& place, const OutputClaim::Files& files) {
    try {
        claim_.emplace(path_, place, files);
    } catch (const UsageError&) {
        discard();
        throw;
    }
}

void OutputFile::open_directly() {
    // This waits where a pipe has no reader.
    while ((fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)) < 0) {
        if (errno != EINTR) fail("write", errno);
        stop_if_asked();
    }
    if ((fd_ = above_standard(fd_)) < 0) fail("write", errno);
}

void OutputFile::open_temporary(const struct stat* old) {
    const std::string end = follow_links(path_);
    if (end.empty()) fail("create", errno);
    const SplitPath target = split(end);
    if (target.folder.empty()) fail("create", errno);
    if (target.name.empty()) fail("create", EISDIR);
    if (target.name.ends_with(part_suffix))
        throw UsageError(
            fmt::format("cannot write {}: a name that ends in {} is of a file with the finished "
                        "points of a run that has not ended",
                        shown(path_), part_suffix),
            "give the result another name");
    target_ = target.folder + '/' + target.name;
    claim(target_, {.replaced = identity_of(target_), .part = identity_of(partial_path(target_))});
    if (old) {
        // Replacing needs no right to write the old file itself, but a read-only file is meant to
        // stay. access() says yes to a file that may only be appended to.
        const int writable = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (writable < 0) fail("write", errno);
        ::close(writable);
    }
    // Nothing takes memory once the temporary file is there, since an exception would leave it.
    // open() takes the umask off a new file's permissions; those of an old one are set below.
    const mode_t mode = old ? 0600 : 0666;
    if (!create_in(target.folder, target.name, mode)) fail("create", errno);
    remove_when_killed(temporary_);
    if (!old) return;
    // Root may give the file back to its owner; for others this fails, and the new file becomes
    // theirs.
    [[maybe_unused]] const int owner = ::fchown(fd_, old->st_uid, old->st_gid);
    if (::fchmod(fd_, old->st_mode & 0777) != 0) fail("create", errno);
}

// False with errno set on failure.
bool OutputFile::create_in(const std::string& folder, const std::string& name, mode_t mode) {
    const std::string own_name = temporary_name(name);
    if (own_name.empty()) return false;
    std::string path = folder + '/' + own_name;
    fd_ = above_standard(
        ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
    if (fd_ < 0) return false;
    temporary_ = std::move(path);
    return true;
}

OutputFile::~OutputFile() { discard(); }

bool OutputFile::is_live() const { return temporary_.empty() && !is_regular_file(fd_); }

void OutputFile::write(std::string_view bytes) {
    if (const int error = write_all(fd_, bytes); error != 0) fail("write", error);
}

void OutputFile::commit() {
    finish_bytes();
    if (temporary_.empty()) return;
    place(target_);
}

// The first free one: an existing file may be another run's part, or the user's. The last one is
// taken where none is free.
static std::string free_partial_path(const std::string& path) {
    constexpr int last = 9;
    for (int number = 1; number < last; ++number) {
        std::string part = partial_path(path, number);
        if (struct stat there{}; ::lstat(part.c_str(), &there) != 0 && errno == ENOENT) return part;
    }
    return partial_path(path, last);
}

void OutputFile::commit_part() {
    finish_bytes();
    if (temporary_.empty()) return;
    const std::string part = free_partial_path(target_);
    place(part);
    remark_ = fmt::format("the part that was finished is in {}", shown(part));
}

void OutputFile::finish_bytes() {
    // Some file systems cannot sync and return EINVAL; then there is nothing to wait for.
    while (!temporary_.empty() && ::fsync(fd_) != 0 && errno != EINVAL)
        if (errno != EINTR) fail("write", errno);
    const int closed = ::close(std::exchange(fd_, -1));
    if (closed != 0 && errno != EINTR) fail("write", errno);
}

void OutputFile::place(const std::string& target) {
    if (::rename(temporary_.c_str(), target.c_str()) != 0) fail_keeping_bytes(target, errno);
    keep_when_killed(temporary_);
    temporary_.clear();
    sync_folder();
}

// The new name survives a power failure only when the folder is on the disk too. The file is in
// place already, so an error here is no failure.
void OutputFile::sync_folder() const {
    const std::string folder = target_.substr(0, target_.rfind('/') + 1);
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const int synced = ::fsync(fd);
    ::close(fd);
}

void OutputFile::discard() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    if (!temporary_.empty()) {
        ::unlink(temporary_.c_str());
        keep_when_killed(temporary_);
    }
    temporary_.clear();
}

// Only the temporary file holds the whole result.
void OutputFile::fail_keeping_bytes(const std::string& target, int error) {
    keep_when_killed(temporary_);
    const std::string kept = std::exchange(temporary_, {});
    throw Error(fmt::format("cannot write {}: {}; the result is in {}", shown(target),
                            text_of_errno(error), shown(kept)),
                ExitCode::output);
}

void OutputFile::fail(std::string_view doing, int error) {
    discard();
    const std::size_t slash = path_.rfind('/');
    const std::string why = error == ENOENT && slash != std::string::npos
                                ? "there is no folder " + shown(path_.substr(0, slash))
                                : text_of_errno(error);
    throw Error(fmt::format("cannot {} {}: {}", doing, shown(path_), why), ExitCode::output);
}

std::string partial_path(const std::string& path, int number) {
    const std::string mark = number > 1 ? fmt::format(".partial.{}", number) : ".partial";
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == path.npos ? 0 : slash + 1;
    const std::size_t dot = path.rfind('.');
    const std::size_t stem = dot == path.npos || dot <= name ? path.size() : dot;
    const std::string suffix = path.substr(stem);
    const std::size_t room =
        NAME_MAX - std::min<std::size_t>(NAME_MAX, mark.size() + suffix.size());
    return path.substr(0, std::min(stem, name + room)).append(mark).append(suffix);
}

}  // namespace coalprof
