// The PTX in code that a program passes to the driver: PTX as text, or a fat binary of nvcc, of
// which the PTX that fits the GPU best is taken.
//
// Fat binaries are not documented. This layout was seen in files of nvcc 13.0 (2026-11-22): a
// wrapper (magic 0x466243b1) that points to a header (0xba55ed50, 16 bytes, then the size of the
// entries), and entries with a header each: kind (1: PTX, 2: machine code), size of the header,
// size of the data after it, compressed size, architecture, flags (0x2000: LZ4, 0x8000: zstd), and
// the size when unpacked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "core/program/probe.h"

namespace coalprof {

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
