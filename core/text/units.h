// Numbers with their units for people, the same in every locale. Numbers for programs do not come
// through here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coalprof {

struct UnitStep {
    double factor;  // number of base units
    std::string_view unit;
};

inline constexpr std::array byte_steps{UnitStep{1, "bytes"}, UnitStep{0x1p10, "KiB"},
                                       UnitStep{0x1p20, "MiB"}, UnitStep{0x1p30, "GiB"},
                                       UnitStep{0x1p40, "TiB"}};

// The largest step that `value` reaches; the first if it reaches none. `rising` is not empty.
const UnitStep& step_of(std::span<const UnitStep> rising, double value);

// The largest step that `value` reaches; else the first. `rising` is not empty.
std::string grouped(std::uint64_t value);

// "1 sector", "4 sectors".
std::string counted(std::uint64_t count, std::string_view what);

// Exact, for sizes that the user chose: "4 MiB", or "5,000 bytes" where no binary unit divides it.
std::string size_text(std::uint64_t bytes);

// Four significant digits, for measured or computed amounts: "1.5 KiB", "139.8 GiB", "1 byte".
std::string bytes_text(std::uint64_t bytes);

// Times in the format of results.

// Seconds since 1970 from "2026-11-22T19:22:40Z"; none from any other text.
std::optional<std::int64_t> seconds_since_1970(const std::string& utc);

}  // namespace coalprof
