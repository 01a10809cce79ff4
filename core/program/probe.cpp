#include "core/program/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/program/array_names.h"
#include "core/program/opcodes.h"
#include "core/program/statement.h"

namespace coalprof {
namespace {

// Older GPUs lack match.sync.
constexpr std::uint32_t least_capability = 70;
constexpr std::string_view least_version = "6.3";
constexpr std::string_view entry_word = ".entry";

std::uint64_t whole_number(std::string_view text) {
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

// "scale( .param .u64 scale_param_0, .param .align 8 .b8 scale_param_1[24])": their names.
std::vector<std::string> parameters_in(std::string_view header) {
    std::vector<std::string> names;
    constexpr std::string_view word = ".param";
    for (std::size_t at = header.find(word); at != header.npos; at = header.find(word, at)) {
        at += word.size();
        const std::size_t end = std::min(header.find_first_of(",)[", at), header.size());
        const std::vector<std::string_view> words = words_of(header.substr(at, end - at));
        if (!words.empty()) names.emplace_back(words.back());
    }
    return names;
}

class Rewriter {
 public:
    Rewriter(std::string_view ptx, const std::function<bool(const std::string&)>& wants,
             std::string_view mark)
        : text_(ptx), wants_(wants), mark_(mark) {}

    std::variant<ProbedPtx, NoPtx> rewrite();

 private:
    // Copies the text before `end` and continues there.
    void copy_to(std::size_t end) {
        result_.text += text_.substr(at_, end - at_);
        at_ = end;
    }
    std::size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }
    bool stands_here(std::string_view word) const {
        return text_.compare(at_, word.size(), word) == 0 &&
               (at_ + word.size() >= text_.size() || !is_name_character(text_[at_ + word.size()]));
    }
    // After the brace that closes the one at `open`.
    std::size_t behind_braces(std::size_t open) const;

    void module_statement();
    void version();
    void declaration();
    void function(std::string_view header);
    void know_pointers();
    void body_statement();
    void location();
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
    void resolve_lines();
    // True if the function names the register once: where it is set.
    bool is_unused(const std::string& name) const;

    std::string_view text_;
    const std::function<bool(const std::string&)>& wants_;
    std::string_view mark_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;                    // of braces, in a function
    std::size_t code_at_ = std::string::npos;  // position for the probe's own code
    std::uint64_t capability_ = 0;
    bool is_wanted_ = false;
    std::string function_;
    std::string_view body_;
    PtxRegisters registers_;
    ArrayNames arrays_ = ArrayNames({});
    Location location_;
    // Inlining positions of the current function's locations.
    std::map<Location, Location> inlined_at_;
    std::map<std::uint64_t, std::string> files_;
    std::vector<std::vector<Location>> locations_;  // by site: its own, then those of inlining
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
    result_.samples_of_each = samples_of_each_of(result_.sites.size());
    result_.text.insert(code_at_, probe_code(result_.sites.size(), result_.samples_of_each, mark_));
    return std::move(result_);
}

void Rewriter::module_statement() {
    if (stands_here(".version")) {
        version();
    } else if (stands_here(".target")) {
        const std::size_t sm = text_.find("sm_", at_);
        if (sm < line_end()) capability_ = whole_number(text_.substr(sm + 3));
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
            files_[whole_number(words[1])] = line.substr(open + 1, close - open - 1);
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
    if (words.size() > 1 && (whole_number(words[1]) < 6 || words[1] == "6.0" || words[1] == "6.1" ||
                             words[1] == "6.2")) {
        result_.text += fmt::format(".version {}", least_version);
        at_ = end;
    }
    copy_to(end);
}

// A variable, or a function with or without a body.
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
    const std::size_t entry = header.find(entry_word);
    const std::size_t func = header.find(".func");
    std::size_t name = header.npos;
    if (entry != header.npos) {
        name = entry + entry_word.size();
    } else if (func != header.npos) {
        name = skip_blanks(header, func + 5);
        if (name < header.size() && header[name] == '(')  // its result
            name = skip_blanks(header, std::min(header.find(')', name), header.size() - 1) + 1);
    }
    const std::size_t body = at_ + header.size();
    if (name == header.npos) {  // an unknown kind
        copy_to(behind_braces(body));
        return;
    }
    function_ = name_at(header, name);
    body_ = text_.substr(body, behind_braces(body) - body);
    is_wanted_ = entry == header.npos || wants_(function_);
    registers_ = {};
    arrays_ = ArrayNames(entry == header.npos ? std::vector<std::string>()
                                              : parameters_in(header.substr(name)));
    if (is_wanted_) know_pointers();
    location_ = {};
    inlined_at_.clear();
    copy_to(body);
    // Counting takes registers: without a limit the kernel could not be launched with as many
    // threads as before.
    const auto says = [&](std::string_view word) { return header.find(word) != header.npos; };
    if (is_wanted_ && entry != header.npos && !says(".maxntid") && !says(".reqntid") &&
        !says(".maxnreg"))
        result_.text += ".maxntid 1024, 1, 1\n";
    copy_to(body + 1);
    depth_ = 1;
}

// All statements first: a rotated loop reads registers that later statements set.
void Rewriter::know_pointers() {
    for (std::size_t at = 0; at < body_.size();) {
        const std::size_t end = std::min(body_.find_first_of(";\n", at), body_.size());
        arrays_.take(body_.substr(at, end - at));
        at = end + 1;
    }
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
        if (const auto instruction = memory_instruction(statement))
            instruction->opcode.starts_with("wmma") ? count_matrix(*instruction)
                                                    : count(*instruction);
    if (is_wanted_) arrays_.take(statement);
    copy_to(std::min(end + 1, text_.size()));
}

// .loc FILE LINE COLUMN[, function_name LABEL[+N], inlined_at FILE LINE COLUMN]
void Rewriter::location() {
    const std::vector<std::string_view> words = words_of(text_.substr(at_, line_end() - at_));
    const auto at = [&](std::size_t word) -> Location {
        return {whole_number(words[word]), whole_number(words[word + 1]),
                whole_number(words[word + 2])};
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

// Puts the instruction's address into %coalprof_a.
void Rewriter::take_address(const MemoryInstruction& instruction) {
    result_.text +=
        "{ .reg .b64 %coalprof_a, %coalprof_b; .reg .b32 %coalprof_l; "
        ".reg .pred %coalprof_p, %coalprof_q; ";
    result_.text += registers_.bits_of(instruction.base) == 32
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
    else if (instruction.space == PtxSpace::generic)
        count_generic(instruction);
    else if (instruction.space == PtxSpace::local)
        count_local(instruction);
    else
        call(instruction, instruction.space == PtxSpace::shared ? Space::shared : Space::global,
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
    if (instruction.space == PtxSpace::generic)
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
        .source = {},
        .inlined_at = {},
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

// The names of files follow the code.
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
                                     const std::function<bool(const std::string&)>& wants,
                                     std::string_view mark) {
    return Rewriter(ptx, wants, mark).rewrite();
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
