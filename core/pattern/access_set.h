// The accesses of a launch, as far as they decide which counters apply.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>

#include "core/access/warp_access.h"
#include "core/pattern/program.h"

namespace coalprof {

enum class Access : std::uint8_t {
    global_load,
    global_store,
    global_atomic,
    global_reduce,  // the order is that of AccessKind
    shared_load,
    shared_store,
    shared_atomic,
    constant_load,
    local_load,
    local_store,
    texture_load,
};

// A set of Access.
class AccessSet {
 public:
    constexpr AccessSet() = default;
    constexpr AccessSet(std::initializer_list<Access> accesses) {
        for (const Access access : accesses) add(access);
    }
    constexpr void add(Access access) { bits_ |= 1u << static_cast<unsigned>(access); }
    constexpr void add(AccessSet others) { bits_ |= others.bits_; }
    constexpr bool has(Access access) const {
        return (bits_ >> static_cast<unsigned>(access) & 1u) != 0;
    }
    constexpr bool meets(AccessSet other) const { return (bits_ & other.bits_) != 0; }
    friend auto operator<=>(AccessSet, AccessSet) = default;

 private:
    std::uint32_t bits_ = 0;
};

// Those of global memory, on any path.
inline constexpr AccessSet global_accesses{Access::global_load, Access::global_store,
                                           Access::global_atomic, Access::global_reduce,
                                           Access::texture_load};

// The accesses of a program's instructions.
AccessSet accesses_of(const Program& program);
// The accesses of a single warp instruction.
AccessSet accesses_of(const WarpAccess& warp);

}  // namespace coalprof
