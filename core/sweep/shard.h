// Parts of a sweep, for several GPUs, hosts or jobs: I of N, each a run of neighbouring points, so
// that the results one after the other are the result of the whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace coalprof {

struct Shard {
    std::uint64_t index = 1;  // its number, from 1
    std::uint64_t count = 1;

    // Points first() to end() - 1 of `points` are this shard's.
    std::uint64_t first(std::uint64_t points) const;
    std::uint64_t end(std::uint64_t points) const { return Shard{index + 1, count}.first(points); }
    std::string text() const;  // "2/4"
};

// Looks up an environment variable; nullptr where it is not set.
using GetVariable = std::function<const char*(const char* name)>;

// "2/4"; "auto": from the environment of Slurm, Open MPI, PMI, PMIx, or an indexed Job of
// Kubernetes; "auto/4" where that gives the index alone: task 3 of a Slurm array is 3/4. Throws
// UsageError, also where an array may be a part of another one.
Shard parse_shard(std::string_view text, const GetVariable& variable,
                  std::string_view option = "--shard");

}  // namespace coalprof
