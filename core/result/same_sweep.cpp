#include "core/result/same_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/suggest.h"

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

void require_name_of_difference(std::string_view name, const ResultHead& one,
                                const ResultHead& other) {
    std::vector<std::string_view> known = sweep_names();
    const NamedValues first = identity_of(one);
    const NamedValues second = identity_of(other);
    for (const NamedValues* facts : {&first, &second})
        for (const auto& [fact, value] : *facts) known.push_back(fact);
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    throw UsageError(unknown_word("--across", name, known), {}, UsageError::no_caret,
                     "what can differ has the names that a result's head has: machine, device, "
                     "type, pattern, dlcm, ...");
}

}  // namespace coalprof
