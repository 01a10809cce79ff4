#include "core/write/standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/file_descriptor.h"
#include "core/write/outputs.h"

namespace coalprof {
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
