#include "kernels/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

#include "core/text/units.h"

namespace coalprof {
namespace {

CUmemAllocationProp properties_on(CUdevice device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
}

}  // namespace

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

std::optional<std::uint64_t> free_host_bytes() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::string unit;
    for (std::uint64_t kibibytes = 0; file >> key >> kibibytes; std::getline(file, unit))
        if (key == "MemAvailable:") return kibibytes * 1024;
    return std::nullopt;
}

void refuse_memory(std::string_view what_for, std::uint64_t needed_bytes, std::uint64_t free_bytes,
                   std::string_view whose) {
    throw PointError(fmt::format("not enough {} memory for {}: needs {}, {} free", whose, what_for,
                                 bytes_text(needed_bytes), bytes_text(free_bytes)),
                     ExitCode::partial);
}

Buffer::Buffer(const Gpu& gpu, std::uint64_t bytes, std::string_view what_for, BufferKind kind)
    : gpu_(gpu), kind_(kind) {
    const bool is_of_host = kind == BufferKind::host;
    const std::string_view whose = is_of_host ? "host" : "GPU";
    const std::uint64_t free_bytes =
        is_of_host ? free_host_bytes().value_or(bytes) : gpu.memory().free_bytes;
    if (bytes > free_bytes) refuse_memory(what_for, bytes, free_bytes, whose);
    const CUresult status = allocate(bytes);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) refuse_memory(what_for, bytes, free_bytes, whose);
    gpu.check(status, fmt::format("allocate {} memory for {}", whose, what_for));
    bytes_ = bytes;
}

CUresult Buffer::allocate(std::uint64_t bytes) {
    const DriverApi& api = gpu_.api();
    switch (kind_) {
        case BufferKind::device: return api.memory_allocate(&address_, bytes);
        case BufferKind::managed:
            require(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
                    "--alloc managed: this GPU has no managed "
                    "memory");
            return api.memory_allocate_managed(&address_, bytes, CU_MEM_ATTACH_GLOBAL);
        case BufferKind::host: break;
    }
    require(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
            "--alloc host: this GPU cannot reach memory of the host");
    CUresult status = api.host_allocate(&host_, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status != CUDA_SUCCESS) return status;
    status = api.host_device_pointer(&address_, host_, 0);
    if (status != CUDA_SUCCESS) static_cast<void>(api.host_free(host_));
    return status;
}

// A GPU whose driver does not say is given the benefit of the doubt: the allocation will show.
void Buffer::require(CUdevice_attribute capability, const char* sentence) const {
    int has_it = 1;
    const CUresult status = gpu_.api().device_attribute(&has_it, capability, gpu_.device());
    if (status == CUDA_SUCCESS && has_it == 0) throw PointError(sentence, ExitCode::partial);
}

Buffer::~Buffer() {
    static_cast<void>(kind_ == BufferKind::host ? gpu_.api().host_free(host_)
                                                : gpu_.api().memory_free(address_));
}

std::uint64_t MappedRange::granularity(const Gpu& gpu) {
    int supported = 0;
    const CUresult asked = gpu.api().device_attribute(
        &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, gpu.device());
    if (asked != CUDA_SUCCESS || supported == 0) return 0;
    const CUmemAllocationProp properties = properties_on(gpu.device());
    std::size_t bytes = 0;
    const CUresult status =
        gpu.api().memory_granularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    return status == CUDA_SUCCESS ? bytes : 0;
}

MappedRange::MappedRange(const Gpu& gpu, std::uint64_t bytes, std::uint64_t alignment)
    : gpu_(gpu), reserved_bytes_(bytes) {
    reserve(alignment == 0 ? bytes : alignment);
}

// Tries the driver's own alignment first; if the driver ignores or refuses it, reserves a range
// that is larger by the alignment and uses the aligned part.
void MappedRange::reserve(std::uint64_t alignment) {
    const DriverApi& api = gpu_.api();
    whole_bytes_ = reserved_bytes_;
    CUresult status = api.address_reserve(&reserved_, whole_bytes_, alignment, 0, 0);
    if (status == CUDA_SUCCESS && reserved_ % alignment == 0) {
        base_ = reserved_;
        return;
    }
    if (status == CUDA_SUCCESS) static_cast<void>(api.address_free(reserved_, whole_bytes_));
    if (is_sticky(status)) gpu_.check(status, "reserve GPU addresses");
    whole_bytes_ = reserved_bytes_ + alignment;
    status = api.address_reserve(&reserved_, whole_bytes_, 0, 0, 0);
    gpu_.check(status, fmt::format("reserve {} of GPU addresses", bytes_text(whole_bytes_)));
    base_ = rounded_up(reserved_, alignment);
}

MappedRange::~MappedRange() {
    const DriverApi& api = gpu_.api();
    for (const auto* list : {&aliases_, &pieces_})
        for (const Piece& piece : *list)
            static_cast<void>(api.memory_unmap(base_ + piece.offset, piece.bytes));
    for (const Piece& piece : pieces_) static_cast<void>(api.memory_release(piece.handle));
    static_cast<void>(api.address_free(reserved_, whole_bytes_));
}

