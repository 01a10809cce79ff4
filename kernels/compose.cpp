#include "kernels/compose.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/pattern/memory_settings.h"

namespace coalprof {

namespace {

// Enumerators as kernels/source spells them, in the order of their enumerations.
std::string_view name_of(Content content) {
    constexpr std::array<std::string_view, 6> names{"Content::marked",    "Content::count_u32",
                                                    "Content::count_u64", "Content::count_f32",
                                                    "Content::count_f64", "Content::rows"};
    return names.at(static_cast<std::size_t>(content));
}

std::string_view name_of(Idle idle) {
    constexpr std::array<std::string_view, 3> names{"Idle::none", "Idle::lanes", "Idle::warps"};
    return names.at(static_cast<std::size_t>(idle));
}

// The enumerators of Number have the names of counting contents.
std::string number_name(Content content) {
    return fmt::format("Number::{}", name_of(content).substr(sizeof("Content::count_") - 1));
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

std::string memory_name(Space space) { return fmt::format("Memory::{}", name_of(space)); }

Functor functor_of(const Program& program, std::size_t k) {
    return program.instructions[k].formula->functor(fmt::format("Formula{}", k));
}

// The source of one program: its instructions as a function of one thread's elements, and kernels
// around it.
class ProgramText {
 public:
    ProgramText(const Plan& plan, const ProgramShape& shape)
        : program_(plan.program), shape_(shape) {
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k) write_instruction(k);
        write_pending_comparisons();
        if (shape_.reports)
            line("report<ends>(seen, {}, first, launch);",
                 shape_.is_global ? "~touched_bits" : "launch.checked_bits");
    }

    std::string access() const {
        return unit("access.cuh",
                    kernel(access_kernel, fmt::format("    work({});\n", arguments("first"))));
    }

    // Fills the arrays, does the accesses of the measured kernel, and looks.
    std::string near_check() const {
        return unit("near_check.cuh",
                    kernel(near_check_kernel,
                           each_checked_array([this](std::uint32_t k) { return near_array(k); }) +
                               fmt::format("    meet();\n    work({});\n    meet();\n"
                                           "    Word seen[1] = {{}};\n",
                                           arguments("first")) +
                               each_store("compare_stored", "seen[0], ") + "    meet();\n" +
                               each_store("restore_stored", "") + "    meet();\n" +
                               each_checked_array([this](std::uint32_t k) {
                                   return fmt::format(
                                       "    compare_filled<{}, {}>(seen[0], array{});\n",
                                       memory_of(k), width_of(k), k);
                               }) +
                               "    report(seen, ~Word{0}, first, launch);\n"));
    }

 private:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        body_ += "    ";
        body_ += fmt::format(format, std::forward<Arguments>(arguments)...);
        body_ += '\n';
    }

    bool owns_lanes(std::size_t k) const { return shape_.instructions[k].lanes == k; }
    std::string memory_of(std::uint32_t array) const {
        return memory_name(space_of(program_, array));
    }
    std::uint32_t width_of(std::uint32_t array) const {
        return program_.arrays[array].element_bytes;
    }
    bool is_near(std::uint32_t array) const { return space_of(program_, array) != Space::global; }

    template <typename Text>
    std::string each_near_array(Text text) const {
        std::string all;
        for (std::uint32_t k = 0; k < program_.arrays.size(); ++k)
            if (is_near(k)) all += text(k);
        return all;
    }

    // Arrays of shared, constant and local memory that the check fills and compares.
    bool is_checked_near(std::uint32_t array) const {
        const Space space = space_of(program_, array);
        return space == Space::shared || space == Space::local;
    }
    template <typename Text>
    std::string each_checked_array(Text text) const {
        return each_near_array(
            [&](std::uint32_t k) { return is_checked_near(k) ? text(k) : std::string(); });
    }

