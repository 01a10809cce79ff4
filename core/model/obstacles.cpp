#include "core/model/obstacles.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/occupancy.h"

namespace coalprof {
namespace {

bool has_doubles(ElementType type) {
    return type == ElementType::f64 || type == ElementType::f64x2;
}

std::uint64_t shared_bytes_of(const Program& program) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < program.arrays.size(); ++i)
        if (space_of(program, i) == Space::shared) bytes += program.arrays[i].bytes();
    return bytes;
}

// Bytes of the widest atomic or reduction; 0: there is none.
std::uint32_t atomic_bytes_of(const Program& program) {
    std::uint32_t bytes = 0;
    for (const Instruction& instruction : program.instructions)
        if (instruction.kind == AccessKind::atomic || instruction.kind == AccessKind::reduce)
            bytes = std::max(bytes, instruction.width_bytes);
    return bytes;
}

std::string missing_atomic(const Abilities& abilities, const Plan& plan) {
    const std::uint32_t bytes = atomic_bytes_of(plan.program);
    if (bytes == 0) return {};
    if (abilities.atomic_bytes == 0) return "it has no atomics on global memory";
    if (plan.type == ElementType::f32 && !abilities.float_atomics)
        return "it has no atomic addition of f32 numbers";
    if (plan.type == ElementType::f64 && !abilities.double_atomics)
        return "it has no atomic addition of f64 numbers";
    if (bytes > abilities.atomic_bytes)
        return fmt::format("its atomics have {} bytes at most", abilities.atomic_bytes);
    return {};
}

}  // namespace

std::vector<std::string> obstacles(const Rules& rules, const Plan& plan) {
    std::vector<std::string> found;
    const auto add = [&](const std::string& clause) {
        if (!clause.empty()) found.push_back(clause);
    };
    add(occupancy(rules, {.block = plan.shape.block, .shared_bytes = shared_bytes_of(plan.program)})
            .impossible);
    if (has_doubles(plan.type) && !rules.abilities.doubles)
        found.emplace_back("it has no f64 arithmetic");
    add(missing_atomic(rules.abilities, plan));
    if (plan.allocation == Allocation::managed && !rules.abilities.managed_memory)
        found.emplace_back("it has no managed memory");
    return found;
}

}  // namespace coalprof
