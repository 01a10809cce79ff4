// Where the tests' files lie.
#pragma once

#include <string>

namespace coalprof {

std::string test_data_folder();  // tests/data, absolute

}  // namespace coalprof
