#include "core/text/utf8.h"

#include <algorithm>
#include <span>

namespace coalprof {
namespace {

struct Block {
    char32_t first;
    char32_t last;
};

constexpr Block hidden_or_reordering[] = {
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C}, {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
};
constexpr Block combining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},   {0x064B, 0x065F},
    {0x06D6, 0x06DC}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},   {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};
constexpr Block wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
};

bool is_in(std::span<const Block> blocks, char32_t code_point) {
    return std::any_of(blocks.begin(), blocks.end(), [code_point](const Block& block) {
        return code_point >= block.first && code_point <= block.last;
    });
}

std::uint8_t byte_of(char c) { return static_cast<std::uint8_t>(c); }

}  // namespace

Utf8Char first_utf8_char(std::string_view text) {
    const std::uint8_t lead = byte_of(text[0]);
    if (lead < 0x80) return {lead, 1, true};
    const Utf8Char invalid{lead, 1, false};
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return invalid;
    char32_t code_point = lead & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const std::uint8_t next = byte_of(text[i]);
        if ((next & 0xC0u) != 0x80u) return invalid;
        code_point = code_point << 6 | (next & 0x3Fu);
    }
    const bool overlong =
        (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x10000);
    const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    if (overlong || surrogate || code_point > 0x10FFFF) return invalid;
    return {code_point, bytes, true};
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const Utf8Char first = first_utf8_char(text);
        if (!first.valid) return false;
        text.remove_prefix(first.bytes);
    }
    return true;
}

bool is_control(char32_t code_point) { return is_in(hidden_or_reordering, code_point); }

std::size_t terminal_columns(char32_t code_point) {
    if (code_point < 0x0300) return 1;
    if (is_in(combining, code_point)) return 0;
    return is_in(wide, code_point) ? 2 : 1;
}

std::size_t terminal_columns(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] >= ' ' && text[at] < '\x7f') {  // nearly all
            ++columns;
            ++at;
            continue;
        }
        const Utf8Char character = first_utf8_char(text.substr(at));
        columns += terminal_columns(character.code_point);
        at += character.bytes;
    }
    return columns;
}

std::string_view beginning(std::string_view text, std::size_t columns) {
    std::size_t taken = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Char character = first_utf8_char(text.substr(at));
        taken += terminal_columns(character.code_point);
        if (taken > columns) return text.substr(0, at);
        at += character.bytes;
    }
    return text;
}

}  // namespace coalprof
