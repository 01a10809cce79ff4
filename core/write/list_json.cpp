#include "core/write/list_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/json_text.h"
#include "core/write/safe_text.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

Json tree_of_row(const ListRow& row) {
    Json object = tree_of(row.values);
    for (const auto& [key, values] : row.lists) {
        Json& list = object[key] = Json::array();
        for (const Value& value : values) list.push_back(tree_of(value));
    }
    return object;
}

std::vector<std::string> columns_of(const ListDocument& list) {
    std::vector<std::string> columns;
    const auto add = [&](const std::string& key) {
        if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    };
    for (const ListRow& row : list.rows) {
        for (const auto& [key, value] : row.values) add(key);
        for (const auto& [key, values] : row.lists) add(key);
    }
    return columns;
}

std::string text_in(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return {};
    if (const auto* text = std::get_if<std::string>(&value)) return printable(*text);
    return text_of(tree_of(value));
}

std::string cell_of(const ListRow& row, const std::string& key) {
    if (const Value* value = find_value(row.values, key)) return text_in(*value);
    const auto list = std::ranges::find(row.lists, key, [](const auto& one) { return one.first; });
    return list == row.lists.end() ? std::string() : joined(list->second, text_in, " ");
}

}  // namespace

std::string list_as_json(const ResultHead& head, const ListDocument& list) {
    const Json meta{
        {"coalprof", head.coalprof_version}, {"argv", head.argv}, {"time", head.time_utc}};
    const std::string rows = joined(
        list.rows, [](const ListRow& row) { return "\n  " + text_of(tree_of_row(row)); }, ",");
    std::string rest;
    for (const auto& [name, value] : list.more)
        if (!text_in(value).empty())
            rest += fmt::format(", {}: {}", json_of_text(name), text_of(tree_of(value)));
    return fmt::format("{{\"schema\": {}, \"meta\": {},\n{}: [{}\n]{}}}\n",
                       json_of_text(result_schema), text_of(meta), json_of_text(list.key), rows,
                       rest);
}

std::string list_as_jsonl(const ResultHead&, const ListDocument& list) {
    std::string lines;
    for (const ListRow& row : list.rows) lines += text_of(tree_of_row(row)) + '\n';
    return lines;
}

std::string list_as_csv(const ResultHead&, const ListDocument& list) {
    const std::vector<std::string> columns = columns_of(list);
    TextBuffer text;
    const auto add_line = [&](auto cell) {
        for (const std::string& key : columns) {
            if (&key != &columns.front()) text.put(',');
            put_csv_text(text, cell(key));
        }
        text.put('\n');
    };
    add_line([](const std::string& key) { return key; });
    for (const ListRow& row : list.rows)
        add_line([&](const std::string& key) { return cell_of(row, key); });
    return std::string(text.view());
}

std::string list_as_markdown(const ResultHead&, const ListDocument& list) {
    const std::vector<std::string> columns = columns_of(list);
    const auto line = [&](auto cell) {
        return "|" +
               joined(
                   columns, [&](const auto& key) { return " " + cell(key) + " |"; }, "") +
               "\n";
    };
    std::string text = line(markdown_text);
    text += line([](const std::string&) { return std::string("---"); });
    for (const ListRow& row : list.rows)
        text += line([&](const std::string& key) { return markdown_text(cell_of(row, key)); });
    return text;
}

std::string version_of_json_library() {
    return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                       NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace coalprof
