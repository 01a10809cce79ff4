// The host's part of CUDA source: what of it does not compile here is left out, as kernels do not
// need it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// The lines of each file in which a compiler found errors, from its messages.
std::map<std::string, std::vector<std::size_t>> lines_of_errors(std::string_view messages);

// Declarations for the end of the file that instantiate its templates of kernels: types are float,
// numbers 32, conditions false, defaults stay. Empty: there is none.
std::string instantiations(const std::string& cuda);

// Blanks the statements of host functions that stand in these lines, or declarations outside of
// functions, and #error, and keeps all line numbers. False where nothing was left out: all else is
// the device's.
bool leave_out_host_code(std::string& cuda, const std::vector<std::size_t>& lines);

}  // namespace coalprof
