#include "cupti/attach/loaded_code.h"

#include <fstream>
#include <iterator>

namespace coalprof {

void LoadedCode::image(const void* image) {
    if (!image || may_have_ptx_) return;
    look_at(ptx_of_image(image, capability_of_code(setup_.driver)), is_fat_binary(image));
}

void LoadedCode::file(const char* path) {
    if (!path || may_have_ptx_) return;
    std::ifstream file(path, std::ios::binary);
    if (!file) return;  // nor can the driver load it
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    look_at(ptx_of_file(bytes, capability_of_code(setup_.driver)), is_fat_binary(bytes.c_str()));
}

void LoadedCode::look_at(const PtxOrReason& ptx, bool is_fat_binary) {
    if (const auto* text = std::get_if<std::string>(&ptx)) return tell_kernels(*text);
    const std::string& reason = std::get<NoPtx>(ptx).reason;
    if (!is_fat_binary) return may_have_ptx(reason);
    if (reasons_.insert(reason).second) setup_.lacks_ptx(reason);
}

void LoadedCode::tell_kernels(const std::string& ptx) {
    for (const std::string& kernel : kernels_in(ptx)) {
        if (kernels_.size() >= most_kernels)
            return may_have_ptx("it has more kernels than are told");
        if (kernels_.insert(kernel).second) setup_.has_ptx(kernel);
    }
}

void LoadedCode::may_have_ptx(const std::string& reason) {
    may_have_ptx_ = true;
    setup_.may_have_ptx(reason);
}

}  // namespace coalprof
