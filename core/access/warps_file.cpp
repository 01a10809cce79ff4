#include "core/access/warps_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/access/warp_line.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

// Large enough that calls of read() cost nothing, small enough to stay in a core's L2 cache.
constexpr std::size_t block_bytes = 128 << 10;
static_assert(block_bytes > most_warps_line_bytes + 2);  // or a long line could not be detected

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

WarpsReader::WarpsReader(ByteSource& source, std::string file_name)
    : source_(source),
      file_name_(std::move(file_name)),
      buffer_(block_bytes + 1) {}  // 1: a last newline

// `parse` returns true if a line holds a warp.
template <typename Parse>
bool WarpsReader::next_that(const Parse& parse, Wait wait) {
    std::string_view text;
    while (next_text(text, wait)) {
        ++number_;
        if (number_ == 1 && text.starts_with(byte_order_mark))
            text.remove_prefix(byte_order_mark.size());
        if (parse(text)) return true;
    }
    return false;
}

bool WarpsReader::next(WarpLine& line, Wait wait) {
    const auto parse = [&](std::string_view text) {
        line.number = number_;
        return parse_warp_line(text, file_name_, line);
    };
    return next_that(parse, wait);
}

bool WarpsReader::next_op(WarpOp& op) {
    const auto parse = [&](std::string_view text) {
        WarpLine line;
        line.number = number_;
        if (!parse_warp_op(text, file_name_, line)) return false;
        op = {line.access.kind, line.access.space};
        return true;
    };
    return next_that(parse, Wait::yes);
}

// The next line without its end; false at the end.
bool WarpsReader::next_text(std::string_view& text, Wait wait) {
    if (!find_line_end(wait)) return false;
    text = {buffer_.data() + begin_, line_end_ - begin_};
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.size() > most_warps_line_bytes) refuse_long_line();
    begin_ = line_end_ + 1;
    return true;
}

// Sets line_end_ to the newline that ends the next line, reading more where needed.
bool WarpsReader::find_line_end(Wait wait) {
    std::size_t without = 0;  // number of bytes from begin_ on without a newline
    while (true) {
        const char* from = buffer_.data() + begin_ + without;
        const std::size_t bytes = end_ - begin_ - without;
        if (const void* found = std::memchr(from, '\n', bytes)) {
            line_end_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
            return true;
        }
        without += bytes;
        if (without > most_warps_line_bytes + 1) refuse_long_line();  // 1: a CR may end it
        if (wait == Wait::no) return false;
        if (!refill()) break;
    }
    if (without == 0) return false;
    buffer_[end_] = '\n';  // a last line without a newline gets one
    line_end_ = end_++;
    return true;
}

// Moves the rest to the front of the buffer and reads more after it. False at the end of the input.
bool WarpsReader::refill() {
    char* front = buffer_.data();
    const std::size_t left = end_ - begin_;
    // A pipe may bring a long line in small pieces: it is moved once.
    if (begin_ > 0) std::memmove(front, buffer_.data() + begin_, left);
    const std::size_t bytes = source_.read({front + left, block_bytes - left});
    begin_ = 0;
    end_ = left + bytes;
    return bytes > 0;
}

void WarpsReader::refuse_long_line() const {
    const std::size_t shown_bytes = std::min(end_ - begin_, most_warps_line_bytes + 1);
    throw UsageError(fmt::format("{}:{}:{}: the line is longer than {} bytes", shown(file_name_),
                                 number_ + 1, most_warps_line_bytes + 1, most_warps_line_bytes),
                     std::string(buffer_.data() + begin_, shown_bytes), most_warps_line_bytes,
                     "a line end may be missing");
}

}  // namespace coalprof
