// The lines of a warps file as points, read as they are asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/access/warps_file.h"
#include "core/sweep/npy_warps.h"
#include "core/sweep/point_source.h"

namespace coalprof {

class WarpsSource : public PointSource {
 public:
    // "-" is standard input; `npy` says what a .npy file holds. Throws Error where the file cannot
    // be opened.
    WarpsSource(const std::string& file, const Machine& machine, const NpyWarps& npy = {});

    // Reads the first line. Throws UsageError where it does not fit, or there is none.
    void open() override;
    bool next(PlannedPoint& point) override;
    // A pipe may keep its next line back until this one is answered; a file does not.
    bool is_ready() override { return bytes_->can_rewind() || fetch(Wait::no); }

 private:
    // Whether a line is at hand.
    bool fetch(Wait wait);

    std::string name_;
    std::unique_ptr<ByteSource> bytes_;
    WarpsReader reader_;
    Machine machine_;
    WarpLine line_;
    bool has_line_ = false;
    std::uint64_t points_ = 0;
};

// The instructions that lines of the file name; all that there are for what can be read only once
// (a pipe). Ends without a word at the first line that does not fit up to its op; what stands
// behind the op is not looked at. Throws as WarpsSource does.
std::vector<WarpOp> ops_in_warps_file(const std::string& file, const NpyWarps& npy = {});

}  // namespace coalprof
