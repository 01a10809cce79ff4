// What the command tells the library inside the program: by environment variables, which child
// processes inherit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cupti/attach/run_metrics.h"

namespace coalprof {

struct AttachOrders {
    std::string folder;  // traces go here, one file a process
    std::uint64_t first_of_each = 0;
    std::optional<std::string> kernel;  // see LaunchChoice
    RunPass pass = RunPass::traffic;
};

inline constexpr const char* folder_variable = "COALPROF_ATTACH_FOLDER";
inline constexpr const char* first_variable = "COALPROF_ATTACH_FIRST";
inline constexpr const char* kernel_variable = "COALPROF_ATTACH_KERNEL";
inline constexpr const char* pass_variable = "COALPROF_ATTACH_PASS";

// None where this process was not started by the command.
std::optional<AttachOrders> orders_of_environment();

std::string trace_name(std::uint64_t process);  // "1234.trace"

}  // namespace coalprof
