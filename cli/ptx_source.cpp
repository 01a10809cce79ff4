#include "cli/ptx_source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "core/runtime/signal.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"

#ifdef COALPROF_HAS_CUDA
#include "cupti/attach/cubins.h"
#endif

namespace coalprof {

namespace {

// Programs with hundreds of kernels have tens of MiB of PTX; none has more than this.
constexpr std::size_t most_file_bytes = std::size_t{1} << 29;

// A comment may precede the first directive.
bool is_ptx(std::string_view text) {
    const std::size_t at = text.find(".version");
    return at != text.npos && text.substr(0, at).find("__global__") == text.npos &&
           text.find(".target", at) != text.npos;
}
bool is_binary(std::string_view bytes) { return bytes.substr(0, 4096).find('\0') != bytes.npos; }

// What takes the file where another command does, else `own`.
std::string way_of_binary(std::string_view bytes, const CudaSource& source, const char* own) {
    const std::string way = way_of_file(bytes.substr(0, bytes_to_know_a_file), source.file);
    return bytes.starts_with("\177ELF") || way.empty() ? own : way;
}

std::vector<std::string> texts_in_binary(std::string_view bytes, const CudaSource& source) {
#ifdef COALPROF_HAS_CUDA
    constexpr std::uint32_t fat_binary_magic = 0xba55ed50;
    std::vector<std::string> texts;
    // A cubin is an ELF file whose machine is EM_CUDA.
    bool has_code = bytes.starts_with("\177ELF") &&
                    bytes.substr(0, 20).ends_with(std::string_view("\xbe\0", 2));
    for (std::size_t at = 0; at + 16 <= bytes.size(); at += 8) {
        std::uint32_t magic = 0;
        std::memcpy(&magic, bytes.data() + at, sizeof magic);
        if (magic != fat_binary_magic) continue;
        has_code = true;
        const auto found =
            ptx_of_fat_binary(std::as_bytes(std::span(bytes)).subspan(at), source.architecture);
        if (const auto* text = std::get_if<std::string>(&found)) texts.push_back(*text);
    }
    if (!texts.empty()) return texts;
    if (!has_code)
        throw UsageError(
            fmt::format("{}: it is no CUDA program: it holds no code for a GPU",
                        shown(source.file)),
            way_of_binary(bytes, source, "CUDA source, PTX and what nvcc links are taken"));
    throw UsageError(
        fmt::format("{}: it holds no PTX for compute capability {}.{} or older", shown(source.file),
                    source.architecture / 10, source.architecture % 10),
        fmt::format("build it with nvcc -arch=sm_{}, which keeps PTX that newer GPUs run as well; "
                    "-arch=native keeps none",
                    source.architecture));
#else
    throw UsageError(
        fmt::format("{}: it is no PTX, and this coalprof was built without its reader of programs",
                    shown(source.file)),
        way_of_binary(bytes, source, "nvcc -ptx -lineinfo FILE.cu makes PTX"));
#endif
}

// Kernels may be in files that it includes.
bool is_cuda_name(const std::string& file) {
    const std::string suffix = std::filesystem::path(file).extension().string();
    return suffix == ".cu" || suffix == ".cuh";
}

// Fortran's files end in .f, .f90, .F03, .cuf and the like.
std::string hint_for_source(const std::string& file) {
    std::string suffix = std::filesystem::path(file).extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](char c) { return c == 'F' ? 'f' : c; });
    if (suffix == ".py")
        return "the PTX that Numba, Triton, CuPy and JAX make of it is read: docs/python.md says "
               "how";
    if (!suffix.starts_with(".f") && suffix != ".cuf")
        return fmt::format("lines of addresses are read by coalprof warps {}", shown(file));
    return "its accesses can be written as formulas: docs/from-code.md says how, under Fortran; "
           "what nvfortran links is taken where it holds PTX";
}

}  // namespace

void refuse_line(const std::string& file) {
    const std::size_t colon = file.rfind(':');
    if (colon != file.npos && ::access(file.c_str(), F_OK) != 0 &&
        ::access(file.substr(0, colon).c_str(), F_OK) == 0)
        throw UsageError(fmt::format("there is no file {}", shown(file)),
                         fmt::format("a line is drawn by coalprof explain kernel {} --line {}",
                                     shown(file.substr(0, colon)), shown(file.substr(colon + 1))));
}

std::string read_ptx_source(const std::string& file) {
    refuse_line(file);
    const auto source = open_bytes(file, [] { return stop_signal() != 0; });
    std::optional<std::string> bytes = read_whole(*source, most_file_bytes);
    stop_if_asked();
    if (!bytes)
        throw UsageError(
            fmt::format("{}: it holds more than {} MiB", shown(file), most_file_bytes >> 20));
    return std::move(*bytes);
}

PtxTexts ptx_texts_of(const CudaSource& source) {
    const std::string_view bytes = source.bytes;
    PtxTexts all;
    if (is_ptx(bytes) && !is_binary(bytes)) {
        all.texts = {bytes};
        return all;
    }
    if (is_binary(bytes)) {
        all.made = texts_in_binary(bytes, source);
        all.texts.assign(all.made.begin(), all.made.end());
        return all;
    }
    if (source.pasted.text.empty() && !is_cuda_name(source.file) &&
        bytes.find("__global__") == bytes.npos)
        refuse_kind(bytes.substr(0, bytes_to_know_a_file), source.file,
                    "PTX or CUDA source with a __global__ function", hint_for_source(source.file));
    all.compiled = compile_cuda(source);
    all.made.push_back(std::move(all.compiled.ptx));
    all.texts.emplace_back(all.made.front());
    return all;
}

}  // namespace coalprof
