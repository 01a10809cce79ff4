// GPU memory: plain buffers, and mapped ranges whose base address is aligned far above their size,
// so that counters which depend on address bits (the tag stage of L1) are the same in every run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/pattern/plan.h"
#include "kernels/gpu.h"
#include "kernels/kernel.h"

namespace coalprof {

// The kind of a buffer: cuMemAlloc, cuMemAllocManaged, cuMemHostAlloc.
enum class BufferKind : std::uint8_t { device, managed, host };

// An allocation and its end.
class Buffer {
 public:
    // Throws PointError naming `what_for` and both sizes where it does not fit: managed memory too
    // is never larger than the free memory of the GPU. Also where the GPU does not have that kind.
    Buffer(const Gpu& gpu, std::uint64_t bytes, std::string_view what_for,
           BufferKind kind = BufferKind::device);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    CUdeviceptr address() const { return address_; }
    std::uint64_t bytes() const { return bytes_; }

 private:
    CUresult allocate(std::uint64_t bytes);
    void require(CUdevice_attribute capability, const char* sentence) const;

    const Gpu& gpu_;
    BufferKind kind_;
    void* host_ = nullptr;  // where the host sees it; only of that kind
    CUdeviceptr address_ = 0;
    std::uint64_t bytes_ = 0;
};

// A range of addresses, backed by pieces of physical memory: reserved once, mapped as far as it is
// needed.
class MappedRange {
 public:
    // Reserves `bytes` (a power of two) at a multiple of `bytes` or of `alignment`, if that is
    // given. Throws PointError.
    MappedRange(const Gpu& gpu, std::uint64_t bytes, std::uint64_t alignment = 0);
    ~MappedRange();
    MappedRange(const MappedRange&) = delete;
    MappedRange& operator=(const MappedRange&) = delete;

    CUdeviceptr base() const { return base_; }
    std::uint64_t reserved_bytes() const { return reserved_bytes_; }
    std::uint64_t mapped_bytes() const { return mapped_bytes_; }

    // Maps new memory at [offset, offset + bytes), multiples of granularity(). Returns the driver's
    // status: out of memory is for the caller to judge.
    CUresult map(std::uint64_t offset, std::uint64_t bytes);
    // Maps the memory of piece `piece` there once more.
    CUresult map_again(std::size_t piece, std::uint64_t offset);
    std::size_t pieces() const { return pieces_.size(); }

    // Mappings are multiples of this; 0: the device cannot map.
    static std::uint64_t granularity(const Gpu& gpu);

 private:
    struct Piece {
        CUmemGenericAllocationHandle handle = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };

    CUresult attach(const Piece& piece);
    void reserve(std::uint64_t alignment);

    const Gpu& gpu_;
    CUdeviceptr reserved_ = 0;  // address that the driver gave
    std::uint64_t whole_bytes_ = 0;
    CUdeviceptr base_ = 0;  // the aligned part of it
    std::uint64_t reserved_bytes_ = 0;
    std::uint64_t mapped_bytes_ = 0;
    std::vector<Piece> pieces_;   // each with separate memory
    std::vector<Piece> aliases_;  // the memory of a piece, mapped again
};

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t multiple);

// Available memory of the host; nothing if unknown.
std::optional<std::uint64_t> free_host_bytes();

// Throws PointError("... needs 12.0 GiB, 3.1 GiB free").
[[noreturn]] void refuse_memory(std::string_view what_for, std::uint64_t needed_bytes,
                                std::uint64_t free_bytes, std::string_view whose = "GPU");

// A __device__ array: a module with nothing else, compiled for its size. Classic programs have such
// arrays if they declare instead of allocating them.

class ModuleArray {
 public:
    // Symbol sizes have 32 bits in a cubin: ptxas 13.0 silently turns an array of 4 GiB into 0
    // bytes.
    static constexpr std::uint64_t largest_bytes = (1ull << 32) - (2ull << 20);

    // At least `bytes`; arrays of similar size share their code. Throws PointError naming
    // `what_for` if it is too large or does not fit, Error if nothing can be compiled.
    ModuleArray(KernelShop& shop, std::uint64_t bytes, std::string_view what_for);
    ~ModuleArray();
    ModuleArray(const ModuleArray&) = delete;
    ModuleArray& operator=(const ModuleArray&) = delete;

    CUdeviceptr address() const { return address_; }
    std::uint64_t bytes() const { return bytes_; }

 private:
    const Gpu& gpu_;
    std::shared_ptr<const Compiled> code_;
    CUmodule module_ = nullptr;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
};

// A texture object over an array in linear memory, for loads through a texture.

class Texture {
 public:
    // Texels of 4, 8 or 16 bytes, read as 32-bit integers. Throws PointError naming `array` where
    // it has more texels than a texture of linear memory may have (2^27 where the driver does not
    // say).
    Texture(const Gpu& gpu, CUdeviceptr address, std::uint64_t texels, std::uint32_t texel_bytes,
            std::string_view array);
    ~Texture();
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;

    // The handle for a kernel's argument.
    std::uint64_t handle() const { return handle_; }

 private:
    const Gpu& gpu_;
    CUtexObject handle_ = 0;
};

// The arrays of one prepared launch. Kept from point to point of a sweep and grown when needed:
// allocating gigabytes anew for every point would take longer than measuring them.
class Arena {
 public:
    // The shop compiles the arrays of Allocation::static_array and must outlive the arena.
    explicit Arena(KernelShop& shop, Allocation allocation = Allocation::device);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Reserves memory for arrays of these sizes; their content is lost. The base of each is aligned
    // to a power of two at least as large as the array where the device can map memory (and the
    // arrays lie in device memory), else as the driver aligns it, 512 bytes at least. Throws
    // PointError with the size needed and the size that is free, before anything is allocated where
    // the driver's numbers allow that.
    void fit(std::span<const std::uint64_t> array_bytes);
    CUdeviceptr address(std::size_t array) const;
    // Two records of 16 bytes each, for the kernels' findings.
    CUdeviceptr records() const { return records_.address(); }

    // Frees everything but the records.
    void clear();
    std::uint64_t held_bytes() const;

    Allocation allocation() const { return allocation_; }
    bool in_use = false;  // a living launch uses it

 private:
    struct Slot;

    std::uint64_t free_bytes() const;
    [[noreturn]] void refuse(std::uint64_t needed_bytes, std::uint64_t free_bytes) const;
    std::uint64_t missing_bytes(std::span<const std::uint64_t> array_bytes) const;
    void fit_slot(std::size_t array, std::uint64_t bytes, std::uint64_t needed_in_all);

    KernelShop& shop_;
    const Gpu& gpu_;
    Allocation allocation_;
    std::uint64_t granularity_;  // 0: memory is allocated instead of mapped
    Buffer records_;
    std::vector<Slot> slots_;
};

}  // namespace coalprof
