#include "core/formula/scope.h"

#include <algorithm>

#include "core/access/warp_access.h"

namespace coalprof {
namespace {

using Numbering = VariablePart::Counter;

// The number along one axis, for threads or blocks that are counted with x fastest. Nothing wraps
// around along the last axis.
VariablePart along_x(Numbering counter, const Dimensions& shape) {
    if (shape.is_flat()) return {.counter = counter};
    return {.counter = counter, .modulus = shape.x};
}
VariablePart along_y(Numbering counter, const Dimensions& shape) {
    if (shape.y == 1) return {};
    if (shape.z == 1) return {.counter = counter, .divisor = shape.x};
    return {.counter = counter, .divisor = shape.x, .modulus = shape.y};
}
VariablePart along_z(Numbering counter, const Dimensions& shape) {
    if (shape.z == 1) return {};
    return {.counter = counter, .divisor = shape.x * shape.y};
}

}  // namespace

VariablePart part_of(Variable variable, const Scope& scope) {
    const auto number = [](std::uint64_t value) { return VariablePart{.number = value}; };
    switch (variable) {
        case Variable::i: return {.counter = Numbering::thread};
        case Variable::n: return number(scope.threads);
        case Variable::tid: return {.counter = Numbering::thread_in_block};
        case Variable::bid: return {.counter = Numbering::block};
        case Variable::lane: return {.counter = Numbering::thread_in_block, .modulus = warp_lanes};
        case Variable::warp: return {.counter = Numbering::thread_in_block, .divisor = warp_lanes};
        case Variable::bdim: return number(scope.block);
        case Variable::gdim: return number(scope.blocks());
        case Variable::tid_x: return along_x(Numbering::thread_in_block, scope.block_shape);
        case Variable::tid_y: return along_y(Numbering::thread_in_block, scope.block_shape);
        case Variable::tid_z: return along_z(Numbering::thread_in_block, scope.block_shape);
        case Variable::bid_x: return along_x(Numbering::block, scope.grid_shape);
        case Variable::bid_y: return along_y(Numbering::block, scope.grid_shape);
        case Variable::bid_z: return along_z(Numbering::block, scope.grid_shape);
        case Variable::bdim_x: return number(scope.block_shape.x);
        case Variable::bdim_y: return number(scope.block_shape.y);
        case Variable::bdim_z: return number(scope.block_shape.z);
        case Variable::gdim_x: return number(scope.grid_shape.x);
        case Variable::gdim_y: return number(scope.grid_shape.y);
        case Variable::gdim_z: return number(scope.grid_shape.z);
    }
    return {};
}

std::int64_t VariablePart::value_at(std::uint64_t thread, std::uint64_t in_block,
                                    std::uint64_t block) const {
    std::uint64_t value = counter == Counter::none              ? number
                          : counter == Counter::thread          ? thread
                          : counter == Counter::thread_in_block ? in_block
                                                                : block;
    if (divisor != 1) value /= divisor;
    return static_cast<std::int64_t>(modulus ? value % *modulus : value);
}

std::int64_t value_of(Variable variable, const Scope& scope, std::uint64_t thread) {
    return part_of(variable, scope).value_at(thread, thread % scope.block, thread / scope.block);
}

ValueRange range_of(Variable variable, const Scope& scope) {
    const VariablePart part = part_of(variable, scope);
    if (part.counter == Numbering::none) {
        const auto number = static_cast<std::int64_t>(part.number);
        return {number, number};
    }
    std::uint64_t last = scope.threads - 1;
    if (part.counter == Numbering::thread_in_block)
        last = std::min<std::uint64_t>(last, scope.block - 1);
    if (part.counter == Numbering::block) last /= scope.block;
    last /= part.divisor;
    if (part.modulus) last = std::min(last, *part.modulus - 1);
    return {0, static_cast<std::int64_t>(last)};
}

}  // namespace coalprof
