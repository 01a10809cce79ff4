#include "kernels/arena.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/memory.h"

namespace coalprof {

namespace {

constexpr std::string_view purpose = "the arrays of this point";
constexpr std::uint64_t record_bytes = 32;
// Address space is free: a larger range than the first point needs need not be reserved again for
// the next.
constexpr std::uint64_t smallest_range_bytes = 1ull << 30;
// No GPU has more memory, and powers of two would overflow.
constexpr std::uint64_t largest_array_bytes = 1ull << 46;
// Unmapped arrays grow in such steps, so that a sweep does not allocate for each point.
constexpr std::uint64_t allocated_unit_bytes = 2ull << 20;

BufferKind kind_of(Allocation allocation) {
    switch (allocation) {
        case Allocation::managed:
            return BufferKind::managed;
        case Allocation::host:
            return BufferKind::host;
        case Allocation::device:
        case Allocation::static_array:
            break;
    }
    return BufferKind::device;
}

}  // namespace

struct Arena::Slot {
    std::unique_ptr<MappedRange> range;
    std::unique_ptr<Buffer> buffer;      // instead of the range, where memory is not mapped
    std::unique_ptr<ModuleArray> array;  // instead of both, for a __device__ array

    std::uint64_t held_bytes() const {
        return (range ? range->mapped_bytes() : 0) + unmapped_bytes();
    }
    // The part of it that serves an array of `bytes`; a smaller reservation is given back first.
    std::uint64_t usable_bytes(std::uint64_t bytes) const {
        if (range) return range->reserved_bytes() >= bytes ? range->mapped_bytes() : 0;
        return unmapped_bytes() >= bytes ? bytes : 0;
    }
    std::uint64_t unmapped_bytes() const {
        return (buffer ? buffer->bytes() : 0) + (array ? array->bytes() : 0);
    }
    CUdeviceptr address() const {
        if (range) return range->base();
        return array ? array->address() : buffer->address();
    }
};

Arena::Arena(KernelShop& shop, Allocation allocation)
    : shop_(shop),
      gpu_(shop.gpu()),
      allocation_(allocation),
      granularity_(allocation == Allocation::device ? MappedRange::granularity(gpu_) : 0),
      records_(gpu_, record_bytes, "the kernels' findings") {}

Arena::~Arena() = default;

CUdeviceptr Arena::address(std::size_t array) const { return slots_[array].address(); }

void Arena::clear() {
    for (Slot& slot : slots_) slot = {};
}

std::uint64_t Arena::held_bytes() const {
    std::uint64_t bytes = 0;
    for (const Slot& slot : slots_) bytes += slot.held_bytes();
    return bytes;
}

std::uint64_t Arena::missing_bytes(std::span<const std::uint64_t> array_bytes) const {
    std::uint64_t missing = 0;
    for (std::size_t k = 0; k < array_bytes.size(); ++k) {
        const std::uint64_t usable = slots_[k].usable_bytes(array_bytes[k]);
        missing += array_bytes[k] - std::min(array_bytes[k], usable);
    }
    return missing;
}

// Managed memory counts as the GPU's: if not free there, it would be moved in and out while it is
// measured. The host's free memory is not known everywhere, and then no limit.
std::uint64_t Arena::free_bytes() const {
    if (allocation_ == Allocation::host) return free_host_bytes().value_or(largest_array_bytes);
    return gpu_.memory().free_bytes;
}

void Arena::refuse(std::uint64_t needed_bytes, std::uint64_t free_bytes) const {
    refuse_memory(purpose, needed_bytes, free_bytes,
                  allocation_ == Allocation::host ? "host" : "GPU");
}

void Arena::fit(std::span<const std::uint64_t> array_bytes) {
    const std::uint64_t unit = granularity_ != 0 ? granularity_ : allocated_unit_bytes;
    std::vector<std::uint64_t> sizes;
    std::uint64_t needed = 0;
    for (const std::uint64_t bytes : array_bytes) {
        if (bytes > largest_array_bytes) refuse(bytes, free_bytes());
        sizes.push_back(rounded_up(std::max<std::uint64_t>(bytes, 1), unit));
        needed += sizes.back();
    }
    slots_.resize(std::max(slots_.size(), sizes.size()));
    const std::uint64_t missing = missing_bytes(sizes);
    if (missing == 0) return;

    const std::uint64_t free_now = free_bytes();
    if (missing > free_now) {  // reservations of other points may be in the way
        if (needed > free_now + held_bytes()) refuse(needed, free_now + held_bytes());
        clear();
        if (needed > free_bytes()) refuse(needed, free_bytes());
    }
    for (std::size_t k = 0; k < sizes.size(); ++k) fit_slot(k, sizes[k], needed);
}

void Arena::fit_slot(std::size_t array, std::uint64_t bytes, std::uint64_t needed_in_all) {
    Slot& slot = slots_[array];
    if (slot.usable_bytes(bytes) >= bytes) return;
    if (granularity_ == 0) {
        slot = {};
        if (allocation_ == Allocation::static_array)
            slot.array = std::make_unique<ModuleArray>(shop_, bytes, purpose);
        else
            slot.buffer = std::make_unique<Buffer>(gpu_, bytes, purpose, kind_of(allocation_));
        return;
    }
    if (!slot.range || slot.range->reserved_bytes() < bytes) {
        slot = {};
        slot.range = std::make_unique<MappedRange>(
            gpu_, std::max(std::bit_ceil(bytes), smallest_range_bytes));
    }
    const std::uint64_t mapped = slot.range->mapped_bytes();
    const CUresult status = slot.range->map(mapped, bytes - mapped);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        refuse_memory(purpose, needed_in_all, gpu_.memory().free_bytes + held_bytes());
    gpu_.check(status, "map GPU memory for the arrays of this point");
}

}  // namespace coalprof
