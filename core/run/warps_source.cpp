#include "core/run/warps_source.h"

#include <algorithm>

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

std::vector<WarpAccess> kinds_in_warps_file(const std::string& file) {
    std::vector<WarpAccess> kinds;
    const auto add = [&](const WarpAccess& access) {
        const auto is_alike = [&](const WarpAccess& known) {
            return known.space == access.space && known.kind == access.kind;
        };
        if (std::none_of(kinds.begin(), kinds.end(), is_alike)) kinds.push_back(access);
    };
    const auto bytes = open_warps(file);
    if (bytes->can_rewind()) {
        WarpsReader reader(*bytes, name_of(file));
        for (WarpLine line; reader.next(line);) add(line.access);
        bytes->rewind();
        return kinds;
    }
    WarpAccess access;
    access.active_lanes = 1;
    for (const AccessKind kind : access_kinds) {
        access.kind = kind;
        access.space = Space::global;
        add(access);
        access.space = Space::shared;
        if (kind == AccessKind::load || kind == AccessKind::store) add(access);
    }
    return kinds;
}

WarpsSource::WarpsSource(const std::string& file) : bytes_(open_warps(file)) {
    const std::string name = name_of(file);
    if (bytes_->can_rewind()) {
        check_warps_file(*bytes_, name);
        bytes_->rewind();
    }
    reader_ = std::make_unique<WarpsReader>(*bytes_, name);
}

}  // namespace coalprof
