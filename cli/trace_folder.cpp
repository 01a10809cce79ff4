#include "cli/trace_folder.h"

#ifdef COALPROF_HAS_CUDA

#include <dirent.h>
#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "core/text/describe.h"
#include "cupti/attach/orders.h"

namespace coalprof {

namespace {

Trace lost_traces(const std::string& folder, int error) {
    Trace none;
    none.problems.push_back(
        fmt::format("what was counted cannot be read from {}: {}", folder, text_of_errno(error)));
    return none;
}

// Opening a pipe would wait for its other end.
bool is_trace(const std::string& path) {
    struct stat status {};
    return path.ends_with(trace_extension) && ::lstat(path.c_str(), &status) == 0 &&
           S_ISREG(status.st_mode);
}

}  // namespace

std::vector<Trace> traces_in(const std::string& folder_path) {
    std::vector<Trace> all;
    // Not std::filesystem's, which ends the process where memory is short (libstdc++ 12).
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_path.c_str()), &::closedir);
    int error = folder ? 0 : errno;
    while (folder) {
        errno = 0;
        const dirent* entry = ::readdir(folder.get());
        if (!entry) {
            error = errno;
            break;
        }
        const std::string path = folder_path + '/' + entry->d_name;
        if (is_trace(path)) all.push_back(read_trace(path));
    }
    if (error != 0) all.push_back(lost_traces(folder_path, error));
    std::ranges::sort(all, {}, [](const Trace& trace) { return trace.process.id; });
    return all;
}

}  // namespace coalprof

#endif
