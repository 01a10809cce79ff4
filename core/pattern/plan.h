// A plan: everything that decides a launch. A sweep is a list of plans.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/dimensions.h"
#include "core/pattern/program.h"

namespace coalprof {

enum class Op : std::uint8_t { load, store, rmw, copy, add, atomic, reduce };
// Default cache modifiers of loads and stores, as ptxas spells them (-dlcm, -dscm).
enum class LoadModifier : std::uint8_t { ca, cg, cs, cv };
enum class StoreModifier : std::uint8_t { wb, cg, cs, wt };
// Where the arrays lie: cuMemAlloc, a __device__ array of a module, managed memory, pinned host
// memory.
enum class Allocation : std::uint8_t { device, static_array, managed, host };

// Their words on the command line, in their order, which is that of --help.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> option_words{};
template <>
inline constexpr std::array<std::string_view, 7> option_words<Op>{"load", "store",  "rmw",   "copy",
                                                                  "add",  "atomic", "reduce"};
template <>
inline constexpr std::array<std::string_view, 4> option_words<LoadModifier>{"ca", "cg", "cs", "cv"};
template <>
inline constexpr std::array<std::string_view, 4> option_words<StoreModifier>{"wb", "cg", "cs",
                                                                             "wt"};
template <>
inline constexpr std::array<std::string_view, 4> option_words<Allocation>{"device", "static",
                                                                          "managed", "host"};
template <>
inline constexpr std::array<std::string_view, 3> option_words<LoadPath>{"ld", "ldg", "tex"};

template <typename Enum>
requires(option_words<Enum>.size() > 0) constexpr std::string_view name_of(Enum value) {
    return option_words<Enum>[static_cast<std::size_t>(value)];
}
template <typename Enum>
std::optional<Enum> find_word(std::string_view word) {
    for (std::size_t k = 0; k < option_words<Enum>.size(); ++k)
        if (option_words<Enum>[k] == word) return static_cast<Enum>(k);
    return std::nullopt;
}
template <typename Enum>
std::vector<std::string_view> word_list() {
    return {option_words<Enum>.begin(), option_words<Enum>.end()};
}

std::uint32_t bytes_of(ElementType type);
std::string_view name_of(ElementType type);
std::vector<std::string_view> element_type_list();
// By its name here, CUDA's or NumPy's: "float4" is f32x4, "int32" s32. Types of one width differ
// only in atomics.
std::optional<ElementType> find_element_type(std::string_view name);
// The hint for a word that is no type: the closest name, CUDA's among them, else the list.
std::string hint_for_element_type(std::string_view word);
// True if atomics add in it.
bool is_atomic_type(ElementType type);
inline constexpr std::string_view atomic_types = "u32, u64, s32, s64, f32 and f64";

// The part of L1 that is given to shared memory: per cent of the largest carveout. None: the
// driver's.
struct Carveout {
    std::uint32_t shared_percent = 0;  // prefer-l1 is 0, prefer-equal 50, prefer-shared 100
    std::string text;                  // the text as the user typed it
};

struct CachePolicy {
    LoadModifier dlcm = LoadModifier::ca;
    StoreModifier dscm = StoreModifier::wb;
    std::optional<Carveout> carveout;
    std::optional<std::uint32_t> l2_fetch_bytes;  // 32, 64 or 128; none: the driver's
};

// The content of L2 when the launch begins: nothing of its arrays, or what the same launch left
// there.
enum class CacheState : std::uint8_t { cold, warm };

// Without another size: a launch that takes much longer than its start.
inline constexpr std::uint64_t usual_size_bytes = 64ull << 20;
struct LaunchShape {
    std::uint64_t size_bytes = 4ull << 20;  // useful data of one array
    std::uint32_t block = 256;              // threads per block
    std::uint32_t per_thread = 1;           // elements each thread handles
    std::string size_text = {};             // the size as typed, for messages; empty: not typed
    // The block's dimensions if it has several; it has `block` threads. The lanes of a warp are
    // neighbours in linear order, so that only a formula which uses dimensions sees a difference.
    std::optional<Dimensions> block_shape = std::nullopt;
    // The blocks of the grid as typed. None: as many as size_bytes needs, in one dimension.
    std::optional<Dimensions> grid = std::nullopt;
    std::optional<GridSize> asked_grid = std::nullopt;  // the grid as typed, which decides it
};
// "4KiB" if it was typed so, else the size in a readable unit.
std::string size_as_typed(const LaunchShape& shape);
// The option that decides the number of threads: "--size 4KiB", "--grid 64x64".
std::string extent_as_typed(const LaunchShape& shape);
// The shape with the size that its grid has for elements of this type, one for each thread. Throws
// UsageError where a different size was typed.
LaunchShape settled_shape(LaunchShape shape, ElementType type);

// A pattern's options besides its swept parameter; each pattern reads those that concern it.
struct PatternOptions {
    std::uint64_t seed = 1;  // permute --order shuffle, scatter
    // Columns of the tile: shared-pad 16 or 32, transpose 16, 32 or 64. None: the default.
    std::optional<std::uint64_t> tile = {};
    std::string variant = "naive";  // transpose: naive, tile, padded, swizzled
    std::string order = "xor";      // permute: reversed, xor, rotate, shuffle
    std::uint64_t member = 0;       // aos, soa: number of the structure's member
    std::string pitch = "none";     // row, column: none, auto or bytes
    std::uint64_t pitch_bytes = 0;  // the number, if `pitch` is one
    std::optional<std::uint64_t> auto_pitch_bytes = {};  // cudaMallocPitch's answer for `auto`
};

struct Plan {
    std::string pattern;      // its name in the catalog
    std::uint64_t value = 0;  // value of the swept parameter
    Op op = Op::load;
    ElementType type = ElementType::f32;
    LaunchShape shape = {};
    CachePolicy cache = {};
    Allocation allocation = Allocation::device;
    LoadPath path = LoadPath::ld;  // how global memory is loaded; see apply_memory_settings()
    PatternOptions options = {};
    Program program = {};  // made by the catalog from all of the above
};

}  // namespace coalprof
