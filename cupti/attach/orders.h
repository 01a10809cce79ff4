// Orders of the command for the library inside the program: environment variables, which child
// processes inherit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/program/kernel_pattern.h"
#include "core/program/trace.h"
#include "cupti/attach/nvtx_ranges.h"
#include "cupti/attach/run_metrics.h"

namespace coalprof {

struct AttachOrders {
    std::string folder;  // holds the traces, one file a process
    std::uint64_t first_of_each = 0;
    std::optional<std::string> kernel = std::nullopt;  // see LaunchChoice
    RunPass pass = RunPass::traffic;
    // Mangled: the one whose instructions are counted; first_of_each is then its number of
    // launches, of any shape.
    std::string one_kernel = {};
    std::vector<std::string> ranges =
        {};                               // NVTX's, by name; empty if launches are counted anywhere
    std::set<std::string> left_out = {};  // kernels, by their mangled names
    bool tells_of_code = false;           // look for lines of a second run: see LoadedCode
};

// As variables, by name.
std::vector<std::pair<std::string, std::string>> variables_of(const AttachOrders& orders);
// The inverse. None if this process was not started by the command.
std::optional<AttachOrders> orders_of_environment();

inline constexpr const char* trace_extension = ".trace";
std::string trace_name(std::uint64_t process);  // "1234.trace"

// The launches of a program to count: the first few of each kernel, among the chosen kernels and
// ranges. All others run at full speed.
class LaunchChoice {
 public:
    // `pattern`: see KernelPattern; searched in the demangled name; none: all kernels but those
    // that wait for other GPUs (NCCL, NVSHMEM), which counting could stop for ever. `ranges`: only
    // launches inside of them; nullptr: wherever. `problem` is called with a kernel that is left
    // out as searching the pattern would take too long. Throws Error where it is no pattern.
    LaunchChoice(std::uint64_t first_of_each, const std::optional<std::string>& pattern,
                 const NvtxRanges* ranges = nullptr,
                 std::function<void(const std::string&)> problem = {});

    // True if this launch is to be counted. Call it once for every launch, by its thread, and call
    // count() for those that are counted.
    bool takes(const TracedKernel& kernel);
    void count(const TracedKernel& kernel) { ++times_[kernel].counted; }
    // By its name alone.
    bool wants(const std::string& name);
    void leave_out(const std::string& name) { wanted_[name] = false; }
    // Launches in the ranges.
    std::map<TracedKernel, std::uint64_t> launches() const;
    std::uint64_t total() const { return total_; }

 private:
    std::uint64_t first_of_each_;
    bool matches(const std::string& name) const;

    std::optional<KernelPattern> pattern_;
    std::function<void(const std::string&)> problem_;
    const NvtxRanges* ranges_;
    std::map<std::string, bool> wanted_;  // name -> wanted: demangling takes longer than a launch
    struct Times {
        std::uint64_t launched = 0;
        std::uint64_t counted = 0;
    };
    std::map<TracedKernel, Times> times_;
    std::uint64_t total_ = 0;
};

}  // namespace coalprof
