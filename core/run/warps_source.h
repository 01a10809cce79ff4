// The lines of a warps file on their way into a result: what ends them early, a signal or a line
// that does not fit, leaves the lines before it answered.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/text/warps_file.h"

namespace coalprof {

class WarpsSource {
 public:
    // "-" is standard input. Throws Error where it cannot be opened.
    explicit WarpsSource(const std::string& file);

    // The next line; false at the end, when a signal asks to stop, and where reading fails or a
    // line does not fit. Where no line came before there is no result: then it throws Stopped or
    // that Error.
    bool next(WarpLine& line);

    // `interrupted` where lines are missing.
    Status status() const;
    // For when the outputs are finished: throws the Error that ended the lines, if one did.
    void throw_failure() const;

 private:
    std::unique_ptr<ByteSource> bytes_;
    WarpsReader reader_;
    bool has_line_ = false;
    std::exception_ptr failure_;
};

// The instructions that lines of the file name; all that there are for what can be read only once
// (a pipe). Ends without a word at the first line that does not fit up to its op; what stands
// behind the op is not looked at. Throws as WarpsSource does.
std::vector<WarpOp> ops_in_warps_file(const std::string& file);

}  // namespace coalprof
