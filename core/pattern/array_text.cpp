#include "core/pattern/array_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

constexpr std::uint64_t most_array_elements = std::uint64_t{1} << 38;

class ArrayTextReader {
 public:
    ArrayTextReader(std::string_view text, std::string_view option, const std::string& hint)
        : rest_(text), option_(option), hint_(hint) {}

    ArrayText read() {
        if (!rest_.starts_with('@')) read_type_and_extents();
        if (rest_ == "@") fail("a file's name is missing after '@'");
        if (rest_.starts_with('@'))
            array_.file = rest_.substr(1);
        else if (!rest_.empty())
            read_rule();
        return std::move(array_);
    }

 private:
    [[noreturn]] void fail(const std::string& why) const {
        throw UsageError(fmt::format("{}: {}", option_, why), hint_);
    }

    void read_type_and_extents() {
        array_.type = rest_.substr(0, rest_.find_first_of("[(="));
        rest_.remove_prefix(array_.type.size());
        array_.is_fortran = rest_.starts_with('(');
        const char open = array_.is_fortran ? '(' : '[', close_sign = array_.is_fortran ? ')' : ']';
        std::uint64_t elements = 1;
        bool in_bracket = false;
        while (rest_.starts_with(open) || std::exchange(in_bracket, false)) {
            const std::size_t close = rest_.find(close_sign);
            if (close == rest_.npos) fail(fmt::format("a '{}' is missing", close_sign));
            // C writes [2048][2048], Python [2048, 2048], people [2048x2048].
            const std::size_t end = std::min(close, rest_.find_first_of(",x", 1));
            array_.extents.push_back(parse_count(trimmed(rest_.substr(1, end - 1)), option_, 1,
                                                 most_array_elements / elements));
            elements *= array_.extents.back();
            rest_.remove_prefix(end == close ? close + 1 : end);
            in_bracket = end != close;
        }
        array_.set_extents(std::move(array_.extents));
        if (rest_.starts_with(':') && !array_.is_fortran) read_strides();
        if (!rest_.empty() && !rest_.starts_with('='))
            fail(fmt::format("'=' is expected after '{}'", close_sign));
        if (!rest_.empty()) rest_.remove_prefix(1);
    }

    // ":1,4096", as PyTorch prints them: 0 for an element that is repeated.
    void read_strides() {
        array_.strides.clear();
        do {
            const std::size_t end = std::min(rest_.find_first_of(",=", 1), rest_.size());
            const std::size_t at = array_.strides.size();
            if (at == array_.extents.size()) fail("it has more strides than dimensions");
            const std::uint64_t steps = std::max<std::uint64_t>(array_.extents[at] - 1, 1);
            array_.strides.push_back(parse_count(trimmed(rest_.substr(1, end - 1)), option_, 0,
                                                 most_array_elements / steps));
            rest_.remove_prefix(end);
        } while (rest_.starts_with(','));
        if (array_.strides.size() < array_.extents.size())
            fail("it has fewer strides than dimensions");
    }

    void read_rule() {
        if (rest_ == "0")
            array_.rule = ArrayRule::zeros;
        else if (rest_ == "iota")
            array_.rule = ArrayRule::iota;
        else if (rest_ == "random" || rest_.starts_with("random:"))
            array_.rule = ArrayRule::random;
        else
            fail(fmt::format("'{}' does not say what the array holds", shown(rest_)));
        if (const std::size_t colon = rest_.find(':'); colon != rest_.npos)
            array_.seed = parse_integer(rest_.substr(colon + 1), option_);
    }

    std::string_view rest_;
    std::string_view option_;
    const std::string& hint_;
    ArrayText array_;
};

}  // namespace

std::optional<std::uint64_t> read_count(std::string_view text) {
    std::uint64_t product = 1;
    while (true) {
        const std::size_t end = std::min(text.find('*'), text.size());
        const std::string_view word = trimmed(text.substr(0, end));
        const ReadNumber number = word.starts_with("0x") ? read_address(word) : read_whole(word);
        if (number.status != NumberStatus::ok || number.length != word.size() ||
            __builtin_mul_overflow(product, number.value, &product))
            return std::nullopt;
        if (end == text.size()) return product;
        text.remove_prefix(end + 1);
    }
}

std::string hint_for_count(std::string_view text) {
    const ReadNumber number = read_integer(text);
    const std::string_view unit = text.substr(number.length);
    // 2^20, 2**20, 1<<20
    for (const std::string_view sign : {"^", "**", "<<"}) {
        const ReadNumber power = read_integer(unit.substr(std::min(sign.size(), unit.size())));
        if (!unit.starts_with(sign) || unit.size() != sign.size() + power.length ||
            (sign == "<<" ? number.value != 1 : number.value != 2) || power.value > 62)
            continue;
        return fmt::format("write {}", std::uint64_t{1} << power.value);
    }
    const std::size_t power = unit.empty() ? 0 : std::string_view("kmg").find(ascii_lower(unit[0]));
    constexpr std::uint64_t most = 1'000'000;  // whose products fit
    if (number.status != NumberStatus::ok || number.value > most || unit.empty() || power > 2)
        return {};
    std::uint64_t decimal = number.value * 1000, binary = number.value * 1024;
    for (std::size_t i = 0; i < power; ++i) {
        decimal *= 1000;
        binary *= 1024;
    }
    return fmt::format("a count has no unit: {} or {}", decimal, binary);
}

std::uint64_t parse_count(std::string_view text, std::string_view option, std::uint64_t least,
                          std::uint64_t most) {
    const auto count = read_count(text);
    if (count && *count >= least && *count <= most) return *count;
    if (count)
        throw UsageError(fmt::format("{}: {} is not from {} to {}", option, *count, least, most));
    const std::string hint = hint_for_count(text);
    throw UsageError(text.empty()
                         ? fmt::format("{}: the number of elements is missing", option)
                         : fmt::format("{}: '{}' is no number of elements", option, shown(text)),
                     hint.empty() ? "a number is expected there: 4096 or 64*64" : hint);
}

void ArrayText::set_extents(std::vector<std::uint64_t> all) {
    extents = std::move(all);
    strides.assign(extents.size(), 1);
    for (std::size_t i = 1; i < extents.size(); ++i) {
        const std::size_t at = is_fortran ? i : extents.size() - 1 - i;
        const std::size_t inner = is_fortran ? i - 1 : at + 1;
        strides[at] = strides[inner] * extents[inner];
    }
}

std::uint64_t ArrayText::elements() const {
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < extents.size(); ++i) elements += (extents[i] - 1) * strides[i];
    return elements;
}

ArrayText read_array_text(std::string_view text, std::string_view option, const std::string& hint) {
    return ArrayTextReader(text, option, hint).read();
}

std::optional<ElementType> element_type_of_array(std::string_view word) {
    const bool is_numpy = word.size() > 1 && word.front() == 'i' && is_digit(word[1]);
    return find_element_type(is_numpy ? "s" + std::string(word.substr(1)) : std::string(word));
}

}  // namespace coalprof
