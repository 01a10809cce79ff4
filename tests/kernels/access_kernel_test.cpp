// What the composed kernels do to memory, read from PTX and machine code.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "core/device/device.h"
#include "core/formula/index_of.h"
#include "core/pattern/memory_settings.h"
#include "core/text/error.h"
#include "kernels/compose.h"
#include "kernels/nvrtc_here.h"
#include "kernels/plans.h"
#include "kernels/ptx_count.h"
#include "kernels/warp_launch.h"

namespace coalprof {
namespace {

Compiler& hopper() {
    static Compiler compiler(ready(nvrtc_here()), 90);
    return compiler;
}

// A last block that is not whole has code of its own for its elements, one after the other.
std::uint64_t copies_in_code(const Plan& plan) {
    const ProgramShape shape = shape_of(plan);
    return shape.whole || (shape.per_thread == 1 && !shape.lanes_meet) ? 1 : 2;
}

PtxCount named_by(const Plan& plan) {
    PtxCount count;
    const std::uint64_t each = plan.shape.per_thread + copies_in_code(plan) - 1;
    for (const Instruction& instruction : plan.program.instructions) {
        const bool is_fetch = instruction.path == LoadPath::tex;
        count.fetches += is_fetch ? each : 0;
        count.loads += instruction.kind == AccessKind::load && !is_fetch ? each : 0;
        count.read_only_loads += instruction.path == LoadPath::ldg ? each : 0;
        count.stores += instruction.kind == AccessKind::store ? each : 0;
        count.atomics += instruction.kind == AccessKind::atomic ? each : 0;
        count.reductions += instruction.kind == AccessKind::reduce ? each : 0;
    }
    // A kernel that checks what it loads can store one report, never executed while data are right.
    if (count.loads + count.fetches + count.atomics != 0) count.stores += copies_in_code(plan);
    return count;
}

void expect_exactly_its_instructions(const Plan& plan, const Compiled& code) {
    const PtxCount expected = named_by(plan);
    EXPECT_EQ(count_in_ptx(code.ptx), expected);
    const SassCount sass = count_in_sass(kernels_in(code.code).at(access_kernel));
    EXPECT_EQ(sass.loads, expected.loads);
    EXPECT_EQ(sass.stores + sass.predicated_stores, expected.stores);
    EXPECT_EQ(sass.atomics, expected.atomics);
    EXPECT_EQ(sass.reductions, expected.reductions);
    EXPECT_EQ(sass.fetches, expected.fetches);
    EXPECT_EQ(sass.generic_or_local, 0u) << "registers were spilled or addresses are generic";
}

std::string name_of_case(const Plan& plan) {
    return fmt::format("{} {} {} x{}", plan.pattern, name_of(plan.op), name_of(plan.type),
                       plan.shape.per_thread);
}

// Every pattern with every op; the types and elements per thread take turns.
TEST(AccessKernel, does_exactly_the_instructions_of_its_program) {
    COALPROF_NEEDS_NVRTC();
    constexpr std::array types{ElementType::f32,   ElementType::u8,  ElementType::f64,
                               ElementType::f32x4, ElementType::u16, ElementType::u64};
    std::size_t turn = 0;
    for (const PatternInfo& pattern : global_patterns()) {
        for (const Op op :
             {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce}) {
            const bool is_atomic = op == Op::atomic || op == Op::reduce;
            const ElementType type = is_atomic ? types[turn % 2 * 2] : types[turn % types.size()];
            const std::uint32_t per_thread = turn % 3 == 0 ? 4 : 1;
            Plan plan;
            try {
                plan =
                    plan_of(std::string(pattern.name), usual_value(pattern), op, type, per_thread);
            } catch (const UsageError&) {
                continue;  // transpose takes no other op than copy
            }
            ++turn;
            SCOPED_TRACE(name_of_case(plan));
            const auto code = hopper().compile({.source = compose_access(plan, shape_of(plan))});
            expect_exactly_its_instructions(plan, *code);
        }
    }
    EXPECT_GT(turn, 50u);
}

TEST(AccessKernel, moves_an_element_of_any_width_with_one_instruction) {
    COALPROF_NEEDS_NVRTC();
    for (const ElementType type :
         {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::f32, ElementType::u64,
          ElementType::f64, ElementType::f32x2, ElementType::f32x4, ElementType::f64x2}) {
        const Plan plan = plan_of("offset", 3, Op::rmw, type, 4);
        SCOPED_TRACE(name_of_case(plan));
        const auto code = hopper().compile({.source = compose_access(plan, shape_of(plan))});
        expect_exactly_its_instructions(plan, *code);
    }
}

Plan plan_on(LoadPath path, const std::string& pattern, Op op, ElementType type,
             std::uint32_t per_thread) {
    Plan plan = plan_of(pattern, pattern == "indirect" ? 512 : 3, op, type, per_thread);
    plan.path = path;
    apply_memory_settings(plan);
    return plan;
}

TEST(AccessKernel, loads_on_the_path_that_it_is_told) {
    COALPROF_NEEDS_NVRTC();
    for (const LoadPath path : {LoadPath::ldg, LoadPath::tex})
        for (const ElementType type :
             {ElementType::f32, ElementType::u64, ElementType::f32x2, ElementType::f32x4})
            for (const char* pattern : {"offset", "indirect"}) {
                const Plan plan = plan_on(path, pattern, Op::add, type, 4);
                SCOPED_TRACE(std::string(name_of(path)) + " " + name_of_case(plan));
                const auto code =
                    hopper().compile({.source = compose_access(plan, shape_of(plan))});
                expect_exactly_its_instructions(plan, *code);
            }
    const Plan narrow = plan_on(LoadPath::ldg, "offset", Op::load, ElementType::u8, 4);
    expect_exactly_its_instructions(
        narrow, *hopper().compile({.source = compose_access(narrow, shape_of(narrow))}));
}

// What docs/memories.md says of --dlcm: textures do not see it, the read-only path only cs.
TEST(AccessKernel, leaves_the_default_cache_modifier_to_plain_loads) {
    COALPROF_NEEDS_NVRTC();
    const auto code_under = [](LoadPath path, LoadModifier dlcm) {
        const Plan plan = plan_on(path, "offset", Op::load, ElementType::f32, 1);
        const auto compiled =
            hopper().compile({.source = compose_access(plan, shape_of(plan)), .dlcm = dlcm});
        return std::string(kernels_in(compiled->code).at(access_kernel));
    };
    for (const LoadModifier dlcm : {LoadModifier::cg, LoadModifier::cv}) {
        EXPECT_NE(code_under(LoadPath::ld, dlcm), code_under(LoadPath::ld, LoadModifier::ca));
        EXPECT_EQ(code_under(LoadPath::ldg, dlcm), code_under(LoadPath::ldg, LoadModifier::ca));
        EXPECT_EQ(code_under(LoadPath::tex, dlcm), code_under(LoadPath::tex, LoadModifier::ca));
    }
    EXPECT_NE(code_under(LoadPath::ldg, LoadModifier::cs),
              code_under(LoadPath::ldg, LoadModifier::ca));
}

// A tail, rows that leave lanes over, and a condition.
std::vector<Plan> divergent_plans(Op op, std::uint32_t per_thread) {
    const auto every_third = std::make_shared<TextFormula>(
        "i % 3 == 0 ? i : idle_lane",
        [](std::uint64_t i) -> std::uint64_t { return i % 3 == 0 ? i : idle_lane; });
    const Plan tail = plan_of("offset", 3, op, ElementType::f32, per_thread, 65540);
    Plan custom = tail;
    for (Instruction& one : custom.program.instructions) one.formula = every_third;
    Plan rows = plan_of("row", 80, op, ElementType::f32, per_thread);
    rows.shape.block = 40;  // where rows of 20 columns end, a warp of 8 threads has none
    build_program(rows);
    return {tail, custom, rows};
}

// With all lanes predicated off, GPUs count an instruction as executed now and then.
TEST(AccessKernel, jumps_over_what_no_lane_of_a_warp_takes_part_in) {
    COALPROF_NEEDS_NVRTC();
    for (const Op op : {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce})
        for (const std::uint32_t per_thread : {1u, 4u})
            for (const Plan& plan : divergent_plans(op, per_thread)) {
                SCOPED_TRACE(name_of_case(plan));
                const auto code =
                    hopper().compile({.source = compose_access(plan, shape_of(plan))});
                expect_exactly_its_instructions(plan, *code);
                EXPECT_EQ(executed_for_no_lane(kernels_in(code->code).at(access_kernel)), 0u);
            }
}

TEST(AccessKernel, does_not_merge_two_loads_that_meet) {
    COALPROF_NEEDS_NVRTC();
    // The same element twice, and one that does not depend on the thread's second index at all:
    // with i % 256, the four elements of a thread in a block of 256 are one.
    const Plan twice =
        handmade_plan({{AccessKind::load, 0, index_of("i")}, {AccessKind::load, 0, index_of("i")}},
                      1, 1024, 1024);
    const auto same =
        std::make_shared<TextFormula>("i % 256", [](std::uint64_t i) { return i % 256; });
    const Plan one_place =
        handmade_plan({{AccessKind::load, 0, same}, {AccessKind::store, 1, same}}, 2, 1024, 256, 4);
    for (const Plan& plan : {twice, one_place}) {
        const auto code = hopper().compile({.source = compose_access(plan, shape_of(plan))});
        expect_exactly_its_instructions(plan, *code);
    }
}

TEST(AccessKernel, keeps_atomics_that_add_nothing) {
    COALPROF_NEEDS_NVRTC();
    for (const AccessKind kind : {AccessKind::atomic, AccessKind::reduce}) {
        const Plan plan = handmade_plan({{AccessKind::load, 0, index_of("i")},
                                         {kind, 0, index_of("i*2")},
                                         {AccessKind::store, 0, index_of("i")}},
                                        1, 512, 1024);
        const auto code = hopper().compile({.source = compose_access(plan, shape_of(plan))});
        expect_exactly_its_instructions(plan, *code);
    }
}

// Where all lanes of a warp name one address, ptxas would count them and let one lane add for all:
// the kernel does so itself where the plan says it, and else not.
TEST(AccessKernel, does_one_atomic_for_all_lanes_where_the_plan_does) {
    COALPROF_NEEDS_NVRTC();
    for (const int architecture : supported_architectures(*nvrtc_here().api)) {
        if (architecture != 75 && architecture != 90 && architecture != 120) continue;
        Compiler compiler(ready(nvrtc_here()), architecture);
        for (const char* kind : {"atomic.u32", "atomic.s64", "reduce.u64", "reduce.s32",
                                 "shared.atomic.u32", "shared.reduce.s32"})
            for (const char* place :
                 {"a[abs(14) % 903]", "a[blockIdx.z*99]", "a[warp*21] if threadIdx.y*3 < 22"}) {
                const std::string text = fmt::format("{}: {}", kind, place);
                SCOPED_TRACE(fmt::format("{} sm_{}", text, architecture));
                const Plan plan = formula_plan(text, {32}, {{2, 2}});
                const auto code =
                    compiler.compile({.source = compose_access(plan, shape_of(plan))});
                const SassCount sass = count_in_sass(kernels_in(code->code).at(access_kernel));
                EXPECT_EQ(sass.lanes_counted, plan.program.instructions[0].one_lane_sends);
                EXPECT_EQ(sass.atomics + sass.reductions + sass.shared_atomics, 1u);
            }
    }
}

TEST(AccessKernel, jumps_over_its_report_instead_of_predicating_it) {
    COALPROF_NEEDS_NVRTC();
    // A predicated store would count as executed. Loads only: no other store is there.
    for (const std::uint32_t per_thread : {1u, 8u}) {
        const Plan plan = plan_of("offset", 3, Op::load, ElementType::f32, per_thread);
        const auto code = hopper().compile({.source = compose_access(plan, shape_of(plan))});
        const SassCount sass = count_in_sass(kernels_in(code->code).at(access_kernel));
        EXPECT_EQ(sass.stores, 1u);
        EXPECT_EQ(sass.predicated_stores, 0u);
    }
}

// The disassembler's own list of one cubin's operations, to hold our reading of machine code
// against.
std::map<std::string, std::uint64_t> disassembled(const std::string& cubin) {
    const std::string path =
        testing::TempDir() + "access_kernel_" + std::to_string(::getpid()) + ".cubin";
    std::ofstream(path, std::ios::binary) << cubin;
    std::map<std::string, std::uint64_t> operations;
    if (FILE* listing = popen(("cuobjdump -sass " + path + " 2>/dev/null").c_str(), "r")) {
        std::array<char, 1024> line{};
        while (std::fgets(line.data(), line.size(), listing) != nullptr) {
            // "        /*00d0*/                   @!P0 LDG.E R12, desc[UR4][R10.64] ;"
            std::istringstream words(line.data());
            std::string word;
            words >> word;
            if (!word.starts_with("/*0") && !word.starts_with("/*1")) continue;
            words >> word;
            if (word.starts_with("@")) words >> word;
            ++operations[word.substr(0, word.find_first_of(". ;"))];
        }
        pclose(listing);
    }
    ::unlink(path.c_str());
    return operations;
}

TEST(SassCount, agrees_with_the_disassembler) {
    COALPROF_NEEDS_NVRTC();
    if (std::system("cuobjdump --version >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "cuobjdump is not in PATH";
    std::vector<CompileRequest> requests{WarpLaunch::request()};
    for (const Op op : {Op::rmw, Op::atomic, Op::reduce})
        for (const ElementType type :
             {ElementType::u32, ElementType::u64, ElementType::f32, ElementType::f64}) {
            const Plan plan = plan_of("row", 480, op, type, 4);
            requests.push_back({.source = compose_access(plan, shape_of(plan))});
        }
    for (const CompileRequest& request : requests) {
        const auto code = hopper().compile(request);
        SassCount ours;
        for (const auto& [name, text] : kernels_in(code->code)) {
            const SassCount one = count_in_sass(text);
            ours.loads += one.loads;
            ours.stores += one.stores + one.predicated_stores;
            ours.atomics += one.atomics;
            ours.reductions += one.reductions;
            ours.generic_or_local += one.generic_or_local;
        }
        auto theirs = disassembled(code->code);
        ASSERT_FALSE(theirs.empty());
        EXPECT_EQ(ours.loads, theirs["LDG"]);
        EXPECT_EQ(ours.stores, theirs["STG"]);
        EXPECT_EQ(ours.atomics, theirs["ATOMG"] + theirs["ATOM"]);
        EXPECT_EQ(ours.reductions, theirs["RED"] + theirs["REDG"]);
        EXPECT_EQ(ours.generic_or_local,
                  theirs["LD"] + theirs["ST"] + theirs["LDL"] + theirs["STL"]);
    }
}

TEST(AccessKernel, gets_its_cache_modifiers_from_ptxas) {
    COALPROF_NEEDS_NVRTC();
    const Plan plan = plan_of("offset", 3, Op::rmw);
    CompileRequest request{.source = compose_access(plan, shape_of(plan))};
    const std::string usual = hopper().compile(request)->code;
    const std::string ptx = hopper().compile(request)->ptx;
    for (const LoadModifier modifier : {LoadModifier::cg, LoadModifier::cs, LoadModifier::cv}) {
        CompileRequest other = request;
        other.dlcm = modifier;
        EXPECT_NE(hopper().compile(other)->code, usual) << name_of(modifier);
        EXPECT_EQ(hopper().compile(other)->ptx, ptx) << name_of(modifier);
    }
    for (const StoreModifier modifier : {StoreModifier::cg, StoreModifier::cs, StoreModifier::wt}) {
        CompileRequest other = request;
        other.dscm = modifier;
        EXPECT_NE(hopper().compile(other)->code, usual) << name_of(modifier);
    }
}

TEST(WarpKernels, do_one_memory_instruction_each) {
    COALPROF_NEEDS_NVRTC();
    const auto code = hopper().compile(WarpLaunch::request());
    const auto kernels = kernels_in(code->code);
    EXPECT_EQ(kernels.size(), 24u);  // 5 widths x (load, store) x (global, shared), 2 x 2 atomics
    for (const auto& [name, text] : kernels) {
        SCOPED_TRACE(name);
        const SassCount sass = count_in_sass(text);
        const auto is = [&name](const char* kind) {
            return name.starts_with(std::string("coalprof_") + kind);
        };
        // A load and an atomic drain into a store that is never executed.
        const bool drains = is("load") || is("shared_load") || is("atomic");
        EXPECT_EQ(sass.loads, is("load") ? 1u : 0u);
        EXPECT_EQ(sass.stores, drains || is("store") ? 1u : 0u);
        EXPECT_EQ(sass.predicated_stores, 0u);
        EXPECT_EQ(sass.atomics, is("atomic") ? 1u : 0u);
        EXPECT_EQ(sass.reductions, is("reduce") ? 1u : 0u);
        EXPECT_EQ(sass.generic_or_local, 0u);
    }
}

TEST(Compiler, says_what_is_wrong_with_a_source_and_cuts_the_log) {
    COALPROF_NEEDS_NVRTC();
    try {
        hopper().compile(
            {.source = "#include \"kernels/source/access.cuh\"\nint f() { return x; }"});
        ADD_FAILURE() << "compiled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::internal);
        EXPECT_NE(std::string(error.what()).find("identifier \"x\" is undefined"),
                  std::string::npos);
        EXPECT_LT(std::string(error.what()).size(), 2200u);
    }
}

TEST(Compiler, reads_no_file_of_this_machine) {
    COALPROF_NEEDS_NVRTC();
    // --no-source-include and embedded headers: a relative path finds nothing.
    EXPECT_THROW(hopper().compile({.source = "#include \"CMakeLists.txt\"\n"}), Error);
}

}  // namespace
}  // namespace coalprof
