// The memory that a block reads and writes while it is executed: parameters, its shared memory, the
// local memory of a warp, and the arrays of the launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/program/arithmetic.h"
#include "core/program/execute.h"

namespace coalprof {

// An access of a warp that was found to be within its memory.
struct CheckedAccess {
    PtxState state = PtxState::global;  // never generic
    WarpAccess warp;
    Growth growth{};
    const LaunchArray* array = nullptr;  // that all lanes are in; none: several, or no array
};

class BlockMemory {
 public:
    BlockMemory(const Code& code, const KernelLaunch& launch, LaunchMemory& memory);

    void begin_block();
    std::uint64_t shared_bytes() const { return shared_.size(); }
    std::size_t local_bytes() const { return warp_lanes * code_.local_bytes; }

    // `local`: of the warp, lane by lane; as large as local_bytes(), or empty until it is needed.
    void load(const PtxStep& step, const CheckedAccess& access, std::vector<std::uint8_t>& local,
              std::size_t number, std::uint8_t bits, LaneValue& result);
    // Of an access whose `value` is the `number`th of its elements.
    void store(const PtxStep& step, const CheckedAccess& access, std::vector<std::uint8_t>& local,
               std::size_t number, const LaneValue& value);
    // An atomic, lane by lane; what was there before.
    void change(const PtxStep& step, const CheckedAccess& access, std::vector<std::uint8_t>& local,
                const LaneValue& first, const LaneValue& last, LaneValue& before);

    // Whether all blocks of a box read the same wherever they read.
    bool is_constant(const CheckedAccess& access) const;
    // Names of arrays that were read though nobody said what they hold.
    std::vector<std::string> take_missing();

 private:
    std::uint8_t* bytes_at(const CheckedAccess& access, std::vector<std::uint8_t>& local,
                           std::uint64_t address, std::uint32_t lane, std::uint32_t bytes);
    std::uint64_t read(const CheckedAccess& access, std::vector<std::uint8_t>& local,
                       std::uint64_t address, std::uint32_t lane, std::uint32_t bytes);
    void write(const CheckedAccess& access, std::vector<std::uint8_t>& local, std::uint64_t address,
               std::uint32_t lane, std::uint64_t value, std::uint32_t bytes);
    std::uint64_t parameter(std::uint64_t address, std::uint32_t bytes) const;
    void note_missing(const LaunchArray* array);

    const Code& code_;
    const KernelLaunch& launch_;
    LaunchMemory& memory_;
    std::vector<std::uint8_t> shared_;
    std::vector<const LaunchArray*> missing_;
};

}  // namespace coalprof
