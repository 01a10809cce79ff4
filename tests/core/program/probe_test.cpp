#include "core/program/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "core/count/shared_memory.h"
#include "core/program/sample_kernels.h"
#include "core/program/statement.h"
#include "core/program/warp_machine.h"
#include "test_data.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// As nvcc writes it: two functions, inlined code from a header of the toolkit, files named last.
constexpr std::string_view program = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<3>;
	.reg .b32 	%r<6>;
	.reg .b64 	%rd<8>;
	.shared .align 4 .b8 tile[128];
	.loc	1 10 0
	ld.param.u64 	%rd1, [kernel_param_0];
	.loc	1 12 5
	ld.global.v2.f32 	{%f1, %f2}, [%rd1+8];   // ld.global.f32 %f1, [%rd7]
$L__BB0_1:
	.loc	2 69 9, function_name $L__info_string0, inlined_at 1 13 3
	.loc	2 203 23, function_name $L__info_string1, inlined_at 2 69 9
	@!%p1 st.shared.f32 	[tile+4], %f1;
	.loc	1 14 5
	@ %p2 ld.u16 	%r1, [%rd2];
	{ .reg .b64 t; atom.global.add.u32 	%r2, [%rd3], 1; }
	cp.async.cg.shared.global [%r3], [%rd4+-16], 16;
	ld.const.f32 %f1, [%rd5]; st.local.f32 [%rd6], %f1;
	red.shared.add.u32 [%r4], 1;
	bra.uni $L__BB0_1;
}

.visible .entry other()
{
	.reg .b64 	%rd<2>;
	st.global.u8 	[%rd1], 0;
	ret;
}
	.file	1 "/src/app.cu"
	.file	2 "/usr/local/cuda/include/helpers.h"
)";

const auto all_kernels = [](const std::string&) { return true; };

ProbedPtx probed(std::string_view text) { return std::get<ProbedPtx>(probe(text, all_kernels)); }

// Loads where the calls of the probe were: the executor then counts both these and what the
// instruction itself asks for.
std::string with_loads(const std::string& text) {
    static const std::regex call(
        R"(\{ \.param \.b64 coalprof_0;[^@]*?(@\S+ )?call coalprof_probe, [^;]*; \})");
    return std::regex_replace(text, call, "$1LOAD [%coalprof_a];");
}

// Widths, lines and lanes are those of tests/core/program/execute_test.cpp.
TEST(Probe, of_matrices_counts_the_accesses_that_the_executor_counts) {
    for (const std::string form :
         {"load.a.sync.aligned.row.m16n16k16.global.f16 {%r2}, [%rd1+32], %r1",
          "load.a.sync.aligned.col.m16n16k16.global.s8 {%r2}, [%rd1], %r1",
          "load.c.sync.aligned.row.m8n8k4.global.f64 {%rd2}, [%rd1]",
          "load.b.sync.aligned.row.m8n32k16.shared.f16 {%r2}, [t], 40",
          "load.b.sync.aligned.row.m16n16k16.shared.f16 {%r2}, [t], 24",
          "store.d.sync.aligned.row.m16n16k16.shared.f32 [t], {%r2, %r3}, %r1",
          "store.d.sync.aligned.col.m16n16k16.f32 [%rd1], {%r2, %r3}, 20"}) {
        const ProbedPtx result = probed(ptx_of(
            ".shared .align 128 .b8 t[8192];\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, 48;\nwmma." +
            form + ";\nret;"));
        std::string text = with_loads(result.text);
        for (const PtxSite& site : result.sites) {
            const std::string width = site.width_bytes == 16  ? "v2.b64 {%rd38, %rd39}"
                                      : site.width_bytes == 8 ? "b64 %rd39"
                                      : site.width_bytes == 4 ? "b32 %r39"
                                                              : "b8 %r39";
            const std::string space = site.space == Space::shared ? "shared." : "global.";
            text.replace(text.find("LOAD"), 4, "ld." + space + width + ",");
        }
        const Executed counts = run(text, {1, 1, 1}, {32, 1, 1});
        std::vector<std::uint64_t> loads, own;
        for (std::size_t i = 0; i < counts.counts.size(); ++i) {
            const SiteCounts& one = counts.counts[i];
            if (one.warps == 0) continue;  // of generic addresses those that are not shared
            const bool is_load = i < result.sites.size();
            for (const std::uint64_t number :
                 {one.lanes, one.global.sectors, one.shared.wavefronts, one.global.unique_bytes})
                (is_load ? loads : own).push_back(number);
        }
        EXPECT_FALSE(own.empty()) << form;
        EXPECT_EQ(loads, own) << form;
    }
}

