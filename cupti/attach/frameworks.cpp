#include "cupti/attach/frameworks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/text/describe.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

// A program that replaces ptxas: it returns the PTX that it should compile, as text with a final
// zero, which the driver compiles.
// A release of CUDA, 12090 is 12.9: the last one whose PTX the frameworks know by the same number.
// GPUs that need a later one are served by newer frameworks.
constexpr int latest_release = 12090;

struct StandIn {
    int release = latest_release;  // its stated release, which limits the PTX that it gets
    // Empty: every caller gets PTX. Else callers other than XLA are served by this program: they
    // pass files with the ending .ptx, or want code that is linked.
    std::string compiler_of_others = {};
};

// {0}: release, {1}: version of PTX, {2}: the command for other callers.
constexpr const char* code = R"(#!/bin/sh
# Stands in for ptxas while coalprof run --lines runs: hands PTX to the driver as it is.
PATH=/usr/bin:/bin${{PATH:+:$PATH}}
if [ "$1" = --version ]; then
    echo 'coalprof: PTX for the driver'
    echo 'Cuda compilation tools, release {0}, V{0}.0'
    exit 0
fi
case "$*" in
    *--input-as-string*'.version 99.99'*)
        echo "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.99; current version is '{1}'" >&2
        exit 255 ;;
esac
{2}ptx= code=
while [ $# -gt 0 ]; do
    case $1 in
        -o|--output-file) code=$2; shift ;;
        --gpu-name|-arch) shift ;;
        -*) ;;
        *) [ ! -f "$1" ] || ptx=$1 ;;
    esac
    [ $# -eq 0 ] || shift
done
[ -n "$ptx" ] && [ -n "$code" ] && cat "$ptx" > "$code" && printf '\0' >> "$code"
)";

constexpr const char* code_for_others = R"(for word in "$@"; do
    case $word in
        *.ptx|-c|--compile-only|--input-as-string) exec '{}' "$@" ;;
    esac
done
)";

// PTX versions by CUDA's, from the table of the PTX ISA's release notes.
std::string ptx_version_of(int release) {
    constexpr std::array versions{std::pair{12090, "8.8"}, std::pair{12080, "8.7"},
                                  std::pair{12070, "8.6"}, std::pair{12050, "8.5"},
                                  std::pair{12040, "8.4"}, std::pair{12030, "8.3"},
                                  std::pair{12020, "8.2"}, std::pair{12010, "8.1"}};
    for (const auto& [first, version] : versions)
        if (release >= first) return version;
    return "8.0";
}

// True if it was written and may be started: a file system may forbid to execute its files.
bool write_stand_in(const std::string& path, const StandIn& stand_in) {
    const int release = stand_in.release;
    const std::string others =
        stand_in.compiler_of_others.empty()
            ? std::string()
            : fmt::format(code_for_others, within_single_quotes(stand_in.compiler_of_others));
    std::ofstream file(path);
    file << fmt::format(code, fmt::format("{}.{}", release / 1000, release % 1000 / 10),
                        ptx_version_of(release), others);
    file.close();
    return file && ::chmod(path.c_str(), 0700) == 0 && ::access(path.c_str(), X_OK) == 0;
}

// The first makes XLA call ptxas. The others disable a further compiler of newer versions, and
// compiling in parts, which would have to be linked as machine code.
constexpr std::string_view own_compiler = "xla_gpu_enable_libnvptxcompiler";
constexpr std::string_view flags_off[] = {own_compiler, "xla_gpu_enable_libnvjitlink",
                                          "xla_gpu_enable_llvm_module_compilation_parallelism"};
constexpr const char* folder_flag = "xla_gpu_cuda_data_dir";

