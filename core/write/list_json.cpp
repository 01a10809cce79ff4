#include "core/write/list_json.h"

#include <fmt/format.h>

#include "core/write/json_text.h"

namespace coalprof {

std::string list_document(std::string_view key, const std::vector<NamedValues>& rows,
                          const NamedValues& more) {
    std::string list;
    for (const NamedValues& row : rows)
        list += fmt::format("{}\n  {}", list.empty() ? "" : ",", json_of_values(row));
    std::string rest;
    for (const auto& [name, value] : more) {
        const auto* text = std::get_if<std::string>(&value);
        if (text && !text->empty())
            rest += fmt::format(", {}: {}", json_of_text(name), json_of_text(*text));
    }
    return fmt::format("{{\"schema\": {}, {}: [{}\n]{}}}\n", json_of_text(result_schema),
                       json_of_text(key), list, rest);
}

}  // namespace coalprof
