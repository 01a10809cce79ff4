// A texture object over an array in linear memory, for loads that fetch through one.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/gpu.h"

namespace coalprof {

// Moves, does not copy.
class Texture {
 public:
    Texture() = default;
    // Texels of 4, 8 or 16 bytes, read as 32-bit integers. Throws PointError naming `array` where
    // it has more texels than a texture of linear memory may have (2^27 where the driver does not
    // say).
    Texture(const Gpu& gpu, CUdeviceptr address, std::uint64_t texels, std::uint32_t texel_bytes,
            std::string_view array);
    ~Texture() { release(); }
    Texture(Texture&& other) noexcept { swap(other); }
    Texture& operator=(Texture&& other) noexcept {
        swap(other);
        return *this;
    }

    // What a kernel takes; 0: none.
    std::uint64_t handle() const { return handle_; }

 private:
    void release();
    void swap(Texture& other) noexcept;

    const Gpu* gpu_ = nullptr;
    CUtexObject handle_ = 0;
};

}  // namespace coalprof
