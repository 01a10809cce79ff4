// A file that appears whole or not at all. The bytes go to a temporary file beside the target,
// which takes the target's place when commit() has brought them to the disk; until then, and after
// any failure, the old file stays as it was and nothing is left over; SIGKILL alone leaves the
// temporary file. A target that is no regular file (a device, a pipe) is written directly. Where an
// old file cannot be replaced (a mount point, somebody else's in a sticky folder), the temporary
// file stays, and the error names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/text/files_in_use.h"
#include "core/write/byte_sink.h"

struct stat;

namespace coalprof {

// What core/write/part_file.h adds to a name; no output ends in it.
constexpr std::string_view part_suffix = ".part.jsonl";

class OutputFile : public ByteSink {
 public:
    // Opens the target, so that a path that cannot be written fails before anything is measured;
    // UsageError if it is an input or another output's (files_in_use.h). A symbolic link is
    // followed: its target is replaced, the link stays. An existing file keeps its permissions. All
    // failures, here and later, throw Error (ExitCode::output) with the path and the system's
    // reason. Waits until a pipe has a reader; Stopped if a signal ends that. UsageError for
    // the name of a part file.
    explicit OutputFile(std::string path);
    ~OutputFile() override;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes) override;
    bool is_live() const override;
    const std::string& path() const { return path_; }  // the path as it was given
    // Ends the file and puts it in place. Without it, the destructor discards the bytes.
    void commit();
    // The same for a part of the result: it becomes partial_path(target()), or the next free name,
    // and an old file at the target stays. Output that is written directly is there already.
    void commit_part();
    // After either: a remark for the user on anything unusual; empty where there is none.
    const std::string& remark() const { return remark_; }

 private:
    void claim(const std::string& place, const OutputClaim::Files& files);
    void open_directly();
    void open_temporary(const struct stat* old);
    bool create_in(const std::string& folder, const std::string& name, mode_t mode);
    void finish_bytes();
    void place(const std::string& target);
    void sync_folder() const;
    [[noreturn]] void fail(std::string_view doing, int error);
    [[noreturn]] void fail_keeping_bytes(const std::string& target, int error);
    void discard() noexcept;

    std::optional<OutputClaim> claim_;
    std::string path_;       // the path as the user gave it
    std::string target_;     // the same with links followed
    std::string temporary_;  // empty: written directly, or in place already
    std::string remark_;
    int fd_ = -1;
};

// The place of a part of a result: F.partial.json of F.json, F.partial of F; F.partial.2.json if
// that exists.
std::string partial_path(const std::string& path, int number = 1);

}  // namespace coalprof
