// What `coalprof run` saved for each process of a program (MPI ranks) as one result: counts are
// sums, times those of the slowest, and a finding is said once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

class RankSum : public ResultSink {
 public:
    // True of a program's result by the same parts (kernels, lines) as those before.
    bool takes(const ResultHead& head) const;
    void start(const std::string& file) { file_ = file; }
    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;
    std::string names() const;  // a line for each file with its host; empty: there is none
    void write(ResultSink& sink);

 private:
    std::string file_;
    std::vector<std::string> names_;
    ResultHead head_;
    std::vector<Point> points_;  // in the order in which they came first
    std::map<std::string, std::size_t> by_name_;
    std::vector<std::size_t> ranks_;  // of the tail's findings: results that have it
    ResultTail tail_;
};

}  // namespace coalprof
