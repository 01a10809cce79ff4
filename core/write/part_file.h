// The points of a run, kept as they are finished, also before their place in the result is reached:
// JSON Lines in F.part.jsonl beside F, the file that the run will write. Whatever ends the process,
// the points are there, and --resume continues after them (core/run/run_points.h). Finished lines
// are never cut. The file is removed when a result that has all of its points is in place.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result/result.h"
#include "core/text/files_in_use.h"

namespace coalprof {

class PartFile : public ResultSink {
 public:
    // Passes the result on to `next`. The file is made with the first point kept, and removed when
    // `next` has finished a result that is not interrupted. `note` gets warnings for the user:
    // points that cannot be kept are no failure of the run.
    PartFile(const std::string& output, ResultSink& next,
             std::function<void(std::string_view)> note);
    ~PartFile() override;
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    const std::string& path() const { return path_; }
    // Before the first point: takes the file of an earlier run. False if there is none, or none
    // with a finished line. Throws UsageError where another run uses it, or it cannot be used.
    bool take_over();

    // After begin(). A replayed point is in the file already.
    void keep(const Point& point, bool is_replayed);
    // True if an interrupted run leaves its points here.
    bool is_kept() const { return is_kept_; }

    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    class Bytes;
    bool has_points() const { return was_written_ || goes_on_; }
    void write(std::string_view bytes);
    int open_locked(int more_flags);
    bool cut_unfinished_line() const;
    bool remove();
    void give_up(std::string_view doing, int error);
    void close() noexcept;
    template <typename Work>
    void hand_on(Work work);

    std::string path_;
    std::string place_;  // the same without links, which may be changed while it is open
    ResultSink& next_;
    std::function<void(std::string_view)> note_;
    std::unique_ptr<Bytes> bytes_;
    std::unique_ptr<ResultSink> lines_;
    int fd_ = -1;
    std::optional<FileIdentity> identity_;  // tells if path_ is replaced
    bool goes_on_ = false;                  // it continues an earlier run's file
    bool was_written_ = false;              // it has a point of this run
    bool is_replaying_ = false;
    bool is_tail_ = false;
    bool is_kept_ = true;
    std::chrono::steady_clock::time_point synced_{};
};

}  // namespace coalprof
