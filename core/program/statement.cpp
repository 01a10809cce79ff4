// Widths and offsets were read from ptxas 13.0's code for sm_90, for every operand, type, shape and
// layout that nvcc writes.

#include "core/program/statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/text/name_list.h"

namespace coalprof {
namespace {

struct FragmentShape {
    std::string_view name;
    std::uint32_t m, n, k;
};
constexpr std::array shapes{
    FragmentShape{"m16n16k16", 16, 16, 16}, FragmentShape{"m32n8k16", 32, 8, 16},
    FragmentShape{"m8n32k16", 8, 32, 16},   FragmentShape{"m16n16k8", 16, 16, 8},
    FragmentShape{"m8n8k4", 8, 8, 4},       FragmentShape{"m8n8k32", 8, 8, 32},
    FragmentShape{"m8n8k128", 8, 8, 128}};

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 12> element_bits{{{"f16", 16},
                                                                                   {"bf16", 16},
                                                                                   {"f32", 32},
                                                                                   {"tf32", 32},
                                                                                   {"s32", 32},
                                                                                   {"f64", 64},
                                                                                   {"s8", 8},
                                                                                   {"u8", 8},
                                                                                   {"s4", 4},
                                                                                   {"u4", 4},
                                                                                   {"b1", 1},
                                                                                   {"b32", 32}}};

// The layout of the tensor cores' matrices: four lanes share one of eight rows; along `inner`, each
// lane has `side_by_side` elements.
struct FragmentMatrix {
    std::uint32_t lines = 0, line_elements = 0;
    bool is_inner = false;  // lines run along `inner`
    std::uint32_t side_by_side = 1;
};
FragmentMatrix matrix_of(const OpcodeWords& words, const FragmentShape& shape, std::uint32_t bits) {
    const bool is_by_rows = words.has("row");
    if (words.has("a") || words.has("b")) {
        const std::uint32_t outer = words.has("a") ? shape.m : shape.n;
        const bool is_inner = words.has("a") == is_by_rows;
        return {is_inner ? outer : shape.k, is_inner ? shape.k : outer, is_inner,
                std::max(1u, 32 / bits)};
    }
    const bool is_turned = shape.m == 8 && shape.n == 32;
    return {is_by_rows ? shape.m : shape.n, is_by_rows ? shape.n : shape.m, is_by_rows != is_turned,
            2};
}

// Matrices of 8 lines of 16 bytes, up to two of them along both sides at once.
void read_by_matrices(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    const std::uint32_t high = std::min(2u, matrix.lines / 8), wide = std::min(2u, line_bytes / 16);
    fragment.variant = high * wide == 4 ? 'M' : high * wide == 2 ? 'm' : 'n';
    fragment.width_bytes = 16;
    fragment.line = {.mask = 8 * high - 1};
    fragment.byte = {.shift = high == 2 ? 4u : 3u, .mask = wide - 1, .factor = 16};
    for (std::uint32_t line = 0; line < matrix.lines; line += 8 * high)
        for (std::uint32_t byte = 0; byte < line_bytes; byte += 16 * wide)
            fragment.accesses.push_back({line, byte});
}

// Each lane has neighbours within a line; for 16 bits also in the other layout, which MOVM
// transposes.
void read_along_lines(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    fragment.width_bytes = std::max(4u, matrix.side_by_side * fragment.element_bits / 8);
    fragment.line = {.shift = 2, .mask = 7};
    fragment.byte = {.mask = 3, .factor = fragment.width_bytes};
    for (std::uint32_t line = 0; line < matrix.lines; line += 8)
        for (std::uint32_t byte = 0; byte < line_bytes; byte += 4 * fragment.width_bytes)
            fragment.accesses.push_back({line, byte});
}

// Each lane has neighbours across lines, so that each is a separate access.
void read_across_lines(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    const std::uint32_t many = matrix.side_by_side;
    fragment.width_bytes = fragment.element_bits / 8;
    fragment.line = {.mask = 3, .factor = many};
    fragment.byte = {.shift = 2, .mask = 7, .factor = fragment.width_bytes};
    for (std::uint32_t line = 0; line < matrix.lines; line += 4 * many)
        for (std::uint32_t one = 0; one < many; ++one)
            for (std::uint32_t byte = 0; byte < line_bytes; byte += 8 * fragment.width_bytes)
                fragment.accesses.push_back({line + one, byte});
}

using Named = std::pair<std::string_view, std::uint32_t>;

constexpr std::array type_widths{
    Named{"b8", 1},  Named{"u8", 1},  Named{"s8", 1},   Named{"b16", 2},   Named{"u16", 2},
    Named{"s16", 2}, Named{"f16", 2}, Named{"bf16", 2}, Named{"f16x2", 4}, Named{"bf16x2", 4},
    Named{"b32", 4}, Named{"u32", 4}, Named{"s32", 4},  Named{"f32", 4},   Named{"b64", 8},
    Named{"u64", 8}, Named{"s64", 8}, Named{"f64", 8},  Named{"b128", 16}};
constexpr std::uint32_t widest_access = 32;  // bytes of a lane: ld.global.v8.f32
constexpr std::array vector_sizes{Named{"v2", 2}, Named{"v4", 4}, Named{"v8", 8}};

template <std::size_t count>
std::uint32_t number_named(const std::array<Named, count>& names,
                           const std::vector<std::string_view>& parts) {
    for (const std::string_view part : parts)
        for (const auto& [name, number] : names)
            if (part == name) return number;
    return 0;
}

std::vector<std::string_view> parts_of_opcode(std::string_view opcode) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t dot = opcode.find('.');
        parts.push_back(opcode.substr(0, dot));
        if (dot == opcode.npos) return parts;
        opcode.remove_prefix(dot + 1);
    }
}

