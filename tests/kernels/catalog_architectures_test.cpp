// The catalog compiles for every architecture that the installed NVRTC knows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "core/text/error.h"
#include "kernels/ceilings.h"
#include "kernels/compose.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plan_launch.h"
#include "kernels/plans.h"
#include "kernels/ptx_count.h"
#include "kernels/warp_launch.h"
#include "kernels/workbench.h"

namespace coalprof {
namespace {

std::vector<int> architectures() {
    std::vector<int> known;
    if (nvrtc_here().api)
        for (const int one : supported_architectures(*nvrtc_here().api))
            if (one >= 75 && one <= 121) known.push_back(one);
    if (known.empty()) known.push_back(0);  // one case that skips with the reason
    return known;
}

class Architecture : public testing::TestWithParam<int> {};

constexpr std::array ops{Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce};
constexpr std::array types{ElementType::u8,    ElementType::u16,   ElementType::u32,
                           ElementType::u64,   ElementType::f32,   ElementType::f64,
                           ElementType::f32x2, ElementType::f32x4, ElementType::f64x2};
constexpr std::array number_types{ElementType::u32, ElementType::u64, ElementType::f32,
                                  ElementType::f64};

// One plan for each pattern and two for each op; over the architectures, every pattern meets every
// op and every op every type. A kernel takes 25 ms and more to compile: all of them would take ten
// minutes.
std::vector<Plan> sample(std::size_t turn) {
    std::vector<Plan> plans;
    std::size_t k = 0;
    for (const PatternInfo& pattern : global_patterns()) {
        const Op op = pattern.name == "transpose" ? Op::copy : ops[(k + turn) % ops.size()];
        const bool is_atomic = op == Op::atomic || op == Op::reduce;
        const ElementType type = is_atomic ? number_types[(k + turn) % number_types.size()]
                                           : types[(2 * k + turn) % types.size()];
        plans.push_back(plan_of(std::string(pattern.name), usual_value(pattern), op, type,
                                (k + turn) % 2 == 0 ? 1 : 4));
        ++k;
    }
    for (const PatternInfo& pattern : near_patterns()) {
        const Op op = pattern.name == "constant" ? Op::load : ops[(k + turn) % 3];
        plans.push_back(plan_of(std::string(pattern.name), usual_value(pattern), op,
                                types[(2 * k + turn) % types.size()], (k + turn) % 2 == 0 ? 1 : 4));
        ++k;
    }
    plans.push_back(
        tiled_transpose(turn % 2 == 0 ? "tile" : "padded", 64, types[turn % types.size()]));
    return plans;
}

TEST_P(Architecture, gets_code_for_every_pattern_and_op) {
    COALPROF_NEEDS_NVRTC();
    const auto known = architectures();
    const auto turn =
        static_cast<std::size_t>(std::find(known.begin(), known.end(), GetParam()) - known.begin());
    Compiler compiler(ready(nvrtc_here()), GetParam());
    for (const Plan& plan : sample(turn)) {
        SCOPED_TRACE(fmt::format("{} {} {}", plan.pattern, name_of(plan.op), name_of(plan.type)));
        const auto requests = compile_requests(plan, {});
        for (const CompileRequest& request : requests) {
            const auto code = compiler.compile(request);
            EXPECT_EQ(code->architecture, fmt::format("sm_{}", GetParam()));
        }
        const auto code = compiler.compile(requests.front());
        const std::string_view kernel = kernels_in(code->code).at(access_kernel);
        const SassCount sass = count_in_sass(kernel);
        const bool is_local = plan.program.instructions.front().space == Space::local;
        EXPECT_EQ(sass.generic_or_local != 0, is_local);
        const NearSassCount near = count_near_in_sass(kernel);
        EXPECT_GT(sass.loads + sass.stores + sass.predicated_stores + sass.atomics +
                      sass.reductions + near.shared_loads.size() + near.shared_stores.size() +
                      near.local_stores.size() + near.constant_loads.size(),
                  0u);
    }
}

TEST_P(Architecture, gets_the_kernels_beside_the_measured_one) {
    COALPROF_NEEDS_NVRTC();
    Compiler compiler(ready(nvrtc_here()), GetParam());
    const Plan copy = plan_of("row", 480, Op::copy, ElementType::f64);
    const Plan atomic = plan_of("scatter", 1024, Op::reduce, ElementType::f32);
    for (const CompileRequest& request :
         {CacheControl::request(), Ceilings::request(), CycleClock::request(),
          CompileRequest{.source = compose_check(copy, shape_of(copy))},
          CompileRequest{.source = compose_check(atomic, shape_of(atomic))},
          CompileRequest{.source = compose_compare(16, Content::marked)}})
        EXPECT_FALSE(compiler.compile(request)->code.empty());
}

INSTANTIATE_TEST_SUITE_P(EveryOne, Architecture, testing::ValuesIn(architectures()),
                         [](const auto& one) { return fmt::format("sm_{}", one.param); });

TEST(NewerArchitecture, than_nvrtc_knows_gets_ptx_of_the_newest) {
    COALPROF_NEEDS_NVRTC();
    const std::vector<int> known = supported_architectures(*nvrtc_here().api);
    Compiler compiler(ready(nvrtc_here()), known.back() + 10);
    const auto code = compiler.compile(CacheControl::request());
    EXPECT_TRUE(code->is_ptx);
    EXPECT_EQ(code->architecture, fmt::format("compute_{}", known.back()));
    EXPECT_NE(code->code.find("coalprof_flush"), std::string::npos);
}

TEST(OlderArchitecture, than_nvrtc_knows_is_refused_with_the_release_to_install) {
    COALPROF_NEEDS_NVRTC();
    Compiler compiler(ready(nvrtc_here()), 20);
    try {
        compiler.compile(CacheControl::request());
        ADD_FAILURE() << "compiled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::environment);
        EXPECT_NE(std::string(error.what()).find("no longer knows compute capability 2.0"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace coalprof
