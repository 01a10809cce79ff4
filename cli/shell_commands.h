#pragma once

#include <span>
#include <string_view>

namespace coalprof {

// The sections of every manual page after its options: variables, files, exit codes.

struct ManualEntry {
    std::string_view term;
    std::string_view text;
};

struct ManualSection {
    std::string_view title;
    std::span<const ManualEntry> entries;
};

std::span<const ManualSection> manual_sections();

}  // namespace coalprof
