// Points in as few bytes as their numbers take: 100,000 of them with 40 numbers each are 50 MB,
// where the points themselves would be 360.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

class PackedPoints {
 public:
    void add(std::string_view key, const Point& point);
    std::size_t size() const { return places_.size(); }
    std::string_view key(std::size_t index) const;
    std::string_view name(std::size_t index) const;
    // The numbers, intervals, timing and failure of a point into `point`; its reasons are not kept.
    void unpack(std::size_t index, Point& point) const;

 private:
    struct Place {
        std::uint64_t at = 0;  // in bytes_
        std::uint32_t key_bytes = 0;
        std::uint32_t name_bytes = 0;  // 0: the key is the name
    };
    std::string bytes_;
    std::vector<Place> places_;
};

}  // namespace coalprof
