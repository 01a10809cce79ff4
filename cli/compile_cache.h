// What compilers made, kept for the next call in a folder of the user's own: --cache-dir ("none":
// nothing is kept), else coalprof in $XDG_CACHE_HOME or ~/.cache. An entry is found by the
// content of all that went in, and only in files that nobody else can have written. What cannot be
// kept is made once more.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

class CompileCache {
 public:
    // `key`: all that went in but files that the compiler found itself.
    CompileCache(const std::string& cache_dir, std::string_view key);

    struct Entry {
        std::vector<std::string> files;  // that the compiler read
        std::vector<std::string> values;
    };
    // None where one of its files is not as it was.
    std::optional<Entry> find() const;
    void keep(const Entry& entry) const;

 private:
    void remove_oldest() const;

    std::string folder_;  // empty: nothing is kept
    std::string path_;
};

}  // namespace coalprof
