// Memory that a launch reads: the arrays that its parameters point to and the variables of its
// module.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace coalprof {

// The contents of an array without storing it: zeros, a rule, or a file's bytes.
class ArrayContents {
 public:
    virtual ~ArrayContents() = default;
    // At most 8 bytes, little-endian; 0 after the end.
    virtual std::uint64_t number_at(std::uint64_t at, std::uint32_t bytes) const = 0;
    // True if equal for all addresses: then blocks that read different places still do the same.
    virtual bool is_constant() const { return false; }
    // All bytes, if they are stored as such; else empty.
    virtual std::string_view plain() const { return {}; }
};

struct LaunchArray {
    std::string name;           // name of the parameter or variable
    std::string declared = {};  // what --arg may say of a parameter: "f32[COUNT]"
    std::uint64_t base = 0;
    std::uint64_t size_bytes = 0;                        // 0: as large as the touched places
    std::shared_ptr<const ArrayContents> contents = {};  // none: zeros by default
    // Nothing is below it, so that an index below 0 belongs to this array and not to the one
    // before.
    bool is_alone = false;
    std::uint64_t begin = 0;                // first of the addresses that are taken for it
    std::uint64_t end = ~std::uint64_t{0};  // begin of the next one's
};

// A set of arrays without given contents: bit n is the nth of arrays(), bit 62 every later one.
using UnsaidArrays = std::uint64_t;
// What copies by tensor maps, and fetches from textures, brought is not known.
inline constexpr UnsaidArrays by_fetches = UnsaidArrays{1} << 63;

class LaunchMemory {
 public:
    void add(LaunchArray array);
    const std::vector<LaunchArray>& arrays() const { return arrays_; }
    // The array that contains `address` or ends before it; none: none begins there.
    const LaunchArray* find(std::uint64_t address) const;

    // The array's bytes, if reads return just these; empty: call read().
    std::string_view plain(const LaunchArray& array) const {
        return array.contents && written_.empty()
                   ? array.contents->plain().substr(0, limit_of(array))
                   : std::string_view();
    }
    // Zero where nothing is. The first 8 of at most 16 bytes. `unsaid` gets the arrays without
    // given content from which they were made.
    std::uint64_t read(const LaunchArray* array, std::uint64_t address, std::uint32_t bytes,
                       UnsaidArrays& unsaid) const;
    void write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes,
               UnsaidArrays unsaid);
    std::vector<std::string> names_of(UnsaidArrays unsaid) const;
    // 0 if its contents are given.
    UnsaidArrays bit_of(const LaunchArray* array) const;

 private:
    static std::uint64_t limit_of(const LaunchArray& array);
    static constexpr std::uint64_t page_bytes = 4096;
    // 256 MiB: if more decides addresses, the kernel is refused.
    static constexpr std::size_t most_pages = 65536;
    std::vector<LaunchArray> arrays_;  // sorted by begin
    struct Page {
        std::array<std::uint8_t, page_bytes> bytes{};
        std::bitset<page_bytes> is_written;
        // For each 8 bytes; empty: nothing in the page depends on arrays without given content.
        std::vector<UnsaidArrays> unsaid = {};
    };
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> written_;
};

// 4 TiB between arrays, so that none reaches the next.
inline constexpr std::uint64_t array_distance = std::uint64_t{1} << 42;
inline constexpr std::uint64_t first_array = std::uint64_t{1} << 44;
// The base of the array, at these distances, that holds the address or begins not far above it.
constexpr std::uint64_t array_base(std::uint64_t address) {
    const std::uint64_t half = array_distance / 2;
    return address + half - (address + half - first_array) % array_distance;
}

}  // namespace coalprof
