// The problem sizes in a sweep of kernels: launches of different sizes are no choice, so that the
// best is asked for at each size.
#pragma once

#include <string>
#include <vector>

#include "core/judge/best.h"

namespace coalprof {

// The arguments that change how many bytes a launch touches. Those that do not, such as a pitch,
// are choices, like the kernel, the grid and the block.
std::vector<std::string> size_arguments(const std::vector<BestSink::Candidate>& all);

struct CandidatesOfSize {
    NamedValues size;  // values of the arguments
    std::vector<BestSink::Candidate> all;
};
std::vector<CandidatesOfSize> candidates_by_size(const std::vector<BestSink::Candidate>& all,
                                                 const std::vector<std::string>& arguments);

// The best at one size.
struct BestAtSize {
    Verdict verdict;
    std::string reason = {};      // sentences after the verdict; may be empty
    std::string best = {};        // its name; empty: nothing is clearly the best
    std::string next = {};        // names
    std::string costliest = {};   // line of the next; may be empty
    double ratio = 0;             // the next divided by the best; 0: there is none
    bool overlaps = false;        // the interval of the next and that of the best
    std::string order_held = {};  // of 100 pairs so far apart; empty: not known
};

// The verdicts at each size, before them one on all sizes where the same choice is clearly the best
// at each. `source`: "predicted" or "measured".
std::vector<Verdict> verdicts_of_sizes(std::vector<BestAtSize> sizes, Counter counter,
                                       const std::vector<std::string>& arguments,
                                       const std::string& source);

}  // namespace coalprof
