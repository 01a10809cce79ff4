#include "core/text/byte_source.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/name_list.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

[[noreturn]] void fail(std::string_view doing, const std::string& name, int error_number) {
    throw UsageError(fmt::format("cannot {} {}: {}", doing, shown(name),
                                 error_number == EISDIR ? "it is a folder; name a file in it"
                                                        : text_of_errno(error_number)),
                     error_number == ENOENT ? hint_for_missing(name) : std::string());
}

// As /dev/zero and /dev/urandom; a disk is as large as if it had none.
bool is_endless(int descriptor, const struct stat& status) {
    if (S_ISBLK(status.st_mode)) return true;
    struct stat null {};
    const bool is_null = ::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
    return S_ISCHR(status.st_mode) && !is_null && ::isatty(descriptor) == 0;
}

// Half an input is not used, whatever it looks like.
bool end_where_asked() {
    stop_if_asked();
    return false;
}

class FileSource : public ByteSource {
 public:
    FileSource(int descriptor, bool owned, std::string name, std::function<bool()> is_stopped)
        : descriptor_(descriptor),
          owned_(owned),
          name_(std::move(name)),
          is_stopped_(std::move(is_stopped)) {
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0) return;
        // stdin may be in the middle of a file that another program has read from.
        if (S_ISREG(status.st_mode)) start_ = ::lseek(descriptor_, 0, SEEK_CUR);
    }
    ~FileSource() override {
        if (owned_) ::close(descriptor_);
    }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    std::size_t read(std::span<char> into) override {
        while (true) {
            if (wait_for_input()) return 0;
            const ssize_t bytes = ::read(descriptor_, into.data(), into.size());
            if (bytes < 0 && errno != EINTR) fail("read", name_, errno);
            // The signal that ends this program often ends its writer, too.
            if (is_stopped_()) return 0;
            if (bytes >= 0) return static_cast<std::size_t>(bytes);
        }
    }
    bool can_rewind() const override { return start_ >= 0; }
    void rewind() override {
        if (::lseek(descriptor_, start_, SEEK_SET) < 0) fail("read again", name_, errno);
    }

 private:
    // True if the reading must stop. Signals are let in only while poll() waits: none can come
    // between the look at the flag and the wait, which would then last until there is input.
    bool wait_for_input() {
        const SignalsHeld held;
        if (is_stopped_()) return true;
        pollfd wanted{descriptor_, POLLIN, 0};
        ::ppoll(&wanted, 1, nullptr, &held.before());
        return is_stopped_();
    }

    int descriptor_;
    bool owned_;
    std::string name_;
    std::function<bool()> is_stopped_;
    off_t start_ = -1;
};

}  // namespace

std::string hint_for_missing(const std::string& typed) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(typed).parent_path();
    std::error_code error;
    glob_t matches{};
    const bool is_pattern = typed.find_first_of("*?[") != typed.npos &&
                            ::glob(typed.c_str(), 0, nullptr, &matches) == 0;
    ::globfree(&matches);
    if (is_pattern) return "its quotes keep the shell from replacing it by files: leave them out";
    if (!folder.empty() && !fs::is_directory(folder, error))
        return fmt::format("there is no folder {}", shown(folder.string()));
    const std::string first_word = typed.substr(0, typed.find(' '));
    if (first_word != typed && fs::exists(first_word, error))
        return fmt::format("each word stands alone: {}, without quotes around all", shown(typed));
    std::vector<std::string> files;
    for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
         at.increment(error)) {
        if (!at->is_directory(error) && at->path().stem() == fs::path(typed).stem() &&
            at->path().extension() == ".cu")
            return fmt::format("did you mean {}?",
                               shown((folder / at->path().filename()).string()));
        if (at->path().extension() == fs::path(typed).extension() && !at->is_directory(error))
            files.push_back((folder / at->path().filename()).string());
    }
    std::ranges::sort(files);
    const std::vector<std::string_view> views(files.begin(), files.end());
    if (const auto meant = nearest(typed, views)) return fmt::format("did you mean {}?", *meant);
    NameList names(3);
    for (const std::string& file : files) names.add(shown(file));
    return files.empty() ? "" : fmt::format("files of this kind here: {}", names.text());
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path, std::function<bool()> is_stopped) {
    auto source = open_own_bytes(path, std::move(is_stopped));
    note_input(path);
    return source;
}

std::unique_ptr<ByteSource> bytes_of_descriptor(int descriptor, const std::string& name) {
    auto source = std::make_unique<FileSource>(descriptor, true, name, end_where_asked);
    note_input(identity_of(descriptor), name);
    return source;
}

std::unique_ptr<ByteSource> open_own_bytes(const std::string& path,
                                           std::function<bool()> is_stopped) {
    if (!is_stopped) is_stopped = end_where_asked;
    const bool is_stdin = path == "-";
    int descriptor = is_stdin ? STDIN_FILENO : -1;
    // A pipe without a writer keeps open() waiting.
    while (descriptor < 0 && (descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) < 0) {
        if (errno != EINTR) fail("open", path, errno);
        if (is_stopped()) throw Stopped{};
    }
    const std::string name = is_stdin ? "stdin" : path;
    auto source = std::make_unique<FileSource>(descriptor, !is_stdin, name, std::move(is_stopped));
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return source;
    // A folder opens well and fails at the first read, so it is refused here.
    if (S_ISDIR(status.st_mode)) fail("read", name, EISDIR);
    if (is_endless(descriptor, status))
        throw Error(
            fmt::format("cannot read {}: it is a device, whose data has no end", shown(name)),
            ExitCode::usage);
    return source;
}

std::optional<std::string> read_whole(ByteSource& source, std::size_t most_bytes) {
    std::string text;
    std::array<char, 4096> block{};
    while (const std::size_t size = source.read(block)) {
        text.append(block.data(), size);
        if (text.size() > most_bytes) return std::nullopt;
    }
    return text;
}

}  // namespace coalprof
