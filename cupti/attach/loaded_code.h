// What the code that a program loads lets expect of a second run, in which it counts its own lines:
// see core/trace/second_run.h. Of fat binaries without PTX for this GPU only the headers are read.
// Everything is called from CUPTI's callbacks, one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>

#include "cupti/attach/module_driver.h"
#include "cupti/attach/ptx_image.h"

namespace coalprof {

class LoadedCode {
 public:
    // A program that makes kernels without end is followed so far; then it is to be run again.
    static constexpr std::size_t most_kernels = 16384;
    struct Setup {
        ModuleDriver driver;
        // Each is told once.
        std::function<void(const std::string& kernel)> has_ptx;  // by its mangled name
        std::function<void(const std::string& reason)> lacks_ptx;
        std::function<void(const std::string& reason)> may_have_ptx;
    };
    explicit LoadedCode(Setup setup) : setup_(std::move(setup)) {}

    // What the driver is given to load.
    void image(const void* image);
    void file(const char* path);

 private:
    void look_at(const PtxOrReason& ptx, bool is_fat_binary);
    void tell_kernels(const std::string& ptx);
    void may_have_ptx(const std::string& reason);

    Setup setup_;
    bool may_have_ptx_ = false;  // then nothing else matters
    std::set<std::string> kernels_;
    std::set<std::string> reasons_;
};

}  // namespace coalprof