// None: uncounted memory.
std::optional<PtxSpace> space_of(const std::vector<std::string_view>& parts) {
    for (const std::string_view part : parts) {
        if (part == "global") return PtxSpace::global;
        if (part == "shared" || part == "shared::cta") return PtxSpace::shared;
        if (part == "local") return PtxSpace::local;
        if (part == "const" || part.starts_with("param") || part == "shared::cluster")
            return std::nullopt;
    }
    return PtxSpace::generic;
}

std::optional<AccessKind> kind_of(std::string_view base) {
    if (base == "ld" || base == "ldu") return AccessKind::load;
    if (base == "st") return AccessKind::store;
    if (base == "atom") return AccessKind::atomic;
    if (base == "red") return AccessKind::reduce;
    return std::nullopt;
}

// The operands' "[...]" number `nth`, from 0.
std::string_view bracket_of(std::string_view operands, std::size_t nth) {
    std::size_t open = 0;
    for (std::size_t i = 0; i <= nth; ++i) {
        open = operands.find('[', i == 0 ? 0 : open + 1);
        if (open == operands.npos) return {};
    }
    const std::size_t close = operands.find(']', open);
    return close == operands.npos ? std::string_view{}
                                  : trimmed(operands.substr(open + 1, close - open - 1));
}

void set_address(MemoryInstruction& instruction, std::string_view address) {
    const std::size_t plus = address.find('+');
    instruction.base = trimmed(address.substr(0, plus));
    if (plus != address.npos) instruction.offset = trimmed(address.substr(plus + 1));
}