std::vector<std::string> told(const ProbedPtx& result) {
    std::vector<std::string> lines;
    for (const PtxSite& site : result.sites)
        lines.push_back(site.function + " " + site.instruction + " " +
                        std::to_string(site.width_bytes) +
                        (site.space == Space::shared  ? " shared"
                         : site.space == Space::local ? " local"
                                                      : " global"));
    return lines;
}

TEST(Probe, finds_what_reads_and_writes_memory) {
    EXPECT_THAT(
        told(probed(program)),
        ElementsAre("kernel ld.global.v2.f32 8 global", "kernel st.shared.f32 4 shared",
                    "kernel ld.u16 2 global", "kernel ld.u16 2 shared",
                    "kernel atom.global.add.u32 4 global",
                    "kernel cp.async.cg.shared.global 16 global", "kernel st.local.f32 4 local",
                    "kernel red.shared.add.u32 4 shared", "other st.global.u8 1 global"));
}

// Counted by hand in the file. Inline code in braces, blanks around operands, a vector of one.
TEST(Probe, finds_what_triton_writes) {
    std::ifstream file(test_data_folder() + "/ptx/triton.ptx");
    const ProbedPtx result = probed(std::string(std::istreambuf_iterator<char>(file), {}));
    std::map<std::string, int> found;
    for (const std::string& line : told(result)) ++found[line.substr(line.find(' ') + 1)];
    EXPECT_EQ(found, (std::map<std::string, int>{
                         {"ld.global.v4.b32 16 global", 4},
                         {"st.global.b32 4 global", 1},
                         {"st.shared.b32 4 shared", 8},
                         {"ld.shared.b32 4 shared", 8},
                         {"st.shared.v4.b32 16 shared", 1},
                         {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 16 shared", 1}}));
    EXPECT_EQ(result.sites[0].source, (SourceLine{"/src/fused.py", 34}));
}

// Several texts are linked into one.
TEST(Probe, marks_each_name_that_others_could_have_too) {
    const std::string text = std::get<ProbedPtx>(probe(program, all_kernels, "_7")).text;
    for (const std::string name : {counts_symbol, samples_symbol}) {
        std::size_t mentions = 0;
        for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; at += name.size()) {
            EXPECT_EQ(text.substr(at + name.size(), 2), "_7") << name;
            ++mentions;
        }
        EXPECT_GE(mentions, 2u) << name;
    }
}

TEST(Probe, tells_lines_and_where_code_of_the_toolkit_was_inlined) {
    const ProbedPtx result = probed(program);
    EXPECT_EQ(result.sites[0].source, (SourceLine{"/src/app.cu", 12}));
    EXPECT_EQ(result.sites[0].inlined_at, SourceLine{});
    EXPECT_EQ(result.sites[1].source, (SourceLine{"/usr/local/cuda/include/helpers.h", 203}));
    EXPECT_EQ(result.sites[1].inlined_at, (SourceLine{"/src/app.cu", 13}));
    EXPECT_EQ(result.sites[2].source, (SourceLine{"/src/app.cu", 14}));
    EXPECT_EQ(result.sites[8].source, SourceLine{});
}

// An atomic of which nobody reads the result is a reduction to the compiler.
TEST(Probe, takes_an_atomic_whose_result_nobody_reads_for_a_reduction) {
    EXPECT_EQ(probed(program).sites[4].kind, AccessKind::reduce);
    std::string used(program);
    used.insert(used.find("\tbra.uni"), "\tst.global.u32 [%rd1], %r2;\n");
    EXPECT_EQ(probed(used).sites[4].kind, AccessKind::atomic);
}

// The sink "_" too. Text between quotes closes no function.
TEST(Probe, takes_an_atomic_without_a_result_for_a_reduction) {
    std::string sunk(program);
    sunk.replace(sunk.find("add.u32 \t%r2"), 12, "add.u32 \t_");
    EXPECT_EQ(probed(sunk).sites[4].kind, AccessKind::reduce);
    std::string quoted(program);
    quoted.insert(quoted.find("\t.loc\t1 10"), "\t.pragma \"\"; .pragma \"}\";\n");
    EXPECT_EQ(probed(quoted).sites[4].kind, AccessKind::reduce);
}

TEST(Probe, calls_with_the_address_that_the_instruction_has) {
    const std::string text = probed(program).text;
    EXPECT_THAT(text, HasSubstr("mov.b64 %coalprof_a, %rd1; "
                                "add.s64 %coalprof_a, %coalprof_a, 8; "));
    EXPECT_THAT(text, HasSubstr("cvt.u64.u32 %coalprof_a, %r4; {"));  // a register of 32 bits
}

TEST(Probe, calls_where_the_instruction_is_executed) {
    std::string text = probed(program).text;
    EXPECT_THAT(text, HasSubstr("; @!%p1 call coalprof_probe"));
    EXPECT_THAT(text, HasSubstr("isspacep.global %coalprof_p, %coalprof_a; "
                                "and.pred %coalprof_p, %coalprof_p, %p2; "));
    EXPECT_THAT(text, HasSubstr("isspacep.shared %coalprof_p, %coalprof_a; "
                                "and.pred %coalprof_p, %coalprof_p, %p2; "));
    EXPECT_THAT(text, HasSubstr("; @%coalprof_p call coalprof_probe"));
    std::string negated(program);
    negated.replace(negated.find("@ %p2"), 5, "@!%p2");
    text = probed(negated).text;
    EXPECT_THAT(text, HasSubstr("isspacep.shared %coalprof_p, %coalprof_a; "
                                "not.pred %coalprof_q, %p2; "
                                "and.pred %coalprof_p, %coalprof_p, %coalprof_q; "));
}

TEST(Probe, passes_on_what_is_no_code) {
    const std::string sections =
        "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 125, 0 // }\n\t}\n";
    std::string debugged(program);
    debugged += sections + "\t.file 3 \"/src/{.cu\"\n";
    const ProbedPtx result = probed(debugged);
    EXPECT_THAT(result.text, HasSubstr(sections));
    EXPECT_THAT(result.text, HasSubstr("/src/{.cu"));
    EXPECT_EQ(result.sites.size(), 9u);
}

TEST(Probe, knows_no_line_where_none_is_told) {
    for (const std::string_view unknown : {".loc 1 0 0", ".loc 9 12 5"}) {
        std::string changed(program);
        changed.replace(changed.find(".loc\t1 12 5"), 11, unknown);
        EXPECT_EQ(probed(changed).sites[0].source, SourceLine{}) << unknown;
    }
}

TEST(Probe, leaves_kernels_alone_that_are_not_wanted) {
    const auto result = probe(program, [](const std::string& name) { return name == "other"; });
    EXPECT_THAT(told(std::get<ProbedPtx>(result)), ElementsAre("other st.global.u8 1 global"));
    const auto none = probe(program, [](const std::string&) { return false; });
    EXPECT_TRUE(std::holds_alternative<NoPtx>(none));
}

TEST(Probe, lets_a_kernel_be_launched_with_as_many_threads_as_before) {
    EXPECT_THAT(probed(program).text, HasSubstr(".maxntid 1024"));
    std::string bound(program);
    while (bound.find("\n)\n{") != bound.npos)
        bound.replace(bound.find("\n)\n{"), 4, "\n)\n.maxntid 64, 1, 1\n{");
    bound.replace(bound.find("other()\n"), 8, "other()\n.reqntid 32, 1, 1\n");
    EXPECT_THAT(probed(bound).text, Not(HasSubstr(".maxntid 1024")));
}

TEST(KernelsOfPtx, are_told_by_their_names) {
    EXPECT_THAT(kernels_in(program), ElementsAre("kernel", "other"));
    EXPECT_THAT(kernels_in(".visible .entry // its name:\n\t_Z1kPf(\n.entry"),
                ElementsAre("_Z1kPf"));
    EXPECT_TRUE(kernels_in("").empty());
}

TEST(Probe, refuses_what_it_cannot_count) {
    std::string old(program);
    old.replace(old.find("sm_80"), 5, "sm_52");
    EXPECT_TRUE(std::holds_alternative<NoPtx>(probe(old, all_kernels)));
    for (const std::string_view text : {"", "}", "{", ".version", ".entry", ".visible .entry k(",
                                        ".target sm_90\n.address_size 64\n.entry k(){ ld.global",
                                        "/*", "\"", ".file 1", ".loc", ".func (", "@", "{{{{"})
        EXPECT_TRUE(std::holds_alternative<NoPtx>(probe(text, all_kernels))) << text;
}

// Whatever is cut off, the rest is read without harm.
TEST(Probe, reads_every_beginning_of_a_program) {
    for (std::size_t size = 0; size < program.size(); ++size)
        probe(program.substr(0, size), all_kernels);
}

// The code before the call, executed, with a load from the address that the call is given in its
// place: the lanes that come there and their addresses are those of the load.
SiteCounts given_to_the_probe(const std::string& ptx) {
    const ProbedPtx result = probed(ptx);
    EXPECT_EQ(result.sites.size(), 1u);
    const std::string call = "call coalprof_probe, (coalprof_0, coalprof_1); }";
    std::string text = result.text;
    for (const std::string_view piece :
         {"{ .param .b64 coalprof_0; .param .b32 coalprof_1; st.param.b64 [coalprof_0], "
          "%coalprof_a; st.param.b32 [coalprof_1], "}) {
        const std::size_t at = text.rfind(piece);
        text.replace(at, text.find(';', at + piece.size()) + 1 - at,
                     "ld.param.u64 %rd20, [p0]; add.s64 %coalprof_a, %coalprof_a, %rd20; ");
    }
    text.replace(text.rfind(call), call.size(), "ld.global.u8 %r30, [%coalprof_a];");
    const std::size_t function = text.find(".visible .global .align 16 .b8 coalprof_counts");
    text.erase(function, text.find("coalprof_done:\n\tret;\n}") + 22 - function);
    const Code code = code_of(text);
    const Executed executed = run(text, {1, 1, 1}, {32, 1, 1});
    for (std::size_t i = 0; i < code.sites.size(); ++i)
        if (code.sites[i].instruction == "ld.global.u8") return executed[i];
    ADD_FAILURE() << text;
    return {};
}

// Lanes that want one word of theirs lie side by side, 4 sectors; those that want another word each
// lie in a sector each. As the model interleaves them.
TEST(Probe, gives_local_memory_by_where_it_lies) {
    for (const auto& [index, sectors] : {std::pair{"0", 4u}, {"%r1", 32u}}) {
        const std::string ptx =
            ptx_of(std::string("  .local .align 4 .b8 depot[128];\n  mov.u32 %r1, %tid.x;\n"
                               "  mul.wide.u32 %rd1, ") +
                   (index == std::string("0") ? "0" : index) +
                   ", 4;\n  mov.u64 %rd2, depot;\n  add.s64 %rd3, %rd2, %rd1;\n"
                   "  st.local.u32 [%rd3], 0;\n  ret;\n");
        EXPECT_EQ(given_to_the_probe(ptx).global.sectors, sectors);
        EXPECT_EQ(run(ptx, {1, 1, 1}, {32, 1, 1})[0].local.sectors, sectors);
    }
    WarpAccess access{.active_lanes = all_lanes, .width_bytes = 4, .space = Space::local};
    std::vector<std::uint64_t> words{1, all_lanes};
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
        access.addresses[lane] = lane * 8 + 4;
        words.push_back(((lane * 8 + 4) / 4 * 128 + lane * 4) | 1ull << 63);
    }
    const PtxSite site{.function = "k",
                       .source = {},
                       .inlined_at = {},
                       .instruction = "st",
                       .space = Space::local};
    const std::vector<WarpAccess> kept = accesses_of(site, words);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].addresses, access.addresses) << "the thread's own";
}

