// Orders of the command for the library inside the program: environment variables, which child
// processes inherit.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cupti/attach/run_metrics.h"

namespace coalprof {

struct AttachOrders {
    std::string folder;  // for traces, one file a process
    std::uint64_t first_of_each = 0;
    std::optional<std::string> kernel = std::nullopt;  // see LaunchChoice
    RunPass pass = RunPass::traffic;
    // Mangled: the one whose instructions are counted; first_of_each is then its number of
    // launches, of any shape.
    std::string one_kernel = {};
    std::vector<std::string> ranges = {};  // NVTX's, by name; none: launches are counted anywhere
    std::set<std::string> left_out = {};   // kernels, by their mangled names
    bool tells_of_code = false;            // look for lines of a second run: see LoadedCode
};

// As variables, by name.
std::vector<std::pair<std::string, std::string>> variables_of(const AttachOrders& orders);
// The inverse. None if this process was not started by the command.
std::optional<AttachOrders> orders_of_environment();

inline constexpr const char* trace_extension = ".trace";
std::string trace_name(std::uint64_t process);  // "1234.trace"

}  // namespace coalprof
