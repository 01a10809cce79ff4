#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "core/program/probe.h"

namespace coalprof {
namespace {

constexpr std::size_t most_sample_bytes = 32u << 20;
constexpr std::size_t most_samples = 64;
constexpr std::size_t least_samples = 2;

// The function that an instruction calls with its lanes' addresses and its probe_word(). The lanes
// that come here together are those that execute the instruction together. Numbers in <> are put
// in. tests/core/program executes it to check what it stores for a warp.
//
// No atomic in it gives a value back, and no load is strong: for either ptxas puts a YIELD into the
// function, and at a YIELD the hardware lets lanes go on that wait for those in here. Measured on
// an H100: a store after a loop that lanes leave one after the other was executed 7 times by a warp
// instead of once.
constexpr std::string_view function_code = R"(
.visible .global .align 16 .b8 coalprof_counts<mark>[<counts_bytes>];
.visible .global .align 16 .b8 coalprof_samples<mark>[<samples_bytes>];
.func coalprof_probe (.param .b64 coalprof_address, .param .b32 coalprof_site)
{
	.reg .pred %p<16>;
	.reg .b32 %r<60>;
	.reg .b64 %d<32>;
	ld.param.b64 %d1, [coalprof_address];
	ld.param.b32 %r1, [coalprof_site];
	setp.lt.u32 %p8, %r1, <shared>;
	and.b32 %r20, %r1, <load>;
	setp.ne.u32 %p9, %r20, 0;
	shr.u32 %r20, %r1, 24;
	and.b32 %r20, %r20, 63;
	and.b32 %r1, %r1, 16777215;
	activemask.b32 %r2;
	mov.u32 %r3, %lanemask_lt;
	// The hardware may bring lanes together here that come from different instructions.
	match.any.sync.b32 %r29, %r1, %r2;
	// Distinct sectors, addresses and lines: of the lanes that have the same, the lowest counts.
	shr.u64 %d2, %d1, 5;
	match.any.sync.b64 %r4, %d2, %r2;
	and.b32 %r4, %r4, %r29;
	and.b32 %r5, %r4, %r3;
	setp.eq.u32 %p1, %r5, 0;
	vote.sync.ballot.b32 %r6, %p1, %r2;
	and.b32 %r6, %r6, %r29;
	popc.b32 %r7, %r6;
	match.any.sync.b64 %r8, %d1, %r2;
	and.b32 %r8, %r8, %r29;
	and.b32 %r9, %r8, %r3;
	setp.eq.u32 %p2, %r9, 0;
	vote.sync.ballot.b32 %r10, %p2, %r2;
	and.b32 %r10, %r10, %r29;
	popc.b32 %r11, %r10;
	shr.u64 %d17, %d1, 7;
	match.any.sync.b64 %r28, %d17, %r2;
	and.b32 %r28, %r28, %r29;
	and.b32 %r28, %r28, %r3;
	setp.eq.u32 %p7, %r28, 0;
	vote.sync.ballot.b32 %r28, %p7, %r2;
	and.b32 %r28, %r28, %r29;
	popc.b32 %r28, %r28;
	popc.b32 %r12, %r29;
	// Ideal are the sectors of as many lanes side by side, or fewer where they ask for fewer.
	mad.lo.u32 %r21, %r11, %r20, 31;
	shr.u32 %r21, %r21, 5;
	mad.lo.u32 %r27, %r12, %r20, 31;
	shr.u32 %r27, %r27, 5;
	min.u32 %r27, %r27, %r7;
	// Passes of shared memory, as core/count/shared_memory.cpp counts them.
	not.pred %p10, %p8;
	vote.sync.ballot.b32 %r44, %p10, %r2;
	setp.eq.u32 %p10, %r44, 0;
	@%p10 bra coalprof_passed;
	mov.u32 %r45, %laneid;
	// Loads: whether each lane agrees with its neighbour, or each with the next but one. Of 4 bytes or
	// fewer the whole warp goes together anyway.
	xor.b32 %r46, %r45, 1;
	shl.b32 %r46, 1, %r46;
	and.b32 %r47, %r46, %r29;
	and.b32 %r48, %r46, %r8;
	setp.ne.u32 %p10, %r47, %r48;
	vote.sync.ballot.b32 %r47, %p10, %r2;
	and.b32 %r47, %r47, %r29;
	setp.eq.u32 %p10, %r47, 0;
	xor.b32 %r46, %r45, 2;
	shl.b32 %r46, 1, %r46;
	and.b32 %r47, %r46, %r29;
	and.b32 %r48, %r46, %r8;
	setp.ne.u32 %p11, %r47, %r48;
	vote.sync.ballot.b32 %r47, %p11, %r2;
	and.b32 %r47, %r47, %r29;
	setp.eq.u32 %p11, %r47, 0;
	or.pred %p10, %p10, %p11;
	and.pred %p10, %p10, %p9;
	selp.b32 %r46, 1, 0, %p10;
	// %r48: the banks of this width, as a power of 2, and the lanes that go together but for pairs.
	max.u32 %r47, %r20, 4;
	clz.b32 %r47, %r47;
	sub.u32 %r47, 31, %r47;
	sub.u32 %r48, 7, %r47;
	cvt.u32.u64 %r49, %d1;
	shr.u32 %r49, %r49, %r47;
	add.u32 %r50, %r48, %r46;
	shr.u32 %r50, %r45, %r50;
	match.any.sync.b32 %r50, %r50, %r2;
	and.b32 %r50, %r50, %r29;
	// Of the group's lanes that want one word the lowest counts, for its bank.
	match.any.sync.b32 %r51, %r49, %r2;
	and.b32 %r51, %r51, %r50;
	and.b32 %r51, %r51, %r3;
	setp.eq.u32 %p10, %r51, 0;
	vote.sync.ballot.b32 %r51, %p10, %r2;
	and.b32 %r51, %r51, %r50;
	shl.b32 %r52, 1, %r48;
	sub.u32 %r52, %r52, 1;
	and.b32 %r52, %r49, %r52;
	match.any.sync.b32 %r52, %r52, %r2;
	and.b32 %r52, %r52, %r51;
	popc.b32 %r52, %r52;
	// The most words of any bank, bit by bit, among those of %r53 that may have them.
	mov.u32 %r53, %r50;
	mov.u32 %r54, 0;
<most_words>
	and.b32 %r55, %r50, %r3;
	setp.ne.u32 %p10, %r55, 0;
	or.pred %p10, %p10, %p8;
	@%p10 bra coalprof_passed;
	mov.u64 %d20, coalprof_counts<mark>;
	mul.wide.u32 %d21, %r1, <site_bytes>;
	add.u64 %d20, %d20, %d21;
	cvt.u64.u32 %d22, %r54;
	red.global.add.u64 [%d20+56], %d22;
	red.global.add.u64 [%d20+64], 1;
coalprof_passed:
	and.b32 %r13, %r29, %r3;
	setp.ne.u32 %p3, %r13, 0;
	mov.u64 %d8, 0;
	@%p3 bra coalprof_counted;
	mov.u64 %d3, coalprof_counts<mark>;
	mul.wide.u32 %d4, %r1, <site_bytes>;
	add.u64 %d3, %d3, %d4;
	cvt.u64.u32 %d5, %r12;
	cvt.u64.u32 %d6, %r7;
	cvt.u64.u32 %d7, %r11;
	cvt.u64.u32 %d14, %r21;
	cvt.u64.u32 %d18, %r27;
	cvt.u64.u32 %d19, %r28;
	ld.global.u64 %d8, [%d3];
	red.global.add.u64 [%d3], 1;
	red.global.add.u64 [%d3+8], %d5;
	red.global.add.u64 [%d3+16], %d6;
	red.global.add.u64 [%d3+24], %d19;
	red.global.add.u64 [%d3+32], %d7;
	red.global.add.u64 [%d3+40], %d18;
	red.global.add.u64 [%d3+48], %d14;
coalprof_counted:
	// how often it was executed before, as far as was seen, from the lowest lane to all
	brev.b32 %r14, %r29;
	clz.b32 %r14, %r14;
	mov.b64 {%r15, %r22}, %d8;
	shfl.sync.idx.b32 %r15, %r15, %r14, 31, %r2;
	shfl.sync.idx.b32 %r22, %r22, %r14, 31, %r2;
	setp.ne.u32 %p5, %r22, 0;
	@%p5 bra coalprof_done;
	// which warp of the grid this is, %r38, and of how many, %r39
	mov.u32 %r30, %ntid.x;
	mov.u32 %r31, %ntid.y;
	mov.u32 %r32, %tid.x;
	mov.u32 %r33, %tid.y;
	mov.u32 %r34, %tid.z;
	mad.lo.u32 %r33, %r34, %r31, %r33;
	mad.lo.u32 %r32, %r33, %r30, %r32;
	shr.u32 %r32, %r32, 5;
	mov.u32 %r34, %ntid.z;
	mul.lo.u32 %r31, %r31, %r34;
	mad.lo.u32 %r31, %r31, %r30, 31;
	shr.u32 %r31, %r31, 5;
	mov.u32 %r33, %nctaid.x;
	mov.u32 %r34, %nctaid.y;
	mov.u32 %r35, %ctaid.x;
	mov.u32 %r36, %ctaid.y;
	mov.u32 %r37, %ctaid.z;
	mad.lo.u32 %r36, %r37, %r34, %r36;
	mad.lo.u32 %r35, %r36, %r33, %r35;
	mad.lo.u32 %r38, %r35, %r31, %r32;
	mov.u32 %r37, %nctaid.z;
	mul.lo.u32 %r34, %r34, %r37;
	mul.lo.u32 %r34, %r34, %r33;
	mul.lo.u32 %r39, %r34, %r31;
	// Few warps draw among all places. Of many, some that are spread over the grid have a place of
	// their own, where nobody else writes; the others draw among the rest.
	mov.u32 %r40, 0;
	mov.u32 %r41, <samples>;
	setp.le.u32 %p4, %r39, <own>;
	@%p4 bra coalprof_draw;
	mov.u32 %r40, <own>;
	sub.u32 %r41, %r41, %r40;
	mul.lo.u32 %r42, %r38, <own>;
	div.u32 %r23, %r42, %r39;
	mul.lo.u32 %r43, %r23, %r39;
	sub.u32 %r42, %r42, %r43;
	setp.lt.u32 %p4, %r42, <own>;
	// where the number of warps has wrapped, the place may lie beyond
	rem.u32 %r23, %r23, <own>;
	@%p4 bra coalprof_sample;
coalprof_draw:
	// The first fill the places; later ones take one, the rarer the later.
	add.u32 %r23, %r15, %r38;
	mov.u32 %r24, %r41;
	setp.lt.u32 %p4, %r15, %r41;
	@%p4 bra coalprof_drawn;
	mul.lo.u32 %r23, %r23, 2654435761;
	shr.u32 %r24, %r23, 15;
	xor.b32 %r23, %r23, %r24;
	mul.lo.u32 %r23, %r23, 2246822519;
	shr.u32 %r24, %r23, 13;
	xor.b32 %r23, %r23, %r24;
	add.u32 %r24, %r15, 1;
coalprof_drawn:
	rem.u32 %r23, %r23, %r24;
	setp.ge.u32 %p6, %r23, %r41;
	@%p6 bra coalprof_done;
	add.u32 %r23, %r23, %r40;
coalprof_sample:
	mov.u64 %d9, coalprof_samples<mark>;
	mad.lo.u32 %r16, %r1, <samples>, %r23;
	mul.wide.u32 %d10, %r16, <sample_bytes>;
	add.u64 %d9, %d9, %d10;
	mov.u32 %r17, %laneid;
	mul.wide.u32 %d11, %r17, 8;
	add.u64 %d11, %d9, %d11;
	// a number that no other warp writes with at the same time
	mul.lo.u32 %r26, %r38, 2654435761;
	add.u32 %r26, %r26, %r15;
	and.b32 %r25, %r26, 32767;
	or.b32 %r25, %r25, 32768;
	cvt.u64.u32 %d12, %r25;
	shl.b64 %d12, %d12, 48;
	and.b64 %d13, %d1, 281474976710655;
	or.b64 %d12, %d12, %d13;
	st.global.u64 [%d11+16], %d12;
	@%p3 bra coalprof_done;
	cvt.u64.u32 %d15, %r26;
	add.u64 %d15, %d15, 1;
	cvt.u64.u32 %d16, %r29;
	st.global.u64 [%d9], %d15;
	st.global.u64 [%d9+8], %d16;
coalprof_done:
	ret;
}
)";

// The site's number takes 24 bits of a call's argument, its width 6.
constexpr std::uint32_t load_bit = 1u << 30;
constexpr std::uint32_t shared_bit = 1u << 31;

// Unrolled for each bit of 1 to 32: ptxas could make lanes diverge in a loop.
std::string most_words_code() {
    std::string code;
    for (std::uint32_t bit = warp_lanes; bit > 0; bit /= 2)
        code += fmt::format(R"(	and.b32 %r55, %r52, {0};
	setp.ne.u32 %p10, %r55, 0;
	vote.sync.ballot.b32 %r55, %p10, %r2;
	and.b32 %r55, %r55, %r53;
	setp.ne.u32 %p11, %r55, 0;
	selp.b32 %r53, %r55, %r53, %p11;
	@%p11 add.u32 %r54, %r54, {0};
)",
                            bit);
    return code;
}

