#include "core/text/range.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

constexpr std::string_view range_hint = "values look like 7, 1,2,4, 0..32, 0..128:4 or 1..1024*2";
constexpr std::string_view signed_hint =
    "values look like 0..32, -4..4, 0..128:4, 1..1024*2 or -1,0,1";

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    return a > largest_integer - b ? largest_integer : a + b;
}

// Values below 0 are kept as 64 bits of two's complement, for which distances and steps are right.
enum class Signs : std::uint8_t { none, minus };
// True if a value may have a unit: 4KiB.
enum class Units : std::uint8_t { none, sizes };

constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class RangeParser {
 public:
    RangeParser(std::string_view text, std::string_view option, Signs signs = Signs::none,
                Units units = Units::none, std::string_view hint = {})
        : value_{option, text,
                 !hint.empty()          ? hint
                 : signs == Signs::none ? range_hint
                                        : signed_hint},
          signs_(signs),
          units_(units) {}

    bool has_units() const { return first_with_unit_ != none; }

    Range parse() {
        std::vector<Range::Piece> pieces;
        if (value_.text.empty()) value_.refuse(UsageError::no_caret, "a range needs a value");
        do {
            pieces.push_back(read_piece());
        } while (accept(","));
        if (at_ < value_.text.size())
            value_.refuse(at_, fmt::format("expected {} or the end here", may_follow_), meant());
        if (has_units() && first_without_unit_ != none)
            value_.refuse(first_without_unit_, "some values have units and this one has none",
                          "give all of them units, or none: 4000B or 4KiB are bytes");
        Range range(std::string(value_.text), std::move(pieces));
        if (range.count() > most_range_points) refuse_count(range.count());
        return range;
    }

 private:
    Range::Piece read_piece() {
        Range::Piece piece;
        piece_at_ = at_;
        piece.first = piece.last = read_value();
        may_follow_ = "'..', ','";
        if (!accept("..")) return piece;
        const std::size_t last_at = at_;
        piece.last = read_value();
        if (is_below(piece.last, piece.first)) {
            const std::string first = text_of(piece.first);
            const std::string last = text_of(piece.last);
            value_.refuse(last_at,
                          fmt::format("a range runs upward, and {} is below {}", last, first),
                          fmt::format("write {}..{}", last, first));
        }
        may_follow_ = "':', '*', ','";
        if (accept(":"))
            read_step(piece);
        else if (accept("*"))
            read_factor(piece);
        return piece;
    }

    void read_step(Range::Piece& piece) {
        const std::size_t by_at = at_;
        piece.by = read_quantity();
        may_follow_ = "','";
        if (piece.by == 0) value_.refuse(by_at, "a step of 0 never arrives: steps begin at 1");
    }

    void read_factor(Range::Piece& piece) {
        const std::size_t by_at = at_;
        piece.advance = Range::Advance::by_factor;
        piece.by = read_digits_here();
        may_follow_ = "','";
        if (piece.by < 2) {
            value_.refuse(
                by_at, fmt::format("a factor of {} never arrives: factors begin at 2", piece.by));
        }
        if (piece.first == 0)
            value_.refuse(piece_at_, "0 times a factor stays 0: begin the range at 1 or above");
        if (is_below(piece.first, 0))
            value_.refuse(piece_at_, "a factor leads away from 0: begin the range at 1 or above");
    }

    std::uint64_t read_value() {
        if (signs_ == Signs::none) return read_quantity();
        constexpr auto above = static_cast<std::uint64_t>(INT64_MAX);
        const std::size_t value_at = at_;
        const bool is_negative = value_.text.substr(at_).starts_with('-');
        if (is_negative) ++at_;
        const std::uint64_t magnitude = read_digits_here();
        if (magnitude > above + (is_negative ? 1 : 0))
            value_.refuse(
                value_at,
                fmt::format("{} is beyond {} and {}, the ends of 64 signed bits",
                            value_.text.substr(value_at, at_ - value_at), INT64_MIN, INT64_MAX));
        return is_negative ? 0 - magnitude : magnitude;
    }

    // An integer, or a size where units are allowed.
    std::uint64_t read_quantity() {
        const std::string_view rest = value_.text.substr(at_);
        std::size_t length = 0;
        const auto is_fraction = [&] {
            return rest[length] == '.' && length + 1 < rest.size() && is_digit(rest[length + 1]);
        };
        while (length < rest.size() &&
               (is_digit(rest[length]) || is_letter(rest[length]) || is_fraction()))
            ++length;
        const std::string_view word = rest.substr(0, length);
        const bool is_plain =
            word.empty() || !is_digit(word.front()) || read_whole(word).length == length;
        if (units_ == Units::none || is_plain) {
            const std::size_t value_at = at_;
            const std::uint64_t value = read_digits_here();
            if (value != 0 && first_without_unit_ == none) first_without_unit_ = value_at;
            return value;
        }
        if (first_with_unit_ == none) first_with_unit_ = at_;
        at_ += length;
        return parse_size_bytes(word, value_.option);
    }

    std::uint64_t read_digits_here() {
        const std::string_view rest = value_.text.substr(at_);
        const ReadNumber number = read_whole(rest);
        if (number.status == NumberStatus::no_digits) refuse_here(missing_integer(rest));
        if (number.status == NumberStatus::too_large) {
            refuse_here(fmt::format("{} is above {}, the largest integer",
                                    shown(rest.substr(0, number.length)), largest_integer));
        }
        at_ += number.length;
        return number.value;
    }

    // What 0-32, 0:32, 1 2 3 and 32x8 may mean; others get the usual hint.
    std::string meant() const {
        std::string text(value_.text);
        if (text.find_first_not_of("0123456789 ") == text.npos) {
            std::ranges::replace(text, ' ', ',');
            return fmt::format("write {}", text);
        }
        const ReadNumber first = read_integer(text);
        const ReadNumber next = read_integer(std::string_view(text).substr(at_ + 1));
        const bool is_pair = first.length == at_ && at_ + 1 + next.length == text.size();
        if (is_pair && (text[at_] == '-' || text[at_] == ':') && first.value < next.value)
            return fmt::format("write {}..{}", first.value, next.value);
        if (is_pair && text[at_] == 'x' && first.value * next.value != 0)
            return fmt::format("one number: {}", first.value * next.value);
        return std::string(value_.hint);
    }
    std::string missing_integer(std::string_view rest) const {
        if (signs_ == Signs::none && (rest.starts_with('-') || rest.starts_with('+')))
            return fmt::format("expected an integer without a sign, not '{}'{}", rest.front(),
                               value_.option == "--range" && rest.front() == '-'
                                   ? " (a formula takes signs: formula 'a[i + d]' --var d=-5..5)"
                                   : "");
        if (last_mark_.empty()) return "expected an integer";
        return fmt::format("expected an integer after '{}'", last_mark_);
    }

    bool is_below(std::uint64_t a, std::uint64_t b) const {
        if (signs_ == Signs::none) return a < b;
        return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    }
    std::string text_of(std::uint64_t value) const {
        if (signs_ == Signs::none) return fmt::to_string(value);
        return fmt::to_string(static_cast<std::int64_t>(value));
    }

    bool accept(std::string_view mark) {
        if (!value_.text.substr(at_).starts_with(mark)) return false;
        at_ += mark.size();
        last_mark_ = mark;
        return true;
    }

    [[noreturn]] void refuse_here(const std::string& why) const { value_.refuse(at_, why); }

    [[noreturn]] void refuse_count(std::uint64_t count) const {
        const std::string_view or_more = count == largest_integer ? " or more" : "";
        value_.refuse(UsageError::no_caret,
                      fmt::format("{} points{}, and a sweep may have {} at most", count, or_more,
                                  most_range_points),
                      "a step (0..1000000:1000) or a factor (1..1000000*2) thins a range out");
    }

    static constexpr std::size_t none = std::string_view::npos;

    OptionText value_;
    Signs signs_;
    Units units_;
    std::size_t first_with_unit_ = none;  // where they stand
    std::size_t first_without_unit_ = none;
    std::size_t at_ = 0;
    std::size_t piece_at_ = 0;
    std::string_view last_mark_;   // the mark before the reader's position
    std::string_view may_follow_;  // the marks that may come next
};

}  // namespace

