// One memory instruction of one warp: the input of every model and the output of every pattern.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace coalprof {

inline constexpr std::uint32_t warp_lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xFFFF'FFFFu;

// Memory moves in 32-byte sectors, four to a 128-byte line (one tag). Source: Nsight Compute,
// Kernel Profiling Guide, "Memory Tables".
inline constexpr std::uint64_t sector_bytes = 32;
inline constexpr std::uint64_t line_bytes = 128;

// Counting treats these kinds separately. `atomic` returns its result, `reduce` does not.
enum class AccessKind : std::uint8_t { load, store, atomic, reduce };
constexpr bool is_load_or_store(AccessKind kind) {
    return kind == AccessKind::load || kind == AccessKind::store;
}
inline constexpr std::array access_kinds{AccessKind::load, AccessKind::store, AccessKind::atomic,
                                         AccessKind::reduce};

enum class Space : std::uint8_t { global, shared, constant, local };
inline constexpr std::array all_spaces{Space::global, Space::shared, Space::constant, Space::local};
constexpr std::string_view name_of(Space space) {
    constexpr std::array<std::string_view, all_spaces.size()> names{"global", "shared", "constant",
                                                                    "local"};
    return names[static_cast<std::size_t>(space)];
}

struct WarpAccess {
    std::array<std::uint64_t, warp_lanes> addresses{};  // in bytes; read for active lanes only
    std::uint32_t active_lanes = 0;                     // bit n is lane n
    std::uint32_t width_bytes = 4;                      // bytes per lane: 1, 2, 4, 8 or 16
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
};

}  // namespace coalprof