    std::string unit(std::string_view header, const std::string& kernel) const {
        return fmt::format(
            "#include \"kernels/source/{}\"\n{}\n"
            "namespace coalprof {{\n{}{}\n"
            "template <int per_thread, bool ends>\n"
            "__device__ __forceinline__ void run(const Index first, {}) {{\n{}{}}}\n\n"
            "__device__ __forceinline__ void work(const Index first, {}) {{\n{}}}\n\n"
            "{}\n}}  // namespace coalprof\n",
            header, has_near() ? "#include \"kernels/source/near.cuh\"\n" : "", formula_types(),
            constant_arrays(), parameters("&", true), head(), body_, parameters("&", true), calls(),
            kernel);
    }

    bool has_near() const {
        for (std::uint32_t k = 0; k < program_.arrays.size(); ++k)
            if (is_near(k)) return true;
        return false;
    }

    std::string kernel(std::string_view name, const std::string& body) const {
        return fmt::format(
            "extern \"C\" __global__ void __launch_bounds__({})\n{}({}) {{\n"
            "    const Index first = {} + threadIdx.x;\n{}{}}}\n",
            shape_.block, name, parameters("", false), first_of_block(),
            each_near_array([this](std::uint32_t k) { return near_base(k); }), body);
    }

    std::string formula_types() const {
        std::string text;
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            if (owns_lanes(k)) text += fmt::format("\n{}\n", functor_of(program_, k).source);
        return text;
    }

    std::string constant_arrays() const {
        return each_near_array([this](std::uint32_t k) {
            if (space_of(program_, k) != Space::constant) return std::string();
            return fmt::format("\n__constant__ const ConstantArray<{}, {}> constants{}({:#x}u);\n",
                               width_of(k), most_own_elements, k, seed_of(k));
        });
    }

    // "const Index near1 = ...;"
    std::string near_base(std::uint32_t array) const {
        switch (space_of(program_, array)) {
            case Space::shared:
                return fmt::format("    const Index near{} = shared_base() + operand{}.base;\n",
                                   array, operand_of(array));
            case Space::constant:
                return fmt::format("    const Index near{0} = constant_base(constants{0});\n",
                                   array);
            case Space::local:
                return fmt::format(
                    "    LocalArray<{0}, {1}> own{2};\n"
                    "    const Index near{2} = local_base(own{2});\n",
                    width_of(array), most_own_elements, array);
            case Space::global: break;
        }
        return {};
    }

    // Some instruction of the array.
    std::size_t operand_of(std::uint32_t array) const {
        std::size_t k = 0;
        while (program_.instructions[k].array != array) ++k;
        return k;
    }

    // The array as near_check() fills and compares it.
    std::string near_array(std::uint32_t array) const {
        const bool is_shared = space_of(program_, array) == Space::shared;
        return fmt::format(
            "    const NearArray array{0}{{near{0}, operand{1}.elements, operand{1}.seed, {2}}};\n"
            "    fill_near<{3}, {4}>(array{0});\n",
            array, operand_of(array),
            is_shared ? fmt::format("threadIdx.x, {}", shape_.block) : std::string("0, 1"),
            memory_of(array), width_of(array));
    }

    std::string each_store(std::string_view function, std::string_view first_argument) const {
        std::string text;
        for (std::size_t k = 0; k < program_.instructions.size(); ++k) {
            const Instruction& one = program_.instructions[k];
            if (one.kind != AccessKind::store || !is_checked_near(one.array)) continue;
            text += fmt::format(
                "    {}<{}, {}>({}array{}, formula{}, first, {}, {}, launch.threads);\n", function,
                memory_of(one.array), one.width_bytes, first_argument, one.array,
                shape_.instructions[k].lanes, shape_.block, shape_.per_thread);
        }
        return text;
    }

