// A second reading of one access of a formula, straight from its text: one function for each level
// of C's precedence, which computes as it reads. It shares nothing with core/formula. What it does
// not know (hash, names that depend on the shape of a block, parts) it answers with nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace coalprof::fuzz {

class PlainFormula {
 public:
    using Values = std::map<std::string, std::int64_t, std::less<>>;
    struct Unknown {};
    struct Failed {};  // overflow, a division by zero, a shift by what is no count of bits
    struct Answer {
        bool is_idle = false;
        std::int64_t index = 0;
    };

    PlainFormula(std::string_view access, const Values& values) : text_(access), values_(values) {}

    // Throws Failed; nothing where the text is not understood.
    std::optional<Answer> answer() {
        try {
            return read();
        } catch (const Unknown&) {
            return std::nullopt;
        }
    }

 private:
    __extension__ using Wide = __int128;

    // load.u64: a[INDEX] if CONDITION
    Answer read() {
        const std::size_t colon = text_.find(':');
        if (colon != text_.npos && text_.substr(0, colon).find_first_of("?[(") == text_.npos)
            at_ = colon + 1;
        const std::size_t start = at_;
        const bool is_array = !name().empty() && takes("[");
        if (!is_array) at_ = start;
        const std::size_t index_at = at_;
        conditional(false);
        if (is_array && !takes("]")) throw Unknown();
        Answer answer;
        if (name() == "if") answer.is_idle = conditional(true) == 0;
        skip_blanks();
        if (at_ != text_.size()) throw Unknown();
        // The condition stands behind the index and is tested before it.
        at_ = index_at;
        if (!answer.is_idle) answer.index = conditional(true);
        return answer;
    }

    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos)
            ++at_;
    }
    static bool is_letter(char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }
    // Empty where none begins.
    std::string_view name() {
        skip_blanks();
        std::size_t end = at_;
        if (end < text_.size() && is_letter(text_[end]))
            while (end < text_.size() &&
                   (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.'))
                ++end;
        const std::string_view found = text_.substr(at_, end - at_);
        at_ = end;
        return found;
    }
    // A sign that is not the beginning of a longer one: `follows` may not come next.
    bool takes(std::string_view sign, std::string_view follows = {}) {
        skip_blanks();
        if (!text_.substr(at_).starts_with(sign)) return false;
        const std::size_t end = at_ + sign.size();
        if (end < text_.size() && follows.find(text_[end]) != follows.npos) return false;
        at_ = end;
        return true;
    }

    static std::int64_t narrowed(Wide value) {
        if (value != static_cast<std::int64_t>(value)) throw Failed();
        return static_cast<std::int64_t>(value);
    }

    // `counts`: whether the value is needed. What is not needed fails in no way.
    std::int64_t conditional(bool counts) {
        const std::int64_t test = either(counts);
        if (!takes("?")) return test;
        const std::int64_t then = conditional(counts && test != 0);
        if (!takes(":")) throw Unknown();
        const std::int64_t otherwise = conditional(counts && test == 0);
        return test != 0 ? then : otherwise;
    }
    std::int64_t either(bool counts) {
        std::int64_t value = both(counts);
        while (takes("||")) {
            const bool is_decided = value != 0;
            const std::int64_t right = both(counts && !is_decided);
            value = is_decided || right != 0;
        }
        return value;
    }
    std::int64_t both(bool counts) {
        std::int64_t value = bit_or(counts);
        while (takes("&&")) {
            const bool is_decided = value == 0;
            const std::int64_t right = bit_or(counts && !is_decided);
            value = !is_decided && right != 0;
        }
        return value;
    }
    std::int64_t bit_or(bool counts) {
        std::int64_t value = bit_xor(counts);
        while (takes("|", "|=")) value |= bit_xor(counts);
        return value;
    }
    std::int64_t bit_xor(bool counts) {
        std::int64_t value = bit_and(counts);
        while (takes("^", "^=")) value ^= bit_and(counts);
        return value;
    }
    std::int64_t bit_and(bool counts) {
        std::int64_t value = equality(counts);
        while (takes("&", "&=")) value &= equality(counts);
        return value;
    }
    std::int64_t equality(bool counts) {
        std::int64_t value = order(counts);
        while (true) {
            if (takes("=="))
                value = value == order(counts);
            else if (takes("!="))
                value = value != order(counts);
            else
                return value;
        }
    }
    std::int64_t order(bool counts) {
        std::int64_t value = shift(counts);
        while (true) {
            if (takes("<="))
                value = value <= shift(counts);
            else if (takes(">="))
                value = value >= shift(counts);
            else if (takes("<", "<"))
                value = value < shift(counts);
            else if (takes(">", ">"))
                value = value > shift(counts);
            else
                return value;
        }
    }
    std::int64_t shift(bool counts) {
        std::int64_t value = sum(counts);
        while (true) {
            const bool is_left = takes("<<", "=");
            if (!is_left && !takes(">>", "=")) return value;
            const std::int64_t bits = sum(counts);
            if (!counts) continue;
            if (bits < 0 || bits > 63) throw Failed();
            const Wide factor = Wide{1} << bits;
            // Towards minus infinity: the sign is kept.
            const Wide below = value < 0 ? factor - 1 : 0;
            value = narrowed(is_left ? Wide{value} * factor : (Wide{value} - below) / factor);
        }
    }
    std::int64_t sum(bool counts) {
        std::int64_t value = product(counts);
        while (true) {
            const bool is_sum = takes("+", "+=");
            if (!is_sum && !takes("-", "-=>")) return value;
            const std::int64_t right = product(counts);
            if (counts) value = narrowed(is_sum ? Wide{value} + right : Wide{value} - right);
        }
    }
    std::int64_t product(bool counts) {
        std::int64_t value = unary(counts);
        while (true) {
            skip_blanks();
            const char sign = at_ < text_.size() ? text_[at_] : ' ';
            if (sign != '*' && sign != '/' && sign != '%') return value;
            ++at_;
            const std::int64_t right = unary(counts);
            if (!counts) continue;
            if (sign != '*' && right == 0) throw Failed();
            // C++ rounds towards zero, as C does.
            value = narrowed(sign == '*'   ? Wide{value} * right
                             : sign == '/' ? Wide{value} / right
                                           : Wide{value} % right);
        }
    }
    std::int64_t unary(bool counts) {
        if (takes("-")) {
            const Wide value = -Wide{unary(counts)};
            return counts ? narrowed(value) : 0;
        }
        if (takes("+")) return unary(counts);
        if (takes("~")) return ~unary(counts);
        if (takes("!", "=")) return unary(counts) == 0;
        return operand(counts);
    }
    std::int64_t operand(bool counts) {
        if (takes("(")) {
            const std::int64_t value = conditional(counts);
            if (!takes(")")) throw Unknown();
            return value;
        }
        skip_blanks();
        if (at_ < text_.size() && is_digit(text_[at_])) return number();
        const std::string_view word = name();
        if (takes("(")) return call(word, counts);
        const auto found = values_.find(word);
        if (found == values_.end()) throw Unknown();
        return found->second;
    }
    std::int64_t number() {
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
        std::string digits(text_.substr(at_, end - at_));
        at_ = end;
        int base = 10;
        if (digits.size() > 2 && digits[0] == '0') {
            base = digits[1] == 'x' || digits[1] == 'X' ? 16 : 2;
            digits.erase(0, 2);
        }
        std::size_t length = 0;
        const std::int64_t value = std::stoll(digits, &length, base);
        if (length != digits.size()) throw Unknown();
        return value;
    }
    std::int64_t call(std::string_view function, bool counts) {
        const bool is_least = function == "min";
        if (!is_least && function != "max" && function != "abs") throw Unknown();
        std::int64_t value = conditional(counts);
        while (takes(",")) {
            const std::int64_t next = conditional(counts);
            value = (is_least ? next < value : next > value) ? next : value;
        }
        if (!takes(")")) throw Unknown();
        return function == "abs" && counts && value < 0 ? narrowed(-Wide{value}) : value;
    }

    std::string_view text_;
    const Values& values_;
    std::size_t at_ = 0;
};

}  // namespace coalprof::fuzz
