// The points of a run, kept as they are finished, also before their place in the result is reached:
// JSON Lines beside the file that the run will write, until that file is complete. Whatever ends
// the process, the points are there, and a later run can continue after them
// (core/run/run_points.h). Finished lines are never cut, and a file that this run has not made or
// continued is not touched: a journal belongs to one sweep. It is removed when a result that has
// all of its points is in place.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"
#include "core/text/files_in_use.h"
#include "core/write/byte_sink.h"
#include "core/write/file_descriptor.h"

namespace coalprof {

// F.json.journal, F.json.2.journal, ... of F.json: those of other sweeps and of earlier runs are
// beside it. No output has such a name (core/write/output_file.h).
std::string journal_path(const std::string& output, int number = 1);

// Journals beside an output with at least one finished line, so that a run could continue from
// there.
std::vector<std::string> journals_beside(const std::string& output);

class Journal : public ResultSink {
 public:
    // Passes the result on to `next`. A file is made with the first point kept, under the first
    // name that is free, and removed when `next` has finished a result that is not interrupted.
    // `note` gets warnings for the user: a journal that cannot be kept is no failure of the run.
    Journal(std::string output, ResultSink& next, std::function<void(std::string_view)> note);
    ~Journal() override;
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // Before the first point: continues this file of an earlier run. False if another run uses it.
    bool go_on(const std::string& path);
    // Other journals of the same sweep, removed with this one when the result is complete.
    void supersede(std::vector<std::string> paths) { superseded_ = std::move(paths); }

    // After begin(). A replayed point is in the journal already.
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
    bool open();
    bool create();
    int open_locked(int flags);
    bool cut_unfinished_line() const;
    bool remove();
    void give_up(std::string_view doing, int error);
    void close() noexcept;
    template <typename Work>
    void hand_on(Work work);

    std::string output_;
    std::string path_;
    std::string place_;  // the same without links, which may be changed while it is open
    std::vector<std::string> superseded_;
    ResultSink& next_;
    std::function<void(std::string_view)> note_;
    std::unique_ptr<Bytes> bytes_;
    std::unique_ptr<ResultSink> lines_;
    int fd_ = -1;
    std::optional<FileIdentity> identity_;  // of path_, to notice if it is replaced
    bool goes_on_ = false;                  // from an earlier run
    bool was_made_ = false;
    bool was_written_ = false;  // it has a point of this run
    bool is_open_ = false;      // the next text begins a line
    bool is_replaying_ = false;
    bool is_tail_ = false;
    bool is_kept_ = true;
    std::chrono::steady_clock::time_point synced_{};
};

}  // namespace coalprof
