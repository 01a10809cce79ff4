#include "core/text/work_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

std::vector<std::string> temporary_places() {
    std::vector<std::string> all;
    std::error_code ignored;
    if (const char* named = ::getenv("TMPDIR"); named && *named)
        all.push_back(std::filesystem::absolute(named, ignored).string());
    for (const char* usual : {"/tmp", "/var/tmp", "/dev/shm"}) all.emplace_back(usual);
    std::erase(all, "");
    return all;
}

}  // namespace

WorkFolder::WorkFolder() {
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

WorkFolder::~WorkFolder() {
    keep_when_killed(path_);
    remove_folder(path_.c_str());
}

}  // namespace coalprof
