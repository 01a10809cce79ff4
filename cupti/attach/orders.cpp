#include "cupti/attach/orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/text/symbol.h"

namespace coalprof {
namespace {

constexpr const char* folder_variable = "COALPROF_ATTACH_FOLDER";
constexpr const char* first_variable = "COALPROF_ATTACH_FIRST";
constexpr const char* kernel_variable = "COALPROF_ATTACH_KERNEL";
constexpr const char* one_kernel_variable = "COALPROF_ATTACH_ONE_KERNEL";
constexpr const char* pass_variable = "COALPROF_ATTACH_PASS";
constexpr const char* ranges_variable = "COALPROF_ATTACH_RANGES";      // one a line
constexpr const char* left_out_variable = "COALPROF_ATTACH_LEFT_OUT";  // one a line

constexpr const char* code_variable = "COALPROF_ATTACH_TELL_OF_CODE";

constexpr std::array pass_names{"traffic", "use", "lines",
                                "machine_code"};  // the order is that of RunPass

std::vector<std::string> lines_of(const char* variable) {
    std::vector<std::string> all;
    const char* value = std::getenv(variable);
    std::istringstream lines(value ? value : "");
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> variables_of(const AttachOrders& orders) {
    std::vector<std::pair<std::string, std::string>> variables{
        {folder_variable, orders.folder},
        {first_variable, std::to_string(orders.first_of_each)},
        {pass_variable, pass_names[static_cast<std::size_t>(orders.pass)]}};
    if (orders.kernel) variables.emplace_back(kernel_variable, *orders.kernel);
    if (!orders.one_kernel.empty()) variables.emplace_back(one_kernel_variable, orders.one_kernel);
    if (!orders.ranges.empty())
        variables.emplace_back(ranges_variable, fmt::format("{}", fmt::join(orders.ranges, "\n")));
    if (!orders.left_out.empty())
        variables.emplace_back(left_out_variable,
                               fmt::format("{}", fmt::join(orders.left_out, "\n")));
    if (orders.tells_of_code) variables.emplace_back(code_variable, "1");
    return variables;
}

std::optional<AttachOrders> orders_of_environment() {
    const char* folder = std::getenv(folder_variable);
    const char* first = std::getenv(first_variable);
    if (!folder || !first) return std::nullopt;
    AttachOrders orders;
    orders.folder = folder;
    orders.first_of_each = std::strtoull(first, nullptr, 10);
    if (const char* kernel = std::getenv(kernel_variable)) orders.kernel = kernel;
    if (const char* kernel = std::getenv(one_kernel_variable)) orders.one_kernel = kernel;
    if (const char* pass = std::getenv(pass_variable)) {
        const auto known = std::ranges::find(pass_names, std::string_view(pass));
        if (known != pass_names.end())
            orders.pass = static_cast<RunPass>(known - pass_names.begin());
    }
    orders.ranges = lines_of(ranges_variable);
    const std::vector<std::string> left_out = lines_of(left_out_variable);
    orders.left_out = {left_out.begin(), left_out.end()};
    orders.tells_of_code = std::getenv(code_variable) != nullptr;
    return orders;
}

std::string trace_name(std::uint64_t process) {
    return fmt::format("{}{}", process, trace_extension);
}

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
