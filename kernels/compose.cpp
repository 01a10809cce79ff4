#include "kernels/compose.h"

#include <fmt/format.h>

#include <vector>

namespace coalprof {

namespace {

std::string_view name_of(Content content) {
    switch (content) {
        case Content::marked:
            return "Content::marked";
        case Content::count_u32:
            return "Content::count_u32";
        case Content::count_u64:
            return "Content::count_u64";
        case Content::count_f32:
            return "Content::count_f32";
        case Content::count_f64:
            return "Content::count_f64";
        case Content::rows:
            return "Content::rows";
    }
    return "";
}

// The enumerators of Number are called like those contents that count.
std::string number_name(Content content) {
    return fmt::format("Number::{}", name_of(content).substr(sizeof("Content::count_") - 1));
}

std::string_view boolean(bool value) { return value ? "true" : "false"; }

class AccessText {
 public:
    AccessText(const Plan& plan, const ProgramShape& shape)
        : program_(plan.program), shape_(shape) {}

    std::string text() {
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k) write_instruction(k);
        write_pending_comparisons();
        if (shape_.reports) line("report(seen, first, launch);");
        return fmt::format(
            "#include \"kernels/source/access.cuh\"\n\n"
            "namespace coalprof {{\n{}\n"
            "template <int per_thread>\n"
            "__device__ __forceinline__ void run(const Index first, {}) {{\n{}{}}}\n\n"
            "extern \"C\" __global__ void __launch_bounds__({})\n{}({}) {{\n{}}}\n\n"
            "}}  // namespace coalprof\n",
            custom_types(), parameters("&"), head(), body_, shape_.block, access_kernel,
            parameters(""), calls());
    }

 private:
    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        body_ += "    ";
        body_ += fmt::format(format, std::forward<Arguments>(arguments)...);
        body_ += '\n';
    }

    bool owns_lanes(std::size_t k) const { return shape_.instructions[k].lanes == k; }

