// By how much tests of many like cases are cut. Sanitizers make each case ten times slower, and
// look for faults of memory, in which like cases are alike: there one of 13 runs (prime to how long
// their lists are), elsewhere all.
#pragma once

namespace coalprof {

#ifdef COALPROF_SANITIZED
inline constexpr unsigned fewer_cases = 13;
#else
inline constexpr unsigned fewer_cases = 1;
#endif

}  // namespace coalprof
