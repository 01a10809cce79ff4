// Headers of a source's own repository, in folders that -I does not name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace coalprof {

class RepositoryHeaders {
 public:
    // The repository is the nearest folder around the source that has .git; without one the three
    // folders around the source are looked into, and those below them are not.
    explicit RepositoryHeaders(const std::string& source);

    // The folder from which the header is found by its name, the nearest to the source. Empty:
    // none.
    std::string folder_of(const std::string& header) const;

 private:
    std::vector<std::filesystem::path> around_;         // the source's own folder is the first
    mutable std::vector<std::filesystem::path> below_;  // files of the repository
    std::filesystem::path root_;                        // empty: there is none
};

}  // namespace coalprof
