#include "cli/trace_folder.h"

#ifdef COALPROF_HAS_CUDA

#include <errno.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "core/text/error.h"
#include "core/write/file_descriptor.h"
#include "cupti/attach/orders.h"

namespace coalprof {

TraceFolder::TraceFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "coalprof-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        throw Error(
            fmt::format("cannot create a folder in {}: {}",
                        std::filesystem::temp_directory_path().string(), text_of_errno(errno)),
            ExitCode::output);
    path_ = name;
}

TraceFolder::~TraceFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<Trace> TraceFolder::traces() const {
    std::vector<Trace> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
        if (entry.path().extension() == trace_extension)
            all.push_back(read_trace(entry.path().string()));
    std::ranges::sort(all, {}, [](const Trace& trace) { return trace.process.id; });
    return all;
}

}  // namespace coalprof

#endif
