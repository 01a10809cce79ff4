#include "core/ptx/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/ptx/statement.h"

namespace coalprof {
namespace {

// Older ones lack match.sync.
constexpr std::uint32_t least_capability = 70;
constexpr std::string_view least_version = "6.3";
constexpr std::size_t most_sample_bytes = 32u << 20;
constexpr std::size_t most_samples = 64;
constexpr std::size_t least_samples = 2;

// What an instruction calls: its lanes' addresses, and its site with its width in the top byte. The
// lanes that come here together are those that execute the instruction together. Numbers in <> are
// put in. What it holds for a warp, tests/core/ptx tells by executing it.
//
// No atomic in it gives a value back, and no load is strong: for either ptxas puts a YIELD into the
// function, and at a YIELD the hardware lets lanes go on that wait for those in here. Measured on
// an H100: a store behind a loop that lanes leave one after the other was executed 7 times by a
// warp instead of once.
constexpr std::string_view probe_code = R"(
.visible .global .align 16 .b8 coalprof_counts[<counts_bytes>];
.visible .global .align 16 .b8 coalprof_samples[<samples_bytes>];
.func coalprof_probe (.param .b64 coalprof_address, .param .b32 coalprof_site)
{
	.reg .pred %p<8>;
	.reg .b32 %r<60>;
	.reg .b64 %d<32>;
	ld.param.b64 %d1, [coalprof_address];
	ld.param.b32 %r1, [coalprof_site];
	shr.u32 %r20, %r1, 24;
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
	and.b32 %r13, %r29, %r3;
	setp.ne.u32 %p3, %r13, 0;
	mov.u64 %d8, 0;
	@%p3 bra coalprof_counted;
	mov.u64 %d3, coalprof_counts;
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
	mov.u64 %d9, coalprof_samples;
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

// Of many warps' places, those that belong to one warp each. The others are odd in number: where
// warp n sees n executions, a draw by their sum reaches all of them.
std::size_t own_places(std::size_t samples) {
    return samples / 2 + (samples - samples / 2 + 1) % 2;
}

std::string with_numbers(std::string_view code,
                         const std::map<std::string_view, std::size_t>& all) {
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
            text += std::to_string(number->second);
        }
        code.remove_prefix(close + 1);
    }
    return text;
}

std::uint64_t number_of(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

struct Location {
    std::uint64_t file = 0;
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    friend auto operator<=>(const Location&, const Location&) = default;
};

constexpr std::size_t most_inlined = 64;

class Rewriter {
 public:
    Rewriter(std::string_view ptx, const std::function<bool(const std::string&)>& wants)
        : text_(ptx), wants_(wants) {}

    std::variant<ProbedPtx, NoPtx> rewrite();

 private:
    // Copies what lies before `end` and goes on there.
    void copy_to(std::size_t end) {
        result_.text += text_.substr(at_, end - at_);
        at_ = end;
    }
    std::size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }
    bool stands_here(std::string_view word) const {
        return text_.compare(at_, word.size(), word) == 0 &&
               (at_ + word.size() >= text_.size() || !is_name_character(text_[at_ + word.size()]));
    }
    // Behind the brace that closes the one at `open`.
    std::size_t behind_braces(std::size_t open) const;

    void module_statement();
    void version();
    void declaration();
    void function(std::string_view header);
    void body_statement();
    void location();
    void count(const MemoryInstruction& instruction);
    void call(const MemoryInstruction& instruction, Space space, const std::string& address,
              const std::string& condition);
    void resolve_lines();
    // Whether the function that is read names the register once: where it is set.
    bool is_unused(const std::string& name) const;

    std::string_view text_;
    const std::function<bool(const std::string&)>& wants_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;                    // of braces, in a function
    std::size_t code_at_ = std::string::npos;  // where the probe's own code goes
    std::uint64_t capability_ = 0;
    bool is_wanted_ = false;
    std::string function_;
    std::string_view body_;
    PtxRegisters registers_;
    Location location_;
    // The place where the function of a location was inlined, of the function that is read.
    std::map<Location, Location> inlined_at_;
    std::map<std::uint64_t, std::string> files_;
    std::vector<std::vector<Location>> locations_;  // of each site: its own, then where inlined
    ProbedPtx result_;
};

std::size_t Rewriter::behind_braces(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
        if (text_[i] == '"') {
            i = text_.find('"', i + 1);
            if (i == text_.npos) break;
        } else if (text_[i] == '{') {
            ++depth;
        } else if (text_[i] == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return text_.size();
}

std::variant<ProbedPtx, NoPtx> Rewriter::rewrite() {
    result_.text.reserve(text_.size() * 2);
    while (true) {
        copy_to(skip_blanks(text_, at_));
        if (at_ >= text_.size()) break;
        depth_ == 0 ? module_statement() : body_statement();
    }
    if (capability_ < least_capability)
        return NoPtx{fmt::format("its PTX is for compute capability {}.{}, and counting needs 7.0",
                                 capability_ / 10, capability_ % 10)};
    if (result_.sites.empty() || code_at_ == std::string::npos)
        return NoPtx{"no wanted kernel of it reads or writes global or shared memory"};
    resolve_lines();
    const std::size_t sample_bytes = sample_words * sizeof(std::uint64_t);
    result_.samples_of_each = std::clamp(most_sample_bytes / (sample_bytes * result_.sites.size()),
                                         least_samples, most_samples);
    result_.text.insert(
        code_at_,
        with_numbers(probe_code, {{"counts_bytes", result_.sites.size() * sizeof(SiteTotals)},
                                  {"samples_bytes",
                                   result_.sites.size() * result_.samples_of_each * sample_bytes},
                                  {"site_bytes", sizeof(SiteTotals)},
                                  {"samples", result_.samples_of_each},
                                  {"own", own_places(result_.samples_of_each)},
                                  {"sample_bytes", sample_bytes}}));
    return std::move(result_);
}

void Rewriter::module_statement() {
    if (stands_here(".version")) {
        version();
    } else if (stands_here(".target")) {
        const std::size_t sm = text_.find("sm_", at_);
        if (sm < line_end()) capability_ = number_of(text_.substr(sm + 3));
        copy_to(line_end());
    } else if (stands_here(".address_size")) {
        copy_to(line_end());
        code_at_ = result_.text.size();
    } else if (stands_here(".file")) {
        const std::string_view line = text_.substr(at_, line_end() - at_);
        const std::size_t open = line.find('"');
        const std::size_t close = line.find('"', open + 1);
        const std::vector<std::string_view> words = words_of(line);
        if (close != line.npos && words.size() > 2)
            files_[number_of(words[1])] = line.substr(open + 1, close - open - 1);
        copy_to(line_end());
    } else if (stands_here(".section")) {
        copy_to(behind_braces(std::min(text_.find('{', at_), text_.size())));
    } else {
        declaration();
    }
}

void Rewriter::version() {
    const std::vector<std::string_view> words = words_of(text_.substr(at_, line_end() - at_));
    const std::size_t end = line_end();
    if (words.size() > 1 &&
        (number_of(words[1]) < 6 || words[1] == "6.0" || words[1] == "6.1" || words[1] == "6.2")) {
        result_.text += fmt::format(".version {}", least_version);
        at_ = end;
    }
    copy_to(end);
}

// A variable, a function that is declared, or one with a body.
void Rewriter::declaration() {
    const std::size_t end = std::min(text_.find_first_of(";{=", at_), text_.size());
    if (end < text_.size() && text_[end] == '{') {
        function(text_.substr(at_, end - at_));
        return;
    }
    std::size_t semicolon = end;
    while (semicolon < text_.size() && text_[semicolon] != ';')
        semicolon = text_[semicolon] == '{' ? behind_braces(semicolon) : semicolon + 1;
    copy_to(std::min(semicolon + 1, text_.size()));
}

void Rewriter::function(std::string_view header) {
    const std::size_t entry = header.find(".entry");
    const std::size_t func = header.find(".func");
    std::size_t name = header.npos;
    if (entry != header.npos) {
        name = skip_blanks(header, entry + 6);
    } else if (func != header.npos) {
        name = skip_blanks(header, func + 5);
        if (name < header.size() && header[name] == '(')  // what it returns
            name = skip_blanks(header, std::min(header.find(')', name), header.size() - 1) + 1);
    }
    const std::size_t body = at_ + header.size();
    if (name == header.npos) {  // of no kind that is known
        copy_to(behind_braces(body));
        return;
    }
    std::size_t name_end = name;
    while (name_end < header.size() && is_name_character(header[name_end])) ++name_end;
    function_ = header.substr(name, name_end - name);
    body_ = text_.substr(body, behind_braces(body) - body);
    is_wanted_ = entry == header.npos || wants_(function_);
    registers_ = {};
    location_ = {};
    inlined_at_.clear();
    copy_to(body);
    // Counting takes registers: without a word on it the kernel could not be launched with as many
    // threads as before.
    const auto says = [&](std::string_view word) { return header.find(word) != header.npos; };
    if (is_wanted_ && entry != header.npos && !says(".maxntid") && !says(".reqntid") &&
        !says(".maxnreg"))
        result_.text += ".maxntid 1024, 1, 1\n";
    copy_to(body + 1);
    depth_ = 1;
}

void Rewriter::body_statement() {
    const char c = text_[at_];
    if (c == '{' || c == '}') {
        c == '{' ? ++depth_ : --depth_;
        copy_to(at_ + 1);
        return;
    }
    if (stands_here(".loc")) {
        location();
        return;
    }
    std::size_t end = at_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    if (end > at_ && end < text_.size() && text_[end] == ':' && text_.compare(end, 2, "::") != 0) {
        copy_to(end + 1);
        return;
    }
    end = std::min(text_.find(';', at_), text_.size());
    const std::string_view statement = text_.substr(at_, end - at_);
    if (stands_here(".reg")) registers_.declare(statement);
    if (is_wanted_ && c != '.')
        if (const auto instruction = memory_instruction(statement)) count(*instruction);
    copy_to(std::min(end + 1, text_.size()));
}

// .loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN]
void Rewriter::location() {
    const std::vector<std::string_view> words = words_of(text_.substr(at_, line_end() - at_));
    const auto at = [&](std::size_t word) -> Location {
        return {number_of(words[word]), number_of(words[word + 1]), number_of(words[word + 2])};
    };
    if (words.size() > 3) location_ = at(1);
    const auto inlined =
        static_cast<std::size_t>(std::ranges::find(words, "inlined_at") - words.begin());
    if (inlined + 3 < words.size())
        inlined_at_[location_] = at(inlined + 1);
    else
        inlined_at_.erase(location_);
    copy_to(line_end());
}

void Rewriter::count(const MemoryInstruction& instruction) {
    const std::uint32_t bits = registers_.bits_of(instruction.base);
    std::string code =
        "{ .reg .b64 %coalprof_a, %coalprof_b; .reg .pred %coalprof_p, %coalprof_q; ";
    code += bits == 32 ? fmt::format("cvt.u64.u32 %coalprof_a, {}; ", instruction.base)
                       : fmt::format("mov.b64 %coalprof_a, {}; ", instruction.base);
    if (instruction.offset != "0")
        code += fmt::format("add.s64 %coalprof_a, %coalprof_a, {}; ", instruction.offset);
    result_.text += code;
    if (instruction.space != PtxSpace::generic) {
        call(instruction, instruction.space == PtxSpace::shared ? Space::shared : Space::global,
             "%coalprof_a", instruction.guard);
    } else {
        // Both questions are asked of the address; where the instruction is guarded, its guard
        // decides too.
        std::string both = "%coalprof_p";
        std::string guard;
        if (instruction.guard.starts_with('!'))
            guard = fmt::format(
                "not.pred %coalprof_q, {}; and.pred %coalprof_p, %coalprof_p, "
                "%coalprof_q; ",
                instruction.guard.substr(1));
        else if (!instruction.guard.empty())
            guard = fmt::format("and.pred %coalprof_p, %coalprof_p, {}; ", instruction.guard);
        result_.text += "isspacep.global %coalprof_p, %coalprof_a; " + guard;
        call(instruction, Space::global, "%coalprof_a", both);
        result_.text += "isspacep.shared %coalprof_p, %coalprof_a; " + guard +
                        "cvta.to.shared.u64 %coalprof_b, %coalprof_a; ";
        call(instruction, Space::shared, "%coalprof_b", both);
    }
    result_.text += "}\n\t";
}

void Rewriter::call(const MemoryInstruction& instruction, Space space, const std::string& address,
                    const std::string& condition) {
    const std::size_t site = result_.sites.size();
    result_.text += fmt::format(
        "{{ .param .b64 coalprof_0; .param .b32 coalprof_1; st.param.b64 [coalprof_0], {}; "
        "st.param.b32 [coalprof_1], {}; {}call coalprof_probe, (coalprof_0, coalprof_1); }} ",
        address, site | std::size_t(instruction.width_bytes) << 24,
        condition.empty() ? "" : fmt::format("@{} ", condition));
    result_.sites.push_back(
        {.function = function_,
         .source = {},
         .inlined_at = {},
         .instruction = instruction.opcode,
         .kind = is_unused(instruction.result) ? AccessKind::reduce : instruction.kind,
         .space = space,
         .width_bytes = instruction.width_bytes});
    std::vector<Location> chain{location_};
    for (auto outer = inlined_at_.find(location_);
         outer != inlined_at_.end() && chain.size() < most_inlined;
         outer = inlined_at_.find(outer->second))
        chain.push_back(outer->second);
    locations_.push_back(std::move(chain));
}

bool Rewriter::is_unused(const std::string& name) const {
    if (name.empty()) return false;
    if (name == "_") return true;
    std::size_t times = 0;
    for (std::size_t at = body_.find(name); at != body_.npos; at = body_.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        times += end >= body_.size() || !is_name_character(body_[end]);
    }
    return times == 1;
}

// The names of files stand behind the code.
void Rewriter::resolve_lines() {
    const auto resolved = [&](const Location& location) -> SourceLine {
        const auto file = files_.find(location.file);
        if (file == files_.end() || location.line == 0) return {};
        return {file->second, location.line};
    };
    for (std::size_t i = 0; i < locations_.size(); ++i) {
        PtxSite& site = result_.sites[i];
        site.source = resolved(locations_[i].front());
        for (std::size_t outer = 1; outer < locations_[i].size(); ++outer) {
            site.inlined_at = resolved(locations_[i][outer]);
            if (!is_of_toolkit(site.inlined_at)) break;
        }
    }
}

}  // namespace

bool is_of_toolkit(const SourceLine& place) {
    return place.file.find("/include/") != std::string::npos ||
           place.file.find("/triton/language/") != std::string::npos;
}

std::variant<ProbedPtx, NoPtx> probe(std::string_view ptx,
                                     const std::function<bool(const std::string&)>& wants) {
    return Rewriter(ptx, wants).rewrite();
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
            is_whole =
                is_whole && word >> 48 == mark && (word & address_mask) % site.width_bytes == 0;
            access.addresses[lane] = word & address_mask;
        }
        if (is_whole) all.push_back(access);
    }
    return all;
}

}  // namespace coalprof
