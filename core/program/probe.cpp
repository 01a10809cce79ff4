#include "core/program/probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/program/array_names.h"
#include "core/program/module.h"
#include "core/program/opcodes.h"
#include "core/program/statement.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Older GPUs lack match.sync.
constexpr std::uint32_t least_capability = 70;
constexpr std::string_view least_version = "6.3";
constexpr std::string_view entry_word = ".entry";

// The bits of a register, 32 or 64; 0: no register.
std::uint32_t bits_of(const PtxBody& body, std::uint32_t scope, std::string_view name) {
    const std::string_view prefix =
        name.substr(0, std::min(name.find_last_not_of("0123456789"), name.size() - 1) + 1);
    while (true) {
        for (const PtxRegister& one : body.scopes[scope].registers)
            if (one.name == (one.count == 0 ? name : prefix)) return one.bits;
        if (scope == 0) return 0;
        scope = body.scopes[scope].parent;
    }
}

class Rewriter {
 public:
    Rewriter(const PtxModule& module, std::string_view mark) : module_(module), mark_(mark) {}

    std::variant<ProbedPtx, NoPtx> rewrite(const std::function<bool(const std::string&)>& wants);

 private:
    // Copies the text before `end` and continues there.
    void copy_to(std::size_t end) {
        result_.text += module_.text.substr(at_, end - at_);
        at_ = end;
    }
    std::size_t place_of(std::string_view part) const {
        return static_cast<std::size_t>(part.data() - module_.text.data());
    }
    void head();
    void function(const PtxFunction& function);
    void take_address(const MemoryInstruction& instruction);
    // `more`: code that changes the address.
    void count(const MemoryInstruction& instruction, const std::string& more = {});
    void count_matrix(const MemoryInstruction& instruction);
    void count_generic(const MemoryInstruction& instruction);
    void count_low_lanes(const MemoryInstruction& instruction);
    void count_local(const MemoryInstruction& instruction);
    static std::string with_guard(const MemoryInstruction& instruction);
    void call(const MemoryInstruction& instruction, Space space, const std::string& address,
              const std::string& condition);
    // True if the function names the register once: where it is set.
    bool is_unused(const std::string& name) const;

    const PtxModule& module_;
    std::string_view mark_;
    std::size_t at_ = 0;
    std::size_t code_at_ = 0;  // where the probe's own code goes
    std::string function_;
    std::string_view text_of_body_;
    PtxBody body_;
    PtxStatement statement_;
    ArrayNames arrays_ = ArrayNames({});
    ProbedPtx result_;
};

std::variant<ProbedPtx, NoPtx> Rewriter::rewrite(
    const std::function<bool(const std::string&)>& wants) {
    if (module_.architecture < least_capability)
        return NoPtx{fmt::format("its PTX is for compute capability {}.{}, and counting needs 7.0",
                                 module_.architecture / 10, module_.architecture % 10)};
    result_.text.reserve(module_.text.size() * 2);
    head();
    for (const PtxFunction& one : module_.functions)
        if (one.has_body && (!one.is_entry || wants(one.name))) function(one);
    copy_to(module_.text.size());
    if (result_.sites.empty() || module_.address_size_at == 0)
        return NoPtx{"no wanted kernel of it reads or writes global or shared memory"};
    result_.samples_of_each = samples_of_each_of(result_.sites.size());
    result_.text.insert(code_at_, probe_code(result_.sites.size(), result_.samples_of_each, mark_));
    return std::move(result_);
}

void Rewriter::head() {
    if (module_.version.size() == least_version.size() && module_.version < least_version) {
        copy_to(place_of(module_.version));
        result_.text += least_version;
        at_ += module_.version.size();
    }
    copy_to(std::max(at_, module_.address_size_at));
    code_at_ = result_.text.size();
}

