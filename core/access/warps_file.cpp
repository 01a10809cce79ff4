#include "core/access/warps_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/utf8.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

constexpr std::string_view line_hint =
    "a line is NAME OP WIDTH and 32 addresses, with '-' for a lane that does nothing";

constexpr std::array ops{
    WarpOp{AccessKind::load, Space::global},   WarpOp{AccessKind::store, Space::global},
    WarpOp{AccessKind::atomic, Space::global}, WarpOp{AccessKind::reduce, Space::global},
    WarpOp{AccessKind::load, Space::shared},   WarpOp{AccessKind::store, Space::shared},
};
// In the order of `ops`.
constexpr std::array<std::string_view, ops.size()> op_words{
    "load", "store", "atomic", "reduce", "shared_load", "shared_store"};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

class LineParser {
 public:
    LineParser(std::string_view text, std::string_view file_name, WarpLine& line)
        : begin_(text.data()),
          at_(text.data()),
          end_(text.data() + text.size()),
          file_name_(file_name),
          line_(line) {}

    bool parse_up_to_op() {
        skip_blanks();
        if (is_at_end()) return false;
        const char* first = at_;
        bool is_plain = true;  // printable ASCII
        for (; at_ != end_ && !is_blank(*at_); ++at_)
            is_plain = is_plain && *at_ > ' ' && *at_ < '\x7f' && *at_ != '#';
        line_.name = {first, static_cast<std::size_t>(at_ - first)};
        if (line_.name.size() > most_warp_name_bytes)
            refuse(first, fmt::format("a name has {} bytes at most, and this one {}",
                                      most_warp_name_bytes, line_.name.size()));
        if (!is_plain) check_name();
        parse_op();
        return true;
    }

    bool parse() {
        if (!parse_up_to_op()) return false;
        parse_width();
        parse_addresses();
        skip_blanks();
        if (!is_at_end())
            refuse(at_,
                   fmt::format("expected the end after 32 addresses, not '{}'", shown(word())));
        return true;
    }

 private:
    // The byte after the line is no blank: these loops end there.
    void skip_blanks() {
        while (is_blank(*at_)) ++at_;
    }
    bool is_at_end() const { return at_ == end_ || *at_ == '#'; }

    // Goes to the next field. There must be one, with blanks before it.
    void next_field(std::string_view wanted) {
        skip_blanks();
        if (is_at_end()) refuse(at_, fmt::format("expected {} here", wanted));
    }

    // The characters up to the next blank, comment or end.
    std::string_view word_at(const char* first) const {
        const char* last = first;
        while (last != end_ && !is_blank(*last) && *last != '#') ++last;
        return {first, static_cast<std::size_t>(last - first)};
    }
    std::string_view word() const { return word_at(at_); }

    void check_name() const {
        for (std::size_t i = 0; i < line_.name.size();) {
            const Utf8Char next = first_utf8_char(line_.name.substr(i));
            const char* place = line_.name.data() + i;
            if (!next.valid) refuse(place, "a name is UTF-8, and this byte is not");
            if (is_control(next.code_point))
                refuse(place, fmt::format("a name has no control characters, and '{}' is one",
                                          shown(line_.name.substr(i, next.bytes))));
            if (next.code_point == U'#') refuse(place, "a name has no '#', which starts a comment");
            i += next.bytes;
        }
    }

    void parse_op() {
        next_field("an op after the name");
        const std::string_view wanted = word();
        const auto found = std::find(op_words.begin(), op_words.end(), wanted);
        if (found == op_words.end()) refuse(at_, unknown_word("op", wanted, op_words));
        const WarpOp& op = ops[static_cast<std::size_t>(found - op_words.begin())];
        line_.access.kind = op.kind;
        line_.access.space = op.space;
        at_ += wanted.size();
    }

