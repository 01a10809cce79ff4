// Lists that commands print, for programs: JSON with its origin, {"schema": "coalprof/1", "meta":
// {...}, KEY: [rows]}, JSON lines, CSV, Markdown.
#pragma once

#include <string>

#include "core/result/document.h"
#include "core/result/result.h"

namespace coalprof {

// Reads only version, command line and time of the head.
std::string list_as_json(const ResultHead& head, const ListDocument& list);
std::string list_as_jsonl(const ListDocument& list);
// Columns are the keys of all rows; a list is one cell, with blanks between its values.
std::string list_as_csv(const ListDocument& list);
std::string list_as_markdown(const ListDocument& list);

// "3.11.2": of nlohmann/json, for `coalprof --version -v`.
std::string version_of_json_library();

}  // namespace coalprof
