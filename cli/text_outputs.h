// Texts that are made as a whole, such as lists and drawings: one for each output. Files are
// written first, so that a reader of standard output that leaves takes none of them away.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/output_options.h"
#include "core/write/output_file.h"

namespace coalprof {

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