    // Calls visit(type, name) for the host's arguments; and for the bases of shared and local
    // arrays, which the kernel finds out.
    template <typename Visit>
    void each_parameter(bool with_bases, Visit visit) const {
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            if (owns_lanes(k)) visit(fmt::format("Formula{}", k), fmt::format("formula{}", k));
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            if (owns_lanes(k) && shape_.instructions[k].is_even)
                visit("Index", fmt::format("step{}", k));
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            visit("Operand", fmt::format("operand{}", k));
        for (std::uint32_t k = 0; with_bases && k < program_.arrays.size(); ++k)
            if (is_near(k)) visit("Index", fmt::format("near{}", k));
        visit("LaunchArgument", std::string("launch"));
    }
    std::string parameters(std::string_view reference, bool with_bases) const {
        std::string text;
        each_parameter(with_bases, [&](std::string_view type, const std::string& name) {
            text += fmt::format("{}const {}{} {}", text.empty() ? "" : ", ", type, reference, name);
        });
        return text;
    }
    std::string arguments(std::string_view first) const {
        std::string text(first);
        each_parameter(true,
                       [&](std::string_view, const std::string& name) { text += ", " + name; });
        return text;
    }

    std::string head() const {
        std::string text = fmt::format(
            "    constexpr int block = {};\n"
            "    constexpr int step = {};\n"
            "    Word seen[per_thread] = {{}};\n",
            shape_.block, shape_.step());
        // Atomics on an array with other accesses must not change its values.
        if (has_still_atomics())
            text +=
                "    LaunchArgument still = launch;\n"
                "    still.increment = launch.nothing;\n";
        return text;
    }

    std::uint32_t of_one_block() const { return shape_.block * shape_.per_thread; }

    std::string first_of_block() const {
        const std::uint32_t turn = shape_.blocks_in_turn;
        return fmt::format("static_cast<Index>(blockIdx.x / {}) * {} + blockIdx.x % {} * {}", turn,
                           turn * of_one_block(), turn, shape_.block);
    }

    // An incomplete last block takes its elements one after the other, with idle lanes past the
    // end. No lane may leave early if lanes communicate; otherwise leaving is cheaper.
    std::string calls() const {
        const std::string all = call(shape_.per_thread, false, "first");
        if (shape_.whole) return "    " + all;
        if (shape_.per_thread == 1 && !shape_.lanes_meet)
            return "    if (first >= launch.threads) return;\n    " + all;
        return fmt::format(
            "    if (first - threadIdx.x + {} <= launch.threads) {{\n"
            "        {}"
            "        return;\n"
            "    }}\n"
            "#pragma unroll 1\n"
            "    for (Index i = first; i - threadIdx.x < launch.threads; i += {}) {}",
            of_one_block(), all, shape_.block, call(1, true, "i"));
    }

    std::string call(std::uint32_t per_thread, bool ends, std::string_view first) const {
        return fmt::format("run<{}, {}>({});\n", per_thread, boolean(ends), arguments(first));
    }

    bool has_still_atomics() const {
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k) {
            if (is_atomic(program_.instructions[k]) && !shape_.instructions[k].counts) return true;
        }
        return false;
    }

