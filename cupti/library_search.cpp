#include "cupti/library_search.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace coalprof {
namespace {

namespace fs = std::filesystem;

using Sonames = std::array<std::string_view, 2>;

// The soname changes with CUDA's major version only.
Sonames sonames_for(std::uint32_t driver_version) {
    if (driver_version != 0 && driver_version < 13000) return {"libcupti.so.12", "libcupti.so.13"};
    return {"libcupti.so.13", "libcupti.so.12"};
}

class Candidates {
 public:
    explicit Candidates(const Sonames& sonames) : sonames_(sonames) {}

    void add_sonames(bool if_loaded) {
        for (const std::string_view soname : sonames_)
            found_.push_back({.name = std::string(soname), .if_loaded = if_loaded});
    }

    // Every libcupti in `folder` that exists.
    void add_folder(const fs::path& folder) {
        for (const std::string_view soname : sonames_) {
            std::error_code ignored;
            if (fs::exists(folder / soname, ignored))
                found_.push_back({.name = (folder / soname).string()});
        }
    }

    // The user's choice: a file, or a folder that should hold one. It need not exist: then loading
    // it says so.
    void add_demanded(const fs::path& named) {
        std::error_code ignored;
        fs::path file = named;
        if (fs::is_directory(named, ignored)) {
            const bool has_first = fs::exists(named / sonames_[0], ignored);
            const bool has_second = fs::exists(named / sonames_[1], ignored);
            file = named / sonames_[!has_first && has_second ? 1 : 0];
        }
        found_.push_back({.name = file.string(), .is_demanded = true});
    }

    // The folders of a CUDA toolkit that hold libcupti: NVIDIA's installers put it into
    // extras/CUPTI/lib64, Debian and container images also into lib64 or lib.
    void add_toolkit(const fs::path& toolkit) {
        for (const char* folder :
             {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib"})
            add_folder(toolkit / folder);
    }

    std::vector<LibraryCandidate> take() { return std::move(found_); }

 private:
    Sonames sonames_;
    std::vector<LibraryCandidate> found_;
};

std::vector<fs::path> subfolders(const fs::path& folder, std::string_view prefix) {
    std::vector<fs::path> found;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error))
        if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
    return found;
}

// "cuda-12.10" -> 12010, so that 12.10 is newer than 12.9.
std::uint32_t toolkit_version(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const char* const end = name.data() + name.size();
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    const auto after_major =
        std::from_chars(name.data() + std::min<std::size_t>(5, name.size()), end, major);
    if (after_major.ptr != end) std::from_chars(after_major.ptr + 1, end, minor);
    return major * 1000 + minor;
}

void add_python_packages(Candidates& candidates, const fs::path& virtual_env) {
    for (const fs::path& python : subfolders(virtual_env / "lib", "python"))
        for (const char* package : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"})
            candidates.add_folder(python / "site-packages" / package);
}

void add_installed_toolkits(Candidates& candidates, const fs::path& root) {
    const fs::path home = root / "usr/local";
    candidates.add_toolkit(home / "cuda");
    std::vector<fs::path> versioned = subfolders(home, "cuda-");
    std::ranges::sort(versioned, std::ranges::greater{}, toolkit_version);
    for (const fs::path& toolkit : versioned) candidates.add_toolkit(toolkit);
}

// The folder that a variable names. A relative one would depend on where the program is started, so
// that another user's library could be loaded.
std::optional<fs::path> folder_in(const LibrarySearch& search, const char* variable) {
    const auto value = search.environment(variable);
    if (!value || !fs::path(*value).is_absolute()) return std::nullopt;
    return *value;
}

}  // namespace

LibrarySearch process_library_search(std::uint32_t driver_version) {
    const auto environment = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') return std::nullopt;
        return value;
    };
    return {.environment = environment, .root = "/", .driver_version = driver_version};
}

std::vector<LibraryCandidate> library_candidates(const LibrarySearch& search) {
    Candidates candidates(sonames_for(search.driver_version));
    candidates.add_sonames(true);
    if (const auto demanded = search.environment("COALPROF_CUPTI"))
        candidates.add_demanded(*demanded);
    candidates.add_sonames(false);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const auto toolkit = folder_in(search, variable)) candidates.add_toolkit(*toolkit);
    if (const auto prefix = folder_in(search, "CONDA_PREFIX"))
        candidates.add_folder(*prefix / "lib");
    if (const auto virtual_env = folder_in(search, "VIRTUAL_ENV"))
        add_python_packages(candidates, *virtual_env);
    add_installed_toolkits(candidates, search.root);
    return candidates.take();
}

}  // namespace coalprof
