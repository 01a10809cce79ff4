#include "core/run/warps_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/run/stop.h"

namespace coalprof {

namespace {

std::unique_ptr<ByteSource> open_warps(const std::string& file) {
    return open_bytes(file, [] {
        stop_if_asked();  // half a line that came before it is none
        return false;
    });
}

std::string name_of(const std::string& file) { return file == "-" ? "standard input" : file; }

}  // namespace

std::vector<WarpOp> ops_in_warps_file(const std::string& file) {
    const std::vector<WarpOp> all(warp_ops().begin(), warp_ops().end());
    // A named pipe that is opened and closed again has lost what its writer wrote.
    std::error_code none;
    if (file != "-" && !std::filesystem::is_regular_file(file, none)) return all;
    const auto bytes = open_warps(file);
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

WarpsSource::WarpsSource(const std::string& file)
    : bytes_(open_warps(file)), reader_(*bytes_, name_of(file)) {}

bool WarpsSource::next(WarpLine& line) {
    if (failure_) return false;
    try {
        stop_if_asked();
        if (!reader_.next(line)) return false;
        has_line_ = true;
        return true;
    } catch (const Stopped&) {
        if (!has_line_) throw;
        return false;
    } catch (const Error&) {
        if (!has_line_) throw;
        failure_ = std::current_exception();
        return false;
    }
}

Status WarpsSource::status() const {
    return failure_ || stop_signal() != 0 ? Status::interrupted : Status::complete;
}

void WarpsSource::throw_failure() const {
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace coalprof