    void parse_width() {
        next_field("a width in bytes after the op");
        const std::string_view wanted = word();
        const ReadNumber number = read_integer(wanted);
        const bool is_atomic =
            line_.access.kind == AccessKind::atomic || line_.access.kind == AccessKind::reduce;
        const bool is_integer = number.status == NumberStatus::ok && number.length == wanted.size();
        const std::uint64_t width = is_integer ? number.value : 0;
        if (is_atomic && width != 4 && width != 8)
            refuse(at_,
                   fmt::format("the width of an atomic is 4 or 8 bytes, not '{}'", shown(wanted)));
        if (!std::has_single_bit(width) || width > 32)
            refuse(at_,
                   fmt::format("a width is 1, 2, 4, 8, 16 or 32 bytes, not '{}'", shown(wanted)));
        if (width == 32 && line_.access.space == Space::shared)
            refuse(at_, "an access of shared memory has 16 bytes at most");
        line_.access.width_bytes = static_cast<std::uint32_t>(width);
        at_ += wanted.size();
    }

    void parse_addresses() {
        std::uint32_t active_lanes = 0;
        std::uint64_t bits = 0;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            std::uint64_t& address = line_.access.addresses[lane];
            active_lanes |= std::uint32_t{parse_field(lane, address)} << lane;
            bits |= address;
        }
        line_.access.active_lanes = active_lanes;
        check_addresses(bits);
    }

    // False: the lane is inactive.
    bool parse_field(std::uint32_t lane, std::uint64_t& address) {
        skip_blanks();
        const char* first = at_;
        const bool is_active = *at_ != '-';
        address = is_active ? parse_any_address(lane) : 0;
        if (!is_active) ++at_;
        if (!is_blank(*at_) && !is_at_end()) refuse_address(lane, first);
        return is_active;
    }

    std::uint64_t parse_any_address(std::uint32_t lane) {
        if (is_at_end())
            refuse(at_, fmt::format("{} addresses, expected {} ('-' for a lane that does nothing)",
                                    lane, warp_lanes));
        const ReadNumber number = read_address({at_, static_cast<std::size_t>(end_ - at_)});
        if (number.status == NumberStatus::too_large)
            refuse(at_, fmt::format("lane {}: the largest address is {}", lane, largest_integer));
        if (number.status == NumberStatus::no_digits) refuse_address(lane, at_);
        at_ += number.length;
        return number.value;
    }

    // `bits` is the union of all addresses, enough to see that none has a wrong bit. Only otherwise
    // the lane is searched for.
    void check_addresses(std::uint64_t bits) const {
        const WarpAccess& access = line_.access;
        const std::uint64_t width = access.width_bytes;
        if ((bits & (width - 1)) == 0 && bits <= largest_integer - width) return;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            const std::uint64_t address = access.addresses[lane];
            if (address % width != 0)
                refuse(address_of_lane(lane),
                       fmt::format("lane {}: {} is not a multiple of the width of {} bytes", lane,
                                   address, width),
                       "addresses count bytes: that of element 3 of 4 bytes is 12");
            if (address > largest_integer - width)
                refuse(address_of_lane(lane),
                       fmt::format("lane {}: width {} at {} reaches the end of 64-bit addresses",
                                   lane, width, address));
        }
    }

    // Where a lane's address begins: the fourth word of the line is lane 0's.
    const char* address_of_lane(std::uint32_t lane) const {
        const char* place = line_.name.data();
        for (std::uint32_t words = 0; words < 3 + lane; ++words) {
            place += word_at(place).size();
            while (is_blank(*place)) ++place;
        }
        return place;
    }

    // Reports the word that begins at `first`, which is wrong at the parser's position.
    [[noreturn]] void refuse_address(std::uint32_t lane, const char* first) const {
        refuse(at_, fmt::format("lane {}: '{}' is neither an address (decimal, or 0x...) nor '-'",
                                lane, shown(word_at(first))));
    }

    // `place` points into the line. Columns count characters, from 1.
    [[noreturn]] void refuse(const char* place, const std::string& why,
                             std::string_view hint = line_hint) const {
        const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
        const auto offset = static_cast<std::size_t>(place - begin_);
        std::size_t column = 1;
        for (std::size_t at = 0; at < offset; ++column)
            at += first_utf8_char(text.substr(at)).bytes;
        throw UsageError(fmt::format("{}:{}:{}: {}", shown(file_name_), line_.number, column, why),
                         std::string(text), offset, std::string(hint));
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    std::string_view file_name_;
    WarpLine& line_;
};

