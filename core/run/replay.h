// Points of an earlier run that a journal has kept, and behind them those that are still to be
// answered.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/run/backend.h"

namespace coalprof {

class ReplayedBackend : public Backend {
 public:
    // `journal` is a file of JSON Lines; `is_replaying` hears when its points begin and end.
    ReplayedBackend(Backend& inner, std::string journal, std::function<void(bool)> is_replaying);

    // Throws UsageError where the journal is of another command or another GPU.
    void begin(ResultHead& head) override;
    // The points of the journal as far as they are those of the source, then `inner`'s.
    void answer(PointSource& source, Delivery& delivery) override;

 private:
    Backend& inner_;
    std::string journal_;
    std::function<void(bool)> is_replaying_;
};

// The words of a command line that say what is asked for, without those that say where the answer
// goes and how it is told.
std::vector<std::string> question_in(const std::vector<std::string>& argv);

}  // namespace coalprof
