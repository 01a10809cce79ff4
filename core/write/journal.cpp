#include "core/write/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/file_descriptor.h"
#include "core/write/output_file.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

// What a power failure may take. A process that is killed loses nothing: the system has the bytes.
constexpr std::chrono::seconds between_syncs{1};

}  // namespace

// Each line at once.
class Journal::Bytes : public ByteSink {
 public:
    explicit Bytes(Journal& journal) : journal_(journal) {}
    void write(std::string_view bytes) override { journal_.write(bytes); }
    bool is_live() const override { return true; }

 private:
    Journal& journal_;
};

std::string journal_path(const std::string& output) {
    const std::string partial = partial_path(output);
    const std::size_t dot = partial.rfind('.');
    constexpr std::string_view suffix = ".jsonl";
    const bool has_none = partial.substr(dot) == ".partial";
    return partial.substr(0, has_none ? partial.size() : dot).append(suffix);
}

bool may_hold_points(const std::string& journal) {
    const int fd = above_standard(::open(journal.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd < 0) return errno != ENOENT;
    std::array<char, 1 << 16> block;
    ssize_t size = 0;
    bool has_line = false;
    while (!has_line && (size = ::read(fd, block.data(), block.size())) != 0) {
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) break;
        has_line = std::find(block.data(), block.data() + size, '\n') != block.data() + size;
    }
    ::close(fd);
    return has_line || size < 0;  // whoever reads it says why it cannot be read
}

Journal::Journal(std::string path, ResultSink& next, std::function<void(std::string_view)> note)
    : path_(std::move(path)),
      next_(next),
      note_(std::move(note)),
      bytes_(std::make_unique<Bytes>(*this)),
      lines_(make_jsonl(*bytes_, {})) {}

Journal::~Journal() { close(); }

void Journal::begin(const ResultHead& head) {
    lines_->begin(head);
    next_.begin(head);
}

void Journal::keep(const Point& point, bool is_replayed) {
    replayed_ += is_replayed ? 1 : 0;
    is_replaying_ = is_replayed;
    lines_->point(point);
    is_replaying_ = false;
    ++points_;
}

void Journal::point(const Point& point) {
    hand_on([&] { next_.point(point); });
}

// Where no output is left that could be written, the points are here.
template <typename Work>
void Journal::hand_on(Work work) {
    try {
        work();
    } catch (const Error& error) {
        const bool is_kept = error.code() == ExitCode::output && (was_made_ || replayed_ > 0);
        if (is_kept) note_(fmt::format("points that were finished are in {}", shown(path_)));
        if (!is_kept && was_made_) ::unlink(path_.c_str());
        throw;
    }
}

void Journal::finish(const ResultTail& tail) {
    const bool is_interrupted = tail.status == Status::interrupted;
    if (is_interrupted && points_ > 0) {
        lines_->finish(tail);
        if (is_kept_)
            note_(
                fmt::format("the part that was finished is in {}; with --resume the same command "
                            "goes on from there",
                            shown(path_)));
    }
    hand_on([&] { next_.finish(tail); });
    if (is_interrupted && is_kept_) return;
    if ((was_made_ || replayed_ > 0) && ::unlink(path_.c_str()) != 0)
        note_(fmt::format("cannot remove {}, whose points are in the result: {}", shown(path_),
                          text_of_errno(errno)));
    close();
}

void Journal::write(std::string_view bytes) {
    if (is_replaying_ || !is_kept_) return;
    if (fd_ < 0 && !open()) return;
    if (const int error = write_all(fd_, bytes); error != 0) {
        // No point is in it, neither of this run nor of an earlier one.
        if (points_ == 0 && ::unlink(path_.c_str()) == 0) was_made_ = false;
        return give_up("write", error);
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - synced_ < between_syncs) return;
    synced_ = now;
    // A system that cannot sync this file has brought it as far as it does.
    [[maybe_unused]] const int synced = ::fdatasync(fd_);
}

// False where it cannot be. A file that is made in vain is taken away again.
bool Journal::open() {
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    fd_ = ::open(path_.c_str(), flags | O_CREAT | O_EXCL, 0666);
    const bool is_new = fd_ >= 0;
    if (!is_new && errno == EEXIST) fd_ = ::open(path_.c_str(), flags);
    fd_ = above_standard(fd_);
    std::string_view failed;
    if (fd_ < 0) {
        failed = "create";
    } else if (!is_new && !is_regular_file(fd_)) {
        failed = "write";
        errno = EEXIST;
    } else if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        failed = "lock";
    } else if (!cut_behind_replayed()) {
        failed = "write";
    } else {
        was_made_ = true;
        synced_ = std::chrono::steady_clock::now();
        return true;
    }
    const int error = errno;
    // Where it is locked, another run writes the same output and has begun.
    if (is_new && error != EWOULDBLOCK) ::unlink(path_.c_str());
    give_up(failed, error);
    return false;
}

// The replayed points are the first lines; what stands behind was cut, or is measured anew.
bool Journal::cut_behind_replayed() const {
    if (replayed_ == 0 && ::lseek(fd_, 0, SEEK_END) > 0)
        note_(
            fmt::format("{} held points of an earlier run; this one begins anew (--resume goes on)",
                        shown(path_)));
    std::uint64_t lines = 0;
    off_t end = 0;
    std::array<char, 1 << 16> block;
    if (::lseek(fd_, 0, SEEK_SET) < 0) return false;
    while (lines < replayed_) {
        const ssize_t size = ::read(fd_, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return false;
        if (size == 0) break;
        for (ssize_t i = 0; i < size && lines < replayed_; ++i, ++end)
            lines += block[static_cast<std::size_t>(i)] == '\n' ? 1 : 0;
    }
    return ::ftruncate(fd_, end) == 0 && ::lseek(fd_, end, SEEK_SET) == end;
}

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