// Those of many warps' places that belong to one warp each. The others are odd in number: where
// warp n sees n executions, a random choice by their sum reaches all of them.
std::size_t own_places(std::size_t samples) {
    return samples / 2 + (samples - samples / 2 + 1) % 2;
}

std::string with_texts(std::string_view code, const std::map<std::string_view, std::string>& all) {
    std::string text;
    while (!code.empty()) {
        const std::size_t open = code.find('<');
        const std::size_t close = code.find('>', open);
        text += code.substr(0, open);
        if (open == code.npos) break;
        const auto number = all.find(code.substr(open + 1, close - open - 1));
        if (number == all.end()) {  // a range of registers
            text += code.substr(open, close - open + 1);
        } else {
            text += number->second;
        }
        code.remove_prefix(close + 1);
    }
    return text;
}

// The thread's own address, from the interleaved address of a word of local memory.
std::uint64_t address_in(const PtxSite& site, std::uint64_t address) {
    if (site.space != Space::local) return address;
    const std::uint64_t row_bytes = std::uint64_t{warp_lanes} * local_word_bytes;
    return address / row_bytes * local_word_bytes + address % local_word_bytes;
}

}  // namespace

std::size_t samples_of_each_of(std::size_t sites) {
    return std::clamp(most_sample_bytes / (sample_words * sizeof(std::uint64_t) * sites),
                      least_samples, most_samples);
}

