#include "cupti/attach/orders.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace coalprof {
namespace {

constexpr const char* folder_variable = "COALPROF_ATTACH_FOLDER";
constexpr const char* first_variable = "COALPROF_ATTACH_FIRST";
constexpr const char* kernel_variable = "COALPROF_ATTACH_KERNEL";
constexpr const char* pass_variable = "COALPROF_ATTACH_PASS";

}  // namespace

std::vector<std::pair<std::string, std::string>> variables_of(const AttachOrders& orders) {
    std::vector<std::pair<std::string, std::string>> variables{
        {folder_variable, orders.folder},
        {first_variable, std::to_string(orders.first_of_each)},
        {pass_variable, orders.pass == RunPass::use ? "use" : "traffic"}};
    if (orders.kernel) variables.emplace_back(kernel_variable, *orders.kernel);
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
    if (const char* pass = std::getenv(pass_variable); pass && std::string_view(pass) == "use")
        orders.pass = RunPass::use;
    return orders;
}

std::string trace_name(std::uint64_t process) { return fmt::format("{}.trace", process); }

}  // namespace coalprof