void Rewriter::function(const PtxFunction& function) {
    const std::string_view text = module_.text;
    function_ = function.name;
    body_ = read_body(module_, function);
    if (body_.statements.empty()) return;
    const std::string_view last = body_.statements.back().text;
    text_of_body_ = text.substr(function.body_at, place_of(last) + last.size() - function.body_at);
    std::vector<std::string> parameters;
    if (function.is_entry)
        for (const PtxParameter& one : function.parameters) parameters.push_back(one.name);
    arrays_ = ArrayNames(std::move(parameters));
    // All statements first: a rotated loop reads registers that later statements set.
    for (const PtxStatement& one : body_.statements) arrays_.take(one.text);
    // Counting takes registers: without a limit the kernel could not be launched with as many
    // threads as before.
    if (function.is_entry && !function.limits_registers) {
        copy_to(function.body_at - 1);
        result_.text += ".maxntid 1024, 1, 1\n";
    }
    for (const PtxStatement& one : body_.statements) {
        statement_ = one;
        copy_to(place_of(one.text));
        if (const auto instruction = memory_instruction(one.text))
            instruction->opcode.starts_with("wmma") ? count_matrix(*instruction)
                                                    : count(*instruction);
        arrays_.take(one.text);
    }
}

// Puts the instruction's address into %coalprof_a.
void Rewriter::take_address(const MemoryInstruction& instruction) {
    result_.text +=
        "{ .reg .b64 %coalprof_a, %coalprof_b; .reg .b32 %coalprof_l; "
        ".reg .pred %coalprof_p, %coalprof_q; ";
    result_.text += bits_of(body_, statement_.scope, instruction.base) == 32
                        ? fmt::format("cvt.u64.u32 %coalprof_a, {}; ", instruction.base)
                        : fmt::format("mov.b64 %coalprof_a, {}; ", instruction.base);
    if (instruction.offset != "0")
        result_.text += fmt::format("add.s64 %coalprof_a, %coalprof_a, {}; ", instruction.offset);
}

void Rewriter::count(const MemoryInstruction& instruction, const std::string& more) {
    take_address(instruction);
    result_.text += more;
    if (instruction.lanes < warp_lanes)
        count_low_lanes(instruction);
    else if (instruction.state == PtxState::generic)
        count_generic(instruction);
    else if (instruction.state == PtxState::local)
        count_local(instruction);
    else
        call(instruction, instruction.state == PtxState::shared ? Space::shared : Space::global,
             "%coalprof_a", instruction.guard);
    result_.text += "}\n\t";
}

// The lane's place in a matrix, added to its address.
std::string place_in_fragment(const Fragment& fragment, const FragmentAccess& access,
                              const std::string& line_elements) {
    const auto part = [](const LanePart& one, std::uint32_t more) {
        return fmt::format(
            "shr.u32 %coalprof_m, %coalprof_l, {}; and.b32 %coalprof_m, %coalprof_m, {}; "
            "mul.lo.u32 %coalprof_m, %coalprof_m, {}; add.u32 %coalprof_m, %coalprof_m, {}; "
            "cvt.u64.u32 %coalprof_c, %coalprof_m; ",
            one.shift, one.mask, one.factor, more);
    };
    return fmt::format(
        "{{ .reg .b32 %coalprof_m, %coalprof_n; .reg .b64 %coalprof_c; "
        "mov.u32 %coalprof_l, %laneid; mov.u32 %coalprof_n, {}; "
        "mul.wide.u32 %coalprof_b, %coalprof_n, {}; shr.u64 %coalprof_b, %coalprof_b, 3; "
        "{}mad.lo.s64 %coalprof_a, %coalprof_c, %coalprof_b, %coalprof_a; "
        "{}add.s64 %coalprof_a, %coalprof_a, %coalprof_c; }} ",
        line_elements.empty() ? std::to_string(fragment.line_elements) : line_elements,
        fragment.element_bits, part(fragment.line, access.lines),
        part(fragment.byte, access.bytes));
}

// The loads and stores that ptxas makes of it.
void Rewriter::count_matrix(const MemoryInstruction& instruction) {
    const auto fragment = fragment_of(OpcodeWords(instruction.opcode));
    if (!fragment) return;
    MemoryInstruction one = instruction;
    one.width_bytes = fragment->width_bytes;
    one.lanes = fragment->variant == 'n' ? 8 : fragment->variant == 'm' ? 16 : warp_lanes;
    for (const FragmentAccess& access : fragment->accesses)
        count(one, place_in_fragment(*fragment, access, instruction.line_elements));
}

// The instruction's guard, which decides beside %coalprof_p.
std::string Rewriter::with_guard(const MemoryInstruction& instruction) {
    if (instruction.guard.starts_with('!'))
        return fmt::format(
            "not.pred %coalprof_q, {}; and.pred %coalprof_p, %coalprof_p, %coalprof_q; ",
            instruction.guard.substr(1));
    if (instruction.guard.empty()) return {};
    return fmt::format("and.pred %coalprof_p, %coalprof_p, {}; ", instruction.guard);
}

