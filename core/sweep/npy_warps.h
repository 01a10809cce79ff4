// A .npy file of addresses, or of indices, as the lines of a warps file.
#pragma once

#include <memory>
#include <optional>

#include "core/access/warps_file.h"
#include "core/pattern/program.h"
#include "core/text/byte_source.h"

namespace coalprof {

// What the numbers of a .npy file are.
struct NpyWarps {
    std::optional<WarpOp> op;         // none: loads
    std::optional<ElementType> type;  // they are indices of such elements; none: byte addresses
};

// `source` where it is no .npy file; else its lines: 32 numbers a warp, negative ones idle lanes,
// named by their place. Throws UsageError: `how` of what is no .npy file, and numbers that are no
// integers.
std::unique_ptr<ByteSource> lines_of_npy(std::unique_ptr<ByteSource> source,
                                         const std::string& name, const NpyWarps& how);

}  // namespace coalprof
