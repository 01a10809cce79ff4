#include "cli/repository_headers.h"

#include <algorithm>
#include <iterator>
#include <system_error>

namespace coalprof {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 200'000;
constexpr std::size_t most_folders_around = 4;

std::vector<fs::path> files_below(const fs::path& root) {
    std::vector<fs::path> files;
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(root, options, error), end;
         !error && at != end && files.size() < most_files; at.increment(error)) {
        if (at->path().filename().string().starts_with('.'))
            at.disable_recursion_pending();
        else if (!at->is_directory(error))
            files.push_back(at->path());
    }
    std::ranges::sort(files);
    return files;
}

std::ptrdiff_t common_parts(const fs::path& a, const fs::path& b) {
    return std::distance(a.begin(), std::ranges::mismatch(a, b).in1);
}

}  // namespace

RepositoryHeaders::RepositoryHeaders(const std::string& source) {
    std::error_code error;
    for (fs::path at = fs::absolute(source, error).lexically_normal().parent_path();
         at.has_relative_path(); at = at.parent_path()) {
        around_.push_back(at);
        if (fs::exists(at / ".git", error)) {
            root_ = at;
            return;
        }
    }
    around_.resize(std::min(around_.size(), most_folders_around));
}

std::string RepositoryHeaders::folder_of(const std::string& header) const {
    std::error_code error;
    for (const fs::path& folder : around_)
        for (const fs::path& one : {folder, folder / "include"})
            if (fs::is_regular_file(one / header, error)) return one.string();
    if (root_.empty() || header.find("..") != header.npos) return {};
    if (below_.empty()) below_ = files_below(root_);
    const std::string end = '/' + header;
    const fs::path* nearest = nullptr;
    for (const fs::path& one : below_)
        if (one.native().ends_with(end) &&
            (!nearest ||
             common_parts(one, around_.front()) > common_parts(*nearest, around_.front())))
            nearest = &one;
    return nearest ? nearest->native().substr(0, nearest->native().size() - end.size()) : "";
}

}  // namespace coalprof
