// The points of a run, kept as they are finished, also before their turn in the result has come:
// JSON Lines beside the file that the run will write, until that file is complete. Whatever ends
// the process, the points are there, and a later run can go on behind them (core/run/replay.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/result/result.h"
#include "core/write/byte_sink.h"

namespace coalprof {

// Where the journal of an output lies: F.partial.jsonl of F.json.
std::string journal_path(const std::string& output);

// False where a run can only begin: there is no journal, or none of its lines was finished.
bool may_hold_points(const std::string& journal);

class Journal : public ResultSink {
 public:
    // Hands the result on to `next`. The file is made with the first point kept, and taken away
    // when `next` has finished a result that is not interrupted. `note` is told what the user
    // should know: a journal that cannot be kept is no failure of the run.
    Journal(std::string path, ResultSink& next, std::function<void(std::string_view)> note);
    ~Journal() override;
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    // After begin(). A point that is replayed comes from the journal itself and is in it.
    void keep(const Point& point, bool is_replayed);
    // Whether the points of an interrupted run will be found here.
    bool is_kept() const { return is_kept_; }

    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    class Bytes;
    void write(std::string_view bytes);
    bool open();
    bool cut_behind_replayed() const;
    void give_up(std::string_view doing, int error);
    void close() noexcept;
    template <typename Work>
    void hand_on(Work work);

    std::string path_;
    ResultSink& next_;
    std::function<void(std::string_view)> note_;
    std::unique_ptr<Bytes> bytes_;
    std::unique_ptr<ResultSink> lines_;
    int fd_ = -1;
    bool was_made_ = false;
    std::uint64_t points_ = 0;
    std::uint64_t replayed_ = 0;
    bool is_replaying_ = false;
    bool is_kept_ = true;
    std::chrono::steady_clock::time_point synced_{};
};

}  // namespace coalprof