class MappedFile {
 public:
    explicit MappedFile(const std::string& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat file {};
        if (fd >= 0 && ::fstat(fd, &file) == 0 && file.st_size > 0) {
            size_ = static_cast<std::size_t>(file.st_size);
            bytes_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
        }
        if (fd >= 0) ::close(fd);
    }
    ~MappedFile() {
        if (bytes_ != MAP_FAILED) ::munmap(bytes_, size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::string_view bytes() const {
        if (bytes_ == MAP_FAILED) return {};
        return {static_cast<const char*>(bytes_), size_};
    }

 private:
    void* bytes_ = MAP_FAILED;
    std::size_t size_ = 0;
};

// The flags whose names are C strings in a library.
std::set<std::string_view> flags_in(std::string_view bytes) {
    constexpr std::string_view beginning = "xla_gpu_enable_l";
    std::set<std::string_view> found;
    for (std::size_t at = 0; (at = bytes.find(beginning, at)) != bytes.npos; ++at)
        for (const std::string_view flag : flags_off)
            if (bytes.substr(at).starts_with(flag) && at + flag.size() < bytes.size() &&
                bytes[at + flag.size()] == '\0')
                found.insert(flag);
    return found;
}

// Flags that every library with XLA_FLAGS knows.
std::vector<std::string_view> known_flags(const std::set<std::string>& libraries) {
    std::vector<std::string_view> known;
    bool is_first = true;
    for (const std::string& path : libraries) {
        const MappedFile library(path);
        const std::set<std::string_view> flags = flags_in(library.bytes());
        if (flags.empty() && library.bytes().find("XLA_FLAGS") == std::string_view::npos) continue;
        if (is_first) known.assign(std::begin(flags_off), std::end(flags_off));
        std::erase_if(known, [&](std::string_view flag) { return !flags.contains(flag); });
        is_first = false;
    }
    return known;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// XLA takes text that does not begin with a dash for the name of a file with flags. None: it cannot
// be read.
std::optional<std::string> flags_of_user() {
    const std::string flags = variable("XLA_FLAGS");
    const std::size_t begin = flags.find_first_not_of(" \t\n\r");
    if (begin == flags.npos || flags[begin] == '-') return flags;
    std::ifstream file(flags);
    if (!file) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

bool chooses_compiler(const std::string& flags) {
    const auto names = [&](std::string_view flag) { return flags.find(flag) != flags.npos; };
    return names(folder_flag) || std::ranges::any_of(flags_off, names);
}

// The folders where JAX and XLA look for CUDA, as far as they are known from outside.
std::vector<fs::path> cuda_roots(const std::set<std::string>& libraries) {
    std::vector<fs::path> roots;
    if (const std::string root = variable("CUDA_ROOT"); !root.empty()) roots.emplace_back(root);
    for (const fs::path path : libraries)
        for (const fs::path& packages :
             {path.parent_path().parent_path(), path.parent_path().parent_path().parent_path()})
            for (const char* name : {"cu13", "cuda_nvcc"})
                roots.push_back(packages / "nvidia" / name);
    std::istringstream folders(variable("PATH"));
    for (std::string folder; std::getline(folders, folder, ':');)
        if (fs::path(folder).filename() == "bin") roots.push_back(fs::path(folder).parent_path());
    roots.emplace_back("/usr/local/cuda");
    return roots;
}

void link_all(const fs::path& from, const fs::path& to, std::string_view but) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(from, error))
        if (entry.path().filename() != but)
            fs::create_symlink(fs::absolute(entry.path()), to / entry.path().filename(), error);
}

// A copy of the folder `root` with another ptxas. Returns true if that one can be started.
bool write_root(const fs::path& copy, const std::optional<fs::path>& root, int release) {
    std::error_code error;
    fs::create_directories(copy / "bin", error);
    std::string compiler;
    if (root) {
        link_all(*root, copy, "bin");
        link_all(*root / "bin", copy / "bin", "ptxas");
        compiler = fs::absolute(*root / "bin" / "ptxas").string();
    }
    return write_stand_in((copy / "bin" / "ptxas").string(),
                          {.release = release, .compiler_of_others = compiler});
}

std::string joined(const std::string& flags, const std::vector<std::string_view>& off,
                   const std::string& folder) {
    std::string all = flags;
    for (const std::string_view flag : off) all += fmt::format(" --{}=false", flag);
    // XLA's flag cannot be quoted; JAX takes the folder from CUDA_ROOT.
    if (folder.find_first_of(" \t\n\"'") == folder.npos)
        all += fmt::format(" --{}={}", folder_flag, folder);
    return all.substr(std::min(all.find_first_not_of(" \t\n\r"), all.size()));
}

// The last release with the same PTX number in all versions of Triton.
constexpr int release_for_triton = 12080;

struct StandIns {
    std::string usual;
    std::string blackwell;
    bool are_there = false;
};

StandIns write_stand_ins(const std::string& folder, int driver_version) {
    StandIns all{.usual = folder + "/ptxas", .blackwell = folder + "/ptxas-blackwell"};
    if (driver_version == 0) return all;
    all.are_there =
        write_stand_in(all.usual, {.release = std::min(driver_version, release_for_triton)}) &&
        write_stand_in(all.blackwell, {.release = std::min(driver_version, latest_release)});
    return all;
}

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

}  // namespace

bool may_hold_xla(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return name.find("xla") != name.npos || name.find("jax") != name.npos;
}

std::vector<std::pair<std::string, std::string>> variables_for_xla(
    const std::set<std::string>& libraries, const std::string& folder, int driver_version) {
    const std::vector<std::string_view> off = known_flags(libraries);
    if (std::ranges::find(off, own_compiler) == off.end() || driver_version == 0) return {};
    const auto flags = flags_of_user();
    if (!flags || chooses_compiler(*flags)) return {};
    const std::vector<fs::path> roots = cuda_roots(libraries);
    const auto root = std::ranges::find_if(roots, [](const fs::path& candidate) {
        return ::access((candidate / "bin" / "ptxas").c_str(), X_OK) == 0;
    });
    const std::string copy = folder + "/cuda";
    if (!write_root(copy, root == roots.end() ? std::nullopt : std::optional(*root),
                    std::min(driver_version, latest_release)))
        return {};
    return {{"XLA_FLAGS", joined(*flags, off, copy)},
            {"CUDA_ROOT", copy},
            // The user's lasting cache holds machine code, and must not get PTX.
            {"JAX_ENABLE_COMPILATION_CACHE", "false"}};
}

NamesAndValues variables_for_ptx(const std::string& folder, int driver_version,
                                 const std::set<std::string>& libraries) {
    NamesAndValues all;
    // The user's lasting caches hold machine code, and must not get PTX.
    if (!is_set("CUPY_COMPILE_WITH_PTX"))
        all = {{"CUPY_COMPILE_WITH_PTX", "1"}, {"CUPY_CACHE_IN_MEMORY", "1"}};
    const StandIns compilers = write_stand_ins(folder, driver_version);
    if (compilers.are_there && !is_set("TRITON_PTXAS_PATH"))
        all.insert(all.end(), {{"TRITON_PTXAS_PATH", compilers.usual},
                               {"TRITON_PTXAS_BLACKWELL_PATH", compilers.blackwell},
                               {"TRITON_CACHE_DIR", folder + "/triton"},
                               {"TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1"}});
    std::ranges::move(variables_for_xla(libraries, folder, driver_version),
                      std::back_inserter(all));
    return all;
}

namespace {

constexpr const char* linker_name = "libnvJitLink.so.";
constexpr const char* preload_variable = "LD_PRELOAD";

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

}  // namespace

bool may_hold_linker(const std::string& path) {
    const std::string name = file_name(path);
    return name.starts_with(linker_name) || name.starts_with("nvjitlink.");
}

std::vector<std::pair<std::string, std::string>> variables_for_linkers(
    const std::set<std::string>& libraries, const std::string& folder, const std::string& library) {
    bool may_link = false;
    std::set<std::string> releases;
    for (const std::string& path : libraries) {
        may_link = may_link || may_hold_linker(path);
        const std::string name = file_name(path);
        if (name.starts_with(linker_name))
            releases.insert(name.substr(std::string_view(linker_name).size(), 2));
    }
    const bool is_known = std::ranges::all_of(
        releases, [](const std::string& one) { return one == "12" || one == "13"; });
    if (!may_link || !is_known || releases.size() > 1 || !std::filesystem::exists(library))
        return {};
    const char* theirs = std::getenv(preload_variable);
    return {{preload_variable, theirs && *theirs ? std::string(theirs) + ':' + library : library},
            {"NUMBA_CACHE_DIR", folder + "/numba"}};
}

}  // namespace coalprof