// Of one matrix the first 8 lanes give the rows, of two 16.
TEST(Probe, gives_the_rows_of_matrices) {
    for (const auto& [matrices, lanes] : {std::pair{"x1", 8u}, {"x2", 16u}, {"x4", 32u}}) {
        const std::string registers = matrices == std::string("x1")   ? "{%r2}"
                                      : matrices == std::string("x2") ? "{%r2, %r3}"
                                                                      : "{%r2, %r3, %r4, %r5}";
        const SiteCounts counts = given_to_the_probe(
            ptx_of("  .shared .align 16 .b8 tile[512];\n  mov.u32 %r1, %tid.x;\n"
                   "  shl.b32 %r6, %r1, 4;\n  mov.u32 %r7, tile;\n  add.s32 %r8, %r7, %r6;\n"
                   "  ldmatrix.sync.aligned.m8n8." +
                   std::string(matrices) + ".shared.b16 " + registers + ", [%r8];\n  ret;\n"));
        EXPECT_EQ(counts.lanes, lanes) << matrices;
    }
}

// --- what the GPU executes ------------------------------------------------------------------

using Lanes = std::array<WarpMachine::Lane, warp_lanes>;

SiteTotals totals_of(const WarpMachine& machine, std::size_t site) {
    const std::vector<std::uint64_t>& words = machine.memory.find(counts_symbol)->second;
    std::array<std::uint64_t, site_counts> counts{};
    std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(site * site_counts), site_counts,
                counts.begin());
    return std::bit_cast<SiteTotals>(counts);
}

