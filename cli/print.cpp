#include "cli/print.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

#include "core/text/fold.h"
#include "core/text/number.h"
#include "core/text/utf8.h"
#include "core/write/file_descriptor.h"
#include "core/write/outputs.h"

namespace coalprof {
namespace {

std::mutex printing;
bool has_status = false;

// On a terminal; elsewhere unchanged.
std::string folded_sentences(std::string_view text, int descriptor) {
    if (::isatty(descriptor) != 1) return std::string(text);
    const Folding folding{
        .columns = terminal_width(descriptor), .hanging = 2, .keeps_commands = true};
    std::string all;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const bool is_ended = line.size() < text.size();
        const bool is_sentence = !line.starts_with(' ') && line.find('\033') == line.npos;
        if (is_sentence && terminal_columns(line) > folding.columns)
            all += folded_text(line, folding);
        else
            all.append(line).append(is_ended ? "\n" : "");
        text.remove_prefix(line.size() + (is_ended ? 1 : 0));
    }
    return all;
}

void erase_status() noexcept {
    if (has_status) write_all(STDERR_FILENO, "\r\033[K");
    has_status = false;
}

}  // namespace

void print_out(std::string_view text) {
    try {
        StandardOutput().write(text);
    } catch (const ReaderGone&) {  // the reader wants no more
    }
}

void print_out_folded(std::string_view text) { print_out(folded_sentences(text, STDOUT_FILENO)); }

std::size_t terminal_width(int descriptor) {
    constexpr std::size_t usual_width = 80;
    constexpr std::size_t least_width = 20;
    if (const char* columns = std::getenv("COLUMNS")) {
        const std::string_view text(columns);
        const ReadNumber width = read_integer(text);
        if (width.status == NumberStatus::ok && width.length == text.size() &&
            width.value >= static_cast<std::int64_t>(least_width) && width.value <= 10'000)
            return static_cast<std::size_t>(width.value);
    }
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= least_width)
        return size.ws_col;
    return usual_width;
}

void print_err(std::string_view text) noexcept {
    std::string shown;
    try {
        text = shown = ::isatty(STDERR_FILENO) == 1 ? folded_sentences(text, STDERR_FILENO)
                                                    : without_commands(text);
    } catch (const std::bad_alloc&) {  // then it is printed unfolded
    }
    const std::lock_guard lock(printing);
    erase_status();
    write_all(STDERR_FILENO, text);
}

void show_status(std::string_view line) noexcept {
    const std::lock_guard lock(printing);
    erase_status();
    write_all(STDERR_FILENO, line);
    has_status = !line.empty();
}

}  // namespace coalprof
