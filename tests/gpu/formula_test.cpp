// Formulas on a real GPU: emitted code computes what the evaluator computes, and launches touch
// exactly those elements. Skipped with the reason where there is no GPU.
#include "core/formula/formula.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/formula/random_formula.h"
#include "gpu/on_gpu.h"
#include "kernels/compiler.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

using testing::RandomFormulas;

class FormulaOnGpu : public GpuTest {};

// A random formula that no thread of its launch fails in.
struct Subject {
    std::string text;
    Plan plan;
};
Subject random_subject(RandomFormulas& random, Op op, ElementType type) {
    for (;;) {
        const int depth = 2 + static_cast<int>(random.below(4));
        std::string text = fmt::format("abs({}) % 100003", random.expression(depth));
        if (random.one_in(3)) text += " if " + random.expression(depth - 1);
        const Scope scope = random.scope(5000);
        FormulaLaunch launch;
        launch.op = op;
        launch.type = type;
        launch.shape = {.size_bytes = scope.threads * bytes_of(type), .block = scope.block};
        if (!scope.block_shape.is_flat()) launch.shape.block_shape = scope.block_shape;
        if (!scope.grid_shape.is_flat()) launch.shape.grid = scope.grid_shape;
        launch.values = scope.values;
        Subject subject{text, {}};
        subject.plan.pattern = "formula";
        subject.plan.op = op;
        subject.plan.type = type;
        subject.plan.shape = launch.shape;
        try {
            subject.plan.program =
                make_formula_program(std::make_shared<const ParsedFormula>(
                                         parse_formula(text, RandomFormulas::parameters())),
                                     launch);
            return subject;
        } catch (const UsageError&) {
            continue;
        }
    }
}

// Elements in every thread, as the evaluator says.
std::vector<std::uint64_t> evaluated(const Program& program) {
    std::vector<std::uint64_t> elements(program.threads);
    for (std::uint64_t first = 0; first < program.threads; first += warp_lanes)
        program.instructions.front().formula->evaluate(
            first,
            static_cast<std::uint32_t>(
                std::min<std::uint64_t>(warp_lanes, program.threads - first)),
            elements.data() + first);
    return elements;
}

// The emitted functors of several formulas in one kernel, which writes the element of each thread.
class IndexKernel {
 public:
    IndexKernel(const std::vector<Subject>& subjects, int compute_capability)
        : driver_(*load_driver().api) {
        std::string functors;
        std::string cases;
        for (std::size_t k = 0; k < subjects.size(); ++k) {
            const Formula& formula = subjects[k].plan.program.instructions.front().formula;
            const Functor functor = formula->functor(fmt::format("F{}", k));
            functors += functor.source;
            cases += fmt::format("case {0}: out[i] = F{0}{{{{{1}}}}}(i); break;\n", k,
                                 fmt::join(functor.numbers, "ull, "));
        }
        const std::string source = fmt::format(
            "#include \"core/pattern/formulas.h\"\nnamespace coalprof {{\n{}"
            "extern \"C\" __global__ void indices(int which, Index threads, Index* out) {{\n"
            "    const Index i = blockIdx.x * 256ull + threadIdx.x;\n"
            "    if (i >= threads) return;\n    switch (which) {{\n{}}}\n}}\n}}\n",
            functors, cases);
        Compiler compiler(ready(nvrtc_here()), compute_capability);
        code_ = compiler.compile({.source = source});
        check(driver_.module_load(&module_, code_->code.data(), 0, nullptr, nullptr));
        check(driver_.module_function(&function_, module_, "indices"));
        check(driver_.memory_allocate(&out_, most_threads * sizeof(Index)));
    }
    IndexKernel(const IndexKernel&) = delete;
    IndexKernel& operator=(const IndexKernel&) = delete;
    ~IndexKernel() {
        static_cast<void>(driver_.memory_free(out_));
        static_cast<void>(driver_.module_unload(module_));
    }

    std::vector<std::uint64_t> run(std::size_t which, std::uint64_t threads) {
        auto number = static_cast<int>(which);
        std::array<void*, 3> parameters{&number, &threads, &out_};
        const auto blocks = static_cast<unsigned>((threads + 255) / 256);
        check(driver_.launch(function_, blocks, 1, 1, 256, 1, 1, 0, nullptr, parameters.data(),
                             nullptr));
        std::vector<std::uint64_t> elements(threads);
        check(driver_.copy_to_host(elements.data(), out_, threads * sizeof(Index)));
        return elements;
    }

 private:
    static constexpr std::uint64_t most_threads =
        1 << 14;  // the grid may be larger than 5000 threads
    static void check(CUresult status) { ASSERT_EQ(status, CUDA_SUCCESS); }

    DriverApi driver_;
    std::shared_ptr<const Compiled> code_;
    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
    CUdeviceptr out_ = 0;
};

