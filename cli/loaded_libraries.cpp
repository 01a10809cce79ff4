#include "cli/loaded_libraries.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 5> beginnings{"libcuda.", "libnvrtc", "libcupti",
                                                     "libnvperf", "libnvidia-"};

bool is_of_cuda(std::string_view path) {
    path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view beginning) { return path.starts_with(beginning); });
}

}  // namespace

std::vector<std::string> loaded_cuda_libraries() {
    std::vector<std::string> paths;
    const auto visit = [](dl_phdr_info* library, std::size_t, void* found) {
        if (library->dlpi_name && is_of_cuda(library->dlpi_name))
            static_cast<std::vector<std::string>*>(found)->emplace_back(library->dlpi_name);
        return 0;
    };
    ::dl_iterate_phdr(visit, &paths);
    return paths;
}

}  // namespace coalprof