CUresult MappedRange::attach(const Piece& piece) {
    const DriverApi& api = gpu_.api();
    const CUdeviceptr where = base_ + piece.offset;
    CUresult status = api.memory_map(where, piece.bytes, 0, piece.handle, 0);
    if (status != CUDA_SUCCESS) return status;
    CUmemAccessDesc access{};
    access.location = properties_on(gpu_.device()).location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    status = api.memory_set_access(where, piece.bytes, &access, 1);
    if (status != CUDA_SUCCESS) static_cast<void>(api.memory_unmap(where, piece.bytes));
    return status;
}

CUresult MappedRange::map(std::uint64_t offset, std::uint64_t bytes) {
    const DriverApi& api = gpu_.api();
    Piece piece{.handle = 0, .offset = offset, .bytes = bytes};
    const CUmemAllocationProp properties = properties_on(gpu_.device());
    CUresult status = api.memory_create(&piece.handle, bytes, &properties, 0);
    if (status != CUDA_SUCCESS) return status;
    status = attach(piece);
    if (status != CUDA_SUCCESS) {
        static_cast<void>(api.memory_release(piece.handle));
        return status;
    }
    pieces_.push_back(piece);
    mapped_bytes_ += bytes;
    return CUDA_SUCCESS;
}

CUresult MappedRange::map_again(std::size_t piece, std::uint64_t offset) {
    Piece alias = pieces_[piece];
    alias.offset = offset;
    const CUresult status = attach(alias);
    if (status == CUDA_SUCCESS) aliases_.push_back(alias);
    return status;
}

namespace {

constexpr const char* symbol = "coalprof_array";
// Smaller arrays have this one size, so that the points of a sweep need one module.
constexpr std::uint64_t smallest_bytes = 8ull << 20;
constexpr std::uint64_t page_bytes = 2ull << 20;

std::uint64_t size_for(std::uint64_t bytes) {
    const std::uint64_t power = std::bit_ceil(std::max(bytes, smallest_bytes));
    return power <= ModuleArray::largest_bytes ? power : rounded_up(bytes, page_bytes);
}

// cuMemAlloc's alignment, enough for textures.
std::string source_of(std::uint64_t bytes) {
    return fmt::format("extern \"C\" {{\n__device__ __align__(512) unsigned char {}[{}];\n}}\n",
                       symbol, bytes);
}

}  // namespace

ModuleArray::ModuleArray(KernelShop& shop, std::uint64_t bytes, std::string_view what_for)
    : gpu_(shop.gpu()) {
    const std::uint64_t size = size_for(bytes);
    if (size > largest_bytes)
        throw PointError("--alloc static: a __device__ array holds less than 4 GiB",
                         ExitCode::partial);
    code_ = shop.compiled({.source = source_of(size)});
    const DriverApi& api = gpu_.api();
    const CUresult status = api.module_load(&module_, code_->code.c_str(), 0, nullptr, nullptr);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) refuse_memory(what_for, size, gpu_.memory().free_bytes);
    gpu_.check(status, "load a module with a __device__ array");
    const CUresult asked = api.module_global(&address_, &bytes_, module_, symbol);
    if (asked != CUDA_SUCCESS) static_cast<void>(api.module_unload(module_));
    gpu_.check(asked, "find the __device__ array in its module");
}

ModuleArray::~ModuleArray() { static_cast<void>(gpu_.api().module_unload(module_)); }

namespace {

std::uint64_t most_texels(const Gpu& gpu) {
    constexpr std::uint64_t documented = 1ull << 27;
    int most = 0;
    const CUresult status = gpu.api().device_attribute(
        &most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, gpu.device());
    return status == CUDA_SUCCESS && most > 0 ? static_cast<std::uint64_t>(most) : documented;
}

}  // namespace

Texture::Texture(const Gpu& gpu, CUdeviceptr address, std::uint64_t texels,
                 std::uint32_t texel_bytes, std::string_view array)
    : gpu_(gpu) {
    if (const std::uint64_t most = most_texels(gpu); texels > most)
        throw PointError(
            fmt::format("--path tex: array {} has {} texels, and this GPU's textures of linear "
                        "memory hold {}; choose a smaller --size or a wider --type",
                        array, texels, most),
            ExitCode::partial);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = address;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = texel_bytes / 4;
    resource.res.linear.sizeInBytes = texels * texel_bytes;
    CUDA_TEXTURE_DESC how{};
    how.flags = CU_TRSF_READ_AS_INTEGER;
    gpu.check(gpu.api().texture_create(&handle_, &resource, &how, nullptr),
              fmt::format("make a texture of array {}", array));
}

Texture::~Texture() { static_cast<void>(gpu_.api().texture_destroy(handle_)); }

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
        case Allocation::managed: return BufferKind::managed;
        case Allocation::host: return BufferKind::host;
        case Allocation::device:
        case Allocation::static_array: break;
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
