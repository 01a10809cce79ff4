// Whether two results are of the same sweep: what their heads say of machine, GPU and settings.
#pragma once

#include <string>
#include <vector>

#include "core/result/head.h"

namespace coalprof {

struct HeadDifference {
    std::string name;  // "machine", "device", or a member of the sweep: "dlcm"
    std::string text;  // "dlcm (ca and cg)", printable
};

// What differs. Files, repetitions and what tells the shards of one sweep apart do not count.
std::vector<HeadDifference> differences(const ResultHead& one, const ResultHead& other);

// What two results may differ in: every setting that a sweep can have, and what else these say.
std::vector<std::string> comparable_names(const ResultHead& one, const ResultHead& other);

}  // namespace coalprof