    void write_instruction(std::size_t k) {
        const InstructionShape& one = shape_.instructions[k];
        const Instruction& instruction = program_.instructions[k];
        body_ += '\n';
        if (owns_lanes(k)) {
            if (one.is_even)
                line("const auto lanes{0} = place_evenly<per_thread>(formula{0}, first, step{0});",
                     k);
            else
                line(
                    "const auto lanes{0} = place<{1}, ends, step, per_thread>(formula{0}, first, "
                    "launch.threads);",
                    k, name_of(one.idle));
            // Lanes diverge where a formula chooses, or has no element for some; where warps may be
            // idle, place() makes them converge.
            if (one.idle == Idle::lanes || (one.has_choices && one.idle == Idle::none))
                line("__syncwarp();");
        }
        write_address(k);
        if (instruction.after_barrier) line("meet();");
        switch (instruction.kind) {
            case AccessKind::load: write_load(k); break;
            case AccessKind::store: write_store(k); return;
            case AccessKind::atomic:
                line("Value<{}> value{}[per_thread];", instruction.width_bytes, k);
                if (instruction.space == Space::shared)
                    line("add_shared(value{0}, address{0}, lanes{1}, still);", k, one.lanes);
                else
                    line("add<{0}, {4}>(value{1}, address{1}, lanes{2}, {3});",
                         number_name(one.number), k, one.lanes, one.counts ? "launch" : "still",
                         boolean(instruction.one_lane_sends));
                break;
            case AccessKind::reduce:
                if (instruction.space == Space::shared) {
                    line("reduce_shared(address{0}, lanes{1}, still);", k, one.lanes);
                    return;
                }
                line("reduce<{0}, {4}>(address{1}, lanes{2}, {3});", number_name(one.number), k,
                     one.lanes, one.counts ? "launch" : "still",
                     boolean(instruction.one_lane_sends));
                return;
        }
        if (!one.is_moved) pending_.push_back(k);
    }

    void write_load(std::size_t k) {
        const Instruction& instruction = program_.instructions[k];
        const std::size_t lanes = shape_.instructions[k].lanes;
        line("Value<{}> value{}[per_thread];", instruction.width_bytes, k);
        if (instruction.space == Space::constant)
            line("load_constants(value{0}, address{0}, lanes{1}, launch);", k, lanes);
        else if (instruction.path == LoadPath::ldg)
            line("load_read_only(value{0}, address{0}, lanes{1});", k, lanes);
        else if (instruction.path == LoadPath::tex)
            line("fetch(value{0}, address{0}, lanes{1}, operand{0});", k, lanes);
        else
            line("load<{0}>(value{1}, address{1}, lanes{2});", memory_name(instruction.space), k,
                 lanes);
    }

    void write_store(std::size_t k) {
        const Instruction& instruction = program_.instructions[k];
        const std::size_t lanes = shape_.instructions[k].lanes;
        write_pending_comparisons();
        if (instruction.value_of)
            line("store_loaded<{0}>(address{1}, lanes{2}, value{3});",
                 memory_name(instruction.space), k, lanes, *instruction.value_of);
        else
            line("store<{0}, {1}>(address{2}, lanes{3}, seen, operand{2});",
                 memory_name(instruction.space), instruction.width_bytes, k, lanes);
    }

    void write_address(std::size_t k) {
        const InstructionShape& one = shape_.instructions[k];
        const Instruction& instruction = program_.instructions[k];
        const std::uint32_t width = instruction.width_bytes;
        if (one.table)
            line(
                "const auto address{0} = locate_in_rows<{1}>(operand{2}, lanes{3}, value{2}, "
                "lanes{4});",
                k, width, *one.table, shape_.instructions[*one.table].lanes, one.lanes);
        else
            line("const auto address{0} = locate<{1}, {2}>({3}, lanes{4}, launch);", k, width,
                 boolean(shape_.per_thread > 1 && !shape_.instructions[one.lanes].is_even),
                 is_near(instruction.array) ? fmt::format("near{}", instruction.array)
                                            : fmt::format("operand{}.base", k),
                 one.lanes);
    }

    // As late as possible: compared values must have arrived, and everything after it waits.
    void write_pending_comparisons() {
        for (const std::size_t k : pending_) {
            const InstructionShape& one = shape_.instructions[k];
            if (one.is_table)
                line("compare_rows(seen, value{0}, lanes{1}, operand{0});", k, one.lanes);
            else if (one.counts)
                line("compare_counts<{0}>(seen, value{1}, lanes{2}, operand{1}, launch);",
                     number_name(one.number), k, one.lanes);
            else if (shape_.is_global && is_checked_near(program_.instructions[k].array))
                // Without global memory, whose values are always known.
                line("compare(seen, value{0}, lanes{1}, operand{0}, launch.checked_bits);", k,
                     one.lanes);
            else
                line("compare(seen, value{0}, lanes{1}, operand{0});", k, one.lanes);
        }
        pending_.clear();
    }

