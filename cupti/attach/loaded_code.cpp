#include "cupti/attach/loaded_code.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace coalprof {

void LoadedCode::image(const void* image) {
    if (!image || is_unknown_) return;
    look_at(ptx_of_image(image, capability_of_code(setup_.driver)), image, unknown_size);
}

void LoadedCode::file(const char* path) {
    if (!path || is_unknown_) return;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    look_at(ptx_of_file(bytes, capability_of_code(setup_.driver)), bytes.c_str(), bytes.size());
}

void LoadedCode::look_at(const PtxOrReason& ptx, const void* image, std::size_t size) {
    if (const auto* text = std::get_if<std::string>(&ptx)) return tell(kernels_in(*text));
    const std::string& reason = std::get<NoPtx>(ptx).reason;
    if (is_fat_binary(image)) {
        const std::string why = reason_for_image(reason, image, capability_of_code(setup_.driver));
        if (reasons_.insert(why).second) setup_.lacks_ptx(why);
        return;
    }
    const std::vector<std::string> functions =
        is_cubin(image) ? functions_of_cubin(image, size) : std::vector<std::string>();
    functions.empty() ? unknown_code(reason) : tell(functions);
}

void LoadedCode::tell(const std::vector<std::string>& kernels) {
    for (const std::string& kernel : kernels) {
        if (kernels_.size() >= most_kernels)
            return unknown_code("it has more kernels than are listed");
        if (kernels_.insert(kernel).second) setup_.rewritable(kernel);
    }
}

void LoadedCode::unknown_code(const std::string& reason) {
    is_unknown_ = true;
    setup_.unknown_code(reason);
}

namespace {

// Code that only its vendor can build.
constexpr std::array of_vendors{
    "libcublas",   "libcudnn", "libcufft",    "libcurand",     "libcusolver", "libcusparse",
    "libcutensor", "libcudss", "libcufile",   "libnvinfer",    "libnvjpeg",   "libnvshmem",
    "libnpp",      "libnccl",  "libtorch.so", "libtorch_cuda", "libc10",      "libmagma"};
constexpr std::array of_torch{"libtorch", "libc10"};

template <std::size_t count>
bool begins_with_one(const std::string& name, const std::array<const char*, count>& beginnings) {
    return std::ranges::any_of(beginnings, [&](const char* one) { return name.starts_with(one); });
}

bool lies_in(const dl_phdr_info& object, ElfW(Addr) address) {
    for (const ElfW(Phdr)* part = object.dlpi_phdr; part != object.dlpi_phdr + object.dlpi_phnum;
         ++part)
        if (part->p_type == PT_LOAD && address - (object.dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    return false;
}

// The loader has replaced the offset of the names by an address in this process.
std::set<std::string> needed_by(const dl_phdr_info& object) {
    std::set<std::string> needed;
    for (const ElfW(Phdr)* part = object.dlpi_phdr; part != object.dlpi_phdr + object.dlpi_phnum;
         ++part) {
        if (part->p_type != PT_DYNAMIC) continue;
        const auto* first = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + part->p_vaddr);
        ElfW(Addr) names = 0;
        for (const ElfW(Dyn)* one = first; one->d_tag != DT_NULL; ++one)
            if (one->d_tag == DT_STRTAB) names = one->d_un.d_ptr;
        if (names < object.dlpi_addr) continue;
        for (const ElfW(Dyn)* one = first; one->d_tag != DT_NULL; ++one)
            if (one->d_tag == DT_NEEDED)
                needed.insert(reinterpret_cast<const char*>(names) + one->d_un.d_val);
    }
    return needed;
}

struct Search {
    ElfW(Addr) address;
    std::optional<CodeFile> found = {};
};

int look_at(dl_phdr_info* object, std::size_t, void* data) {
    auto* search = static_cast<Search*>(data);
    if (!lies_in(*object, search->address)) return 0;
    std::string path = object->dlpi_name ? object->dlpi_name : "";
    std::error_code error;
    if (path.empty()) path = std::filesystem::read_symlink("/proc/self/exe", error).string();
    search->found = CodeFile{.path = path, .needed = needed_by(*object)};
    return 1;
}

}  // namespace

std::optional<CodeFile> file_around(const void* bytes) {
    Search search{.address = reinterpret_cast<ElfW(Addr)>(bytes)};
    ::dl_iterate_phdr(look_at, &search);
    return search.found;
}

std::string why_without_ptx(const std::optional<CodeFile>& file, std::uint32_t capability) {
    if (!file)
        return "a cubin holds machine code and no PTX: compile it to PTX (nvcc -ptx, nvrtcGetPTX, "
               "cuda.core's Program.compile(\"ptx\"))";
    const std::string name = std::filesystem::path(file->path).filename().string();
    if (begins_with_one(name, of_vendors))
        return "libraries of NVIDIA and PyTorch hold machine code and no PTX";
    const bool is_extension = std::ranges::any_of(
        file->needed, [](const std::string& one) { return begins_with_one(one, of_torch); });
    if (is_extension)
        return fmt::format(
            "{} holds machine code and no PTX: build this extension of PyTorch with "
            "TORCH_CUDA_ARCH_LIST=\"{}.{}+PTX\"",
            name, capability / 10, capability % 10);
    return fmt::format(
        "{} holds machine code and no PTX: build it with nvcc -arch=sm_{} in place of "
        "-arch=native, "
        "with CMake's CMAKE_CUDA_ARCHITECTURES={} in place of native",
        name, capability, capability);
}

std::string reason_for_image(const std::string& reason, const void* image,
                             std::uint32_t capability) {
    return reason == machine_code_alone ? why_without_ptx(file_around(image), capability) : reason;
}

}  // namespace coalprof
