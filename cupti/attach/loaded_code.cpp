#include "cupti/attach/loaded_code.h"

#include <fstream>
#include <iterator>

#include "cupti/attach/code_origin.h"
#include "cupti/attach/cubin.h"

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
            return unknown_code("it has more kernels than are told");
        if (kernels_.insert(kernel).second) setup_.rewritable(kernel);
    }
}

void LoadedCode::unknown_code(const std::string& reason) {
    is_unknown_ = true;
    setup_.unknown_code(reason);
}

}  // namespace coalprof
