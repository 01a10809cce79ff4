// The lines of a warps file as points, read on demand.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/access/warps_file.h"
#include "core/pattern/program.h"
#include "core/result/result.h"
#include "core/sweep/swept_points.h"
#include "core/text/byte_source.h"

namespace coalprof {

// A .npy file of addresses, or of indices, as the lines of a warps file: the meaning of its
// numbers.
struct NpyWarps {
    std::optional<WarpOp> op;         // none: loads
    std::optional<ElementType> type;  // indices of such elements; none: byte addresses
};

// From the words of --op and --type; empty: not given. Throws UsageError.
NpyWarps npy_warps(const std::string& op, const std::string& type);

// `source` where it is no .npy file; else its lines: 32 numbers a warp, negative ones idle lanes,
// named by their place. Throws UsageError: `how` for other files, and numbers that are no integers.
std::unique_ptr<ByteSource> lines_of_npy(std::unique_ptr<ByteSource> source,
                                         const std::string& name, const NpyWarps& how);

class WarpsSource : public PointSource {
 public:
    // "-" is standard input; `npy` gives the meaning of a .npy file. Throws Error where the file
    // cannot be opened.
    WarpsSource(const std::string& file, const Machine& machine, const NpyWarps& npy = {});

    // Reads the first line. Throws UsageError where it does not fit, or is missing.
    void open() override;
    bool next(PlannedPoint& point) override;
    // A pipe may withhold its next line until this one is answered; a file does not.
    bool is_ready() override { return bytes_->can_rewind() || fetch(Wait::no); }

 private:
    // True if a line is available.
    bool fetch(Wait wait);

    std::string name_;
    std::unique_ptr<ByteSource> bytes_;
    WarpsReader reader_;
    Machine machine_;
    WarpLine line_;
    bool has_line_ = false;
    std::uint64_t points_ = 0;
};

// The instructions that lines of the file name; every instruction for input that can be read only
// once (a pipe). Ends silently at the first line that does not fit up to its op; text after the op
// is not read. Throws as WarpsSource does.
std::vector<WarpOp> ops_in_warps_file(const std::string& file, const NpyWarps& npy = {});

// The lines of a warps file added up: one point for all of them, and one for each number of sectors
// (transactions, passes) of a kind of warp instruction. Takes the points of the lines and passes on
// their sums, the total first.
class WarpTotals : public ResultSink {
 public:
    explicit WarpTotals(ResultSink& next) : next_(next) {}

    void begin(const ResultHead& head) override { next_.begin(head); }
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    ResultSink& next_;
    Point total_;
    std::map<std::pair<std::string_view, std::uint64_t>, Point> bins_;  // by op and number
};

}  // namespace coalprof
