// Looks at the code that a program loads, to predict what a second run finds, in which it counts
// its lines: see may_have_lines() in core/program/traced_kernels.h. Only headers are read of fat
// binaries without PTX for this GPU. The driver has taken the code already, so that its headers are
// whole. Everything is called from CUPTI's callbacks, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cupti/attach/cubins.h"
#include "cupti/attach/module_driver.h"

namespace coalprof {

class LoadedCode {
 public:
    // A limit for programs that make kernels without end; beyond it a second run is needed.
    static constexpr std::size_t most_kernels = 16384;
    struct Setup {
        ModuleDriver driver;
        // Each is reported once.
        std::function<void(const std::string& kernel)> rewritable;  // by its mangled name
        std::function<void(const std::string& reason)> lacks_ptx;
        std::function<void(const std::string& reason)> unknown_code;
    };
    explicit LoadedCode(Setup setup) : setup_(std::move(setup)) {}

    // An image that the driver has loaded.
    void image(const void* image);
    void file(const char* path);

 private:
    void look_at(const PtxOrReason& ptx, const void* image, std::size_t size);
    void tell(const std::vector<std::string>& kernels);
    void unknown_code(const std::string& reason);

    Setup setup_;
    bool is_unknown_ = false;  // then nothing else matters
    std::set<std::string> kernels_;
    std::set<std::string> reasons_;
};

// The origin of code without PTX, and the way to build it with PTX.

// A program's file, or that of a library that it has loaded.
struct CodeFile {
    std::string path;
    std::set<std::string> needed;  // libraries, by the requested names
};

// The file from which these bytes of this process were loaded, if any.
std::optional<CodeFile> file_around(const void* bytes);

// The reason why its machine code has no lines, and what to do: a clause. `file`: none for code
// that the program made or read itself. `capability`: of the GPU, 90 is 9.0.
std::string why_without_ptx(const std::optional<CodeFile>& file, std::uint32_t capability);

// For an image that the driver loads: why it has no PTX.
std::string reason_for_image(const std::string& reason, const void* image,
                             std::uint32_t capability);

}  // namespace coalprof
