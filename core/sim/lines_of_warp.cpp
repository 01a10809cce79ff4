#include "core/sim/lines_of_warp.h"

#include <algorithm>

namespace coalprof {

LinesOfWarp::LinesOfWarp(const WarpAccess& access, std::uint64_t by) {
    std::uint64_t last = ~std::uint64_t{0};
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) == 0) continue;
        const std::uint64_t address = access.addresses[lane] + by;
        if (address == last) continue;  // lanes that agree
        last = address;
        touch(address, access.width_bytes);
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
        std::uint32_t parts = 0, bytes = 0;
        for (std::uint32_t sector = 0; sector < 4; ++sector) {
            const std::uint32_t here = bytes_[4 * i + sector];
            if (here >= sector_bytes) lines_[i].whole |= static_cast<std::uint8_t>(1u << sector);
            parts += here > 0 && here < sector_bytes;
            bytes += here < sector_bytes ? here : 0;
        }
        if (parts > 0) lines_[i].part_bytes = static_cast<std::uint8_t>(bytes / parts);
    }
}

void LinesOfWarp::touch(std::uint64_t address, std::uint32_t bytes) {
    const bool is_of_words = bytes >= 4;
    while (bytes > 0) {
        const std::uint64_t line = address / line_bytes;
        std::uint32_t at = count_;
        // Neighbouring lanes are on one line: the last one is searched first.
        for (std::uint32_t i = count_; i-- > 0;)
            if (lines_[i].line == line) {
                at = i;
                break;
            }
        if (at == count_) lines_[count_++] = {.line = line, .is_of_words = is_of_words};
        const auto sector = static_cast<std::uint32_t>(address % line_bytes / sector_bytes);
        const auto here = std::min<std::uint32_t>(
            bytes, static_cast<std::uint32_t>(sector_bytes - address % sector_bytes));
        lines_[at].sectors |= static_cast<std::uint8_t>(1u << sector);
        std::uint8_t& covered = bytes_[4 * at + sector];
        covered = static_cast<std::uint8_t>(std::min(255u, covered + here));
        address += here;
        bytes -= here;
    }
}

L1Passes passes_of_lines(const Coalescer& coalescer, const WarpAccess& access,
                         std::uint32_t lines) {
    const auto of_lines = static_cast<std::uint16_t>(lines);
    const GlobalCounts counts = coalescer.count(access);
    if (!is_load_or_store(access.kind))
        return {of_lines, of_lines, static_cast<std::uint16_t>(counts.sectors)};
    L1Passes passes{static_cast<std::uint16_t>((lines + 3) / 4), of_lines};
    if (counts.tag_doubts == 0) passes.tags = static_cast<std::uint16_t>(counts.tag_wavefronts);
    if (counts.data_doubts == 0) passes.data = static_cast<std::uint16_t>(counts.data_wavefronts);
    return passes;
}

}  // namespace coalprof
