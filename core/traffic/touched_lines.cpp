#include "core/traffic/touched_lines.h"

#include <bit>

namespace coalprof {

void TouchedLines::set(const WarpAccess& access) {
    count_ = 0;
    std::uint32_t last = 0;
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t address =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))];
        const std::uint64_t line = address / line_bytes;
        const std::uint32_t sector = 1u << (address / sector_bytes % 4);
        // Neighbouring lanes mostly lie in one line.
        if (count_ == 0 || lines_[last].line != line) {
            last = 0;
            while (last < count_ && lines_[last].line != line) ++last;
            if (last == count_) lines_[count_++] = {line, 0};
        }
        lines_[last].sectors |= sector;
    }
}

}  // namespace coalprof
