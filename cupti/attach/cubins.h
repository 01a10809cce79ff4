// The code that a program loads: machine code, as far as it has one function, with the source line
// of each instruction; and PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/program/probe.h"
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

// The PTX in code that a program passes to the driver: PTX as text, or a fat binary of nvcc, of
// which the PTX that fits the GPU best is taken.
//
// Fat binaries are not documented. This layout was seen in files of nvcc 13.0 (2026-11-22): a
// wrapper (magic 0x466243b1) that points to a header (0xba55ed50, 16 bytes, then the size of the
// entries), and entries with a header each: kind (1: PTX, 2: machine code), size of the header,
// size of the data after it, compressed size, architecture, flags (0x2000: LZ4, 0x8000: zstd), and
// the size when unpacked.
using PtxOrReason = std::variant<std::string, NoPtx>;

// `capability`: of the GPU, 90 is 9.0. The PTX of the highest architecture that this GPU runs;
// never more than most_ptx_bytes.
inline constexpr const char* machine_code_alone = "it holds machine code and no PTX";
inline constexpr std::size_t most_ptx_bytes = 64u << 20;
PtxOrReason ptx_of_fat_binary(std::span<const std::byte> bytes, std::uint32_t capability);

// `image` is what the driver takes: a wrapper, a fat binary, PTX that ends with a zero byte, or
// machine code. It must be as whole as the driver needs it: sizes are in its headers.
PtxOrReason ptx_of_image(const void* image, std::uint32_t capability);

// True for its wrapper, too.
bool is_fat_binary(const void* image);

// The same for a file that the driver will load.
PtxOrReason ptx_of_file(const std::string& bytes, std::uint32_t capability);

}  // namespace coalprof
