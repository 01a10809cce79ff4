#include "cupti/attach/xla.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

#include "cupti/attach/frameworks.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

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

}  // namespace coalprof
