#include "core/formula/scope.h"

#include <algorithm>

#include "core/model/warp_access.h"

namespace coalprof {
namespace {

std::uint64_t unsigned_value(Variable variable, const Scope& scope, std::uint64_t thread) {
    const std::uint64_t in_block = thread % scope.block;
    const std::uint64_t block = thread / scope.block;
    switch (variable) {
        case Variable::i:
            return thread;
        case Variable::n:
            return scope.threads;
        case Variable::tid:
            return in_block;
        case Variable::bid:
            return block;
        case Variable::lane:
            return in_block % warp_lanes;
        case Variable::warp:
            return in_block / warp_lanes;
        case Variable::bdim:
            return scope.block;
        case Variable::gdim:
            return scope.blocks();
        case Variable::tid_x:
            return in_block % scope.block_x;
        case Variable::tid_y:
            return in_block / scope.block_x;
        case Variable::bid_x:
            return block % scope.grid_x;
        case Variable::bid_y:
            return block / scope.grid_x;
        case Variable::bdim_x:
            return scope.block_x;
        case Variable::bdim_y:
            return scope.block / scope.block_x;
        case Variable::gdim_x:
            return scope.grid_x;
        case Variable::gdim_y:
            return (scope.blocks() - 1) / scope.grid_x + 1;
    }
    return 0;
}

std::uint64_t highest_value(Variable variable, const Scope& scope) {
    const std::uint64_t last_in_block = std::min<std::uint64_t>(scope.block, scope.threads) - 1;
    const std::uint64_t last_block = scope.blocks() - 1;
    switch (variable) {
        case Variable::lane:
            return std::min<std::uint64_t>(last_in_block, warp_lanes - 1);
        case Variable::tid:
            return last_in_block;
        case Variable::tid_x:
            return std::min<std::uint64_t>(last_in_block, scope.block_x - 1);
        case Variable::bid_x:
            return std::min(last_block, scope.grid_x - 1);
        case Variable::warp:
            return last_in_block / warp_lanes;
        case Variable::tid_y:
            return last_in_block / scope.block_x;
        default:
            return unsigned_value(variable, scope, scope.threads - 1);
    }
}

}  // namespace

bool is_uniform(Variable variable) {
    switch (variable) {
        case Variable::n:
        case Variable::bdim:
        case Variable::gdim:
        case Variable::bdim_x:
        case Variable::bdim_y:
        case Variable::gdim_x:
        case Variable::gdim_y:
            return true;
        default:
            return false;
    }
}

std::int64_t value_of(Variable variable, const Scope& scope, std::uint64_t thread) {
    return static_cast<std::int64_t>(unsigned_value(variable, scope, thread));
}

ValueRange range_of(Variable variable, const Scope& scope) {
    const auto highest = static_cast<std::int64_t>(highest_value(variable, scope));
    return {is_uniform(variable) ? highest : 0, highest};
}

}  // namespace coalprof
