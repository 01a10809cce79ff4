#include "cupti/attach/cubins.h"

#include <elf.h>
#include <string.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace coalprof {

namespace {

// Modules of PyTorch have 6 MB; some programs load the same code again and again.
constexpr std::size_t most_kept = 16;

std::uint32_t crc_of(const CuptiApi& api, const std::string& cubin) {
    CUpti_GetCubinCrcParams params{};
    params.size = CUpti_GetCubinCrcParamsSize;
    params.cubin = cubin.data();
    params.cubinSize = cubin.size();
    return api.get_cubin_crc(&params) == CUPTI_SUCCESS ? static_cast<std::uint32_t>(params.cubinCrc)
                                                       : 0;
}

}  // namespace

void Cubins::loaded(const void* cubin, std::size_t bytes) {
    if (!cubin || !::memmem(cubin, bytes, function_.data(), function_.size())) return;
    const std::lock_guard lock(mutex_);
    if (kept_.size() < most_kept)
        kept_.push_back({.bytes = {static_cast<const char*>(cubin), bytes}});
}

// Cached, since each instruction asks and megabytes of code take milliseconds.
const std::string* Cubins::code_with(const CuptiApi& api, std::uint32_t crc) {
    std::vector<Code*> all;
    {
        const std::lock_guard lock(mutex_);
        for (Code& code : kept_) all.push_back(&code);
    }
    for (Code* code : all) {
        if (!code->crc) code->crc = crc_of(api, code->bytes);
        if (code->crc == crc) return &code->bytes;
    }
    return all.size() == 1 ? &all.front()->bytes : nullptr;
}

SourceLine Cubins::line_of(const CuptiApi& api, std::uint32_t crc, std::uint64_t offset) {
    const std::string* cubin = code_with(api, crc);
    if (!cubin) return {};
    CUpti_GetSassToSourceCorrelationParams params{};
    params.size = CUpti_GetSassToSourceCorrelationParamsSize;
    params.cubin = cubin->data();
    params.cubinSize = cubin->size();
    params.functionName = function_.c_str();
    params.pcOffset = offset;
    SourceLine place;
    // For code without line information CUPTI returns line 0 and no names (13.0).
    if (api.get_sass_to_source(&params) == CUPTI_SUCCESS && params.fileName &&
        params.lineNumber > 0) {
        const std::filesystem::path folder = params.dirName ? params.dirName : "";
        place = {(folder / params.fileName).string(), params.lineNumber};
    }
    std::free(params.fileName);
    std::free(params.dirName);
    return place;
}

namespace {

// Each function has a section of this name followed by its own.
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

struct Sections {
    std::vector<Elf64_Shdr> all;
    std::string_view names;
};

// None where it is damaged or of another kind.
Sections sections_of(const SizedImage& cubin) {
    const auto head = cubin.at<Elf64_Ehdr>(0);
    if (!head || head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_CUDA ||
        head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shstrndx >= head->e_shnum)
        return {};
    Sections sections;
    for (std::size_t index = 0; index < head->e_shnum; ++index) {
        const auto one = cubin.at<Elf64_Shdr>(head->e_shoff + index * sizeof(Elf64_Shdr));
        if (!one) return {};
        sections.all.push_back(*one);
    }
    const Elf64_Shdr& table = sections.all[head->e_shstrndx];
    sections.names = cubin.text(table.sh_offset, table.sh_size);
    return sections;
}

}  // namespace

bool is_cubin(const void* image) {
    return std::strncmp(static_cast<const char*>(image), ELFMAG, SELFMAG) == 0;
}

std::vector<std::string> functions_of_cubin(const void* image, std::size_t size) {
    const SizedImage cubin(image, size);
    const Sections sections = sections_of(cubin);
    std::vector<std::string> functions;
    for (const Elf64_Shdr& one : sections.all) {
        if (one.sh_name >= sections.names.size()) return {};
        const std::string_view name = until_zero(sections.names.substr(one.sh_name));
        if (name.starts_with(code_section))
            functions.emplace_back(name.substr(code_section.size()));
    }
    return functions;
}

std::set<std::string> names_of_cubin(const void* image, std::string_view beginning,
                                     std::size_t size) {
    const SizedImage cubin(image, size);
    std::set<std::string> found;
    for (const Elf64_Shdr& one : sections_of(cubin).all) {
        if (one.sh_type != SHT_STRTAB) continue;
        std::string_view names = cubin.text(one.sh_offset, one.sh_size);
        while (!names.empty()) {
            const std::string_view name = until_zero(names);
            if (name.starts_with(beginning)) found.emplace(name.substr(beginning.size()));
            names.remove_prefix(std::min(name.size() + 1, names.size()));
        }
    }
    return found;
}

}  // namespace coalprof
