// The best combination of the swept settings for the pattern: every combination of `--dlcm`,
// `--carveout` and the others is compared with the rest over all values of the pattern's parameter,
// by measured time where there is one, else by prediction.
#pragma once

#include <memory>
#include <vector>

#include "core/result/result.h"
#include "core/sweep/sweep.h"

namespace coalprof {

class SettingsJudge {
 public:
    SettingsJudge();
    ~SettingsJudge();
    SettingsJudge(const SettingsJudge&) = delete;
    SettingsJudge& operator=(const SettingsJudge&) = delete;

    // `point` is the answer for `planned`. Nothing is kept of a sweep without swept settings.
    void add(const PlannedPoint& planned, const Point& point);
    // One for each machine or GPU with several combinations, in the order of their points.
    std::vector<Verdict> verdicts() const;

    struct Contest;  // of the combinations of one machine or GPU

 private:
    std::vector<std::unique_ptr<Contest>> contests_;
};

}  // namespace coalprof
