#include "cupti/attach/orders.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace coalprof {

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
