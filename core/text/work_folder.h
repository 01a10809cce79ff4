// A folder for files of this run alone.
#pragma once

#include <string>

namespace coalprof {

// A new folder in $TMPDIR or the usual place of temporary files; removed with this object, or when
// the process is ended at once. Throws Error where none can be made.
class WorkFolder {
 public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const std::string& path() const { return path_; }  // absolute

 private:
    std::string path_;
};

}  // namespace coalprof
