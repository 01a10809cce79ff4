#include "cli/print.h"

#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "core/write/standard_output.h"

namespace coalprof {
namespace {

std::mutex printing;
bool has_status = false;

void write_all(std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void erase_status() noexcept {
    if (has_status) write_all("\r\033[K");
    has_status = false;
}

}  // namespace

void print_out(std::string_view text) { StandardOutput().write(text); }

void print_err(std::string_view text) noexcept {
    const std::lock_guard lock(printing);
    erase_status();
    write_all(text);
}

void show_status(std::string_view line) noexcept {
    const std::lock_guard lock(printing);
    erase_status();
    write_all(line);
    has_status = !line.empty();
}

}  // namespace coalprof