// One warp's lanes of one site, counted by sets.
void count_plainly(const Lanes& lanes, std::uint32_t site, SiteTotals& totals) {
    std::set<std::uint64_t> sectors;
    std::set<std::uint64_t> lines;
    std::set<std::uint64_t> places;
    std::uint64_t active = 0;
    std::uint64_t width = 0;
    for (const WarpMachine::Lane& lane : lanes) {
        if (!lane || (lane->second & 0xFFFFFF) != site) continue;
        ++active;
        width = lane->second >> 24 & 63;
        sectors.insert(lane->first / sector_bytes);
        lines.insert(lane->first / line_bytes);
        places.insert(lane->first);
    }
    if (active == 0) return;
    const auto sectors_for = [&](std::uint64_t count) { return (count * width + 31) / 32; };
    totals += {.executed = 1,
               .lanes = active,
               .sectors = sectors.size(),
               .lines = lines.size(),
               .places = places.size(),
               .ideal_sectors = std::min(sectors_for(active), std::uint64_t{sectors.size()}),
               .needed_sectors = sectors_for(places.size())};
}

std::array<std::uint64_t, site_counts> words_of_totals(const SiteTotals& totals) {
    return std::bit_cast<std::array<std::uint64_t, site_counts>>(totals);
}

TEST(Probe, counts_warps_as_sets_do_and_parts_lanes_of_other_instructions) {
    const ProbedPtx result = probed(program);
    WarpMachine machine(result);
    std::mt19937_64 random(7);
    std::array<SiteTotals, 3> expected{};  // sites 0 (32 bytes), 1 and 2
    const std::array<std::uint32_t, 3> widths{32, 4, 2};
    for (int warp = 0; warp < 300; ++warp) {
        Lanes lanes;
        const std::uint64_t base = (random() % (1u << 20)) * 32 + (1ull << 40);
        const std::uint64_t step = random() % 40;
        const std::uint32_t sites = warp % 3 == 0 ? 3 : 1;  // of different instructions at a time
        const auto site_of_warp = static_cast<std::uint32_t>(random() % 3);
        const auto active = static_cast<std::uint32_t>(random() | random());
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((active >> lane & 1) == 0) continue;
            const std::uint32_t site =
                sites == 1 ? site_of_warp : static_cast<std::uint32_t>(random() % sites);
            const std::uint64_t place = warp % 2 == 0 ? lane * step : random() % 64;
            lanes[lane] = {base + place * widths[site], site | widths[site] << 24};
        }
        machine.call(lanes);
        for (std::uint32_t site = 0; site < 3; ++site) count_plainly(lanes, site, expected[site]);
    }
    for (std::size_t site = 0; site < 3; ++site)
        EXPECT_EQ(words_of_totals(totals_of(machine, site)), words_of_totals(expected[site]))
            << "site " << site;
    EXPECT_EQ(totals_of(machine, 3).executed, 0u);
}

