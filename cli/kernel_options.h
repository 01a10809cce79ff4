// A user's kernel as the command line names it: its file, its launch, its arguments.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/limited_work.h"
#include "cli/pasted_code.h"
#include "cli/ptx_source.h"
#include "core/kernel/kernel_launches.h"
#include "core/machine/machine.h"
#include "core/program/code.h"

namespace coalprof {

struct KernelOptions {
    std::string file;
    bool is_one_of_many = false;  // files
    std::vector<std::string> arguments;
    std::string shared = "0";
    std::vector<std::string> launches;  // "<<<4096, 256>>>"
    std::vector<std::string> nvcc_args;
    std::vector<std::string> includes;
    std::vector<std::string> defines;
    std::string cache_dir;
    PastedCode code;  // in place of a file
    LimitOptions limits;

    // All but FILE.
    void add_to(CLI::App& command);
    // Puts --launch, or a launch typed as a grid or a name, into its parts. Throws UsageError where
    // an option says the same.
    void take_launches(std::vector<std::string>& grids, std::vector<std::string>& blocks,
                       std::vector<std::string>& names);
    // The bytes of the file, or of --code: `file` is then "code". Throws UsageError, Stopped.
    std::string read_bytes();
};

// The kernels of the file that fit a compute capability.
class KernelFile {
 public:
    // `bytes`: the file's content. `cc`: 90 is 9.0. Throws UsageError, Error.
    KernelFile(const KernelOptions& options, std::string_view bytes, std::uint32_t cc);
    KernelFile(const KernelFile&) = delete;
    KernelFile& operator=(const KernelFile&) = delete;

    struct Kernel {
        Code code;
        std::uint32_t architecture = 0;  // of its PTX: 90
    };
    // Finds a kernel by its mangled or demangled name, the name alone, or a regular expression;
    // without a name, the only one. Throws UsageError where none or several fit.
    // `assembles`: takes registers, widths and costs from what ptxas makes of it.
    Kernel kernel(const std::string& name, bool assembles = true) const;
    // The symbols of all that `name` fits; empty: of all kernels.
    std::vector<std::string> names_found_by(const std::string& name) const;
    // A line for each kernel: its name and its parameters.
    std::string list(const std::string& name) const;
    // All that its host code makes, read when they are first asked for.
    const std::vector<PlacedLaunch>& host_launches() const;
    const CompiledCuda& compiled() const { return texts_.compiled; }
    // True if the file is compiled as a part of this one.
    bool includes(const std::string& file) const;
    bool holds(std::string_view word) const { return source_.bytes.find(word) != word.npos; }

 private:
    using Found = std::vector<std::pair<const PtxModule*, const PtxFunction*>>;
    Found found_by(const std::string& name) const;
    std::pair<const PtxModule*, const PtxFunction*> only(const std::string& name) const;
    std::string hint_for(const std::string& name) const;
    Code code_of(const PtxModule& module, const PtxFunction& kernel) const;
    void name_by_text(const PtxModule& module, PtxFunction& kernel) const;

    const KernelOptions& options_;
    CudaSource source_;
    mutable std::optional<std::vector<PlacedLaunch>> launches_;
    PtxTexts texts_;
    std::vector<PtxModule> modules_;  // views in it point into the bytes
};

// The same file for several machines: those of one compute capability share what is compiled.
class KernelFiles {
 public:
    // Reads the file. Throws UsageError, Stopped.
    explicit KernelFiles(KernelOptions options)
        : options_(std::move(options)), bytes_(options_.read_bytes()) {}
    KernelFiles(const KernelFiles&) = delete;
    KernelFiles& operator=(const KernelFiles&) = delete;
    const KernelOptions& options() const { return options_; }  // `file`: "code" of --code
    const KernelFile& of(const Machine& machine);

 private:
    KernelOptions options_;
    std::string bytes_;
    std::map<std::uint32_t, KernelFile> files_;  // by compute capability
};

// Reads grids, blocks and arguments of the launches; none of what is empty. Throws UsageError where
// one does not fit.
KernelAxes kernel_axes(const KernelOptions& options, const std::string& grid,
                       const std::string& block);

}  // namespace coalprof
