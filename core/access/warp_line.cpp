#include "core/access/warp_line.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "core/text/describe.h"
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
        parse_name();
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

    void parse_name() {
        const char* first = at_;
        bool is_plain = true;  // printable ASCII
        for (; at_ != end_ && !is_blank(*at_); ++at_)
            is_plain = is_plain && *at_ > ' ' && *at_ < '\x7f' && *at_ != '#';
        line_.name = {first, static_cast<std::size_t>(at_ - first)};
        if (line_.name.size() > most_warp_name_bytes)
            refuse(first, fmt::format("a name has {} bytes at most, and this one {}",
                                      most_warp_name_bytes, line_.name.size()));
        if (!is_plain) check_name();
    }

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
                                   address, width));
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
    [[noreturn]] void refuse(const char* place, const std::string& why) const {
        const std::string_view text(begin_, static_cast<std::size_t>(end_ - begin_));
        const auto offset = static_cast<std::size_t>(place - begin_);
        std::size_t column = 1;
        for (std::size_t at = 0; at < offset; ++column)
            at += first_utf8_char(text.substr(at)).bytes;
        throw UsageError(fmt::format("{}:{}:{}: {}", shown(file_name_), line_.number, column, why),
                         std::string(text), offset, std::string(line_hint));
    }

    const char* begin_;
    const char* at_;
    const char* end_;
    std::string_view file_name_;
    WarpLine& line_;
};

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

bool parse_warp_op(std::string_view text, std::string_view file_name, WarpLine& line) {
    return LineParser(text, file_name, line).parse_up_to_op();
}

bool parse_warp_line(std::string_view text, std::string_view file_name, WarpLine& line) {
    return LineParser(text, file_name, line).parse();
}

std::optional<std::string> warps_file_line(std::string_view name, const WarpAccess& access) {
    const auto op = std::ranges::find(ops, WarpOp{access.kind, access.space});
    const bool is_atomic = access.kind == AccessKind::atomic || access.kind == AccessKind::reduce;
    if (op == ops.end() || access.active_lanes == 0 ||
        (is_atomic && access.width_bytes != 4 && access.width_bytes != 8))
        return std::nullopt;
    std::string text =
        fmt::format("{} {} {}", name.substr(0, most_warp_name_bytes),
                    op_words[static_cast<std::size_t>(op - ops.begin())], access.width_bytes);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) != 0)
            text += fmt::format(" {:#x}", access.addresses[lane]);
        else
            text += " -";
    }
    return text + '\n';
}

}  // namespace coalprof
