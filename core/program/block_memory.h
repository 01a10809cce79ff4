// The memory that a block reads and writes while it is executed: parameters, its shared memory, the
// local memory of a warp, and the arrays of the launch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/program/arithmetic.h"
#include "core/program/execute.h"

namespace coalprof {

// An access of a warp, checked to be within its memory.
struct CheckedAccess {
    PtxState state = PtxState::global;  // never generic
    WarpAccess warp;
    Growth growth{};
    const LaunchArray* array = nullptr;  // the array of all lanes; none: several, or no array
};

// Shared memory, or the local memory of a warp: bytes, and for each word the arrays without given
// content that it depends on.
struct NearBytes {
    std::vector<std::uint8_t> bytes;
    std::vector<UnsaidArrays> unsaid;  // empty: nothing
    void clear();
    UnsaidArrays unsaid_at(std::uint64_t at, std::uint32_t count) const;
    void set_unsaid(std::uint64_t at, std::uint32_t count, UnsaidArrays from);
};

// At most 8 bytes of the parameters of the launch.
std::uint64_t number_of_parameter(const KernelLaunch& launch, std::uint64_t address,
                                  std::uint32_t bytes);

class BlockMemory {
 public:
    BlockMemory(const Code& code, const KernelLaunch& launch, LaunchMemory& memory);

    void begin_block();
    std::uint64_t shared_bytes() const { return shared_.bytes.size(); }
    std::size_t local_bytes() const { return warp_lanes * code_.local_bytes; }

    // `local`: of the warp, lane by lane; of local_bytes(), or empty until it is needed.
    void load(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
              std::size_t number, std::uint8_t bits, LaneValue& result);
    // Stores the `number`th element of an access, `value`.
    void store(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
               std::size_t number, const LaneValue& value);
    // From global to shared memory; `sizes`: of each lane, zeros follow; null: the width.
    void copy(const PtxStep& step, const CheckedAccess& from, const LaneValue& to,
              const LaneValue* sizes, UnsaidArrays unsaid);
    // A tensor map brings bytes to this place and those after it: how many only the map says.
    void forget_from(const CheckedAccess& access);
    // An atomic, lane by lane; returns the earlier values.
    void change(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
                const LaneValue& first, const LaneValue& last, LaneValue& before);

    // True if all blocks of a box read the same wherever they read.
    bool is_constant(const CheckedAccess& access) const;

 private:
    NearBytes& near_of(const CheckedAccess& access, NearBytes& local);
    template <typename Visit>
    void each_place(const CheckedAccess& access, std::uint64_t more, std::uint32_t bytes,
                    Visit visit) const;
    void load_far(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                  std::uint32_t bytes, LaneValue& result);
    void load_near(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                   std::uint32_t bytes, LaneValue& result);
    void store_near(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                    std::uint32_t bytes, const LaneValue& value);
    // The offset of the lane's address in shared or local memory; nothing if it is beyond its end.
    std::optional<std::uint64_t> place_of(const CheckedAccess& access, std::uint64_t address,
                                          std::uint32_t lane, std::uint32_t bytes) const;
    std::uint64_t read(const CheckedAccess& access, NearBytes& local, std::uint64_t address,
                       std::uint32_t lane, std::uint32_t bytes, UnsaidArrays& unsaid);
    void write(const CheckedAccess& access, NearBytes& local, std::uint64_t address,
               std::uint32_t lane, std::uint64_t value, std::uint32_t bytes, UnsaidArrays unsaid);

    const Code& code_;
    const KernelLaunch& launch_;
    LaunchMemory& memory_;
    NearBytes shared_;
};

}  // namespace coalprof
