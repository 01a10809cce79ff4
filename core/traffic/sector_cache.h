// A cache of 128-byte lines with requested sectors: L1 for a replay.
#pragma once

#include <cstdint>
#include <vector>

namespace coalprof {

class SectorCache {
 public:
    explicit SectorCache(std::uint64_t bytes);
    // Returns those of `sectors` that it held; from now on it holds them all.
    std::uint32_t touch(std::uint64_t line, std::uint32_t sectors);
    // Removes `sectors`. Their line is allocated from now on, like a loaded one.
    void store(std::uint64_t line, std::uint32_t sectors);
    void clear() { born_ = clock_ + 1; }

 private:
    struct Way {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint32_t sectors = 0;
        std::uint32_t last_use = 0;
    };
    std::vector<Way>::iterator set_of(std::uint64_t line);
    Way& way_of(std::uint64_t line);

    std::uint32_t sets_;
    std::uint32_t clock_ = 0;
    std::uint32_t born_ = 1;  // older entries are gone
    std::vector<Way> ways_;
};

}  // namespace coalprof
