#include "cupti/attach/cubins.h"

#include <elf.h>
#include <fmt/format.h>
#ifdef COALPROF_HAS_LZ4
#include <lz4.h>
#endif
#include <string.h>
#ifdef COALPROF_HAS_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace coalprof {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t fat_binary_magic = 0xba55ed50;
constexpr std::uint32_t elf_magic = 0x464c457f;
constexpr std::size_t file_header_bytes = 16;
constexpr std::size_t least_entry_header_bytes = 64;
constexpr std::uint16_t ptx_kind = 1;
constexpr std::uint16_t machine_code_kind = 2;
constexpr std::uint64_t lz4_flag = 0x2000;
constexpr std::uint64_t zstd_flag = 0x8000;

template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
    Number number{};
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

struct Entry {
    std::uint16_t kind = 0;
    std::uint32_t architecture = 0;
    std::uint64_t flags = 0;
    std::uint64_t compressed_bytes = 0;
    std::uint64_t unpacked_bytes = 0;
    std::span<const std::byte> payload;
};

// Takes the first entry off `rest`. None if it is cut or malformed.
std::optional<Entry> take_entry(std::span<const std::byte>& rest) {
    if (rest.size() < least_entry_header_bytes) return std::nullopt;
    const auto header_bytes = number_at<std::uint32_t>(rest, 4);
    const auto payload_bytes = number_at<std::uint64_t>(rest, 8);
    if (header_bytes < least_entry_header_bytes || header_bytes > rest.size() ||
        payload_bytes > rest.size() - header_bytes)
        return std::nullopt;
    Entry entry{.kind = number_at<std::uint16_t>(rest, 0),
                .architecture = number_at<std::uint32_t>(rest, 28),
                .flags = number_at<std::uint64_t>(rest, 40),
                .compressed_bytes = number_at<std::uint32_t>(rest, 16),
                .unpacked_bytes = number_at<std::uint64_t>(rest, 56),
                .payload = rest.subspan(header_bytes, payload_bytes)};
    rest = rest.subspan(header_bytes + payload_bytes);
    return entry;
}

std::string until_zero(std::string text) {
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
}

// Into the whole of `text`. False: it is damaged, or coalprof was built without the library.
bool unpack_zstd([[maybe_unused]] std::string_view packed, [[maybe_unused]] std::string& text) {
#ifdef COALPROF_HAS_ZSTD
    return ::ZSTD_isError(
               ::ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size())) == 0;
#else
    return false;
#endif
}

bool unpack_lz4([[maybe_unused]] std::string_view packed, [[maybe_unused]] std::string& text) {
#ifdef COALPROF_HAS_LZ4
    return ::LZ4_decompress_safe(packed.data(), text.data(), static_cast<int>(packed.size()),
                                 static_cast<int>(text.size())) >= 0;
#else
    return false;
#endif
}

PtxOrReason unpacked(const Entry& entry) {
    const bool is_compressed = (entry.flags & (lz4_flag | zstd_flag)) != 0;
    const auto* bytes = reinterpret_cast<const char*>(entry.payload.data());
    if (!is_compressed) return until_zero(std::string(bytes, entry.payload.size()));
    if (entry.compressed_bytes > entry.payload.size() || entry.unpacked_bytes > most_ptx_bytes)
        return NoPtx{"its PTX cannot be unpacked"};
    std::string text(entry.unpacked_bytes, '\0');
    const bool is_unpacked = (entry.flags & zstd_flag) != 0
                                 ? unpack_zstd({bytes, entry.compressed_bytes}, text)
                                 : unpack_lz4({bytes, entry.compressed_bytes}, text);
    if (!is_unpacked) return NoPtx{"its PTX cannot be unpacked"};
    return until_zero(std::move(text));
}

std::uint32_t magic_of(const void* image) {
    std::uint32_t magic = 0;
    // Reads no further than a shorter text.
    std::memcpy(&magic, image, ::strnlen(static_cast<const char*>(image), sizeof magic));
    return magic;
}

PtxOrReason ptx_of_text(std::string_view text) {
    if (text.find(".version") == text.npos)
        return NoPtx{"it is of a kind that coalprof does not know"};
    return std::string(text);
}

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

PtxOrReason ptx_of_fat_binary(std::span<const std::byte> bytes, std::uint32_t capability) {
    if (bytes.size() < file_header_bytes || number_at<std::uint32_t>(bytes, 0) != fat_binary_magic)
        return NoPtx{"it is of a kind that coalprof does not know"};
    const auto header_bytes = number_at<std::uint16_t>(bytes, 6);
    const auto entries_bytes = number_at<std::uint64_t>(bytes, 8);
    if (header_bytes > bytes.size() || entries_bytes > bytes.size() - header_bytes)
        return NoPtx{"its fat binary is cut"};
    std::span<const std::byte> rest = bytes.subspan(header_bytes, entries_bytes);
    std::optional<Entry> best;
    std::uint32_t machine_code = 0;  // the best that this GPU runs
    std::uint32_t lowest_above = 0;
    while (const auto entry = take_entry(rest)) {
        if (entry->kind == machine_code_kind && entry->architecture <= capability &&
            entry->architecture / 10 == capability / 10)
            machine_code = std::max(machine_code, entry->architecture);
        if (entry->kind != ptx_kind) continue;
        if (entry->architecture > capability)
            lowest_above = lowest_above == 0 ? entry->architecture
                                             : std::min(lowest_above, entry->architecture);
        else if (!best || entry->architecture > best->architecture)
            best = entry;
    }
    // The PTX may do other things for this GPU, chosen by __CUDA_ARCH__.
    if (best && best->architecture < machine_code)
        return NoPtx{"its PTX is of an older architecture than its machine code for this GPU"};
    if (best) return unpacked(*best);
    if (lowest_above != 0)
        return NoPtx{fmt::format("its PTX is for compute capability {}.{} and later",
                                 lowest_above / 10, lowest_above % 10)};
    return NoPtx{machine_code_alone};
}

bool is_fat_binary(const void* image) {
    const std::uint32_t magic = magic_of(image);
    return magic == wrapper_magic || magic == fat_binary_magic;
}

PtxOrReason ptx_of_image(const void* image, std::uint32_t capability) {
    const std::uint32_t magic = magic_of(image);
    const auto* text = static_cast<const char*>(image);
    if (magic == wrapper_magic) {
        const void* data = nullptr;
        std::memcpy(&data, text + 8, sizeof data);
        return data ? ptx_of_image(data, capability) : PtxOrReason(NoPtx{"it is empty"});
    }
    if (magic == fat_binary_magic) {
        std::span<const std::byte> header(static_cast<const std::byte*>(image), file_header_bytes);
        return ptx_of_fat_binary(
            {static_cast<const std::byte*>(image),
             number_at<std::uint16_t>(header, 6) + number_at<std::uint64_t>(header, 8)},
            capability);
    }
    if (magic == elf_magic) return NoPtx{machine_code_alone};
    return ptx_of_text({text, ::strnlen(text, most_ptx_bytes)});
}

PtxOrReason ptx_of_file(const std::string& bytes, std::uint32_t capability) {
    const std::uint32_t magic = magic_of(bytes.c_str());
    if (magic == fat_binary_magic)
        return ptx_of_fat_binary(std::as_bytes(std::span(bytes)), capability);
    if (magic == elf_magic) return NoPtx{machine_code_alone};
    return ptx_of_text(std::string_view(bytes.c_str()).substr(0, most_ptx_bytes));
}

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
