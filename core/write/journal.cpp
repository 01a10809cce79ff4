#include "core/write/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
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
constexpr int journal_flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr int most_journals = 9;  // of one output
// The beginning of every line of a journal.
constexpr std::string_view journal_line_start = R"({"schema":"coalprof/)";

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
bool is_unused_journal(int fd) {
    std::array<char, journal_line_start.size()> begin{};
    const ssize_t size = ::pread(fd, begin.data(), begin.size(), 0);
    return size >= 0 && end_of_lines(fd) == 0 &&
           journal_line_start.starts_with({begin.data(), static_cast<std::size_t>(size)});
}

bool may_hold_points(const std::string& path) {
    const int fd = above_standard(::open(path.c_str(), journal_flags & ~O_RDWR));
    if (fd < 0) return errno == EACCES;  // reported when it is read
    const bool has_line = is_regular_file(fd) && end_of_lines(fd) != 0;
    ::close(fd);
    return has_line;
}

}  // namespace

// Writes each line at once.
class Journal::Bytes : public ByteSink {
 public:
    explicit Bytes(Journal& journal) : journal_(journal) {}
    void write(std::string_view bytes) override { journal_.write(bytes); }
    bool is_live() const override { return true; }

 private:
    Journal& journal_;
};

std::string journal_path(const std::string& output, int number) {
    const std::string end =
        number == 1 ? std::string(journal_suffix) : fmt::format(".{}{}", number, journal_suffix);
    const std::size_t slash = output.rfind('/');
    const std::size_t name = slash == output.npos ? 0 : slash + 1;
    return output.substr(0, name + NAME_MAX - end.size()).append(end);
}

std::vector<std::string> journals_beside(const std::string& output) {
    std::vector<std::string> found;
    for (int number = 1; number <= most_journals; ++number)
        if (std::string path = journal_path(output, number); may_hold_points(path))
            found.push_back(std::move(path));
    return found;
}

Journal::Journal(std::string output, ResultSink& next, std::function<void(std::string_view)> note)
    : output_(std::move(output)),
      next_(next),
      note_(std::move(note)),
      bytes_(std::make_unique<Bytes>(*this)),
      lines_(find_format("jsonl").make_writer(*bytes_, {})) {}

Journal::~Journal() { close(); }

bool Journal::go_on(const std::string& path) {
    path_ = path;
    const int error = open_locked(journal_flags);
    // ENOENT: the other run has just ended and removed its journal.
    if (error == EWOULDBLOCK || error == ENOENT) return false;
    goes_on_ = true;
    if (error == 0) return true;
    identity_ = identity_of(path_);
    give_up("write", error);
    return true;
}

void Journal::begin(const ResultHead& head) {
    lines_->begin(head);
    next_.begin(head);
}

void Journal::keep(const Point& point, bool is_replayed) {
    is_replaying_ = is_replayed;
    lines_->point(point);
    is_replaying_ = false;
}

void Journal::point(const Point& point) {
    hand_on([&] { next_.point(point); });
}

// If no output can be written any more, the points are here.
template <typename Work>
void Journal::hand_on(Work work) {
    try {
        work();
    } catch (const Error& error) {
        if (error.code() == ExitCode::output && has_points())
            note_(fmt::format("points that were finished are in {}", shown(path_)));
        else if (was_made_)
            remove();
        throw;
    }
}

void Journal::finish(const ResultTail& tail) {
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
    if (is_interrupted) return;
    if (has_points() && !remove())
        note_(fmt::format("cannot remove {}, whose points are in the result: {}", shown(path_),
                          text_of_errno(errno)));
    close();
    for (const std::string& path : std::exchange(superseded_, {})) {
        path_ = path;
        if (open_locked(journal_flags) == 0) remove();
        close();
    }
}

void Journal::write(std::string_view bytes) {
    if (is_replaying_ || !is_kept_) return;
    if (!is_open_ && !(is_open_ = open())) return;
    // The last line is no point: written without its line end, it is cut when a run continues.
    if (is_tail_) {
        [[maybe_unused]] const int error = write_all(fd_, bytes.substr(0, bytes.size() - 1));
        return;
    }
    if (const int error = write_all(fd_, bytes); error != 0) {
        if (was_made_ && !was_written_ && remove()) was_made_ = false;
        return give_up("write", error);
    }
    was_written_ = true;
    const auto now = std::chrono::steady_clock::now();
    if (now - synced_ < between_syncs) return;
    synced_ = now;
    // A file system without sync has done what it can.
    [[maybe_unused]] const int synced = ::fdatasync(fd_);
}

// False if no journal can be kept.
bool Journal::open() {
    if (!goes_on_ && !create()) return false;
    if (!cut_unfinished_line()) {
        const int error = errno;
        if (was_made_) remove();
        give_up("write", error);
        return false;
    }
    synced_ = std::chrono::steady_clock::now();
    return true;
}

// Under the first free name. A file that turns out unused is removed.
bool Journal::create() {
    int error = EEXIST;
    for (int number = 1; number <= most_journals; ++number) {
        path_ = journal_path(output_, number);
        error = open_locked(journal_flags | O_CREAT | O_EXCL);
        was_made_ = error == 0;
        if (error == EEXIST && open_locked(journal_flags) == 0) was_made_ = is_unused_journal(fd_);
        if (was_made_) return true;
        close();
        if (error != EEXIST && error != EWOULDBLOCK) break;
    }
    give_up("create", error);
    return false;
}

// 0, or the errno of the failure; EWOULDBLOCK: another run has it.
int Journal::open_locked(int flags) {
    close();
    fd_ = above_standard(::open(path_.c_str(), flags, 0666));
    if (fd_ < 0) return errno;
    int error = 0;
    if (!is_regular_file(fd_))
        error = EEXIST;
    else if (::flock(fd_, LOCK_EX | LOCK_NB) != 0)
        error = errno;
    else if ((identity_ = identity_of(fd_)) != identity_of(path_))
        error = ENOENT;  // it was removed before it was locked
    std::error_code unresolved;
    place_ = std::filesystem::canonical(path_, unresolved);
    if (error == 0) return 0;
    if ((flags & O_EXCL) != 0 && error != EWOULDBLOCK && error != ENOENT) ::unlink(path_.c_str());
    close();
    return error;
}

bool Journal::cut_unfinished_line() const {
    const off_t end = end_of_lines(fd_);
    return end >= 0 && ::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end;
}

// Unless another file has its name by now. False with errno set where it cannot be.
bool Journal::remove() { return identity_of(place_) != identity_ || ::unlink(place_.c_str()) == 0; }

void Journal::give_up(std::string_view doing, int error) {
    is_kept_ = false;
    close();
    note_(fmt::format("cannot {} {}: {}; points that are finished are not kept until the run ends",
                      doing, shown(path_), text_of_errno(error)));
}

void Journal::close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace coalprof
