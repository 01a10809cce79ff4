// What a file is that holds no result, for the sentence that refuses it.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// "the CSV of a result", "an HTML page": by how the file begins, up to a few hundred bytes of it.
std::string_view look_of_file(std::string_view beginning);

}  // namespace coalprof
