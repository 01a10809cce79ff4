#include "cupti/attach/choice.h"

#include <fmt/format.h>

#include <utility>

#include "core/text/symbol.h"

namespace coalprof {

LaunchChoice::LaunchChoice(std::uint64_t first_of_each, const std::optional<std::string>& pattern,
                           const NvtxRanges* ranges,
                           std::function<void(const std::string&)> problem)
    : first_of_each_(first_of_each), problem_(std::move(problem)), ranges_(ranges) {
    if (pattern) pattern_.emplace(*pattern);
}

bool LaunchChoice::matches(const std::string& name) const {
    if (!pattern_) return name.find("nccl") == name.npos && name.find("nvshmem") == name.npos;
    const std::string people_read = demangled(name);
    const std::optional<bool> is_found = pattern_->is_found_in(people_read);
    if (!is_found && problem_)
        problem_(
            fmt::format("{} was left out: looking for the pattern of --kernel in its name "
                        "takes too many steps; a pattern with fewer * and + takes less",
                        people_read));
    return is_found.value_or(false);
}

bool LaunchChoice::wants(const std::string& name) {
    const auto known = wanted_.find(name);
    if (known != wanted_.end()) return known->second;
    return wanted_.emplace(name, matches(name)).first->second;
}

bool LaunchChoice::takes(const TracedKernel& kernel) {
    ++total_;
    if (ranges_ && !ranges_->is_inside()) return false;
    Times& times = times_[kernel];
    ++times.launched;
    return times.counted < first_of_each_ && wants(kernel.name);
}

std::map<TracedKernel, std::uint64_t> LaunchChoice::launches() const {
    std::map<TracedKernel, std::uint64_t> launched;
    for (const auto& [kernel, times] : times_) launched.emplace(kernel, times.launched);
    return launched;
}

}  // namespace coalprof
