// The warps file: text, one warp instruction a line, streamed in constant memory.
//
//     NAME OP WIDTH A0 A1 ... A31     # a comment
//
// NAME: up to 200 bytes of UTF-8 without blanks, control characters or '#'. OP: load store atomic
// reduce shared_load shared_store. WIDTH: bytes per lane, 1 2 4 8 16 32 (atomic, reduce: 4 or 8;
// shared: 16 at most).
// A: byte address, decimal or 0x..., a multiple of WIDTH because hardware refuses others; '-' is an
// inactive lane. Fields are parted by blanks or tabs. Blank lines, comment lines, CRLF, a byte
// order mark and a missing last newline are accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/access/warp_access.h"
#include "core/text/byte_source.h"

namespace coalprof {

inline constexpr std::size_t most_warps_line_bytes = 64 << 10;  // comment included, line end not
inline constexpr std::size_t most_warp_name_bytes = 200;

struct WarpOp {
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
    friend bool operator==(const WarpOp&, const WarpOp&) = default;
};
// The ops that a line can name.
std::span<const WarpOp> warp_ops();
std::string word_of(const WarpOp& op);  // "shared_load"
// Throws UsageError naming `option`, with the nearest one.
WarpOp read_warp_op(std::string_view word, std::string_view option);

struct WarpLine {
    std::string_view name;  // valid until the next call of next()
    WarpAccess access;
    std::uint64_t number = 0;  // line of the file from 1, comments and blank lines counted
};

// A line of the file with its end; in the name blanks and # become _, and one that is too long is
// cut. None where no line can hold it: other ops and widths, or no active lane.
std::optional<std::string> warps_file_line(std::string name, const WarpAccess& access);

// `yes`: reading may wait for input that is not there yet.
enum class Wait : std::uint8_t { no, yes };

class WarpsReader {
 public:
    // Reads from the position of `source`; `file_name` is its name in errors.
    WarpsReader(ByteSource& source, std::string file_name);

    // The next warp; false at the end, and with Wait::no also where more would have to be read
    // first. A line from a pipe is delivered before more is waited for. Throws UsageError
    // ("FILE:LINE:COLUMN: ...", with the line and a caret) for the first line that does not fit,
    // after which the reader must not be used; Error when reading fails.
    bool next(WarpLine& line, Wait wait = Wait::yes);
    // The next warp's op alone, without parsing the rest of its line: much faster.
    bool next_op(WarpOp& op);

 private:
    template <typename Parse>
    bool next_that(const Parse& parse, Wait wait);
    bool next_text(std::string_view& text, Wait wait);
    bool find_line_end(Wait wait);
    bool refill();
    void refuse_other_kind();
    [[noreturn]] void refuse_long_line();

    ByteSource& source_;
    std::string file_name_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // buffer_[begin_, end_) is not yet handed out
    std::size_t end_ = 0;
    std::size_t line_end_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace coalprof