    const Program& program_;
    const ProgramShape& shape_;
    std::string body_;
    std::vector<std::size_t> pending_;
};

std::string array_unit(std::string_view kernel) {
    return fmt::format(
        "#include \"kernels/source/arrays.cuh\"\n\n"
        "namespace coalprof {{\n\n"
        "extern \"C\" __global__ void __launch_bounds__(256)\n{}\n"
        "}}  // namespace coalprof\n",
        kernel);
}

// One kernel over the logical indices of instruction `k`.
std::string check_kernel(std::size_t k, std::string_view name, std::string_view parameters,
                         std::string_view action) {
    return fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(256)\n"
        "coalprof_{0}_{1}(const Formula{1} formula, const Operand operand, {2}) {{\n"
        "    const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
        "    if (i >= threads) return;\n"
        "    const Index element = formula(i);\n"
        "    if (element != idle_lane) {3}\n"
        "}}\n\n",
        name, k, parameters, action);
}

}  // namespace

std::string compose_access(const Plan& plan, const ProgramShape& shape) {
    return ProgramText(plan, shape).access();
}

std::string compose_near_check(const Plan& plan, const ProgramShape& shape) {
    return ProgramText(plan, shape).near_check();
}

std::string compose_fill(std::uint32_t element_bytes, Content content) {
    return array_unit(
        fmt::format("{}(const Operand operand, const Index elements) {{\n"
                    "    fill<{}, {}>(operand, elements);\n}}\n",
                    fill_kernel, element_bytes, name_of(content)));
}

std::string compose_compare(std::uint32_t element_bytes, Content content) {
    return array_unit(
        fmt::format("{}(const Operand operand, const Index elements, Index* const first_wrong) "
                    "{{\n    compare_with_start<{}, {}>(operand, elements, first_wrong);\n}}\n",
                    compare_kernel, element_bytes, name_of(content)));
}

std::string compose_check(const Plan& plan, const ProgramShape& shape) {
    std::string text =
        "#include \"kernels/source/access.cuh\"\n#include \"kernels/source/arrays.cuh\"\n\n"
        "namespace coalprof {\n\n";
    for (std::size_t k = 0; k < shape.instructions.size(); ++k) {
        const Instruction& instruction = plan.program.instructions[k];
        if (instruction.kind == AccessKind::load || instruction.space != Space::global) continue;
        const InstructionShape& one = shape.instructions[k];
        text += functor_of(plan.program, k).source + "\n";
        if (instruction.kind == AccessKind::store) {
            const std::uint32_t width = instruction.width_bytes;
            const auto& origin = plan.program.arrays[instruction.array].origin;
            const std::string from = fmt::format("Origin{}", k);
            if (origin) text += origin->formula->functor(from).source + "\n";
            text += check_kernel(
                k, "check",
                fmt::format(
                    "{}const Index threads, Index* const first_wrong",
                    origin ? fmt::format("const {} origin, const Operand source, ", from) : ""),
                origin ? fmt::format("compare_with_origin<{}>(operand, element, source, "
                                     "origin(element), first_wrong);",
                                     width)
                       : fmt::format("compare_with_touched<{}>(operand, element, first_wrong);",
                                     width));
            text += check_kernel(k, "restore", "const Index threads, Index* const first_wrong",
                                 fmt::format("restore<{}>(operand, element);", width));
        } else if (one.counts) {
            text += check_kernel(
                k, "undo", "const Index threads, const LaunchArgument launch",
                fmt::format("reduce_value<{}>(operand.base + element * {}, true, launch);",
                            number_name(one.number), plan.program.instructions[k].width_bytes));
        }
    }
    return text + "}  // namespace coalprof\n";
}

}  // namespace coalprof