// cp.async.ca.shared.global [to], [from], bytes, ...: the read of global memory.
std::optional<MemoryInstruction> asynchronous_copy(MemoryInstruction instruction,
                                                   const std::vector<std::string_view>& parts,
                                                   std::string_view operands) {
    if (parts.size() < 4 || parts[1] != "async" || (parts[2] != "ca" && parts[2] != "cg") ||
        std::ranges::find(parts, "global") == parts.end())
        return std::nullopt;
    const std::size_t close = operands.find(']', operands.find(']') + 1);
    if (close == operands.npos) return std::nullopt;
    const std::vector<std::string_view> rest = words_of(operands.substr(close + 1));
    if (rest.empty()) return std::nullopt;
    instruction.kind = AccessKind::load;
    instruction.space = PtxSpace::global;
    // .cg copies 16 bytes, nothing else.
    const std::string_view bytes = rest.front();
    instruction.width_bytes = parts[2] == "cg" || bytes == "16" || bytes == "0x10" ? 16
                              : bytes == "8" || bytes == "0x8"                     ? 8
                                                                                   : 4;
    set_address(instruction, bracket_of(operands, 1));
    if (instruction.base.empty()) return std::nullopt;
    return instruction;
}

// ldmatrix.sync.aligned.m8n8.x2.shared.b16 {...}, [from]: each lane below 8 times the matrices
// gives the address of a row of 16 bytes.
std::optional<MemoryInstruction> matrix_rows(MemoryInstruction instruction,
                                             const std::vector<std::string_view>& parts,
                                             std::string_view operands) {
    const auto has = [&](std::string_view part) {
        return std::ranges::find(parts, part) != parts.end();
    };
    if (!has("m8n8")) return std::nullopt;
    instruction.kind = parts.front() == "ldmatrix" ? AccessKind::load : AccessKind::store;
    instruction.space = has("shared") || has("shared::cta") ? PtxSpace::shared : PtxSpace::generic;
    instruction.width_bytes = 16;
    instruction.lanes = has("x4") ? 32 : has("x2") ? 16 : 8;
    set_address(instruction, bracket_of(operands, 0));
    if (instruction.base.empty()) return std::nullopt;
    return instruction;
}

// wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {...}, [from], elements: see Fragment
std::optional<MemoryInstruction> matrix_fragment(MemoryInstruction instruction,
                                                 const std::vector<std::string_view>& parts,
                                                 std::string_view operands) {
    const auto space = space_of(parts);
    if (parts.size() < 2 || (parts[1] != "load" && parts[1] != "store") || !space)
        return std::nullopt;
    instruction.kind = parts[1] == "load" ? AccessKind::load : AccessKind::store;
    instruction.space = *space;
    set_address(instruction, bracket_of(operands, 0));
    if (instruction.base.empty()) return std::nullopt;
    const std::vector<std::string_view> rest = words_of(operands.substr(operands.find(']') + 1));
    if (!rest.empty() && !rest.back().ends_with('}')) instruction.line_elements = rest.back();
    return instruction;
}

}  // namespace

std::optional<Fragment> fragment_of(const OpcodeWords& words) {
    const auto shape =
        std::ranges::find_if(shapes, [&](const FragmentShape& one) { return words.has(one.name); });
    const auto type =
        std::ranges::find_if(element_bits, [&](const auto& one) { return words.has(one.first); });
    if (shape == shapes.end() || type == element_bits.end()) return std::nullopt;
    const std::uint32_t bits = type->second;
    const FragmentMatrix matrix = matrix_of(words, *shape, bits);
    const std::uint32_t line_bytes = matrix.line_elements * bits / 8;
    const bool is_factor = words.has("a") || words.has("b");
    Fragment fragment{.element_bits = bits, .line_elements = matrix.line_elements};
    if (is_factor && words.memory().state == PtxState::shared && bits <= 16 &&
        (matrix.is_inner || bits == 16))
        read_by_matrices(fragment, matrix, line_bytes);
    else if (matrix.is_inner || bits == 16)
        read_along_lines(fragment, matrix, line_bytes);
    else
        read_across_lines(fragment, matrix, line_bytes);
    return fragment;
}

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

