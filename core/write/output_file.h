// A file that appears whole or not at all. The bytes go to a temporary file beside the target,
// which takes the target's place when commit() has brought them to the disk; until then, and after
// any failure, the old file stays as it was and nothing is left behind. What is no regular file (a
// device, a pipe) is written directly.
#pragma once

#include <string>
#include <string_view>

#include "core/write/byte_sink.h"

struct stat;

namespace coalprof {

class OutputFile : public ByteSink {
 public:
    // Opens the target, so that a path that cannot be written fails before anything is measured.
    // A symbolic link is followed: the file that it names is replaced, the link stays. An existing
    // file keeps its permissions. All failures, here and later, throw Error (ExitCode::output) with
    // the path and the system's reason.
    explicit OutputFile(std::string path);
    ~OutputFile() override;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes) override;
    bool is_live() const override;
    // The file that commit() replaces: absolute, links followed; empty when written directly.
    const std::string& target() const { return target_; }
    // Ends the file and puts it in place. Without it, the destructor throws the bytes away.
    void commit();

 private:
    void open_beside(const struct stat* old);
    void sync_folder() const;
    [[noreturn]] void fail(std::string_view doing, int error);
    void discard() noexcept;

    std::string path_;       // as the user gave it
    std::string target_;     // with links followed
    std::string temporary_;  // empty: written directly, or in place already
    int fd_ = -1;
};

}  // namespace coalprof
