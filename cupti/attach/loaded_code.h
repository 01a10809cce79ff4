// What the code that a program loads lets expect of a second run, in which it counts its own lines:
// see core/program/second_run.h. Of fat binaries without PTX for this GPU only the headers are
// read. The driver has taken the code already, so that its headers are whole. Everything is called
// from CUPTI's callbacks, one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

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
        std::function<void(const std::string& kernel)> rewritable;  // by its mangled name
        std::function<void(const std::string& reason)> lacks_ptx;
        std::function<void(const std::string& reason)> unknown_code;
    };
    explicit LoadedCode(Setup setup) : setup_(std::move(setup)) {}

    // What the driver has loaded.
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

}  // namespace coalprof
