#include "core/write/safe_text.h"

#include <algorithm>
#include <cmath>

#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

bool is_plain_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
}

std::string without_high_characters(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Char character = first_utf8_char(text.substr(at));
        plain += character.code_point < 128 ? static_cast<char>(character.code_point) : '?';
        at += character.bytes;
    }
    return plain;
}

}  // namespace

std::string cell_text(std::string_view text, std::size_t columns, bool ascii) {
    if (is_plain_text(text) && text.size() <= columns) return std::string(text);
    std::string safe = printable(text);
    if (ascii) safe = without_high_characters(safe);
    if (terminal_columns(safe) <= columns) return safe;
    const std::string_view mark = ascii ? "..." : "…";
    const std::size_t mark_columns = std::min(terminal_columns(mark), columns);
    std::string cut(beginning(safe, columns - mark_columns));
    return cut.append(beginning(mark, mark_columns));
}

std::string xml_text(std::string_view text) {
    std::string escaped;
    for (const char c : printable(text)) switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += c;
        }
    return escaped;
}

static bool needs_quotes(std::string_view text) {
    return begins_like_command(text) || std::any_of(text.begin(), text.end(), [](char c) {
               return c == ',' || c == '"' || c == '\r' || c == '\n';
           });
}

void put_csv_text(TextBuffer& out, std::string_view text) {
    // A spreadsheet would run such a cell as a formula; the apostrophe makes it text.
    constexpr std::string_view formula_starts = "=+-@\t\r";
    const bool is_guarded =
        !text.empty() && formula_starts.find(text.front()) != std::string_view::npos;
    if (!is_guarded && !needs_quotes(text)) return out.put(text);
    out.put('"');
    if (is_guarded) out.put('\'');
    for (const char c : text) {
        if (c == '"') out.put('"');
        out.put(c);
    }
    out.put('"');
}

void put_value(TextBuffer& out, const Value& value, std::string_view none,
               void (*put_text)(TextBuffer& out, std::string_view text)) {
    if (const auto* text = std::get_if<std::string>(&value)) return put_text(out, *text);
    if (const auto* flag = std::get_if<bool>(&value)) return out.put(*flag ? "true" : "false");
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return out.put(*integer);
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) return out.put(*natural);
    const auto* real = std::get_if<double>(&value);
    return real && std::isfinite(*real) ? out.put_real(*real) : out.put(none);
}

std::string markdown_text(std::string_view text) {
    constexpr std::string_view markup = "\\`*_{}[]<>#|~$&@";
    std::string safe;
    for (const char c : text) {
        if (markup.find(c) != std::string_view::npos) safe += '\\';
        safe += c == '\n' ? ' ' : c;
    }
    return safe;
}

}  // namespace coalprof
