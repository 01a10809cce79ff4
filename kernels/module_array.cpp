#include "kernels/module_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/memory.h"

namespace coalprof {

namespace {

constexpr const char* symbol = "coalprof_array";
// Below this all arrays are one size, so that the points of a sweep need one module.
constexpr std::uint64_t smallest_bytes = 8ull << 20;
constexpr std::uint64_t page_bytes = 2ull << 20;

std::uint64_t size_for(std::uint64_t bytes) {
    const std::uint64_t power = std::bit_ceil(std::max(bytes, smallest_bytes));
    return power <= ModuleArray::largest_bytes ? power : rounded_up(bytes, page_bytes);
}

// As cuMemAlloc aligns, which is enough for textures.
std::string source_of(std::uint64_t bytes) {
    return fmt::format("extern \"C\" {{\n__device__ __align__(512) unsigned char {}[{}];\n}}\n",
                       symbol, bytes);
}

}  // namespace

ModuleArray::ModuleArray(KernelShop& shop, std::uint64_t bytes, std::string_view what_for)
    : gpu_(&shop.gpu()) {
    const std::uint64_t size = size_for(bytes);
    if (size > largest_bytes)
        throw PointError("--alloc static: a __device__ array holds less than 4 GiB",
                         ExitCode::partial);
    code_ = shop.compiled({.source = source_of(size)});
    const DriverApi& api = gpu_->api();
    CUmodule module = nullptr;
    const CUresult status = api.module_load(&module, code_->code.c_str(), 0, nullptr, nullptr);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        refuse_memory(what_for, size, gpu_->memory().free_bytes);
    gpu_->check(status, "load a module with a __device__ array");
    module_ = module;
    std::size_t found = 0;
    const CUresult asked = api.module_global(&address_, &found, module_, symbol);
    if (asked != CUDA_SUCCESS) release();
    gpu_->check(asked, "find the __device__ array in its module");
    bytes_ = found;
}

void ModuleArray::release() {
    if (module_ != nullptr) static_cast<void>(gpu_->api().module_unload(module_));
    module_ = nullptr;
    address_ = 0;
    bytes_ = 0;
}

void ModuleArray::swap(ModuleArray& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(code_, other.code_);
    std::swap(module_, other.module_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
}

}  // namespace coalprof
