#include "core/pattern/memory_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/error.h"

namespace coalprof {
namespace {

bool is_global(const Instruction& instruction) { return instruction.space == Space::global; }

template <typename Predicate>
bool has(const Program& program, Predicate predicate) {
    return std::any_of(program.instructions.begin(), program.instructions.end(), predicate);
}

void require_global_memory(const Plan& plan, std::string_view option) {
    if (plan.program.instructions.empty() || touches_global_memory(plan.program)) return;
    throw UsageError(fmt::format("{}: {} keeps its data in {} memory, not in global memory", option,
                                 plan.pattern, name_of(plan.program.instructions.front().space)));
}

bool is_written(const Program& program, std::uint32_t array) {
    return has(program, [array](const Instruction& one) {
        return is_global(one) && one.array == array && one.kind != AccessKind::load;
    });
}

void require_read_only_loads(const Plan& plan, std::string_view option) {
    if (!has(plan.program, is_global_load))
        throw UsageError(
            fmt::format("{}: op {} loads nothing from global memory", option, name_of(plan.op)),
            "use --op load, copy or add");
    // The read-only caches need not see the launch's own writes.
    for (const Instruction& one : plan.program.instructions)
        if (is_global_load(one) && is_written(plan.program, one.array))
            throw UsageError(
                fmt::format("{}: op {} writes the array that it reads, and this path is for data "
                            "that a launch leaves alone",
                            option, name_of(plan.op)),
                "use --op load, copy or add");
}

void require_texels(const Plan& plan) {
    for (const Instruction& one : plan.program.instructions)
        if (is_global_load(one) && one.width_bytes < 4)
            throw UsageError(fmt::format("--path tex: texels here have 4, 8 or 16 bytes, not {}",
                                         one.width_bytes),
                             "choose a wider --type, such as f32");
}

}  // namespace

bool is_global_load(const Instruction& instruction) {
    return is_global(instruction) && instruction.kind == AccessKind::load;
}

bool is_atomic(const Instruction& instruction) {
    return instruction.kind == AccessKind::atomic || instruction.kind == AccessKind::reduce;
}

bool touches_global_memory(const Program& program) { return has(program, is_global); }

void apply_memory_settings(Plan& plan) {
    if (plan.path == LoadPath::ld) return;
    const std::string option = fmt::format("--path {}", name_of(plan.path));
    require_global_memory(plan, option);
    require_read_only_loads(plan, option);
    if (plan.path == LoadPath::tex) require_texels(plan);
    for (Instruction& one : plan.program.instructions)
        if (is_global_load(one)) one.path = plan.path;
}

}  // namespace coalprof
