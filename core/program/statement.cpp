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

// cp.async.ca.shared.global [to], [from], bytes, ...: the read of global memory. .cg copies 16
// bytes, nothing else. 0: they are not given.
std::uint32_t copied_bytes(const OpcodeWords& words, std::string_view operands) {
    const std::size_t close = operands.find(']', operands.find(']') + 1);
    if (close == operands.npos) return 0;
    const std::vector<std::string_view> rest = words_of(operands.substr(close + 1));
    if (rest.empty()) return 0;
    const std::string_view bytes = rest.front();
    return words.has("cg") || bytes == "16" || bytes == "0x10" ? 16
           : bytes == "8" || bytes == "0x8"                    ? 8
                                                               : 4;
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
    const OpcodeWords words(instruction.opcode);
    const MemoryWords memory = words.is_memory() ? words.memory() : MemoryWords{};
    const bool is_matrix = words.base() == "ldmatrix" || words.base() == "stmatrix";
    const bool is_fragment = words.base() == "wmma";
    if (memory.opcode == Opcode::nothing || memory.opcode == Opcode::unknown ||
        (!is_fragment && !memory.fault().empty()) || memory.is_uncounted ||
        memory.state == PtxState::constant || memory.state == PtxState::param ||
        words.has("shared::cluster") || (is_matrix && !words.has("m8n8")))
        return std::nullopt;
    instruction.kind = memory.kind;
    instruction.state = memory.state;
    instruction.width_bytes = memory.is_copy ? copied_bytes(words, operands) : memory.width_bytes;
    set_address(instruction, bracket_of(operands, memory.is_copy ? 1 : 0));
    if (is_matrix) {  // each lane below 8 times the matrices gives the address of a row
        if (!words.has("shared") && !words.has("shared::cta"))
            instruction.state = PtxState::generic;
        instruction.lanes = memory.variant == 'M' ? 32 : memory.variant == 'm' ? 16 : 8;
    }
    if (is_fragment) {
        instruction.width_bytes = 4;  // Fragment says it
        const auto rest = words_of(operands.substr(operands.find(']') + 1));
        if (!rest.empty() && !rest.back().ends_with('}')) instruction.line_elements = rest.back();
    }
    if (const auto results = words_of(operands.substr(0, operands.find('[')));
        instruction.kind == AccessKind::atomic && results.size() == 1)
        instruction.result = results.front();
    if (instruction.width_bytes == 0 || instruction.base.empty()) return std::nullopt;
    return instruction;
}

bool may_become_reduction(std::string_view opcode) {
    constexpr std::array kept{".exch", ".cas", ".acquire", ".acq_rel"};
    return std::ranges::none_of(
        kept, [&](std::string_view word) { return opcode.find(word) != opcode.npos; });
}

}  // namespace coalprof
