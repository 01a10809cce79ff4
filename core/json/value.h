// A small value without parts, for heads and parameters: text, a number, a flag or nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coalprof {

// Any integer of 64 bits, signed or not. Equal integers are equal values: std::uint64_t holds only
// those that std::int64_t cannot.
struct Value
    : std::variant<std::monostate, std::string, std::int64_t, std::uint64_t, double, bool> {
    Value() = default;
    // The variant's copy constructor is not used: libstdc++ takes a variant with a string for one
    // that always holds a value, and where the string's copying throws, it destroys a string that
    // was never made.
    Value(const Value& other) : Value() { variant::operator=(other); }
    Value(Value&&) noexcept = default;
    Value& operator=(const Value&) = default;
    Value& operator=(Value&&) noexcept = default;
    ~Value() = default;
    Value(std::string text) : variant(std::move(text)) {}
    Value(std::string_view text) : variant(std::string(text)) {}
    Value(const char* text) : variant(std::string(text)) {}
    Value(bool flag) : variant(flag) {}
    Value(double number) : variant(number) {}
    template <std::integral Integer>
    Value(Integer number) {
        if (std::in_range<std::int64_t>(number))
            emplace<std::int64_t>(static_cast<std::int64_t>(number));
        else
            emplace<std::uint64_t>(static_cast<std::uint64_t>(number));
    }
};

using NamedValues = std::vector<std::pair<std::string, Value>>;

// The value of this name; nullptr: none. `hint` is its usual position.
const Value* find_value(const NamedValues& values, std::string_view name, std::size_t hint = 0);

// Text and integers as typed, as in the names of points; anything else is empty.
std::string text_of(const Value& value);
// "dlcm ca, carveout prefer-l1"; values without a text are left out.
std::string text_of(const NamedValues& values);
// The text of the value of this name; empty where there is none.
std::string text_of(const NamedValues& values, std::string_view name);

// The value as a number; none for other values and nullptr.
std::optional<double> number_of(const Value* value);

}  // namespace coalprof
