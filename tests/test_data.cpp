#include "test_data.h"

namespace coalprof {

// Only this file knows the checkout's path: the objects of all other tests are the same in every
// checkout, and a compiler cache finds them.
std::string test_data_folder() { return COALPROF_TEST_DATA; }

}  // namespace coalprof
