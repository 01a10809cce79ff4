// Lists that commands print, for programs: JSON with its origin, {"schema": "coalprof/1", "meta":
// {...}, KEY: [rows]}, JSON lines, CSV, Markdown.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/result/document.h"
#include "core/result/result.h"

namespace coalprof {

// Reads only version, command line and time of the head.
using WriteList = std::string(const ResultHead& head, const ListDocument& list);
WriteList list_as_json, list_as_jsonl;
// Columns are the keys of all rows; a list is one cell, with blanks between its values.
WriteList list_as_csv, list_as_markdown;

struct ListFormat {
    std::string_view name;
    WriteList* write;
};
inline constexpr std::array list_formats{
    ListFormat{"json", list_as_json}, ListFormat{"jsonl", list_as_jsonl},
    ListFormat{"csv", list_as_csv}, ListFormat{"md", list_as_markdown}};

// "3.11.2": of nlohmann/json, for `coalprof --version -v`.
std::string version_of_json_library();

}  // namespace coalprof
