#include "cli/print.h"

#include <unistd.h>

#include <cerrno>

#include "core/write/standard_output.h"

namespace coalprof {

void print_out(std::string_view text) { StandardOutput().write(text); }

void print_err(std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace coalprof
