// CUDA source compiled to PTX by nvcc, or by clang where there is none, which needs no CUDA:
// headers of ours stand in for the toolkit's (cuda_stand_in/). nvcc and its parts give names to a
// shell, and take words that begin with a dash for options: they get a copy of the source, links to
// folders and a header of macros, all in a folder of ours. Names in messages and in line numbers
// are the user's again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/pasted_code.h"
#include "core/program/host_launches.h"

namespace coalprof {

struct CudaSource {
    std::string file;
    std::string_view bytes;  // that it holds
    std::vector<std::string> includes;
    std::vector<std::string> defines;  // NAME or NAME=VALUE
    std::vector<std::string> nvcc_args;
    std::uint32_t architecture = 90;  // 90 is compute capability 9.0
    PastedCode pasted = {};           // compiled instead of the bytes if it has a text
    std::string cache_dir = {};       // where compiled programs are kept
    bool is_one_of_many = false;      // files: of errors the first is enough
};

// Names that a compiler gets in place of the user's.
class StandIns {
 public:
    void add(std::string stand_in, std::string original);
    // A name is that of a file, or begins with that of a folder.
    std::string original(const std::string& name) const;
    bool empty() const { return all_.empty(); }
    // All of them in a text, fit to print.
    std::string in_text(std::string text) const;

 private:
    std::vector<std::pair<std::string, std::string>> all_;
};

struct CompiledCuda {
    std::string ptx;
    StandIns names;            // files that its .file directives name
    std::string debug;         // PTX with the names of parameters; empty: `ptx` has them
    std::string instantiated;  // declarations of templates that the file lacks
    std::vector<std::string> missing_headers;  // others stood for them
    std::vector<std::string> files;            // that were read
    std::string found_folders;                 // of headers, that -I does not name
    std::string passed_over;                   // #error, as the compiler says it
    bool is_of_clang = false;
};

std::string hint_for_headers(const std::vector<std::string>& missing);

struct PlacedLaunch {
    HostLaunch launch;
    std::string place;  // "main.cu:81"
};
// The launches that clang's tree of the source has; none where there is no clang. Throws Error for
// no place for its files, Stopped, LimitReached. `files`: that were read to compile it.
std::vector<PlacedLaunch> host_launches_of(const CudaSource& source,
                                           const std::vector<std::string>& files);

// The headers that are read become inputs (core/text/files_in_use.h). Prints what nvcc says. Throws
// UsageError where it does not compile, Error where there is no compiler or no place for its files,
// bad_alloc where it takes more memory than it may, Stopped, LimitReached.
CompiledCuda compile_cuda(const CudaSource& source);

// Machine code with a line table, which the toolkit's ptxas makes of a kernel's PTX. None where
// there is no ptxas, or it refuses the PTX. Throws Stopped, LimitReached.
std::optional<std::string> assemble_ptx(const std::string& ptx, const std::string& kernel,
                                        std::uint32_t architecture, const std::string& cache_dir);

}  // namespace coalprof
