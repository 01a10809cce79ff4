// Shares that are fitted as odds, so that whatever is added to these they stay between 0 and 1.
#pragma once

#include <cmath>

namespace coalprof {

// `log_odds`: the natural logarithm.
inline double share_of_odds(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

}  // namespace coalprof
