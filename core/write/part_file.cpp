#include "core/write/part_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/formats.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

// A power failure may lose this much. A process that is killed loses nothing: the system has the
// bytes.
constexpr std::chrono::seconds between_syncs{1};

// The end of the last complete line; negative with errno set where it cannot be read.
off_t end_of_lines(int fd) {
    off_t at = ::lseek(fd, 0, SEEK_END);
    std::array<char, 1 << 16> block;
    while (at > 0) {
        const off_t from = std::max<off_t>(0, at - static_cast<off_t>(block.size()));
        const ssize_t size = ::pread(fd, block.data(), static_cast<std::size_t>(at - from), from);
        if (size < 0 && errno == EINTR) continue;
        if (size < at - from) return -1;
        const std::string_view text(block.data(), static_cast<std::size_t>(size));
        if (const std::size_t end = text.rfind('\n'); end != text.npos)
            return from + static_cast<off_t>(end) + 1;
        at = from;
    }
    return at;
}

// True for the file of a run that was killed before its first line was whole. Anything else may be
// the user's.
bool is_unused(int fd) {
    constexpr std::string_view line_start = R"({"schema":"coalprof/)";
    std::array<char, line_start.size()> begin{};
    const ssize_t size = ::pread(fd, begin.data(), begin.size(), 0);
    return size >= 0 && end_of_lines(fd) == 0 &&
           line_start.starts_with({begin.data(), static_cast<std::size_t>(size)});
}

}  // namespace

// Writes each line at once.
class PartFile::Bytes : public ByteSink {
 public:
    explicit Bytes(PartFile& part) : part_(part) {}
    void write(std::string_view bytes) override { part_.write(bytes); }
    bool is_live() const override { return true; }

 private:
    PartFile& part_;
};

PartFile::PartFile(const std::string& output, ResultSink& next,
                   std::function<void(std::string_view)> note)
    : path_(output + std::string(part_suffix)),
      next_(next),
      note_(std::move(note)),
      bytes_(std::make_unique<Bytes>(*this)),
      lines_(find_format("jsonl").make_writer(*bytes_, {})) {}

PartFile::~PartFile() { close(); }

bool PartFile::take_over() {
    const int error = open_locked(0);
    if (error == ENOENT) return false;
    if (error == EWOULDBLOCK)
        throw UsageError(fmt::format("another run is writing {} now", shown(path_)),
                         "wait for it, or name another --output");
    if (error != 0)
        throw UsageError(fmt::format("cannot use {}: {}", shown(path_), text_of_errno(error)),
                         "remove it, or name another --output");
    return goes_on_ = !is_unused(fd_);
}

void PartFile::begin(const ResultHead& head) {
    lines_->begin(head);
    next_.begin(head);
}

void PartFile::keep(const Point& point, bool is_replayed) {
    is_replaying_ = is_replayed;
    lines_->point(point);
    is_replaying_ = false;
}

void PartFile::point(const Point& point) {
    hand_on([&] { next_.point(point); });
}

// If no output can be written any more, the points are here.
template <typename Work>
void PartFile::hand_on(Work work) {
    try {
        work();
    } catch (const Error& error) {
        if (error.code() == ExitCode::output && has_points())
            note_(fmt::format("points that were finished are in {}", shown(path_)));
        else if (!goes_on_)
            remove();
        throw;
    }
}

void PartFile::finish(const ResultTail& tail) {
    const bool is_interrupted = tail.status == Status::interrupted;
    if (is_interrupted && is_kept_ && has_points()) {
        is_tail_ = true;
        if (was_written_) lines_->finish(tail);
        note_(
            fmt::format("the part that was finished is in {}; with --resume the same command "
                        "goes on from there",
                        shown(path_)));
    }
    hand_on([&] { next_.finish(tail); });
    if (!is_interrupted && has_points() && !remove())
        note_(fmt::format("cannot remove {}, whose points are in the result: {}", shown(path_),
                          text_of_errno(errno)));
    close();
}

void PartFile::write(std::string_view bytes) {
    if (is_replaying_ || !is_kept_) return;
    if (fd_ < 0)
        if (const int error = open_locked(O_CREAT | O_EXCL); error != 0)
            return give_up("create", error);
    // The last line is no point: written without its line end, it is cut when a run continues.
    if (is_tail_) {
        [[maybe_unused]] const int error = write_all(fd_, bytes.substr(0, bytes.size() - 1));
        return;
    }
    const bool is_cut = was_written_ || cut_unfinished_line();
    if (const int error = is_cut ? write_all(fd_, bytes) : errno; error != 0) {
        if (!has_points()) remove();
        return give_up("write", error);
    }
    const auto now = std::chrono::steady_clock::now();
    if (!std::exchange(was_written_, true)) synced_ = now;
    if (now - synced_ < between_syncs) return;
    synced_ = now;
    // A file system without sync has done what it can.
    [[maybe_unused]] const int synced = ::fdatasync(fd_);
}

// 0, or the errno of the failure; EWOULDBLOCK: another run has it.
int PartFile::open_locked(int more_flags) {
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    fd_ = above_standard(::open(path_.c_str(), flags | more_flags, 0666));
    if (fd_ < 0) return errno;
    int error = 0;
    if (!is_regular_file(fd_))
        error = EEXIST;
    else if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
        error = errno;
    else if ((identity_ = identity_of(fd_)) != identity_of(path_))
        error = errno;  // ENOENT: it was removed before it was locked
    std::error_code unresolved;
    place_ = std::filesystem::canonical(path_, unresolved);
    if (unresolved) place_ = path_;
    if (error == 0) return 0;
    if (more_flags != 0 && error != EWOULDBLOCK && error != ENOENT) ::unlink(path_.c_str());
    close();
    return error;
}

bool PartFile::cut_unfinished_line() const {
    const off_t end = end_of_lines(fd_);
    return end >= 0 && ::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end;
}

// Unless another file has its name by now. False with errno set where it cannot be.
bool PartFile::remove() {
    if (!identity_) return true;
    if (identity_of(place_) != identity_) return errno == ENOENT;
    return ::unlink(place_.c_str()) == 0;
}

void PartFile::give_up(std::string_view doing, int error) {
    is_kept_ = false;
    close();
    note_(fmt::format("cannot {} {}: {}; points that are finished are not kept until the run ends",
                      doing, shown(path_), text_of_errno(error)));
}

void PartFile::close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace coalprof
