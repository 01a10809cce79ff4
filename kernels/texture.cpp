#include "kernels/texture.h"

#include <fmt/format.h>

#include <utility>

namespace coalprof {

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
    : gpu_(&gpu) {
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

void Texture::release() {
    if (handle_ != 0) static_cast<void>(gpu_->api().texture_destroy(handle_));
    handle_ = 0;
}

void Texture::swap(Texture& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(handle_, other.handle_);
}

}  // namespace coalprof