TEST_F(FormulaOnGpu, emitted_code_computes_the_index_of_every_thread) {
    RandomFormulas random(11);
    const DeviceFacts& facts = launcher().device();
    for (int batch = 0; batch < 8; ++batch) {
        std::vector<Subject> subjects;
        for (int k = 0; k < 64; ++k)
            subjects.push_back(random_subject(random, Op::load, ElementType::f32));
        IndexKernel kernel(subjects, facts.major * 10 + facts.minor);
        for (std::size_t k = 0; k < subjects.size(); ++k)
            ASSERT_EQ(kernel.run(k, subjects[k].plan.program.threads),
                      evaluated(subjects[k].plan.program))
                << subjects[k].text;
    }
}

// CUDA's own block and thread indices of a launch with a grid of three dimensions, in the order in
// which the hardware numbers blocks and threads: the same text is a formula and device code.
TEST_F(FormulaOnGpu, indices_of_grids_are_those_that_cuda_gives) {
    const DriverApi driver = *load_driver().api;
    const DeviceFacts& facts = launcher().device();
    constexpr const char* texts[] = {
        "blockIdx.y*1001 + blockIdx.x*32 + threadIdx.x",
        "(blockIdx.z*gridDim.y + blockIdx.y)*100 + threadIdx.z*20 + threadIdx.y*blockDim.x",
        "threadIdx.z*blockDim.y*blockDim.x + threadIdx.y*blockDim.x + threadIdx.x",
        "(blockIdx.x ^ threadIdx.y) + gridDim.z*7 + blockDim.z",
    };
    const std::pair<Dimensions, Dimensions> shapes[] = {
        {{32, 1}, {8, 16}}, {{8, 8, 4}, {3, 5, 2}}, {{5, 3, 7}, {4, 1, 6}}, {{64}, {1, 9}}};
    for (const char* text : texts) {
        const std::string source = fmt::format(
            "#include \"core/pattern/formulas.h\"\n"
            "extern \"C\" __global__ void indices(unsigned long long* out) {{\n"
            "    const unsigned long long block = (blockIdx.z*gridDim.y + blockIdx.y)*gridDim.x + "
            "blockIdx.x;\n"
            "    const unsigned long long thread = (threadIdx.z*blockDim.y + threadIdx.y)*"
            "blockDim.x + threadIdx.x;\n"
            "    out[block*blockDim.x*blockDim.y*blockDim.z + thread] = {};\n}}\n",
            text);
        Compiler compiler(ready(nvrtc_here()), facts.major * 10 + facts.minor);
        const auto code = compiler.compile({.source = source});
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        CUdeviceptr out = 0;
        ASSERT_EQ(driver.module_load(&module, code->code.data(), 0, nullptr, nullptr),
                  CUDA_SUCCESS);
        ASSERT_EQ(driver.module_function(&function, module, "indices"), CUDA_SUCCESS);
        for (const auto& [block, grid] : shapes) {
            const Plan plan = formula_plan(text, block, grid);
            std::vector<std::uint64_t> elements(plan.program.threads);
            ASSERT_EQ(driver.memory_allocate(&out, elements.size() * 8), CUDA_SUCCESS);
            std::array<void*, 1> parameters{&out};
            const auto of = [](std::uint64_t number) { return static_cast<unsigned>(number); };
            ASSERT_EQ(
                driver.launch(function, of(grid.x), of(grid.y), of(grid.z), of(block.x),
                              of(block.y), of(block.z), 0, nullptr, parameters.data(), nullptr),
                CUDA_SUCCESS);
            ASSERT_EQ(driver.copy_to_host(elements.data(), out, elements.size() * 8), CUDA_SUCCESS);
            EXPECT_EQ(elements, evaluated(plan.program)) << text;
            static_cast<void>(driver.memory_free(out));
        }
        static_cast<void>(driver.module_unload(module));
    }
}

// Stores mark what they touch and reductions count it; verify() compares every element of the array
// with what the evaluator says.
TEST_F(FormulaOnGpu, launches_touch_the_elements_that_the_evaluator_names_and_no_others) {
    RandomFormulas random(12);
    for (int k = 0; k < 100; ++k) {
        const bool counts = k % 2 == 1;
        Subject subject = counts ? random_subject(random, Op::reduce, ElementType::u32)
                                 : random_subject(random, Op::store, ElementType::f32);
        subject.plan.shape.per_thread = k % 4 == 0 ? 4 : 1;
        try {
            const auto launch = launcher().prepare(subject.plan);
            launch->launch();
            launch->verify();
        } catch (const Error& error) {
            ADD_FAILURE() << subject.text << ": " << error.what();
        }
    }
}

}  // namespace
}  // namespace coalprof
