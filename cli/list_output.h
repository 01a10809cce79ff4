// Lists can be printed in every format that supports lists, with the options of all commands.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "core/write/list_json.h"
#include "core/write/output_file.h"

namespace coalprof {

// "table, json, jsonl, csv, md": the formats of lists.
std::string names_of_list_formats(std::string_view before_last = ", ");

struct Listing {
    ListDocument document;
    std::function<std::string(const TableStyle&)> text = {};  // makes the text for people
    ExitCode code = ExitCode::done;
};

// Opens the files, then asks `make`. Throws UsageError for a format that lists do not have, Error
// where a file cannot be written.
ExitCode print_listing(const std::function<Listing()>& make, const OutputOptions& output,
                       const Invocation& invocation);

// A command that prints the listing of `make`.
CLI::App& add_list(CLI::App& app, Invocation& invocation, const char* name, const char* help,
                   const std::function<Listing()>& make);

// Texts that are made as a whole, such as lists and drawings: one for each output. Files are
// written first, so that a reader of standard output that leaves takes none of them away.

class TextOutputs {
 public:
    // Opens the files, before anything is computed. Throws as OutputFile does. The options must
    // live as long.
    TextOutputs(std::vector<OutputTarget> targets, const OutputOptions& options);
    // One that fails does not stop the others; then throws Error (ExitCode::output).
    void write(const std::function<std::string(const OutputTarget&)>& text);

 private:
    void commit(OutputFile& file, const std::string& text);

    const OutputOptions& options_;
    std::vector<OutputTarget> targets_;
    std::vector<std::unique_ptr<OutputFile>> files_;  // none: standard output
    std::string failures_;
};

}  // namespace coalprof
