#include "core/json/value.h"

#include <fmt/format.h>

namespace coalprof {

const Value* find_value(const NamedValues& values, std::string_view name, std::size_t hint) {
    if (hint < values.size() && values[hint].first == name) return &values[hint].second;
    for (const auto& [known, value] : values)
        if (known == name) return &value;
    return nullptr;
}

std::string text_of(const Value& value) {
    struct Visitor {
        std::string operator()(const std::string& text) const { return text; }
        std::string operator()(std::int64_t number) const { return fmt::to_string(number); }
        std::string operator()(std::uint64_t number) const { return fmt::to_string(number); }
        std::string operator()(std::monostate) const { return {}; }
        std::string operator()(double) const { return {}; }
        std::string operator()(bool) const { return {}; }
    };
    return std::visit(Visitor{}, value);
}

std::string text_of(const NamedValues& values) {
    std::string text;
    for (const auto& [key, value] : values)
        if (!std::holds_alternative<std::monostate>(value))
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, text_of(value));
    return text;
}

std::string text_of(const NamedValues& values, std::string_view name) {
    const Value* value = find_value(values, name);
    return value ? text_of(*value) : std::string();
}

std::optional<double> number_of(const Value* value) {
    if (!value) return std::nullopt;
    if (const auto* real = std::get_if<double>(value)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(value))
        return static_cast<double>(*integer);
    if (const auto* natural = std::get_if<std::uint64_t>(value))
        return static_cast<double>(*natural);
    return std::nullopt;
}

}  // namespace coalprof