ReadNumber read_whole(std::string_view text) {
    constexpr double most = 0x1p53;  // up to which a real holds every integer
    double real = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real,
                                              std::chars_format::scientific);
    if (error != std::errc{} || !(real >= 0) || real > most || std::trunc(real) != real)
        return read_integer(text);
    return {static_cast<std::uint64_t>(real), static_cast<std::size_t>(end - text.data()),
            NumberStatus::ok};
}

std::uint64_t saturating_product(std::initializer_list<std::uint64_t> counts) {
    std::uint64_t product = 1;
    for (const std::uint64_t count : counts)
        if (__builtin_mul_overflow(product, count, &product)) return largest_integer;
    return product;
}

std::uint64_t Range::Piece::count() const {
    if (advance == Advance::by_step) return saturating_sum((last - first) / by, 1);
    std::uint64_t count = 1;  // at most 64: the values double at least
    for (std::uint64_t value = first; value <= last / by; value *= by) ++count;
    return count;
}

// Distances are right in 64 bits for signed and unsigned values.
bool Range::Piece::contains(std::uint64_t value) const {
    if (value - first > last - first) return false;
    if (advance == Advance::by_step) return (value - first) % by == 0;
    std::uint64_t reached = first;
    while (reached < value && reached <= last / by) reached *= by;
    return reached == value;
}

