// The machine code that a program loads, as far as it has one function: it contains the source line
// of each instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/site.h"
#include "cupti/cupti_api.h"

namespace coalprof {

class Cubins {
 public:
    explicit Cubins(std::string function) : function_(std::move(function)) {}

    // Called while the driver loads it and may hold locks: waits for nothing. The bytes are copied.
    void loaded(const void* cubin, std::size_t bytes);
    // None: it was built without line information, or has not been seen. `crc`: CUPTI's checksum of
    // the code, its lower half.
    SourceLine line_of(const CuptiApi& api, std::uint32_t crc, std::uint64_t offset);

 private:
    const std::string* code_with(const CuptiApi& api, std::uint32_t crc);

    std::string function_;  // mangled
    std::mutex mutex_;
    struct Code {
        std::string bytes;
        std::optional<std::uint32_t> crc = std::nullopt;  // once computed
    };
    std::list<Code> kept_;  // stay where they are
};

// NVIDIA's machine code as an ELF file: its functions.

inline constexpr std::size_t unknown_size = ~std::size_t{0};

bool is_cubin(const void* image);

// By their mangled names, kernels and others; none where it is damaged or of another kind. The size
// of an image in memory is unknown: it must be as whole as its headers say.
std::vector<std::string> functions_of_cubin(const void* image, std::size_t size = unknown_size);

// The rest of each name of a symbol or section that begins with `beginning`, each once.
std::set<std::string> names_of_cubin(const void* image, std::string_view beginning,
                                     std::size_t size = unknown_size);

}  // namespace coalprof
