// The rules of one compute capability, as data: how accesses of a warp become requests and
// transactions in each memory, what L1 keeps, how large caches are and how many blocks fit. Models
// read these records and know no compute capability themselves; chips/ holds the values.
//
// Sizes named _kib count 1024 bytes.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coalprof {

struct ComputeCapability {
    int major = 0;
    int minor = 0;
    friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};
std::string text_of(ComputeCapability cc);  // "9.0"

// How much of a record was seen on hardware: measured by us, re-derived from measurements that
// others published, or only stated in documents ("documented, not measured").
enum class Evidence : std::uint8_t { measured, published, documented };
std::string_view text_of(Evidence evidence);

// Lanes of a warp that are served together, by the width of their access.
struct LaneGroups {
    std::uint32_t of_narrow = 32;  // 1, 2 and 4 bytes
    std::uint32_t of_8_bytes = 32;
    std::uint32_t of_16_bytes = 32;
    constexpr std::uint32_t lanes(std::uint32_t width_bytes) const {
        return width_bytes <= 4 ? of_narrow : width_bytes == 8 ? of_8_bytes : of_16_bytes;
    }
};

// The rule that turns global-memory instructions into traffic.
enum class GlobalRule : std::uint8_t {
    half_warp_in_order,  // 1.0, 1.1: one 64/128-byte access if lane k touches word k, else 16
    half_warp_segments,  // 1.2, 1.3: 32/64/128-byte segments, reduced
    lines_or_segments,   // 2.x to 6.x: lines through an L1 that fetches them, else 32-byte segments
    sectors_by_warp,     // 7.0 on: sectors of the whole warp
};

// One clause for people: "32-byte sectors of the whole warp".
std::string_view text_of(GlobalRule rule);

// The numbers of those rules.
struct TransactionRules {
    LaneGroups request_lanes;           // lanes whose transactions are formed together
    std::uint32_t smallest_bytes = 32;  // smallest transaction
    // Parts of a store that may not join a sector which an earlier part touches, unless that part
    // is the one before; 0: every two parts join.
    LaneGroups store_parts{0, 0, 0};
    // Largest segment one transaction covers, for lanes of 1, 2, 4, 8 and 16 bytes; 0: such lanes
    // never coalesce.
    std::array<std::uint32_t, 5> segment_bytes{};
    constexpr std::uint32_t segment(std::uint32_t width_bytes) const {
        return segment_bytes[static_cast<std::size_t>(std::countr_zero(width_bytes)) %
                             5];  // 32: none
    }
};

// Global loads that L1 keeps: those compiled with the named -dlcm. cg and cv never are.
struct L1Loads {
    bool keeps_ca = false;
    bool keeps_cs = false;
    bool by_default = false;         // L1 keeps loads without any -dlcm
    std::uint32_t fetch_bytes = 32;  // bytes that one miss of a kept load fetches
};

// The path of ld.global.nc (__ldg), the read-only path of a global load.
enum class ReadOnlyPath : std::uint8_t {
    none,           // no such instruction before 3.2
    texture_cache,  // 3.2 to 6.x: through the texture units and their cache
    l1,             // 7.0 on: the same way as any other load
};

// The tag stage of L1 serves lines of four banks at once. The bank of line L (address >> 7) is
// 2 * parity(L & high_mask) + parity(L & low_mask), valid for lines that agree in all address bits
// from known_address_bits on.
struct TagBanks {
    std::uint64_t high_mask = 0;
    std::uint64_t low_mask = 0;
    std::uint32_t known_address_bits = 0;  // address bits below this one are in the masks
};

enum class SharedRule : std::uint8_t {
    broadcast_word,  // 1.x: per step one word for all its lanes, one lane of every other bank
    distinct_words,  // 2.x on: per step one word of every bank, for any number of lanes
};

std::string_view text_of(SharedRule rule);

// Shared memory. Word w of `bank_bytes` lies in bank w % banks; two words of a bank are one when
// they lie in the same `row_bytes`.
struct SharedRules {
    SharedRule rule = SharedRule::distinct_words;
    std::uint32_t banks = 32;
    std::uint32_t bank_bytes = 4;
    std::uint32_t row_bytes = 128;
    LaneGroups lanes{32, 16, 8};     // lanes that go through together
    std::uint32_t extra_passes = 0;  // more passes for each group of 16-byte lanes
    bool packs_pairs = false;        // wide loads whose neighbours agree merge two groups
    bool may_pack_pairs = false;     // seen, but not counted
    bool has_8_byte_mode = false;    // banks can be set to 8 bytes: with_8_byte_banks()
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
};

// Constant memory: one pass per distinct address among the active lanes of a group.
struct ConstantRules {
    std::uint32_t request_lanes = 32;
    // Bytes of one lane in one instruction; wider elements take several (7.5 to 12.1: ptxas 13.0
    // makes two LDC.64 of 16 bytes; no wider one is known).
    std::uint32_t widest_bytes = 16;
    constexpr std::uint32_t instructions(std::uint32_t width_bytes) const {
        return width_bytes <= widest_bytes ? 1 : width_bytes / widest_bytes;
    }
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
};

