// Whether two results are of the same sweep: what their heads say of machine, GPU and settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result/head.h"

namespace coalprof {

struct HeadDifference {
    std::string name;  // "machine", "device", or a member of the sweep: "dlcm"
    std::string text;  // "dlcm (ca and cg)", printable
};

// What differs. Files, repetitions and what tells the shards of one sweep apart do not count.
std::vector<HeadDifference> differences(const ResultHead& one, const ResultHead& other);

// Whether one of these results could differ in what is called `name`: nobody can be waiting for a
// difference that has no name. Throws UsageError with the nearest name where none could.
void require_name_of_difference(std::string_view name, const ResultHead& one,
                                const ResultHead& other);

}  // namespace coalprof