std::uint32_t probe_word(std::size_t site, const PtxSite& of) {
    // Local memory is counted word by word: the first represents all.
    const std::uint32_t width =
        of.space == Space::local ? std::min(of.width_bytes, local_word_bytes) : of.width_bytes;
    std::uint32_t word = static_cast<std::uint32_t>(site) | width << 24;
    if (of.space == Space::shared) word |= shared_bit;
    if (of.kind == AccessKind::load) word |= load_bit;
    return word;
}

std::string probe_code(std::size_t sites, std::size_t samples_of_each, std::string_view mark) {
    const std::size_t sample_bytes = sample_words * sizeof(std::uint64_t);
    const auto number = [](std::size_t value) { return std::to_string(value); };
    return with_texts(function_code,
                      {{"mark", std::string(mark)},
                       {"counts_bytes", number(sites * sizeof(SiteTotals))},
                       {"samples_bytes", number(sites * samples_of_each * sample_bytes)},
                       {"site_bytes", number(sizeof(SiteTotals))},
                       {"samples", number(samples_of_each)},
                       {"own", number(own_places(samples_of_each))},
                       {"sample_bytes", number(sample_bytes)},
                       {"shared", number(shared_bit)},
                       {"load", number(load_bit)},
                       {"most_words", most_words_code()}});
}

std::vector<WarpAccess> accesses_of(const PtxSite& site, const std::vector<std::uint64_t>& words) {
    std::vector<WarpAccess> all;
    constexpr std::uint64_t address_mask = (1ull << 48) - 1;
    for (std::size_t at = 0; at + sample_words <= words.size(); at += sample_words) {
        if (words[at] == 0) continue;
        const std::uint64_t mark = ((words[at] - 1) & 0x7FFF) | 0x8000;
        WarpAccess access{.active_lanes = static_cast<std::uint32_t>(words[at + 1]),
                          .width_bytes = site.width_bytes,
                          .kind = site.kind,
                          .space = site.space};
        bool is_whole = access.active_lanes != 0;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((access.active_lanes >> lane & 1) == 0) continue;
            const std::uint64_t word = words[at + 2 + lane];
            const std::uint64_t address = address_in(site, word & address_mask);
            is_whole = is_whole && word >> 48 == mark && address % site.width_bytes == 0;
            access.addresses[lane] = address;
        }
        if (is_whole) all.push_back(access);
    }
    return all;
}

}  // namespace coalprof
