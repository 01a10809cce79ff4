#include "core/write/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "core/stop/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/file_descriptor.h"

namespace coalprof {
namespace {

// Where `path` leads when symbolic links at its end are followed, also if nothing is there yet.
// Empty with errno set when they lead nowhere.
std::string follow_links(std::string path) {
    constexpr int most_links = 40;  // as Linux counts
    for (int links = 0; links <= most_links; ++links) {
        char link[PATH_MAX];
        const ssize_t size = ::readlink(path.c_str(), link, sizeof link);
        if (size < 0) return path;  // no link, or nothing there: open() will say
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
    SplitPath parts;
    if (real) parts.folder = real.get();
    parts.name = slash == path.npos ? path : path.substr(slash + 1);
    return parts;
}

// A name beside the target that nobody can guess.
std::string temporary_name(const SplitPath& target) {
    unsigned long long random = 0;
    if (::getrandom(&random, sizeof random, 0) != sizeof random) return {};
    constexpr std::size_t most_of_name = NAME_MAX - 22;  // bytes; two dots, 16 digits, ".tmp"
    return fmt::format("{}/.{}.{:016x}.tmp", target.folder, target.name.substr(0, most_of_name),
                       random);
}

// "/dev/stdout" and its like name a descriptor that is open already. Opening the file behind it
// anew would start at its beginning; -1 for any other path.
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
        return;
    }
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) fail("write", EISDIR);
    if (exists && !S_ISREG(old.st_mode)) {
        fd_ = above_standard(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
        if (fd_ < 0) fail("write", errno);
        return;
    }
    // Replacing needs no right to write the old file itself; whoever took that right away meant it.
    if (exists && ::access(path_.c_str(), W_OK) != 0) fail("write", errno);
    open_beside(exists ? &old : nullptr);
}

void OutputFile::open_beside(const struct stat* old) {
    const std::string end = follow_links(path_);
    if (end.empty()) fail("create", errno);
    const SplitPath target = split(end);
    if (target.folder.empty()) fail("create", errno);
    if (target.name.empty()) fail("create", EISDIR);
    target_ = target.folder + '/' + target.name;
    temporary_ = temporary_name(target);
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    // open() takes the umask off a new file's permissions; those of an old one are set below.
    constexpr mode_t new_mode = 0666;
    constexpr mode_t private_mode = 0600;
    if (!temporary_.empty())
        fd_ = above_standard(::open(temporary_.c_str(), flags, old ? private_mode : new_mode));
    if (fd_ < 0) {
        const int error = errno;
        temporary_.clear();  // not ours
        fail("create", error);
    }
    remove_when_killed(temporary_);
    if (!old) return;
    // Root may give the file back to its owner; for others this fails, and replacing the file makes
    // it theirs.
    [[maybe_unused]] const int owner = ::fchown(fd_, old->st_uid, old->st_gid);
    if (::fchmod(fd_, old->st_mode & 0777) != 0) fail("create", errno);
}

OutputFile::~OutputFile() { discard(); }

bool OutputFile::is_live() const { return temporary_.empty() && !is_regular_file(fd_); }

void OutputFile::write(std::string_view bytes) {
    if (const int error = write_all(fd_, bytes); error != 0) fail("write", error);
}

void OutputFile::commit() {
    const bool is_beside = !temporary_.empty();
    // Some file systems cannot sync and say so with EINVAL; then there is nothing to wait for.
    while (is_beside && ::fsync(fd_) != 0 && errno != EINVAL)
        if (errno != EINTR) fail("write", errno);
    const int closed = ::close(std::exchange(fd_, -1));
    if (closed != 0 && errno != EINTR) fail("write", errno);
    if (!is_beside) return;
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace", errno);
    keep_when_killed(temporary_);
    temporary_.clear();
    sync_folder();
}

// The new name survives a power failure only when the folder is on the disk too. The file is in
// place: that a folder cannot be synced is no failure.
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

void OutputFile::fail(std::string_view doing, int error) {
    discard();
    throw Error(fmt::format("cannot {} {}: {}", doing, shown(path_), text_of_errno(error)),
                ExitCode::output);
}

}  // namespace coalprof