    std::string custom_types() const {
        std::string text;
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k) {
            if (!owns_lanes(k) || !shape_.instructions[k].is_custom) continue;
            const auto& formula =
                std::get<std::shared_ptr<const CustomFormula>>(program_.instructions[k].formula);
            text += fmt::format("\n{}\n", formula->cuda_source(fmt::format("Formula{}", k)));
        }
        return text;
    }

    std::string parameters(std::string_view reference) const {
        std::string text;
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            if (owns_lanes(k) && !shape_.instructions[k].is_custom)
                text += fmt::format("const {}{} formula{}, ",
                                    type_name(program_.instructions[k].formula), reference, k);
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            text += fmt::format("const Operand{} operand{}, ", reference, k);
        return text + fmt::format("const LaunchArgument{} launch", reference);
    }

    std::string head() const {
        std::string text = fmt::format(
            "    constexpr int block = {};\n"
            "    Word seen[per_thread] = {{}};\n",
            shape_.block);
        // Atomics on an array that is also read otherwise must leave its values as they are.
        if (has_still_atomics())
            text +=
                "    LaunchArgument still = launch;\n"
                "    still.increment = launch.nothing;\n";
        return text;
    }

    // Threads without work jump over it: instructions that are predicated off for a whole warp now
    // and then count as executed (an H200: one too many in some launches, never the same). So the
    // last block, if it is not whole, takes its elements one after the other.
    std::string calls() const {
        const std::uint32_t of_one_block = shape_.block * shape_.per_thread;
        std::string text = fmt::format(
            "    const Index first = static_cast<Index>(blockIdx.x) * {} + threadIdx.x;\n",
            of_one_block);
        const std::string all = call(shape_.per_thread, "first");
        if (shape_.whole) return text + "    " + all;
        if (shape_.per_thread == 1)
            return text + "    if (first >= launch.threads) return;\n    " + all;
        return text + fmt::format(
                          "    if (first - threadIdx.x + {} <= launch.threads) {{\n"
                          "        {}"
                          "        return;\n"
                          "    }}\n"
                          "#pragma unroll 1\n"
                          "    for (Index i = first; i < launch.threads; i += {}) {}",
                          of_one_block, all, shape_.block, call(1, "i"));
    }

    std::string call(std::uint32_t per_thread, std::string_view first) const {
        std::string text = fmt::format("run<{}>({}, ", per_thread, first);
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            if (owns_lanes(k) && !shape_.instructions[k].is_custom)
                text += fmt::format("formula{}, ", k);
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
            text += fmt::format("operand{}, ", k);
        return text + "launch);\n";
    }

    bool has_still_atomics() const {
        for (std::size_t k = 0; k < shape_.instructions.size(); ++k) {
            const AccessKind kind = program_.instructions[k].kind;
            if ((kind == AccessKind::atomic || kind == AccessKind::reduce) &&
                !shape_.instructions[k].counts)
                return true;
        }
        return false;
    }

    void write_instruction(std::size_t k) {
        const InstructionShape& one = shape_.instructions[k];
        const Instruction& instruction = program_.instructions[k];
        body_ += '\n';
        if (owns_lanes(k)) {
            if (one.is_custom) line("const Formula{0} formula{0}{{}};", k);
            line("const auto lanes{0} = place<{1}, {2}, block, per_thread>(formula{0}, first);", k,
                 boolean(one.may_idle), boolean(one.is_narrow));
        }
        write_address(k);
        switch (instruction.kind) {
            case AccessKind::load:
                line("Value<{}> value{}[per_thread];", instruction.width_bytes, k);
                line("{};", load_call(k));
                break;
            case AccessKind::store:
                write_pending_comparisons();
                line("store<{0}>(address{1}, lanes{2}, seen, operand{1});", instruction.width_bytes,
                     k, one.lanes);
                return;
            case AccessKind::atomic:
                line("Value<{}> value{}[per_thread];", instruction.width_bytes, k);
                line("add<{0}>(value{1}, address{1}, lanes{2}, {3});", number_name(one.number), k,
                     one.lanes, one.counts ? "launch" : "still");
                break;
            case AccessKind::reduce:
                line("reduce<{0}>(address{1}, lanes{2}, {3});", number_name(one.number), k,
                     one.lanes, one.counts ? "launch" : "still");
                return;
        }
        pending_.push_back(k);
    }

    std::string load_call(std::size_t k) const {
        const std::size_t lanes = shape_.instructions[k].lanes;
        switch (program_.instructions[k].path) {
            case LoadPath::ld:
                break;
            case LoadPath::ldg:
                return fmt::format("load_read_only(value{0}, address{0}, lanes{1})", k, lanes);
            case LoadPath::tex:
                return fmt::format("fetch(value{0}, address{0}, lanes{1}, operand{0})", k, lanes);
        }
        return fmt::format("load(value{0}, address{0}, lanes{1})", k, lanes);
    }

    void write_address(std::size_t k) {
        const InstructionShape& one = shape_.instructions[k];
        const std::uint32_t width = program_.instructions[k].width_bytes;
        if (one.table)
            line(
                "const auto address{0} = locate_in_rows<{1}>(operand{2}, lanes{3}, value{2}, "
                "lanes{4});",
                k, width, *one.table, shape_.instructions[*one.table].lanes, one.lanes);
        else
            line("const auto address{0} = locate<{1}, {2}>(operand{0}, lanes{3}, launch);", k,
                 width, boolean(one.is_custom && shape_.per_thread > 1), one.lanes);
    }

    // As late as possible: what is compared must have arrived, and everything after it waits.
    void write_pending_comparisons() {
        for (const std::size_t k : pending_) {
            const InstructionShape& one = shape_.instructions[k];
            if (one.is_table)
                line("compare_rows(seen, value{0}, lanes{1}, operand{0});", k, one.lanes);
            else if (one.counts)
                line("compare_counts<{0}>(seen, value{1}, lanes{2}, operand{1}, launch);",
                     number_name(one.number), k, one.lanes);
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
std::string check_kernel(const Program& program, std::size_t k, std::string_view name,
                         std::string_view parameters, std::string_view action) {
    const std::string_view type = type_name(program.instructions[k].formula);
    const std::string formula_parameter =
        type.empty() ? "" : fmt::format("const {} formula, ", type);
    return fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(256)\n"
        "coalprof_{}_{}({}const Operand operand, {}) {{\n{}"
        "    const Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
        "    if (i >= threads) return;\n"
        "    const Index element = formula(i);\n"
        "    if (element != idle_lane) {}\n"
        "}}\n\n",
        name, k, formula_parameter, parameters,
        type.empty() ? fmt::format("    const Formula{} formula{{}};\n", k) : "", action);
}

std::string undo_kernel(const Program& program, const InstructionShape& one, std::size_t k) {
    return check_kernel(program, k, "undo", "const Index threads, const LaunchArgument launch",
                        fmt::format("reduce_value<{}>(operand.base + element * {}, true, launch);",
                                    number_name(one.number), program.instructions[k].width_bytes));
}

}  // namespace

std::string compose_access(const Plan& plan, const ProgramShape& shape) {
    return AccessText(plan, shape).text();
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
        if (instruction.kind == AccessKind::load) continue;
        const InstructionShape& one = shape.instructions[k];
        if (one.is_custom)
            text += std::get<std::shared_ptr<const CustomFormula>>(instruction.formula)
                        ->cuda_source(fmt::format("Formula{}", k)) +
                    "\n";
        if (instruction.kind == AccessKind::store) {
            const std::uint32_t width = instruction.width_bytes;
            text += check_kernel(
                plan.program, k, "check", "const Index threads, Index* const first_wrong",
                fmt::format("compare_with_touched<{}>(operand, element, first_wrong);", width));
            text += check_kernel(plan.program, k, "restore",
                                 "const Index threads, Index* const first_wrong",
                                 fmt::format("restore<{}>(operand, element);", width));
        } else if (one.counts) {
            text += undo_kernel(plan.program, one, k);
        }
    }
    return text + "}  // namespace coalprof\n";
}

}  // namespace coalprof