std::string_view name_at(std::string_view text, std::size_t at) {
    const std::size_t begin = std::min(skip_blanks(text, at), text.size());
    std::size_t end = begin;
    while (end < text.size() && is_name_character(text[end])) ++end;
    return text.substr(begin, end - begin);
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    constexpr std::string_view between = " \t\r\n,";
    for (std::size_t at = text.find_first_not_of(between); at != text.npos;) {
        const std::size_t end = std::min(text.find_first_of(between, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(between, end);
    }
    return words;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
    while (at < text.size()) {
        if (std::isspace(static_cast<unsigned char>(text[at]))) {
            ++at;
        } else if (text.compare(at, 2, "//") == 0) {
            at = std::min(text.find('\n', at), text.size());
        } else if (text.compare(at, 2, "/*") == 0) {
            const std::size_t end = text.find("*/", at + 2);
            at = end == text.npos ? text.size() : end + 2;
        } else {
            break;
        }
    }
    return at;
}

std::optional<MemoryInstruction> memory_instruction(std::string_view statement) {
    statement = trimmed(statement);
    MemoryInstruction instruction;
    if (statement.starts_with('@')) {
        statement = trimmed(statement.substr(1));
        std::size_t end = 0;
        while (end < statement.size() &&
               (statement[end] == '!' || is_name_character(statement[end])))
            ++end;
        instruction.guard = statement.substr(0, end);
        statement = trimmed(statement.substr(end));
    }
    std::size_t end = 0;
    while (end < statement.size() &&
           (is_name_character(statement[end]) || statement[end] == '.' || statement[end] == ':'))
        ++end;
    instruction.opcode = statement.substr(0, end);
    const std::string_view operands = statement.substr(end);
    const std::vector<std::string_view> parts = parts_of_opcode(instruction.opcode);
    if (parts.front() == "cp") return asynchronous_copy(std::move(instruction), parts, operands);
    if (parts.front() == "ldmatrix" || parts.front() == "stmatrix")
        return matrix_rows(std::move(instruction), parts, operands);
    if (parts.front() == "wmma") return matrix_fragment(std::move(instruction), parts, operands);
    const auto kind = kind_of(parts.front());
    const auto space = space_of(parts);
    const std::uint32_t width = number_named(type_widths, parts);
    if (!kind || !space || width == 0 || parts.size() < 2) return std::nullopt;
    if (parts[1] == "async" || parts[1] == "bulk") return std::nullopt;
    instruction.kind = *kind;
    instruction.space = *space;
    instruction.width_bytes = width * std::max(1u, number_named(vector_sizes, parts));
    set_address(instruction, bracket_of(operands, 0));
    if (const auto words = words_of(operands.substr(0, operands.find('[')));
        instruction.kind == AccessKind::atomic && words.size() == 1)
        instruction.result = words.front();
    if (instruction.width_bytes > widest_access || instruction.base.empty()) return std::nullopt;
    return instruction;
}

void PtxRegisters::declare(std::string_view statement) {
    const std::vector<std::string_view> words = words_of(statement);
    if (words.size() < 3) return;
    const std::uint32_t bytes =
        words[1] == ".pred" ? 0 : number_named(type_widths, {words[1].substr(1)});
    if (bytes < 4 || bytes > 8) return;
    for (std::size_t i = 2; i < words.size(); ++i) {
        const std::size_t range = words[i].find('<');
        (range == words[i].npos ? names_ : ranges_)[std::string(words[i].substr(0, range))] =
            bytes * 8;
    }
}

std::uint32_t PtxRegisters::bits_of(const std::string& name) const {
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    const std::size_t last = name.find_last_not_of("0123456789");
    if (last == name.npos) return 0;
    const auto found = ranges_.find(name.substr(0, last + 1));
    return found == ranges_.end() ? 0 : found->second;
}

bool may_become_reduction(std::string_view opcode) {
    constexpr std::array kept{".exch", ".cas", ".acquire", ".acq_rel"};
    return std::ranges::none_of(
        kept, [&](std::string_view word) { return opcode.find(word) != opcode.npos; });
}

}  // namespace coalprof