// Large enough that calls of read() cost nothing, small enough to stay in a core's L2 cache.
constexpr std::size_t block_bytes = 128 << 10;
static_assert(block_bytes > most_warps_line_bytes + 2);  // or a long line could not be detected

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// The same up to the end of the op; sets line.access, kind and space.
bool parse_warp_op(std::string_view text, std::string_view file_name, WarpLine& line) {
    return LineParser(text, file_name, line).parse_up_to_op();
}

// Parses `text`, a line without its end, of `file_name`; line.number is the caller's. The byte
// behind it must be a newline, CR or 0. False: a blank or comment line. Throws UsageError naming
// file, line and column.
bool parse_warp_line(std::string_view text, std::string_view file_name, WarpLine& line) {
    return LineParser(text, file_name, line).parse();
}

}  // namespace

std::span<const WarpOp> warp_ops() { return ops; }

std::string word_of(const WarpOp& op) {
    return std::string(
        op_words[static_cast<std::size_t>(std::ranges::find(ops, op) - ops.begin())]);
}

WarpOp read_warp_op(std::string_view word, std::string_view option) {
    const auto found = std::ranges::find(op_words, word);
    if (found == op_words.end())
        throw UsageError(fmt::format("{}: {}", option, unknown_word("op", word, op_words)));
    return ops[static_cast<std::size_t>(found - op_words.begin())];
}

std::optional<std::string> warps_file_line(std::string name, const WarpAccess& access) {
    const auto op = std::ranges::find(ops, WarpOp{access.kind, access.space});
    const bool is_atomic = access.kind == AccessKind::atomic || access.kind == AccessKind::reduce;
    if (op == ops.end() || access.active_lanes == 0 ||
        (is_atomic && access.width_bytes != 4 && access.width_bytes != 8))
        return std::nullopt;
    name.resize(std::min(name.size(), most_warp_name_bytes));
    std::ranges::replace_if(
        name, [](char c) { return c == ' ' || c == '#'; }, '_');
    std::string text = fmt::format(
        "{} {} {}", name, op_words[static_cast<std::size_t>(op - ops.begin())], access.width_bytes);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) != 0)
            text += fmt::format(" {:#x}", access.addresses[lane]);
        else
            text += " -";
    }
    return text + '\n';
}

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
        try {
            if (parse(text)) return true;
        } catch (const UsageError&) {
            refuse_other_kind();
            throw;
        }
    }
    return false;
}

// Throws where the file is one that another command takes; not of a pipe, whose beginning is gone.
void WarpsReader::refuse_other_kind() {
    if (!source_.can_rewind()) return;
    source_.rewind();
    const std::string beginning = beginning_of(source_);
    const bool is_csv = kind_of_file(beginning).starts_with("CSV");
    if (is_csv || !way_of_file(beginning, file_name_).empty())
        refuse_kind(beginning, file_name_, "a warps file",
                    is_csv ? fmt::format("{}; blanks part them: tr , ' ' < {} | coalprof warps -",
                                         line_hint, shell_word(file_name_))
                           : std::string());
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

void WarpsReader::refuse_long_line() {
    refuse_other_kind();
    const std::size_t shown_bytes = std::min(end_ - begin_, most_warps_line_bytes + 1);
    throw UsageError(fmt::format("{}:{}:{}: the line is longer than {} bytes", shown(file_name_),
                                 number_ + 1, most_warps_line_bytes + 1, most_warps_line_bytes),
                     std::string(buffer_.data() + begin_, shown_bytes), most_warps_line_bytes,
                     "a line end may be missing");
}

}  // namespace coalprof
