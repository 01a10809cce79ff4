// What lists things is printed in every format that lists have, with the options of all commands.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "core/write/list_json.h"

namespace coalprof {

// Those that lists have, as --help offers them.
inline constexpr std::string_view list_formats = "table, json, jsonl, csv, md";

struct Listing {
    ListDocument document;
    std::function<std::string(const TableStyle&)> text = {};  // as people read it
    ExitCode code = ExitCode::done;
};

// Opens the files, then asks `make`. Throws UsageError for a format that lists do not have, Error
// where a file cannot be written.
ExitCode print_listing(const std::function<Listing()>& make, const OutputOptions& output,
                       const Invocation& invocation);

// A command that prints what `make` lists.
CLI::App& add_list(CLI::App& app, Invocation& invocation, const char* name, const char* help,
                   const std::function<Listing()>& make);

}  // namespace coalprof
