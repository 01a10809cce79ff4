// A __device__ array: a module that holds it and nothing else, compiled for its size. That is where
// the arrays of classic programs lie which declare them instead of allocating them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "kernels/kernel.h"

namespace coalprof {

// Moves, does not copy.
class ModuleArray {
 public:
    // Sizes of symbols are 32 bits in a cubin: ptxas 13.0 makes an array of 4 GiB one of 0 bytes
    // and says nothing.
    static constexpr std::uint64_t largest_bytes = (1ull << 32) - (2ull << 20);

    ModuleArray() = default;
    // At least `bytes`; arrays of similar size share their code. Throws PointError naming
    // `what_for` where it is too large or does not fit, Error where nothing can be compiled.
    ModuleArray(KernelShop& shop, std::uint64_t bytes, std::string_view what_for);
    ~ModuleArray() { release(); }
    ModuleArray(ModuleArray&& other) noexcept { swap(other); }
    ModuleArray& operator=(ModuleArray&& other) noexcept {
        swap(other);
        return *this;
    }

    CUdeviceptr address() const { return address_; }
    std::uint64_t bytes() const { return bytes_; }
    void release();

 private:
    void swap(ModuleArray& other) noexcept;

    const Gpu* gpu_ = nullptr;
    std::shared_ptr<const Compiled> code_;
    CUmodule module_ = nullptr;
    CUdeviceptr address_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace coalprof
