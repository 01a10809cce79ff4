#include "core/text/number.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/utf8.h"
#include "fmt/format.h"

namespace coalprof {

namespace {

std::string bounds(std::uint64_t least, std::uint64_t most) {
    if (most == largest_integer) return fmt::format("an integer from {} up", least);
    return fmt::format("an integer from {} to {}", least, most);
}

}  // namespace

std::uint64_t parse_integer(std::string_view text, std::string_view option, std::uint64_t least,
                            std::uint64_t most) {
    const OptionText value{option, text, ""};
    const ReadNumber number = read_integer(text);
    if (number.length < text.size() || text.empty())
        value.refuse(number.length, fmt::format("expected {}", bounds(least, most)));
    if (number.status == NumberStatus::too_large && most == largest_integer)
        value.refuse(0, fmt::format("the largest integer is {}", largest_integer));
    if (number.status == NumberStatus::too_large || number.value < least || number.value > most)
        value.refuse(0, fmt::format("expected {}", bounds(least, most)));
    return number.value;
}

namespace {

constexpr std::string_view size_hint = "sizes look like 65536, 64KiB, 4MiB, 1.5GiB or 1GB";

std::uint64_t bytes_of(const UnitStep& unit) { return static_cast<std::uint64_t>(unit.factor); }

std::string lower(std::string_view word) {
    std::string result(word);
    std::transform(result.begin(), result.end(), result.begin(), ascii_lower);
    return result;
}

const UnitStep* find_unit(std::string_view name) {
    const auto* unit = std::ranges::find(size_units, name == "KB" ? "kB" : name, &UnitStep::unit);
    return unit == size_units.end() ? nullptr : unit;
}

std::string told(const UnitStep& unit) {
    return fmt::format("'{}' ({})", unit.unit, counted(bytes_of(unit), "byte"));
}

// The likely meaning of an unknown unit: for 'K' and 'KB' both the power of two and that of ten.
std::string suggestion(std::string_view word) {
    std::string prefix = lower(word);
    const bool binary = prefix.ends_with("ib");
    if (binary)
        prefix.resize(prefix.size() - 2);
    else if (prefix.ends_with('b') || prefix.ends_with('i'))
        prefix.pop_back();
    std::string found;
    for (const UnitStep& unit : size_units) {
        const std::string name = lower(unit.unit);
        const bool is_binary = name.ends_with("ib");
        if (bytes_of(unit) == 1 || name.substr(0, 1) != prefix || (binary && !is_binary)) continue;
        found += (found.empty() ? "" : " or ") + told(unit);
    }
    if (found.empty()) {
        std::array<std::string_view, size_units.size()> names;
        std::ranges::transform(size_units, names.begin(), &UnitStep::unit);
        if (const auto near = nearest(word, names);
            near && ascii_lower(near->front()) == prefix.front())
            found = told(*find_unit(*near));
    }
    return found.empty() ? ": a unit is B, KiB, MiB, GiB, TiB, kB, MB, GB or TB"
                         : fmt::format(". Did you mean {}?", found);
}

class SizeParser {
 public:
    SizeParser(std::string_view text, std::string_view option) : value_{option, text, size_hint} {}

    std::uint64_t parse() {
        const std::uint64_t whole = read_whole();
        const std::string_view fraction = read_fraction();
        const UnitStep unit = read_unit();
        if (whole > largest_integer / bytes_of(unit)) refuse_overflow();
        const std::uint64_t whole_bytes = whole * bytes_of(unit);
        const std::uint64_t part_bytes = bytes_of_fraction(fraction, unit);
        if (whole_bytes > largest_integer - part_bytes) refuse_overflow();
        const std::uint64_t bytes = whole_bytes + part_bytes;
        if (bytes == 0) value_.refuse(0, "a size is at least 1 byte");
        return bytes;
    }

 private:
    std::uint64_t read_whole() {
        const std::string_view text = value_.text;
        if (text.empty()) value_.refuse(UsageError::no_caret, "a size needs a number");
        if (text.starts_with('-') || text.starts_with('+'))
            value_.refuse(0, "a size is a number without a sign");
        const ReadNumber number = read_integer(text);
        if (number.status == NumberStatus::no_digits) value_.refuse(0, "expected a number");
        if (number.status == NumberStatus::too_large) refuse_overflow();
        at_ = number.length;
        return number.value;
    }

    std::string_view read_fraction() {
        if (!value_.text.substr(at_).starts_with('.')) return {};
        const std::string_view rest = value_.text.substr(++at_);
        std::string_view digits = rest.substr(0, read_integer(rest).length);
        if (digits.empty()) value_.refuse(at_, "expected digits after '.'");
        at_ += digits.size();
        while (digits.ends_with('0')) digits.remove_suffix(1);
        return digits;
    }

    UnitStep read_unit() const {
        const std::string_view name = value_.text.substr(at_);
        if (name.empty()) return size_units.front();
        if (const UnitStep* unit = find_unit(name)) return *unit;
        if (name.front() == ' ') value_.refuse(at_, "a size is written without blanks");
        const std::uint64_t rows = read_integer(value_.text).value;
        if (const ReadNumber columns = read_integer(name.substr(1));  // 4096x4096
            name.front() == 'x' && columns.length == name.size() - 1 &&
            std::bit_width(rows) + std::bit_width(columns.value) < 60)
            refuse_matrix(4 * rows * columns.value);
        value_.refuse(at_, fmt::format("unknown unit '{}'{}", shown(name), suggestion(name)));
    }

    [[noreturn]] void refuse_matrix(std::uint64_t bytes) const {
        std::string size = size_text(bytes);
        std::erase(size, ' ');
        value_.refuse(at_, "a size is one number of bytes",
                      fmt::format("of elements of 4 bytes each: {} {}", value_.option,
                                  size.ends_with("bytes") ? std::to_string(bytes) : size));
    }

    // 0.digits times the unit, which must be whole: with g the part that the unit shares with
    // 10^digits, digits must be a multiple of 10^digits / g.
    std::uint64_t bytes_of_fraction(std::string_view digits, const UnitStep& unit) const {
        if (digits.empty()) return 0;
        constexpr std::size_t most_digits = 19;  // 10^19 is the last power of ten in 64 bits
        if (digits.size() > most_digits) refuse_fraction(unit);
        std::uint64_t power = 1;
        for (std::size_t i = 0; i < digits.size(); ++i) power *= 10;
        const std::uint64_t shared = std::gcd(bytes_of(unit), power);
        const std::uint64_t numerator = read_integer(digits).value;
        if (numerator % (power / shared) != 0) refuse_fraction(unit);
        return numerator / (power / shared) * (bytes_of(unit) / shared);
    }

    [[noreturn]] void refuse_fraction(const UnitStep& unit) const {
        if (at_ == value_.text.size())
            value_.refuse(0, "a number without a unit is whole",
                          fmt::format("write {}; a fraction has a unit: {}KiB",
                                      value_.text.substr(0, value_.text.find('.')), value_.text));
        value_.refuse(
            0, fmt::format("not a whole number of bytes ('{}' is {})", unit.unit, bytes_of(unit)));
    }
    [[noreturn]] void refuse_overflow() const {
        value_.refuse(
            0, fmt::format("more than {} bytes, the most that 64 bits count", largest_integer));
    }

    OptionText value_;
    std::size_t at_ = 0;
};

}  // namespace

std::uint64_t parse_size_bytes(std::string_view text, std::string_view option) {
    return SizeParser(text, option).parse();
}

}  // namespace coalprof
