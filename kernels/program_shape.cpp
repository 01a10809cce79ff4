#include "kernels/program_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/pattern/memory_settings.h"

namespace coalprof {

namespace {

// More would unroll into kernels that take seconds to compile and spill their registers.
constexpr std::uint32_t max_per_thread = 128;
// Kernel parameters are at most 4 KiB before CUDA 12.1; an instruction takes up to 80 bytes.
constexpr std::size_t max_instructions = 32;

// An array begins at a row of all banks.
constexpr std::uint64_t shared_alignment_bytes = 128;

[[noreturn]] void refuse(const std::string& why) {
    throw PointError("cannot make a kernel for this point: " + why, ExitCode::partial);
}

// The type in which an atomic adds.
Content number_of(const Instruction& instruction, bool counts) {
    // An array that is also loaded from or stored to holds marked values, not floats: there an
    // atomic adds the integer 0.
    if (counts && instruction.type == ElementType::f32) return Content::count_f32;
    if (counts && instruction.type == ElementType::f64) return Content::count_f64;
    return instruction.width_bytes == 8 ? Content::count_u64 : Content::count_u32;
}

void check_near_instruction(const Program& program, const Instruction& instruction) {
    const Array& array = program.arrays[instruction.array];
    if (is_atomic(instruction) &&
        (instruction.space != Space::shared || instruction.width_bytes != 4))
        refuse("atomics work on global memory and on 4 bytes of shared memory");
    if (instruction.space == Space::constant && instruction.kind == AccessKind::store)
        refuse("a kernel cannot store to constant memory");
    if (instruction.space != Space::shared && array.elements > most_own_elements)
        refuse(
            fmt::format("an array of {} elements; those of constant and local memory have up to {}",
                        array.elements, most_own_elements));
    for (const Instruction& other : program.instructions)
        if (other.array == instruction.array && other.space != instruction.space)
            refuse("an array lies in two memories");
}

void check_instruction(const Program& program, const Instruction& instruction) {
    const std::uint32_t width = instruction.width_bytes;
    if (instruction.array >= program.arrays.size()) refuse("an instruction names no array");
    if (width != 1 && width != 2 && width != 4 && width != 8 && width != 16)
        refuse(fmt::format("no memory instruction moves {} bytes a lane", width));
    if (program.arrays[instruction.array].element_bytes != width)
        refuse("an instruction's width is not its array's");
    if (is_atomic(instruction) && width != 4 && width != 8)
        refuse(fmt::format("atomics take 4 or 8 bytes a lane, not {}", width));
    if (is_pointer_load(program, instruction) && width != 8)
        refuse("a table of row pointers holds 8 bytes a row");
    if (instruction.space != Space::global) check_near_instruction(program, instruction);
}

// Stores of values loaded before, by an instruction that can have them ready.
void check_moves(const Program& program) {
    for (std::size_t k = 0; k < program.instructions.size(); ++k) {
        const Instruction& store = program.instructions[k];
        if (!store.value_of) continue;
        if (store.kind != AccessKind::store || *store.value_of >= k ||
            program.instructions[*store.value_of].kind != AccessKind::load ||
            program.instructions[*store.value_of].width_bytes != store.width_bytes)
            refuse("a store takes the value of an earlier load of its width");
    }
}

// Barriers need whole blocks: a thread that has left cannot be waited for.
void check_barriers(const Program& program, bool whole) {
    for (const Instruction& instruction : program.instructions)
        if (instruction.after_barrier && !whole)
            refuse("threads of its last block have no work and would miss a barrier");
}

// True if every value loaded from the array is stored elsewhere: the result is checked there.
bool is_moved_on(const Program& program, std::uint32_t array) {
    bool is_loaded = false;
    for (std::size_t k = 0; k < program.instructions.size(); ++k) {
        const Instruction& one = program.instructions[k];
        if (one.array != array || one.kind != AccessKind::load) continue;
        is_loaded = true;
        if (std::none_of(program.instructions.begin(), program.instructions.end(),
                         [k](const Instruction& other) { return other.value_of == k; }))
            return false;
    }
    return is_loaded;
}

void set_memories(const Program& program, std::uint64_t most_shared_bytes, ProgramShape& shape) {
    std::uint64_t shared_bytes = 0;
    bool is_checked_near = false;
    const bool is_global_program = touches_global_memory(program);
    for (std::uint32_t k = 0; k < program.arrays.size(); ++k) {
        const Space space = space_of(program, k);
        shape.is_global = shape.is_global || space == Space::global;
        is_checked_near = is_checked_near || ((space == Space::shared || space == Space::local) &&
                                              !(is_global_program && is_moved_on(program, k)));
        if (space == Space::shared)
            shared_bytes = shared_offset(program, k) + program.arrays[k].bytes();
    }
    if (shared_bytes > most_shared_bytes)
        refuse(fmt::format("{} bytes of shared memory; a block of this GPU has {}", shared_bytes,
                           most_shared_bytes));
    shape.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
    shape.needs_near_check = is_checked_near;
}

// True if the array is used only by atomics that add in the same way, so that it may count.
bool only_counts(const Program& program, const Instruction& one) {
    return std::all_of(
        program.instructions.begin(), program.instructions.end(), [&one](const Instruction& other) {
            return other.array != one.array || (is_atomic(other) && other.type == one.type);
        });
}

std::vector<Content> contents_of(const Plan& plan) {
    std::vector<Content> contents(plan.program.arrays.size(), Content::marked);
    for (const Instruction& instruction : plan.program.instructions) {
        Content& content = contents[instruction.array];
        if (is_pointer_load(plan.program, instruction))
            content = Content::rows;
        else if (is_atomic(instruction) && instruction.space == Space::global &&
                 only_counts(plan.program, instruction))
            content = number_of(instruction, true);
    }
    return contents;
}

void set_launch_shape(const Plan& plan, std::uint32_t max_threads_per_block, ProgramShape& shape) {
    shape.block = plan.program.block;
    shape.per_thread = plan.shape.per_thread;
    if (shape.block == 0 || shape.block > max_threads_per_block)
        refuse(fmt::format("a block of {} threads; this GPU takes 1 to {}", shape.block,
                           max_threads_per_block));
    if (shape.per_thread == 0 || shape.per_thread > max_per_thread)
        refuse(fmt::format("{} elements a thread; kernels are made for 1 to {}", shape.per_thread,
                           max_per_thread));
    const std::uint64_t of_one_block = std::uint64_t{shape.block} * shape.per_thread;
    const std::uint64_t threads = plan.program.threads;
    if (threads == 0) refuse("it has no thread");
    shape.grid = threads / of_one_block + (threads % of_one_block != 0 ? 1 : 0);
    shape.whole = threads % of_one_block == 0;
    if (shape.grid > std::numeric_limits<std::int32_t>::max())
        refuse(fmt::format("{} blocks; a launch takes at most 2147483647", shape.grid));
}

// The load, before instruction `k`, of the pointers to the rows of its array.
std::optional<std::size_t> table_before(const Program& program, std::size_t k) {
    for (std::size_t t = k; t-- > 0;) {
        const Instruction& load = program.instructions[t];
        if (is_pointer_load(program, load) &&
            program.arrays[load.array].rows_of->array == program.instructions[k].array)
            return t;
    }
    return std::nullopt;
}

constexpr std::uint64_t most_walked = 1 << 16;  // threads

// The threads of a period that holds whole blocks; nothing if it is too long to be looked at.
std::optional<std::uint64_t> period_of_blocks(const Formula& formula, const Program& program,
                                              std::uint64_t of_one_block) {
    const Period period = formula->period().value_or(Period{.threads = program.threads});
    for (const std::uint64_t threads : {period.inner_threads, period.threads})
        if (threads != 0 && threads <= most_walked && threads % of_one_block == 0) return threads;
    return std::nullopt;
}

// InstructionShape::is_even. One period shows it, of which all others are copies.
bool is_even(const Formula& formula, const Program& program, const ProgramShape& shape) {
    const std::uint64_t of_one_block = std::uint64_t{shape.block} * shape.per_thread;
    const auto threads = period_of_blocks(formula, program, of_one_block);
    if (!shape.whole || !threads || shape.block % warp_lanes != 0) return false;
    const std::uint64_t step = step_of(formula, shape);
    std::array<std::uint64_t, warp_lanes> here;
    std::array<std::uint64_t, warp_lanes> next;
    for (std::uint64_t first = 0; first < *threads; first += warp_lanes) {
        if (first % of_one_block >= of_one_block - shape.block) continue;  // a thread's last one
        formula->evaluate(first, warp_lanes, here.data());
        formula->evaluate(first + shape.block, warp_lanes, next.data());
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            if (next[lane] - here[lane] != step) return false;
    }
    return true;
}

// True if every warp of the launch has an active lane, as far as one period shows.
bool has_no_idle_warp(const CustomFormula& formula, const Program& program) {
    const auto period = formula.period();
    if (!period || program.block % warp_lanes != 0 || program.threads % warp_lanes != 0)
        return false;
    const std::uint64_t walked =
        std::min(program.threads, std::lcm(period->threads, std::uint64_t{warp_lanes}));
    if (walked > most_walked) return false;
    std::array<std::uint64_t, warp_lanes> elements;
    for (std::uint64_t first = 0; first < walked; first += warp_lanes) {
        formula.evaluate(first, warp_lanes, elements.data());
        if (std::ranges::all_of(elements,
                                [](std::uint64_t element) { return element == idle_lane; }))
            return false;
    }
    return true;
}

Idle idle_of(const Instruction& instruction, const Program& program) {
    if (!instruction.formula->may_idle()) return Idle::none;
    return has_no_idle_warp(*instruction.formula, program) ? Idle::lanes : Idle::warps;
}

InstructionShape instruction_shape(const Plan& plan, const ProgramShape& shape, std::size_t k) {
    const Program& program = plan.program;
    const Instruction& instruction = program.instructions[k];
    InstructionShape one;
    while (!is_same(program.instructions[one.lanes].formula, instruction.formula)) ++one.lanes;
    one.has_choices = instruction.formula->has_choices();
    one.idle = idle_of(instruction, program);
    one.is_even = has_barrier(program) && is_even(instruction.formula, program, shape);
    one.is_moved = std::any_of(program.instructions.begin(), program.instructions.end(),
                               [k](const Instruction& other) { return other.value_of == k; });
    one.is_table = is_pointer_load(program, instruction);
    if (!one.is_table) one.table = table_before(program, k);
    if (is_atomic(instruction)) {
        one.counts = shape.contents[instruction.array] != Content::marked;
        one.number = number_of(instruction, one.counts);
    }
    return one;
}

}  // namespace

std::uint64_t step_of(const Formula& formula, const ProgramShape& shape) {
    std::array<std::uint64_t, 2> elements{};
    formula->evaluate(0, 1, &elements[0]);
    formula->evaluate(shape.block, 1, &elements[1]);
    return elements[1] - elements[0];
}

BlockLimits block_limits(const DeviceFacts& facts) {
    return {.threads = facts.max_threads_per_block,
            .shared_bytes = std::max({shared_bytes_of_block, facts.shared_bytes_per_block,
                                      facts.shared_bytes_per_block_optin})};
}

ProgramShape shape_of(const Plan& plan, const BlockLimits& limits) {
    const Program& program = plan.program;
    if (program.instructions.empty()) refuse("its program has no instruction");
    if (program.instructions.size() > max_instructions)
        refuse(fmt::format("{} instructions; kernels are made for up to {}",
                           program.instructions.size(), max_instructions));
    for (const Instruction& instruction : program.instructions)
        check_instruction(program, instruction);
    check_moves(program);

    ProgramShape shape;
    set_launch_shape(plan, limits.threads, shape);
    check_barriers(program, shape.whole);
    set_memories(program, limits.shared_bytes, shape);
    shape.blocks_in_turn = blocks_in_turn(program, shape.per_thread);
    shape.contents = contents_of(plan);
    for (std::size_t k = 0; k < program.instructions.size(); ++k) {
        const AccessKind kind = program.instructions[k].kind;
        shape.instructions.push_back(instruction_shape(plan, shape, k));
        const InstructionShape& one = shape.instructions.back();
        shape.lanes_meet = shape.lanes_meet || one.idle == Idle::warps || one.has_choices ||
                           program.instructions[k].one_lane_sends;
        const bool is_checked = kind == AccessKind::load && !one.is_moved;
        shape.reports = shape.reports || is_checked || kind == AccessKind::atomic;
    }
    return shape;
}

std::uint64_t shared_offset(const Program& program, std::size_t array) {
    if (space_of(program, static_cast<std::uint32_t>(array)) != Space::shared) return 0;
    std::uint64_t offset = 0;
    for (std::uint32_t k = 0; k < array; ++k)
        if (space_of(program, k) == Space::shared)
            offset += (program.arrays[k].bytes() + shared_alignment_bytes - 1) /
                      shared_alignment_bytes * shared_alignment_bytes;
    return offset;
}

Word seed_of(std::size_t array) { return 0x243F6A88u + static_cast<Word>(array) * 0x9E3779B9u; }

}  // namespace coalprof
