// The parts of a result's head that every command fills in the same way.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/result/result.h"

namespace coalprof {

// Version, command line, time and the environment variables that matter.
ResultHead head_of(const std::vector<std::string>& argv);
MachineFacts describe_machines(const std::vector<Machine>& machines);

}  // namespace coalprof
