#include "core/access/fields.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace coalprof {
namespace {

// A field with readable bytes around it that would be read as digits if the count were ignored.
class Framed {
 public:
    explicit Framed(const std::string& field)
        : text_(std::string(64, '9') + field + " " + std::string(128, '9') + " "),
          count_(field.size()) {}
    const char* first() const { return text_.data() + 64; }
    const char* end() const { return first() + count_; }
    std::size_t count() const { return count_; }

 private:
    std::string text_;
    std::size_t count_;
};

template <typename Read>
void expect_number(const Read& read, const std::string& field, std::uint64_t expected) {
    const Framed framed(field);
    std::uint64_t value = 0;
    EXPECT_TRUE(read(framed.end(), framed.count(), value)) << field;
    EXPECT_EQ(value, expected) << field;
}

TEST(Fields, decimal_digits_of_every_length_are_read) {
    std::string field;
    std::uint64_t expected = 0;
    for (std::uint64_t length = 1; length <= most_field_digits; ++length) {
        const std::uint64_t digit = (length * 7) % 10;
        field += static_cast<char>('0' + digit);
        expected = expected * 10 + digit;
        expect_number(fast::read_decimal, field, expected);
        expect_number(portable::read_decimal, field, expected);
    }
    expect_number(fast::read_decimal, "9999999999999999", 9999999999999999u);
    expect_number(fast::read_decimal, "0000000000000001", 1);
}

TEST(Fields, hexadecimal_digits_of_every_length_are_read) {
    std::string field;
    std::uint64_t expected = 0;
    for (const char digit : std::string("7fAb0c9D1eE23456")) {
        field += digit;
        expected = expected << 4 | hex_digit(digit);
        expect_number(fast::read_hexadecimal, field, expected);
        expect_number(portable::read_hexadecimal, field, expected);
    }
    expect_number(fast::read_hexadecimal, "ffffffffffffffff", ~0ull);
}

TEST(Fields, every_other_byte_is_refused_wherever_it_stands) {
    for (std::size_t length = 1; length <= most_field_digits; ++length) {
        for (std::size_t place = 0; place < length; ++place) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string field(length, '7');
                field[place] = static_cast<char>(byte);
                const Framed framed(field);
                std::uint64_t value = 0;
                ASSERT_EQ(fast::read_decimal(framed.end(), length, value),
                          is_digit(static_cast<char>(byte)))
                    << length << ' ' << place << ' ' << byte;
                ASSERT_EQ(fast::read_hexadecimal(framed.end(), length, value),
                          hex_digit(static_cast<char>(byte)) < 16)
                    << length << ' ' << place << ' ' << byte;
            }
        }
    }
}

TEST(Fields, the_fast_way_and_the_plain_loops_read_the_same) {
    std::mt19937_64 random(1);
    const std::string alphabet = "0123456789012345678901234567890123456789abcdefABCDEFgG:/@`x-";
    for (int round = 0; round < 200'000; ++round) {
        std::string field(1 + random() % most_field_digits, '0');
        const std::size_t letters = round % 2 == 0 ? 10 : alphabet.size();
        for (char& c : field) c = alphabet[random() % letters];
        const Framed framed(field);
        std::uint64_t fast_value = 0, plain_value = 0;
        bool good = portable::read_decimal(framed.end(), field.size(), plain_value);
        ASSERT_EQ(fast::read_decimal(framed.end(), field.size(), fast_value), good) << field;
        ASSERT_TRUE(!good || fast_value == plain_value) << field;
        good = portable::read_hexadecimal(framed.end(), field.size(), plain_value);
        ASSERT_EQ(fast::read_hexadecimal(framed.end(), field.size(), fast_value), good) << field;
        ASSERT_TRUE(!good || fast_value == plain_value) << field;
    }
}

TEST(Fields, ends_are_found_at_every_distance) {
    std::mt19937 random(2);
    for (int round = 0; round < 500; ++round) {
        std::string text(600, 'a');
        for (std::size_t at = random() % 90; at < text.size(); at += 1 + random() % 90)
            text[at] = " \t\n\r\0"[random() % 5];
        text[599] = '\n';
        for (char& c : text) c = c == 'a' && random() % 8 == 0 ? '\xff' : c;  // above, not below
        text += std::string(field_margin_bytes, '\0');
        fast::FieldEnds fast_ends(text.data());
        portable::FieldEnds plain_ends(text.data());
        const char* end = nullptr;
        do {
            end = plain_ends.next();
            ASSERT_EQ(fast_ends.next(), end);
        } while (end != text.data() + 599);
    }
}

}  // namespace
}  // namespace coalprof
