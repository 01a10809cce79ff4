// The widths of shared accesses in machine code, and the accesses of PTX in these widths.
#include "core/program/machine_widths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/kernel/arguments.h"
#include "core/kernel/kernel_points.h"
#include "core/machine/machine.h"
#include "core/program/natural_launches.h"
#include "core/program/sample_kernels.h"

namespace coalprof {
namespace {

Readings whole(const Code& code, std::uint32_t grid, std::uint32_t block) {
    Code own = code;
    BoundLaunch bound = bind_arguments(own, {});
    bound.launch.grid = {grid, 1, 1};
    bound.launch.block = {block, 1, 1};
    return predict_kernel(own, bound.launch, bound.memory, find_machine("rtx4090"), {})
        .points.front()
        .predicted;
}
std::uint64_t number(const Readings& readings, Counter counter) {
    return std::get<std::uint64_t>(readings[counter]);
}

TEST(MachineWidths, FourHalvesAreOneAccess) {
    const std::string ptx = text_of_file("halves.ptx");
    const PtxModule module = read_module(ptx, "halves.ptx");
    Code code = make_code(module, *module.kernels().front());
    ASSERT_TRUE(take_machine_code(code, text_of_file("halves.cubin")));
    // 64 blocks of 8 warps, one STS.64 and one LDS.64 each, of 256 bytes: two passes without
    // conflicts.
    const Readings all = whole(code, 64, 256);
    EXPECT_EQ(number(all, Counter::shared_store_requests), 512u);
    EXPECT_EQ(number(all, Counter::shared_store_wavefronts), 1024u);
    EXPECT_EQ(number(all, Counter::shared_store_conflicts), 0u);
    EXPECT_EQ(number(all, Counter::shared_load_requests), 512u);
    EXPECT_EQ(number(all, Counter::shared_load_conflicts), 0u);
}

TEST(MachineWidths, EachStatementHasAMark) {
    const std::string ptx = text_of_file("halves.ptx");
    const PtxModule module = read_module(ptx, "halves.ptx");
    const Code code = make_code(module, *module.kernels().front());
    const std::string marked = ptx_with_marks(module, code);
    for (const PtxInstruction& one : code.instructions) {
        if (one.statement >= code.statements.size()) continue;
        const std::size_t at = code.statements[one.statement].at;
        EXPECT_NE(marked.find(fmt::format("\n.loc 1 {} 0\n{}", 100'000'000 + at,
                                          ptx.substr(at, ptx.find(';', at) - at))),
                  marked.npos)
            << code.statements[one.statement].text;
    }
}

// halves.cubin has 16 registers (ptxas -v) and 27 instructions but for NOPs, two of them in front
// of the first statement and one a branch behind its end. Four 16-bit loads are in flight together,
// and fewer than half of the instructions read three registers.
TEST(MachineWidths, InstructionsCostWhatTheirMachineCodeDoes) {
    const std::string ptx = text_of_file("halves.ptx");
    const PtxModule module = read_module(ptx, "halves.ptx");
    Code code = make_code(module, *module.kernels().front());
    ASSERT_TRUE(take_machine_code(code, text_of_file("halves.cubin")));
    EXPECT_EQ(code.machine_registers, 16u);
    IssueCost all;
    for (const IssueCost& one : code.machine_costs) all.add(one);
    EXPECT_GE(all.issued, 24);
    EXPECT_LE(all.issued, 27 + 27 / 4.0);
    EXPECT_GE(all.elapsed, all.issued);
    EXPECT_EQ(std::ranges::max(code.machine_loads), 4u);
}

TEST(MachineWidths, ADamagedFileIsNoMachineCode) {
    const std::string ptx = text_of_file("halves.ptx"), cubin = text_of_file("halves.cubin");
    const PtxModule module = read_module(ptx, "halves.ptx");
    const Code code = make_code(module, *module.kernels().front());
    for (const std::size_t size : {std::size_t{0}, std::size_t{63}, cubin.size() / 2}) {
        Code own = code;
        EXPECT_FALSE(take_machine_code(own, cubin.substr(0, size))) << size;
        EXPECT_TRUE(own.machine_widths.empty());
    }
    for (std::size_t at = 0; at < cubin.size(); at += 7) {
        std::string damaged = cubin;
        damaged[at] = static_cast<char>(~damaged[at]);
        Code own = code;
        take_machine_code(own, damaged);  // sanitizers see what it reads
    }
}

// Each lane of one warp loads `rounds` neighbouring words from word `first` of its row on, one in a
// round, with a barrier after `before_barrier` of them.
Code rounds_of_loads(int rounds, int first, int before_barrier = 100) {
    return code_of(fmt::format(R"(.version 8.0
.target sm_89
.address_size 64
.visible .entry k() {{
    .reg .pred %p<3>;
    .reg .f32 %f<2>;
    .reg .b32 %r<6>;
    .shared .align 16 .b8 t[16384];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, t;
    mad.lo.u32 %r3, %r1, 128, %r2;
    mov.u32 %r4, 0;
LOOP:
    setp.ne.u32 %p2, %r4, {};
    @%p2 bra LOAD;
    bar.sync 0;
LOAD:
    ld.shared.f32 %f1, [%r3+{}];
    add.u32 %r3, %r3, 4;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, {};
    @%p1 bra LOOP;
    ret;
}})",
                               before_barrier, 4 * first, rounds));
}
std::uint64_t loads_of(Code code, const MachineWidths& widths) {
    code.machine_widths = {widths};
    return number(whole(code, 1, 32), Counter::shared_load_requests);
}

TEST(MachineWidths, ALoopsAccessesAreRegrouped) {
    const MachineWidths wide{.bytes = 16 + 4, .widest = 1};
    EXPECT_EQ(loads_of(rounds_of_loads(8, 0), wide), 2u);
    EXPECT_EQ(loads_of(rounds_of_loads(10, 0), wide), 4u);    // 2 of 16 bytes, 2 of 4
    EXPECT_EQ(loads_of(rounds_of_loads(8, 1), wide), 5u);     // words 1 to 3, 4 to 7, 8
    EXPECT_EQ(loads_of(rounds_of_loads(8, 0, 2), wide), 5u);  // words 0, 1 | 2, 3, 4 to 7
    EXPECT_EQ(loads_of(rounds_of_loads(8, 0), {.bytes = 8, .widest = 1}), 4u);
    EXPECT_EQ(loads_of(rounds_of_loads(8, 0), {.bytes = 4, .widest = 1}), 8u);
    // More than are held at once.
    EXPECT_EQ(loads_of(rounds_of_loads(2000, 0), wide), 500u);
}

TEST(MachineWidths, NarrowAccessesBesideWideOnesAreRepeated) {
    // Two of 16 bytes have all eight words; a narrow one for each two comes on top.
    const MachineWidths widths{.bytes = 16 + 4, .widest = 2, .narrower = 1};
    EXPECT_EQ(loads_of(rounds_of_loads(8, 0), widths), 3u);
    // Words that no wide access has are the narrow ones.
    EXPECT_EQ(loads_of(rounds_of_loads(9, 0), widths), 3u);
}

TEST(MachineWidths, PtxAloneIsRemarked) {
    const auto has_note = [](Code code) {
        BoundLaunch bound = bind_arguments(code, {});
        bound.launch.block = {32, 1, 1};
        const auto warnings =
            predict_kernel(code, bound.launch, bound.memory, find_machine("rtx4090"), {}).warnings;
        return std::ranges::any_of(warnings,
                                   [](const Warning& one) { return one.code == "W-PTX"; });
    };
    Code code = rounds_of_loads(8, 0);
    EXPECT_TRUE(has_note(code));
    code.is_as_compiled = true;
    EXPECT_FALSE(has_note(code));
}

}  // namespace
}  // namespace coalprof
