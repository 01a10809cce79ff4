#include "cupti/attach/choice.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <regex>

namespace coalprof {

std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

bool is_regular_expression(const std::string& text) try {
    const std::regex tried(text);
    return true;
} catch (const std::regex_error&) {
    return false;
}

LaunchChoice::LaunchChoice(std::uint64_t first_of_each, const std::optional<std::string>& pattern,
                           const NvtxRanges* ranges)
    : first_of_each_(first_of_each), ranges_(ranges) {
    if (!pattern) return;
    matches_ = [regex = std::regex(*pattern, std::regex::ECMAScript | std::regex::optimize)](
                   const std::string& text) { return std::regex_search(text, regex); };
}

bool LaunchChoice::wants(const std::string& name) {
    const auto known = wanted_.find(name);
    if (known != wanted_.end()) return known->second;
    const bool wanted = matches_
                            ? matches_(demangled(name))
                            : name.find("nccl") == name.npos && name.find("nvshmem") == name.npos;
    wanted_.emplace(name, wanted);
    return wanted;
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
