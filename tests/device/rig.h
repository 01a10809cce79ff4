// The classic sweep (offset 0 to 32) end to end on scripted tables, wired as the program wires it:
// without a GPU that opens the model answers alone, without a collector time and prediction do.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/run/fake_device.h"
#include "device/script.h"

namespace coalprof {

inline constexpr std::size_t sweep_points = 33;

struct Outcome {
    ExitCode code = ExitCode::internal;
    fake::Recorder result;
    bool has_gpu = false;
    bool has_collector = false;
    std::string refusal;              // why there is no GPU or no collector
    std::string escaped;              // what left the run as an exception
    std::set<std::uint64_t> timed;    // offsets whose launches were timed and verified
    std::vector<std::string> litter;  // what was not given back, or given back twice
};

Outcome run_scripted_sweep(Script& script);

// Whether time and every counter are there.
bool is_whole(const Point& point);
std::size_t whole_points(const Outcome& outcome);

// What no failure of a call may ever lead to, in words; empty: all is well.
std::vector<std::string> complaints(const Script& script, const Outcome& outcome);

}  // namespace coalprof