bool Range::contains(std::uint64_t value) const {
    return std::any_of(pieces_.begin(), pieces_.end(),
                       [&](const Piece& piece) { return piece.contains(value); });
}

Range::Range(std::string text, std::vector<Piece> pieces)
    : text_(std::move(text)), pieces_(std::move(pieces)) {
    for (const Piece& piece : pieces_) count_ = saturating_sum(count_, piece.count());
}

std::vector<std::uint64_t> Range::values() const {
    std::vector<std::uint64_t> values;
    values.reserve(count_);
    std::unordered_set<std::uint64_t> known;  // one piece repeats nothing
    const auto is_new = [&](std::uint64_t value) {
        return pieces_.size() == 1 || known.insert(value).second;
    };
    for (const Piece& piece : pieces_) {
        std::uint64_t value = piece.first;
        for (std::uint64_t left = piece.count(); left > 0; --left) {
            if (is_new(value)) values.push_back(value);
            if (left > 1)
                value = piece.advance == Advance::by_step ? value + piece.by : value * piece.by;
        }
    }
    return values;
}

std::vector<std::int64_t> Range::signed_values() const {
    std::vector<std::int64_t> signed_values;
    for (const std::uint64_t bits : values())
        signed_values.push_back(static_cast<std::int64_t>(bits));
    return signed_values;
}

Range parse_range(std::string_view text, std::string_view option, std::string_view hint) {
    return RangeParser(text, option, Signs::none, Units::none, hint).parse();
}

SizedRange parse_sized_range(std::string_view text, std::string_view option,
                             std::string_view hint) {
    RangeParser parser(text, option, Signs::none, Units::sizes, hint);
    std::vector<std::uint64_t> values = parser.parse().values();
    return {std::move(values), parser.has_units()};
}

Range parse_range_of_sizes(std::string_view text, std::string_view option) {
    return RangeParser(text, option, Signs::none, Units::sizes).parse();
}

std::vector<std::uint64_t> parse_size_list(std::string_view text, std::string_view option) {
    // A single size has separate errors, with all that a unit may have meant.
    if (text.find_first_of(",:*") == text.npos && text.find("..") == text.npos)
        return {parse_size_bytes(text, option)};
    std::vector<std::uint64_t> sizes = parse_sized_range(text, option).values;
    for (const std::uint64_t size : sizes)
        if (size == 0)
            throw UsageError(fmt::format("{} {}: a size is at least 1 byte", option, shown(text)));
    return sizes;
}

Range parse_signed_range(std::string_view text, std::string_view option) {
    return RangeParser(text, option, Signs::minus).parse();
}

}  // namespace coalprof