// Words at random and steps of all sizes, in shared memory, in warps of which some lanes execute
// another instruction, of shared or of global memory.
TEST(Probe, counts_passes_of_shared_memory_as_the_model_does) {
    const ProbedPtx result = probed(program);
    WarpMachine machine(result);
    const SharedMemory model(*find_machine("h200").rules);
    std::mt19937_64 random(11);
    const auto chosen = [&](std::uint64_t count) { return random() % count; };
    for (int round = 0; round < 800; ++round) {
        std::array<PtxSite, 3> sites;
        for (PtxSite& site : sites) {
            site.width_bytes = 1u << chosen(5);
            site.space = chosen(4) == 0 ? Space::global : Space::shared;
            site.kind = chosen(2) == 0 ? AccessKind::load : AccessKind::store;
        }
        std::array<WarpAccess, 3> warps{};
        Lanes lanes;
        const std::uint64_t step = chosen(70);
        const std::uint64_t kind = chosen(4);
        const std::uint64_t pairs = chosen(3);
        const std::size_t among = chosen(3) == 0 ? 3 : 1;
        const std::uint64_t active = chosen(2) == 0 ? all_lanes : random() & random();
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((active >> lane & 1) == 0) continue;
            const std::size_t at = chosen(among);
            const PtxSite& site = sites[at];
            const std::uint64_t pair = pairs == 0 ? lane : pairs == 1 ? lane / 2 : lane & ~2u;
            const std::uint64_t place = kind == 0   ? chosen(8)
                                        : kind == 1 ? chosen(200)
                                                    : pair * step;
            const std::uint64_t address = 1024 + place * site.width_bytes;
            lanes[lane] = {address, probe_word(at, site)};
            warps[at].active_lanes |= 1u << lane;
            warps[at].addresses[lane] = address;
        }
        std::array<SiteTotals, 3> before;
        for (std::size_t at = 0; at < 3; ++at) before[at] = totals_of(machine, at);
        machine.call(lanes);
        for (std::size_t at = 0; at < 3; ++at) {
            warps[at].width_bytes = sites[at].width_bytes;
            warps[at].kind = sites[at].kind;
            const SharedCounts counted =
                sites[at].space == Space::shared ? model.count(warps[at]) : SharedCounts{};
            const SiteTotals after = totals_of(machine, at);
            ASSERT_EQ(after.passes - before[at].passes, counted.wavefronts)
                << round << " width " << sites[at].width_bytes << " step " << step;
            ASSERT_EQ(after.ideal_passes - before[at].ideal_passes, counted.ideal_wavefronts);
        }
    }
}

