#include "core/result/same_sweep.h"

#include <fmt/format.h>

#include "core/text/describe.h"

namespace coalprof {
namespace {

NamedValues identity_of(const ResultHead& head) {
    NamedValues facts{{"machine", head.machine.name},
                      {"device", head.device ? head.device->name : std::string()}};
    for (const auto& [name, value] : values_of(head.sweep))
        if (name != "file" && name != "repeat" && name != "shard" && name != "shard_of_points")
            facts.emplace_back(name, value);
    return facts;
}

std::string shown_fact(const Value* value) {
    if (!value || std::holds_alternative<std::monostate>(*value)) return "none";
    if (const auto* real = std::get_if<double>(value)) return fmt::format("{}", *real);
    if (const auto* flag = std::get_if<bool>(value)) return *flag ? "true" : "false";
    const std::string text = text_of(*value);
    return text.empty() ? "none" : shown(text);
}

}  // namespace

std::vector<HeadDifference> differences(const ResultHead& one, const ResultHead& other) {
    const NamedValues first = identity_of(one);
    const NamedValues second = identity_of(other);
    std::vector<HeadDifference> found;
    const auto look = [&](const std::string& name) {
        const std::string before = shown_fact(find_value(first, name));
        const std::string now = shown_fact(find_value(second, name));
        if (before != now)
            found.push_back({name, fmt::format("{} ({} and {})", shown(name), before, now)});
    };
    for (const auto& [name, value] : first) look(name);
    for (const auto& [name, value] : second)
        if (!find_value(first, name)) look(name);
    return found;
}

std::vector<std::string> comparable_names(const ResultHead& one, const ResultHead& other) {
    std::vector<std::string> names = {"machine", "device"};
    for (const std::string_view name : names_in_sweeps()) names.emplace_back(name);
    for (const ResultHead* head : {&one, &other})
        for (const auto& [name, value] : identity_of(*head)) names.push_back(name);
    return names;
}

}  // namespace coalprof
