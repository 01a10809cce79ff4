#include "cupti/attach/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace coalprof {
namespace {

// Each function has a section of this name and its own.
constexpr std::string_view code_section = ".text.";

class SizedImage {
 public:
    SizedImage(const void* bytes, std::size_t size)
        : bytes_(static_cast<const char*>(bytes)), size_(size) {}

    template <typename Header>
    std::optional<Header> at(std::size_t offset) const {
        if (offset > size_ || sizeof(Header) > size_ - offset) return std::nullopt;
        Header header;
        std::memcpy(&header, bytes_ + offset, sizeof header);
        return header;
    }
    std::string_view text(std::size_t offset, std::size_t length) const {
        if (offset > size_ || length > size_ - offset) return {};
        return {bytes_ + offset, length};
    }

 private:
    const char* bytes_;
    std::size_t size_;
};

std::string_view until_zero(std::string_view text) { return text.substr(0, text.find('\0')); }

}  // namespace

bool is_cubin(const void* image) {
    return std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) == 0;
}

std::vector<std::string> functions_of_cubin(const void* image, std::size_t size) {
    const SizedImage cubin(image, size);
    const auto head = cubin.at<Elf64_Ehdr>(0);
    if (!head || head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_CUDA ||
        head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shstrndx >= head->e_shnum)
        return {};
    const auto section = [&](std::size_t index) {
        return cubin.at<Elf64_Shdr>(head->e_shoff + index * sizeof(Elf64_Shdr));
    };
    const auto table = section(head->e_shstrndx);
    if (!table) return {};
    const std::string_view names = cubin.text(table->sh_offset, table->sh_size);
    std::vector<std::string> functions;
    for (std::size_t index = 0; index < head->e_shnum; ++index) {
        const auto one = section(index);
        if (!one || one->sh_name >= names.size()) return {};
        const std::string_view name = until_zero(names.substr(one->sh_name));
        if (name.starts_with(code_section))
            functions.emplace_back(name.substr(code_section.size()));
    }
    return functions;
}

}  // namespace coalprof
