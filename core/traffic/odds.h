// Shares fitted as odds, so that sums of them stay between 0 and 1.
#pragma once

#include <cmath>

namespace coalprof {

// `log_odds`: the natural logarithm.
inline double share_of_odds(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

}  // namespace coalprof
