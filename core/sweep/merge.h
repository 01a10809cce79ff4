// Results of the shards of one sweep as the result of the whole, in the order of its points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct ShardFile {
    std::string path;
    ResultHead head;
    std::uint64_t index = 0;  // its number, from 1
    std::uint64_t count = 0;
    std::int64_t points = 0;  // points of the whole sweep
};

class ShardMerge {
 public:
    // Reads the head of each file, which must be readable twice. Throws UsageError naming shards
    // that are missing (unless `allows_missing`), double, or of another sweep.
    ShardMerge(const std::vector<std::string>& paths, bool allows_missing);
    // Every point of every shard; partial or interrupted where one of them is, or one is missing,
    // or lacks points. Passes on exceptions of the sink; throws UsageError where a shard has more
    // points than it can, one of them twice, or another result after them.
    Status write(ResultSink& sink) const;

 private:
    ResultHead head() const;

    std::vector<ShardFile> files_;  // sorted by index
    std::vector<std::uint64_t> missing_;
};

}  // namespace coalprof
