// -v: what is done and how long it takes, on standard error.
#pragma once

namespace coalprof {

// While this lives each step is told when it ends, and steps of which there are many together at
// the end. One at a time.
class StepLines {
 public:
    explicit StepLines(bool wanted);
    ~StepLines();
    StepLines(const StepLines&) = delete;
    StepLines& operator=(const StepLines&) = delete;

 private:
    bool wanted_;
};

}  // namespace coalprof
