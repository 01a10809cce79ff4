// Sizes in bytes as people type them: 65536, 512B, 64KiB, 4MiB, 1GB, 1.5GiB. KiB is 1024 and kB is
// 1000; a unit that could be meant either way (K, KB) is refused with both readings.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/text/units.h"

namespace coalprof {

inline constexpr std::array size_units{
    UnitStep{1, "B"},        UnitStep{0x1p10, "KiB"}, UnitStep{0x1p20, "MiB"},
    UnitStep{0x1p30, "GiB"}, UnitStep{0x1p40, "TiB"}, UnitStep{1e3, "kB"},
    UnitStep{1e6, "MB"},     UnitStep{1e9, "GB"},     UnitStep{1e12, "TB"}};

// At least 1 byte. A fraction is accepted where it is a whole number of bytes (1.5KiB is 1536) and
// refused where it is not (0.1KiB). Throws UsageError naming `option` ("--size") and the place.
std::uint64_t parse_size_bytes(std::string_view text, std::string_view option);

}  // namespace coalprof
