#include "core/pattern/access_set.h"

namespace coalprof {
namespace {

Access access_of(AccessKind kind, Space space, LoadPath path) {
    const bool is_load = kind == AccessKind::load;
    switch (space) {
        case Space::global:
            if (is_load && path == LoadPath::tex) return Access::texture_load;
            return static_cast<Access>(kind);
        case Space::shared:
            if (is_load) return Access::shared_load;
            return kind == AccessKind::store ? Access::shared_store : Access::shared_atomic;
        case Space::constant: return Access::constant_load;
        case Space::local: return is_load ? Access::local_load : Access::local_store;
    }
    return Access::global_load;  // unreachable: the switch is complete
}

static_assert(static_cast<int>(AccessKind::load) == static_cast<int>(Access::global_load) &&
              static_cast<int>(AccessKind::reduce) == static_cast<int>(Access::global_reduce));

}  // namespace

AccessSet accesses_of(const Program& program) {
    AccessSet accesses;
    for (const Instruction& instruction : program.instructions)
        accesses.add(access_of(instruction.kind, instruction.space, instruction.path));
    return accesses;
}

AccessSet accesses_of(const WarpAccess& warp) {
    return {access_of(warp.kind, warp.space, LoadPath::ld)};
}

}  // namespace coalprof