// Local memory: consecutive words of `interleave_bytes` belong to consecutive threads.
struct LocalRules {
    std::uint32_t interleave_bytes = 4;
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
};

// One way to divide the memory of a multiprocessor.
struct L1Split {
    std::uint32_t shared_kib = 0;
    std::uint32_t l1_kib = 0;  // 0: there is no L1
};
struct L1Rules {
    std::span<const L1Split> splits;  // by growing shared memory; one: it cannot be chosen
    // A carveout in per cent is of the largest shared memory (7.0 on); else it interpolates between
    // the smallest and the largest (the cache preference of 2.x and 3.x).
    bool percent_of_largest = true;
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
};
// The split that a preference of `shared_percent` gets: the smallest that is not smaller. None: the
// largest shared memory, as the driver starts out.
L1Split l1_split(const L1Rules& rules, std::optional<std::uint32_t> shared_percent);

// The limits on the blocks of a multiprocessor.
struct OccupancyLimits {
    std::uint32_t threads = 0;  // limit per multiprocessor, like the next three
    std::uint32_t blocks = 0;
    std::uint32_t registers = 0;
    std::uint32_t shared_bytes = 0;
    std::uint32_t threads_per_block = 1024;
    std::uint32_t registers_per_block = 0;
    std::uint32_t registers_per_thread = 255;
    std::uint32_t shared_bytes_per_block = 0;  // limit with opt-in where that exists
    bool registers_by_block = false;           // allocated to blocks (1.x), else to warps
    std::uint32_t register_unit = 256;         // allocation granularity
    std::uint32_t sub_partitions = 4;          // the register file is divided among them
    std::uint32_t warp_unit = 4;  // a block's warps count as a multiple of it for its registers
    std::uint32_t shared_unit_bytes = 256;
    std::uint32_t shared_reserved_bytes = 0;     // what the system takes from each block
    std::optional<std::uint32_t> barriers = {};  // named barriers; nothing if they do not limit
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
    constexpr std::uint32_t warps() const { return threads / 32; }
};

// Device memory as the bandwidth model sees it.
struct MemoryRules {
    // L2 fetches aligned blocks of this size from device memory; 0: no L2, and every transaction
    // goes there.
    std::uint32_t fill_bytes = 32;
    bool fill_settable = false;  // --l2-fetch (cudaLimitMaxL2FetchGranularity)
    // The multiple of its size that has to be read to empty L2, which is no strict LRU. GPUs that
    // were not measured get more than enough.
    std::uint32_t flush_reads = 4;
    Evidence evidence = Evidence::documented;
    std::string_view source = {};
    double sustained_fraction = 0.80;  // share of peak bandwidth that good kernels reach
    std::string_view sustained_source = {};
};

// The abilities of kernels there, besides loads and stores of up to 16 bytes.
struct Abilities {
    bool doubles = true;             // arithmetic on f64 (1.3 on)
    std::uint32_t atomic_bytes = 8;  // widest integer atomic on global memory; 0: none (1.0)
    bool float_atomics = true;       // atomicAdd() on f32 (2.0 on)
    bool double_atomics = true;      // atomicAdd() on f64 (6.0 on)
    bool managed_memory = true;      // cudaMallocManaged() (3.0 on)
    // Blocks of a grid along x, y and z.
    std::array<std::uint64_t, 3> grid_blocks{2147483647, 65535, 65535};
    bool shared_atomics = true;              // shared memory has 32-bit integer atomics (from 1.2)
    bool native_shared_atomics = true;       // false: a loop that locks, before 5.0
    std::uint32_t widest_access_bytes = 16;  // ld.global.v8.b32 takes 32 (10.0 on)
    std::string_view source = {};
};

struct Rules {
    ComputeCapability cc;
    std::string_view family;  // "Hopper"
    GlobalRule global = GlobalRule::sectors_by_warp;
    TransactionRules transactions;
    L1Loads l1_loads;
    ReadOnlyPath read_only = ReadOnlyPath::none;
    std::optional<TagBanks> tag_banks;         // none: the hash is not known
    Evidence evidence = Evidence::documented;  // how well the rules of global memory are known
    std::string_view source = {};
    SharedRules shared;
    ConstantRules constant;
    LocalRules local;
    L1Rules l1;
    OccupancyLimits occupancy;
    MemoryRules memory;
    Abilities abilities;
};

// All compute capabilities, oldest first.
std::span<const Rules> all_rules();
// The rules after cudaDeviceSetSharedMemConfig() chose banks of 8 bytes; null if that changes
// nothing.
const Rules* with_8_byte_banks(const Rules& rules);

}  // namespace coalprof
