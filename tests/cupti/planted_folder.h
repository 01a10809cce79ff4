// A folder tree for one test, gone with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace coalprof {

class PlantedFolder {
 public:
    PlantedFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "coalprof-XXXXXX").string();
        root_ = mkdtemp(name.data());
    }
    ~PlantedFolder() { std::filesystem::remove_all(root_); }
    PlantedFolder(const PlantedFolder&) = delete;
    PlantedFolder& operator=(const PlantedFolder&) = delete;

    const std::filesystem::path& root() const { return root_; }
    std::string path(const std::string& file) const { return (root_ / file).string(); }
    void plant(const std::string& file, const std::string& text = "") {
        std::filesystem::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }

 private:
    std::filesystem::path root_;
};

}  // namespace coalprof
