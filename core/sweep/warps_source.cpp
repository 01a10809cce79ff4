#include "core/sweep/warps_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

std::unique_ptr<ByteSource> open_warps(const std::string& file, const NpyWarps& npy) {
    auto bytes = open_bytes(file, [] {
        stop_if_asked();  // half a line that came before it is none
        return false;
    });
    return lines_of_npy(std::move(bytes), file, npy);
}

std::string name_of(const std::string& file) { return file == "-" ? "standard input" : file; }

}  // namespace

std::vector<WarpOp> ops_in_warps_file(const std::string& file, const NpyWarps& npy) {
    const std::vector<WarpOp> all(warp_ops().begin(), warp_ops().end());
    // A named pipe that is opened and closed again has lost what its writer wrote.
    std::error_code none;
    if (file != "-" && !std::filesystem::is_regular_file(file, none)) return all;
    const auto bytes = open_warps(file, npy);
    if (!bytes->can_rewind()) return all;
    std::vector<WarpOp> ops;
    try {
        WarpsReader reader(*bytes, name_of(file));
        for (WarpOp op; ops.size() < warp_ops().size() && reader.next_op(op);)
            if (std::find(ops.begin(), ops.end(), op) == ops.end()) ops.push_back(op);
    } catch (const UsageError&) {
        // Whoever reads the lines themselves comes to it, and tells.
    }
    bytes->rewind();
    return ops;
}

WarpsSource::WarpsSource(const std::string& file, const Machine& machine, const NpyWarps& npy)
    : name_(name_of(file)),
      bytes_(open_warps(file, npy)),
      reader_(*bytes_, name_),
      machine_(machine) {}

void WarpsSource::open() {
    if (fetch(Wait::yes)) return;
    throw UsageError(fmt::format("{} holds no warp instruction", shown(name_)), {},
                     UsageError::no_caret, "lines look like NAME OP WIDTH A0 A1 ... A31");
}

bool WarpsSource::fetch(Wait wait) {
    if (has_line_) return true;
    stop_if_asked();
    has_line_ = reader_.next(line_, wait);
    if (has_line_ && line_.access.width_bytes > machine_.rules->abilities.widest_access_bytes)
        throw UsageError(fmt::format("{}:{}: no access of {} has {} bytes a lane", shown(name_),
                                     line_.number, machine_.name, line_.access.width_bytes),
                         {}, UsageError::no_caret,
                         "accesses of 32 bytes came with 10.0: --machine b200");
    return has_line_;
}

bool WarpsSource::next(PlannedPoint& point) {
    if (!fetch(Wait::yes)) return false;
    has_line_ = false;
    point.number = points_++;
    point.warp = line_.access;
    point.name.assign(line_.name);
    if (point.machine.rules != machine_.rules) point.machine = machine_;  // else it has been here
    return true;
}

}  // namespace coalprof
