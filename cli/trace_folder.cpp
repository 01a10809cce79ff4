#include "cli/trace_folder.h"

#ifdef COALPROF_HAS_CUDA

#include <dirent.h>
#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/runtime/remove_folder.h"
#include "core/runtime/signal.h"
#include "core/text/error.h"
#include "core/write/file_descriptor.h"
#include "cupti/attach/orders.h"

namespace coalprof {

namespace {

// Absolute, as the program may change to another folder.
std::vector<std::string> temporary_places() {
    std::vector<std::string> all;
    std::error_code ignored;
    if (const char* named = ::getenv("TMPDIR"); named && *named)
        all.push_back(std::filesystem::absolute(named, ignored).string());
    for (const char* usual : {"/tmp", "/var/tmp", "/dev/shm"}) all.emplace_back(usual);
    std::erase(all, "");
    return all;
}

Trace lost_traces(const std::string& folder, int error) {
    Trace none;
    none.problems.push_back(
        fmt::format("what was counted cannot be read from {}: {}", folder, text_of_errno(error)));
    return none;
}

// Whoever opens a pipe waits for its other end.
bool is_trace(const std::string& path) {
    struct stat status {};
    return path.ends_with(trace_extension) && ::lstat(path.c_str(), &status) == 0 &&
           S_ISREG(status.st_mode);
}

}  // namespace

TraceFolder::TraceFolder() {
    const std::vector<std::string> places = temporary_places();
    int error = 0;
    for (const std::string& place : places) {
        std::string name = place + "/coalprof-XXXXXX";
        if (::mkdtemp(name.data())) {
            path_ = name;
            remove_when_killed(path_);
            return;
        }
        if (error == 0) error = errno;
    }
    throw Error(fmt::format("cannot create a folder in any of {}: {} in the first; name one that "
                            "can be written by TMPDIR",
                            fmt::join(places, ", "), text_of_errno(error)),
                ExitCode::output);
}

TraceFolder::~TraceFolder() {
    keep_when_killed(path_);
    remove_folder(path_.c_str());
}

std::vector<Trace> TraceFolder::traces() const {
    std::vector<Trace> all;
    // Not std::filesystem's, which ends the process where memory is short (libstdc++ 12).
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path_.c_str()), &::closedir);
    int error = folder ? 0 : errno;
    while (folder) {
        errno = 0;
        const dirent* entry = ::readdir(folder.get());
        if (!entry) {
            error = errno;
            break;
        }
        const std::string path = path_ + '/' + entry->d_name;
        if (is_trace(path)) all.push_back(read_trace(path));
    }
    if (error != 0) all.push_back(lost_traces(path_, error));
    std::ranges::sort(all, {}, [](const Trace& trace) { return trace.process.id; });
    return all;
}

}  // namespace coalprof

#endif
