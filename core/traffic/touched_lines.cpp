#include "core/traffic/touched_lines.h"

#include <bit>

#include "core/traffic/line_hash.h"

namespace coalprof {

std::uint32_t TouchedLines::position_of(std::uint64_t line) {
    std::size_t slot = hash_of(line) >> 58;
    while (slots_[slot] != 0 && lines_[slots_[slot] - 1u].line != line)
        slot = (slot + 1) % slots_.size();
    if (slots_[slot] == 0) {
        lines_[count_] = {line, 0};
        slots_[slot] = static_cast<std::uint8_t>(++count_);
    }
    return slots_[slot] - 1u;
}

void TouchedLines::set(const WarpAccess& access) {
    count_ = 0;
    slots_.fill(0);
    std::uint32_t last = 0;
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t address =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))];
        const std::uint64_t line = address / line_bytes;
        // Neighbouring lanes mostly lie in one line.
        if (count_ == 0 || lines_[last].line != line) last = position_of(line);
        lines_[last].sectors |= 1u << (address / sector_bytes % 4);
    }
}

}  // namespace coalprof
