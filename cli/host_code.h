// The host's part of CUDA source: what of it does not compile here is left out, as kernels do not
// need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// The lines of `file` in which a compiler found errors, from its messages.
std::vector<std::size_t> lines_of_errors(std::string_view messages, const std::string& file);

// Blanks the statements of host functions that stand in these lines, or declarations outside of
// functions, and keeps all line numbers. False where one of the lines belongs to the device's side.
bool leave_out_host_code(std::string& cuda, const std::vector<std::size_t>& lines);

}  // namespace coalprof
