#include "cli/ptx_source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>

#include "cli/child_program.h"
#include "core/runtime/signal.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/number.h"

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
        throw UsageError(fmt::format("{}: it is no CUDA program: it holds no code for a GPU",
                                     shown(source.file)),
                         "CUDA source, PTX and what nvcc links are taken");
    throw UsageError(
        fmt::format("{}: it holds no PTX for compute capability {}.{} or older", shown(source.file),
                    source.architecture / 10, source.architecture % 10),
        "build it with nvcc -arch=sm_90, which keeps PTX; -arch=native does not");
#else
    static_cast<void>(bytes);
    throw UsageError(
        fmt::format("{}: it is no PTX, and this coalprof was built without its reader of programs",
                    shown(source.file)),
        "nvcc -ptx -lineinfo FILE.cu makes PTX");
#endif
}

}  // namespace

std::string read_ptx_source(const std::string& file) {
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
    if (bytes.find("__global__") == bytes.npos)
        throw UsageError(
            fmt::format("{}: it is neither PTX nor CUDA source with a __global__ function",
                        shown(source.file)));
    CompiledCuda compiled = compile_cuda(source);
    all.made.push_back(std::move(compiled.ptx));
    all.names = std::move(compiled.names);
    all.texts.emplace_back(all.made.front());
    all.cuda = bytes;
    return all;
}

namespace {

// Standard output of cuobjdump for the file; throws Error where the tool is missing or fails,
// Stopped where a signal asks for the end.
std::string resources_of(const std::string& path) {
    const std::string tool = path_of_program("cuobjdump");
    if (tool.find('/') == tool.npos)
        throw Error(
            "cannot read a cubin: cuobjdump is not on the PATH (it comes with the CUDA toolkit)");
    const WorkFolder folder;
    const std::string output = folder.path() + "/resources.txt";
    // No name that the tool may take for an option or give to a shell.
    const std::string safe = folder.path() + "/kernels.cubin";
    std::error_code ignored;  // the tool does not find it then
    std::filesystem::create_symlink(std::filesystem::absolute(path, ignored), safe, ignored);
    const int code =
        run_tool({tool, "--dump-resource-usage", safe}, folder, {.output = output, .messages = {}});
    if (code != 0)
        throw Error(fmt::format("cuobjdump could not read {}", shown(path)), ExitCode::usage);
    // Kernels of 200 bytes each: 80,000 of them. Longer output is no list of kernels.
    constexpr std::size_t most_output_bytes = 16 << 20;
    const auto text = read_whole(*open_own_bytes(output), most_output_bytes);
    if (!text)
        throw Error(fmt::format("cuobjdump prints more than {} MiB", most_output_bytes >> 20),
                    ExitCode::usage);
    return *text;
}

// The number after `key` in `line`, e.g. REG:32.
std::uint64_t number_after(const std::string& line, const std::string& key) {
    const std::size_t at = line.find(key);
    return at == std::string::npos
               ? 0
               : read_integer(std::string_view(line).substr(at + key.size())).value;
}

}  // namespace

std::vector<CubinKernel> kernels_in(const std::string& resource_usage) {
    std::vector<CubinKernel> kernels;
    std::istringstream lines(resource_usage);
    std::string name;
    for (std::string line; std::getline(lines, line);) {
        const std::string function = "Function ";
        if (const std::size_t at = line.find(function); at != std::string::npos) {
            name = line.substr(at + function.size());
            if (name.ends_with(':')) name.pop_back();
        } else if (!name.empty() && line.find("REG:") != std::string::npos) {
            kernels.push_back({name, static_cast<std::uint32_t>(number_after(line, "REG:")),
                               number_after(line, "SHARED:")});
            name.clear();
        }
    }
    return kernels;
}

std::vector<CubinKernel> read_cubin(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
        throw UsageError(fmt::format("--cubin {}: there is no such file", shown(path)));
    note_input(path);
    auto kernels = kernels_in(resources_of(path));
    if (kernels.empty())
        throw UsageError(fmt::format("--cubin {}: cuobjdump finds no kernel in it", shown(path)));
    return kernels;
}

}  // namespace coalprof
