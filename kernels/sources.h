// The text of the kernels and of the headers that they share with the host, embedded when the
// program is built (embed.cmake).
#pragma once

#include <span>

namespace coalprof {

struct SourceFile {
    const char* name;  // as it is included: "core/pattern/formulas.h"
    const char* text;
};

std::span<const SourceFile> embedded_sources();

}  // namespace coalprof