// Tests the address for both kinds of memory.
void Rewriter::count_generic(const MemoryInstruction& instruction) {
    const std::string guard = with_guard(instruction);
    result_.text += "isspacep.global %coalprof_p, %coalprof_a; " + guard;
    call(instruction, Space::global, "%coalprof_a", "%coalprof_p");
    if (instruction.width_bytes > 16) return;  // shared memory has no wider access
    result_.text += "isspacep.shared %coalprof_p, %coalprof_a; " + guard +
                    "cvta.to.shared.u64 %coalprof_b, %coalprof_a; ";
    call(instruction, Space::shared, "%coalprof_b", "%coalprof_p");
}

// Rows of matrices in shared memory.
void Rewriter::count_low_lanes(const MemoryInstruction& instruction) {
    if (instruction.state == PtxState::generic)
        result_.text += "cvta.to.shared.u64 %coalprof_a, %coalprof_a; ";
    result_.text +=
        fmt::format("mov.u32 %coalprof_l, %laneid; setp.lt.u32 %coalprof_p, %coalprof_l, {}; {}",
                    instruction.lanes, with_guard(instruction));
    call(instruction, Space::shared, "%coalprof_a", "%coalprof_p");
}

// Counts the interleaved address: the words of a warp's lanes are adjacent
// (core/count/near_memory.h).
void Rewriter::count_local(const MemoryInstruction& instruction) {
    result_.text +=
        "shr.u64 %coalprof_b, %coalprof_a, 2; shl.b64 %coalprof_b, %coalprof_b, 7; "
        "and.b64 %coalprof_a, %coalprof_a, 3; add.s64 %coalprof_b, %coalprof_b, %coalprof_a; "
        "mov.u32 %coalprof_l, %laneid; mul.wide.u32 %coalprof_a, %coalprof_l, 4; "
        "add.s64 %coalprof_a, %coalprof_a, %coalprof_b; ";
    call(instruction, Space::local, "%coalprof_a", instruction.guard);
}

void Rewriter::call(const MemoryInstruction& instruction, Space space, const std::string& address,
                    const std::string& condition) {
    const PtxSite site{
        .function = function_,
        .source = module_.line_at(statement_.source),
        .inlined_at = module_.line_at(statement_.inlined_at),
        .instruction = instruction.opcode,
        .kind = is_unused(instruction.result) && may_become_reduction(instruction.opcode)
                    ? AccessKind::reduce
                    : instruction.kind,
        .space = space,
        .width_bytes = instruction.width_bytes,
        .array = arrays_.array_at(instruction.base)};
    result_.text += fmt::format(
        "{{ .param .b64 coalprof_0; .param .b32 coalprof_1; st.param.b64 [coalprof_0], {}; "
        "st.param.b32 [coalprof_1], {}; {}call coalprof_probe, (coalprof_0, coalprof_1); }} ",
        address, probe_word(result_.sites.size(), site),
        condition.empty() ? "" : fmt::format("@{} ", condition));
    result_.sites.push_back(site);
}

bool Rewriter::is_unused(const std::string& name) const {
    if (name.empty()) return false;
    if (name == "_") return true;
    std::size_t times = 0;
    for (std::size_t at = text_of_body_.find(name); at != text_of_body_.npos;
         at = text_of_body_.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        times += end >= text_of_body_.size() || !is_name_character(text_of_body_[end]);
    }
    return times == 1;
}

}  // namespace

bool is_of_toolkit(const SourceLine& place) {
    return place.file.find("/include/") != std::string::npos ||
           place.file.find("/triton/language/") != std::string::npos;
}

std::variant<ProbedPtx, NoPtx> probe(std::string_view ptx,
                                     const std::function<bool(const std::string&)>& wants,
                                     std::string_view mark) {
    try {
        return Rewriter(read_module(ptx, "its PTX"), mark).rewrite(wants);
    } catch (const UsageError& error) {
        return NoPtx{error.what()};
    }
}

std::vector<std::string> kernels_in(std::string_view ptx) {
    std::vector<std::string> names;
    for (std::size_t at = 0; (at = ptx.find(entry_word, at)) != ptx.npos;) {
        at += entry_word.size();
        if (const std::string_view name = name_at(ptx, at); !name.empty()) names.emplace_back(name);
    }
    return names;
}

}  // namespace coalprof