// As findings count them.
TEST(Probe, counts_passes_of_atomics_as_those_of_stores) {
    const auto word_of = [](AccessKind kind) {
        PtxSite site;
        site.space = Space::shared;
        site.kind = kind;
        return probe_word(7, site);
    };
    for (const AccessKind kind : {AccessKind::atomic, AccessKind::reduce})
        EXPECT_EQ(word_of(kind), word_of(AccessKind::store));
    EXPECT_NE(word_of(AccessKind::load), word_of(AccessKind::store));
}

// With one it would divide by none that belong to a warp each. 32 MiB hold a sample of 272 bytes of
// 123,361 sites.
TEST(Probe, keeps_two_places_however_many_sites_there_are) {
    EXPECT_EQ(samples_of_each_of(1), 64u);
    EXPECT_EQ(samples_of_each_of(123'361), 2u);
    EXPECT_EQ(samples_of_each_of(1 << 24), 2u);
}

TEST(Probe, keeps_addresses_of_warps_from_the_first_to_the_last) {
    const ProbedPtx result = probed(program);
    WarpMachine machine(result);
    constexpr std::uint64_t warps = 1200;
    constexpr std::uint64_t base = 1ull << 33;
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
        Lanes lanes;
        for (std::uint32_t lane = 0; lane < warp_lanes; lane += 2)
            lanes[lane] = {base + warp * 4096 + lane * 8, 8u << 24};
        machine.call(lanes);
    }
    const std::vector<std::uint64_t>& words = machine.memory.find(samples_symbol)->second;
    const std::vector<WarpAccess> kept = accesses_of(
        result.sites[0],
        {words.begin(),
         words.begin() + static_cast<std::ptrdiff_t>(result.samples_of_each * sample_words)});
    ASSERT_EQ(kept.size(), result.samples_of_each);
    std::size_t late = 0;
    for (const WarpAccess& access : kept) {
        EXPECT_EQ(access.active_lanes, 0x55555555u);
        EXPECT_EQ(access.width_bytes, 8u);
        const std::uint64_t warp = (access.addresses[0] - base) / 4096;
        for (std::uint32_t lane = 0; lane < warp_lanes; lane += 2)
            EXPECT_EQ(access.addresses[lane], base + warp * 4096 + lane * 8);
        late += warp >= warps / 2;
    }
    // Of a fair draw about half; the draw is a fixed function of the warp's number.
    EXPECT_GT(late, result.samples_of_each / 4);
    EXPECT_LT(late, result.samples_of_each * 3 / 4);
}

// 33 of 64 places belong to 33 warps that are spread over the grid, as if each were alone.
TEST(Probe, keeps_places_for_warps_of_all_parts_of_a_grid) {
    constexpr std::uint64_t base = 1ull << 33;
    const ProbedPtx result = probed(program);
    ASSERT_EQ(result.samples_of_each, 64u);
    for (const bool at_the_same_time : {false, true}) {
        WarpMachine machine(result);
        machine.grid = {3, 16, 2};
        machine.sees_old_counts = at_the_same_time;
        for (std::uint32_t warp = 0; warp < 192; ++warp) {
            Lanes lanes;
            lanes.fill(WarpMachine::Lane{{base + warp * 4096ull, 8u << 24}});
            machine.call(lanes, warp);
        }
        const std::vector<std::uint64_t>& words = machine.memory.find(samples_symbol)->second;
        const std::vector<WarpAccess> kept =
            accesses_of(result.sites[0], {words.begin(), words.begin() + 64 * sample_words});
        ASSERT_EQ(kept.size(), 64u);
        std::set<std::uint64_t> warps;
        for (const WarpAccess& access : kept) warps.insert((access.addresses[0] - base) / 4096);
        EXPECT_EQ(warps.size(), 64u) << at_the_same_time;
        for (std::uint64_t own = 0; own < 33; ++own)  // the first at or behind own * 192 / 33
            EXPECT_EQ((kept[own].addresses[0] - base) / 4096, (own * 192 + 32) / 33);
    }
}

// 65537 x 65536 blocks of two warps are 131072 warps in 32 bits. Of warp 1310720 the place among 33
// would be 1310720 * 33 / 131072 = 330: the machine throws where that is written to.
TEST(Probe, stays_within_its_places_in_grids_of_more_warps_than_32_bits_count) {
    const ProbedPtx result = probed(program);
    WarpMachine machine(result);
    machine.grid = {65537, 65536, 1};
    Lanes lanes;
    lanes.fill(WarpMachine::Lane{{1ull << 33, 8u << 24}});
    for (std::uint32_t site = 0; site < result.sites.size(); ++site) {
        for (auto& lane : lanes) lane->second = 8u << 24 | site;
        EXPECT_NO_THROW(machine.call(lanes, 1310720)) << site;
    }
}

// For either ptxas writes YIELD, at which lanes that wait elsewhere go on alone.
TEST(Probe, reads_no_counter_in_a_way_that_parts_lanes) {
    const std::string text = probed(program).text;
    const std::size_t at = text.find(".func coalprof_probe");
    const std::string code = text.substr(at, text.find("ret;", at) - at);
    for (const std::string_view word :
         {"atom.", "ld.volatile", "ld.relaxed", "ld.acquire", ".cg", ".cv"})
        EXPECT_THAT(code, Not(HasSubstr(std::string(word))));
}

TEST(Probe, passes_over_a_warp_that_another_wrote_into) {
    const PtxSite site{.function = {}, .source = {}, .inlined_at = {}, .instruction = {}};
    std::vector<std::uint64_t> words(sample_words);
    words[0] = 3;  // the execution with number 2
    words[1] = 0b11;
    words[2] = 0x8002ull << 48 | 64;
    words[3] = 0x8002ull << 48 | 68;
    ASSERT_EQ(accesses_of(site, words).size(), 1u);
    EXPECT_EQ(accesses_of(site, words)[0].addresses[1], 68u);
    words[1] = 0b1;
    EXPECT_EQ(accesses_of(site, words).size(), 1u);
    words[1] = 0;
    EXPECT_TRUE(accesses_of(site, words).empty());
    words[1] = 0b11;
    words[3] = 0x8002ull << 48 | 66;  // no place of 4 bytes
    EXPECT_TRUE(accesses_of(site, words).empty());
    words[3] = 0x8001ull << 48 | 68;
    EXPECT_TRUE(accesses_of(site, words).empty());
    EXPECT_TRUE(accesses_of(site, std::vector<std::uint64_t>(sample_words)).empty());
}

}  // namespace
}  // namespace coalprof
