#include "core/run/warps_source.h"

#include "core/run/stop.h"

namespace coalprof {

WarpsSource::WarpsSource(const std::string& file)
    : bytes_(open_bytes(file, [] { return stop_signal() != 0; })) {
    const std::string name = file == "-" ? "standard input" : file;
    if (bytes_->can_rewind()) {
        check_warps_file(*bytes_, name);
        bytes_->rewind();
    }
    reader_ = std::make_unique<WarpsReader>(*bytes_, name);
}

}  // namespace coalprof
