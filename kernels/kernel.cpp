#include "kernels/kernel.h"

#include <fmt/format.h>

namespace coalprof {

void Kernel::launch(const LaunchSize& size, void* const* parameters) const {
    gpu_.check(
        gpu_.api().launch(function_, static_cast<unsigned>(size.grid), 1, 1, size.block, 1, 1,
                          size.shared_bytes, nullptr, const_cast<void**>(parameters), nullptr),
        "launch a kernel");
}

int Kernel::attribute(CUfunction_attribute which) const {
    int value = 0;
    gpu_.check(gpu_.api().function_get_attribute(&value, which, function_),
               "ask for the properties of a kernel");
    return value;
}

void Kernel::set_attribute(CUfunction_attribute which, int value, std::string_view doing) const {
    gpu_.check(gpu_.api().function_set_attribute(function_, which, value), doing);
}

void Kernel::set_carveout(int percent) {
    if (carveout_.value_or(-1) == percent) return;
    set_attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent,
                  "set the carveout of shared memory");
    carveout_ = percent;
}

void Kernel::allow_shared_bytes(int bytes) {
    if (bytes <= allowed_shared_bytes_) return;
    set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes,
                  "allow a kernel all of the block's shared memory");
    allowed_shared_bytes_ = bytes;
}

int Kernel::blocks_per_multiprocessor(const LaunchSize& size) const {
    int blocks = 0;
    gpu_.check(
        gpu_.api().occupancy(&blocks, function_, static_cast<int>(size.block), size.shared_bytes),
        "ask for the occupancy of a kernel");
    return blocks;
}

KernelShop::~KernelShop() {
    for (auto& [key, loaded] : modules_)
        if (loaded.module != nullptr) static_cast<void>(gpu_.api().module_unload(loaded.module));
}

KernelShop::Module& KernelShop::module_of(std::shared_ptr<const Compiled> compiled) {
    Module& loaded = modules_[compiled.get()];
    if (loaded.module != nullptr) return loaded;
    loaded.compiled = compiled;
    CUmodule module = nullptr;
    const CUresult status =
        gpu_.api().module_load(&module, compiled->code.c_str(), 0, nullptr, nullptr);
    if (status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || status == CUDA_ERROR_INVALID_IMAGE ||
        status == CUDA_ERROR_NO_BINARY_FOR_GPU)
        throw Error(fmt::format(
            "cannot load a kernel: {}. The driver is older than the NVRTC that compiled it: "
            "update the driver, or install the NVRTC of the driver's CUDA release",
            describe(gpu_.api(), status)));
    gpu_.check(status, "load a kernel");
    loaded.module = module;
    return loaded;
}

Kernel& KernelShop::kernel(const CompileRequest& request, const char* name) {
    Module& loaded = module_of(compiler_.compile(request));
    if (const auto found = loaded.kernels.find(name); found != loaded.kernels.end())
        return found->second;
    // Also loads lazily loaded code, so that no launch has to.
    CUfunction function = nullptr;
    gpu_.check(gpu_.api().module_function(&function, loaded.module, name),
               fmt::format("find the kernel {} in its module", name));
    return loaded.kernels.try_emplace(name, gpu_, function).first->second;
}

void* const* KernelParameters::pointers() {
    pointers_.clear();
    for (const std::size_t start : starts_) pointers_.push_back(words_.data() + start);
    return pointers_.data();
}

void KernelParameters::add_bytes(const void* bytes, std::size_t size) {
    starts_.push_back(words_.size());
    words_.resize(words_.size() + (size + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
    std::memcpy(words_.data() + starts_.back(), bytes, size);
}

}  // namespace coalprof
