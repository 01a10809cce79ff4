#include "core/text/files_in_use.h"

#include <errno.h>
#include <fmt/core.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/text/describe.h"

namespace coalprof {

namespace {

struct Input {
    FileIdentity file;
    std::string name;
};

struct FilesInUse {
    std::mutex mutex;
    bool remembers_inputs = false;
    std::vector<Input> inputs;
    std::vector<const OutputClaim*> outputs;
};

// Never destroyed: threads may read while the process ends.
FilesInUse& in_use() {
    static FilesInUse& all = *new FilesInUse;
    return all;
}

std::optional<FileIdentity> identity_in(const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return FileIdentity{status.st_dev, status.st_ino};
}

[[noreturn]] void refuse(const std::string& output, const std::string& input) {
    throw UsageError(fmt::format("cannot write {}: this is the file that is read ({})",
                                 shown(output), shown(input)),
                     "give the result another name");
}

}  // namespace

std::optional<FileIdentity> identity_of(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return std::nullopt;
    return identity_in(status);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    errno = ENOENT;  // unless it is a regular file
    return identity_in(status);
}

InputMemory::InputMemory() {
    const std::lock_guard lock(in_use().mutex);
    in_use().remembers_inputs = true;
}

InputMemory::~InputMemory() {
    const std::lock_guard lock(in_use().mutex);
    in_use().remembers_inputs = false;
    in_use().inputs.clear();
}

void note_input(const std::optional<FileIdentity>& file, const std::string& name) {
    FilesInUse& all = in_use();
    const std::lock_guard lock(all.mutex);
    if (!file || !all.remembers_inputs) return;
    for (const OutputClaim* output : all.outputs)
        if (output->writes(*file)) refuse(output->name(), name);
    if (std::ranges::find(all.inputs, *file, &Input::file) == all.inputs.end())
        all.inputs.push_back({*file, name});
}

void note_input(const std::string& path) {
    if (path == "-") return note_input(identity_of(STDIN_FILENO), "standard input");
    note_input(identity_of(path), path);
}

OutputClaim::OutputClaim(std::string name, std::string place, const Files& files)
    : name_(std::move(name)), place_(std::move(place)), files_(files) {
    FilesInUse& all = in_use();
    const std::lock_guard lock(all.mutex);
    for (const Input& input : all.inputs)
        if (writes(input.file)) refuse(name_, input.name);
    for (const OutputClaim* other : all.outputs)
        if (shares_place_with(*other))
            throw UsageError(fmt::format("cannot write {}: two outputs cannot go to the same place",
                                         shown(name_)),
                             "give each output a separate file; one of them may be -");
    all.outputs.push_back(this);
}

OutputClaim::~OutputClaim() {
    FilesInUse& all = in_use();
    const std::lock_guard lock(all.mutex);
    std::erase(all.outputs, this);
}

bool OutputClaim::shares_place_with(const OutputClaim& other) const {
    return (!place_.empty() && place_ == other.place_) ||
           (files_.replaced && files_.replaced == other.files_.replaced);
}

FilePlace PlaceFinder::at(std::size_t offset) {
    if (offset < line_start_) *this = PlaceFinder(text_);
    for (; counted_ < offset && counted_ < text_.size(); ++counted_) {
        if (text_[counted_] != '\n') continue;
        ++line_;
        line_start_ = counted_ + 1;
    }
    return {line_, static_cast<std::uint32_t>(offset - line_start_ + 1)};
}

std::string text_of(const std::string& file, const FilePlace& place) {
    return fmt::format("{}:{}:{}", shown(file), place.line, place.column);
}

}  // namespace coalprof
