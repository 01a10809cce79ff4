// Rewrites PTX so that its memory instructions count themselves: before each load, store and atomic
// of global, shared or local memory a call is put that adds up, on the GPU, the instruction's
// requests, and that keeps the addresses of some of its warps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/program/probe_code.h"
#include "core/program/site.h"

namespace coalprof {

// The reason why code cannot be made to count itself: a clause, "it holds machine code and no PTX".
struct NoPtx {
    std::string reason;
};

struct ProbedPtx {
    std::string text;
    std::vector<PtxSite> sites;  // site n has counts and samples n
    std::size_t samples_of_each = 0;
};

// Rewrites the functions whose mangled name `wants` accepts; always functions that are no kernels.
// NoPtx: there is nothing to count in it, or its text is for GPUs before compute capability 7.0.
// `mark`: see probe_code().
std::variant<ProbedPtx, NoPtx> probe(std::string_view ptx,
                                     const std::function<bool(const std::string&)>& wants,
                                     std::string_view mark = {});

// The mangled names of the kernels in it.
std::vector<std::string> kernels_in(std::string_view ptx);

}  // namespace coalprof
