// Blocks and grids of up to three dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace coalprof {

// Along x, y and z. Threads of a block are numbered with x fastest, and so are blocks of a grid, in
// the order in which they start.
struct Dimensions {
    std::uint64_t x = 1;
    std::uint64_t y = 1;
    std::uint64_t z = 1;
    bool is_shape = false;  // typed with an 'x': "256x1" has one row, "256" no rows
    constexpr std::uint64_t count() const { return x * y * z; }
    constexpr bool is_flat() const { return y == 1 && z == 1; }
    friend constexpr bool operator==(const Dimensions& a, const Dimensions& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z;
    }
};
std::string text_of(const Dimensions& dimensions);  // "256", "32x8", "8x8x4"

// The limits of the newest GPUs; older ones may have lower ones (core/machine/rules.h). Source:
// CUDA Programming Guide, "Technical Specifications per Compute Capability".
inline constexpr std::uint32_t most_block_threads = 1024;
inline constexpr std::uint64_t most_block_layers = 64;  // along z
inline constexpr std::array<std::uint64_t, 3> most_grid_blocks{2147483647, 65535, 65535};

// "256", "32x8" (32 threads wide, 8 high), "8x8x4". Throws UsageError.
Dimensions parse_block(std::string_view text, std::string_view option = "--block");

// The value of --grid: blocks, or the threads that as many blocks as needed hold.
struct GridSize {
    Dimensions size;
    bool counts_threads = false;
    Dimensions blocks_of(const Dimensions& block) const;
};
// "1024", "64x64", "8x8x8", and of threads "8192x8192/block". Throws UsageError.
GridSize parse_grid(std::string_view text, std::string_view option = "--grid");

}  // namespace coalprof
