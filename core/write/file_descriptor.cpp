#include "core/write/file_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/outputs.h"

namespace coalprof {

int write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written == 0) return EIO;  // nothing was written, and no error: it would never end
        if (written > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd wanted{fd, POLLOUT, 0};
            if (::poll(&wanted, 1, -1) < 0 && errno != EINTR) return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int above_standard(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    ::close(fd);
    errno = error;
    return moved;
}

bool is_regular_file(int fd) {
    struct stat status {};
    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool is_read_along(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return false;
    return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || ::isatty(fd) == 1;
}

namespace {

[[noreturn]] void fail(int error) {
    throw Error(fmt::format("cannot write to standard output: {}", text_of_errno(error)),
                ExitCode::output);
}

}  // namespace

StandardOutput::StandardOutput()
    : claim_("standard output", std::string(1, '-'), {.replaced = identity_of(STDOUT_FILENO)}),
      is_live_(is_read_along(STDOUT_FILENO)) {
    const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0) fail(errno);
    if ((flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
}

void StandardOutput::write(std::string_view bytes) {
    const int error = write_all(STDOUT_FILENO, bytes);
    if (error == EPIPE) throw ReaderGone();
    if (error != 0) fail(error);
}

}  // namespace coalprof
