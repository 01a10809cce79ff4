// What bounds a formula (core/formula/tree.h) bounds its compile: the largest that are allowed
// become kernels, with the most elements a thread that such a formula may have.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/device.h"
#include "core/formula/formula.h"
#include "core/formula/user_formula.h"
#include "kernels/compiler.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plan_launch.h"

namespace coalprof {
namespace {

// 16 accesses that have nothing in common, of up to 32 numbers, names and operators.
std::string largest(std::string_view step, int steps) {
    std::string text;
    for (int access = 0; access < 16; ++access) {
        text += fmt::format("{}load: a{}[(i", access == 0 ? "" : "; ", access);
        for (int k = 0; k < steps; ++k)
            text += fmt::format(fmt::runtime(step), k + 2 + 10 * access);
        text += ") & 4095]";
    }
    return text;
}

Plan plan_of_formula(const std::string& text, std::uint32_t per_thread) {
    Plan plan;
    plan.pattern = "formula";
    plan.op = Op::load;
    plan.shape.size_bytes = 1 << 16;
    plan.shape.per_thread = per_thread;
    FormulaLaunch launch;
    launch.shape = plan.shape;
    plan.program = make_formula_program(
        std::make_shared<const ParsedFormula>(parse_formula(text, {})), launch);
    return plan;
}

// Divisions are the longest code of one operator, hashes of one name.
TEST(LargestFormula, compiles_with_as_many_elements_a_thread_as_it_may_have) {
    COALPROF_NEEDS_NVRTC();
    for (const auto& [step, steps] :
         {std::pair{" ^ i/(i + {})", 4}, {" + i%{}", 7}, {" + hash(i, {})", 4}}) {
        const std::string text = largest(step, steps);
        const std::size_t nodes = parse_formula(text, {}).nodes.size();
        EXPECT_GT(nodes, max_formula_nodes / 2);
        const auto most = static_cast<std::uint32_t>(max_formula_code / nodes);
        EXPECT_THROW(plan_of_formula(text, most + 1), UsageError);
        const Plan plan = plan_of_formula(text, most);
        Compiler compiler(ready(nvrtc_here()), 90);
        const auto start = std::chrono::steady_clock::now();
        const auto code = compiler.compile(compile_requests(plan, {}).front());
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        EXPECT_FALSE(code->code.empty());
        fmt::print("{} nodes like{}, {} elements a thread: {:.2f} s, {} bytes of code\n", nodes,
                   step, most, taken.count(), code->code.size());
    }
}

// The evaluator accepts what fails only where no thread goes; so must the compiler.
TEST(FormulaKernel, compiles_what_no_thread_evaluates) {
    COALPROF_NEEDS_NVRTC();
    for (const char* text : {"lane > 40 ? i / 0 : i", "0 ? i % 0 : i", "i + (0 && 1 / 0)",
                             "lane < 40 ? i : i << 99", "i if !(lane > 40 && 1 % 0)"}) {
        Compiler compiler(ready(nvrtc_here()), 90);
        const Plan plan = plan_of_formula(text, 1);
        EXPECT_FALSE(compiler.compile(compile_requests(plan, {}).front())->code.empty()) << text;
    }
}

// Only the patterns' own tables hold pointers, whatever a user calls an array.
TEST(FormulaKernel, loads_elements_from_an_array_called_table) {
    for (const char* text : {"load: table[i]", "load.u64: table[i%64]"}) {
        const std::string source = compile_requests(plan_of_formula(text, 1), {}).front().source;
        EXPECT_THAT(source, ::testing::Not(::testing::HasSubstr("Content::rows"))) << text;
    }
}

// The type that an access names decides how it adds, whatever --type is.
TEST(FormulaKernel, adds_in_the_type_that_an_atomic_names) {
    COALPROF_NEEDS_NVRTC();
    for (const auto& [text, wanted] : {std::pair{"load: a[i]; atomic.u64: b[i]", "Number::u64"},
                                       {"load: a[i]; reduce.u32: b[i]", "Number::u32"},
                                       {"load: a[i]; atomic.f64: b[i]", "Number::f64"},
                                       {"load: a[i]; reduce: b[i]", "Number::f32"}}) {
        const Plan plan = plan_of_formula(text, 1);  // f32
        const auto request = compile_requests(plan, {}).front();
        EXPECT_THAT(request.source, ::testing::HasSubstr(wanted)) << text;
        Compiler compiler(ready(nvrtc_here()), 90);
        EXPECT_FALSE(compiler.compile(request)->code.empty()) << text;
    }
}

}  // namespace
}  // namespace coalprof
