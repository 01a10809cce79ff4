// By how much tests of many like cases are cut. Sanitizers make each case ten times slower, and
// look for faults of memory, in which like cases are alike: there a tenth of them runs, elsewhere
// all.
#pragma once

namespace coalprof {

#ifdef COALPROF_SANITIZED
inline constexpr unsigned fewer_cases = 10;
#else
inline constexpr unsigned fewer_cases = 1;
#endif

}  // namespace coalprof
