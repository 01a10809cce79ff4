#include "core/text/describe.h"

#include <algorithm>
#include <system_error>

#include "core/text/name_list.h"
#include "core/text/utf8.h"
#include "fmt/format.h"

namespace coalprof {

namespace {

constexpr std::string_view ellipsis = "...";

// One visible unit: a character, or its escape.
struct Glyph {
    std::size_t offset = 0;  // place in the text
    std::size_t bytes = 0;
    std::size_t columns = 0;
};

struct Spelling {
    std::string text;  // empty: the bytes themselves
    std::size_t bytes = 0;
    std::size_t columns = 0;
};

Spelling spell_first(std::string_view text) {
    const Utf8Char first = first_utf8_char(text);
    if (first.valid && first.code_point == U'\t') return {" ", 1, 1};
    if (first.valid && !is_control(first.code_point))
        return {"", first.bytes, terminal_columns(first.code_point)};
    const auto code_point = static_cast<std::uint32_t>(first.code_point);
    std::string escape = code_point <= 0xFF ? fmt::format("\\x{:02x}", code_point)
                                            : fmt::format("\\u{{{:x}}}", code_point);
    const std::size_t columns = escape.size();
    return {std::move(escape), first.bytes, columns};
}

std::vector<Glyph> glyphs_of(std::string_view text) {
    std::vector<Glyph> glyphs;
    for (std::size_t offset = 0; offset < text.size();) {
        const Spelling spelling = spell_first(text.substr(offset));
        glyphs.push_back({offset, spelling.bytes, spelling.columns});
        offset += spelling.bytes;
    }
    return glyphs;
}

// A run of glyphs within a number of columns. Combining marks take no column, so glyphs are limited
// as well.
class Window {
 public:
    Window(const std::vector<Glyph>& glyphs, std::size_t start, std::size_t room)
        : glyphs_(glyphs), begin_(start), end_(start), room_(room) {}

    void grow_right(std::size_t most_columns) {
        const std::size_t limit = std::min(room_, columns_ + most_columns);
        while (end_ < glyphs_.size() && fits(glyphs_[end_], limit))
            columns_ += glyphs_[end_++].columns;
    }
    void grow_left() {
        while (begin_ > 0 && fits(glyphs_[begin_ - 1], room_))
            columns_ += glyphs_[--begin_].columns;
    }
    std::size_t begin() const { return begin_; }
    std::size_t end() const { return end_; }
    bool cut_left() const { return begin_ > 0; }
    bool cut_right() const { return end_ < glyphs_.size(); }

 private:
    bool fits(const Glyph& glyph, std::size_t limit) const {
        return columns_ + glyph.columns <= limit && end_ - begin_ < room_;
    }

    const std::vector<Glyph>& glyphs_;
    std::size_t begin_, end_, room_;
    std::size_t columns_ = 0;
};

// The window of at most 80 columns, dots included, that shows glyph `focus`, the text after it for
// a third of the line and as much before it as fits.
Window window_around(const std::vector<Glyph>& glyphs, std::size_t focus) {
    for (std::size_t dots = 0;; ++dots) {
        Window window(glyphs, focus, shown_columns - dots * ellipsis.size());
        window.grow_right(shown_columns / 3);
        window.grow_left();
        window.grow_right(shown_columns);
        const std::size_t needed = std::size_t{window.cut_left()} + std::size_t{window.cut_right()};
        if (needed <= dots) return window;
    }
}

struct Excerpt {
    std::string text;
    std::size_t caret_column = 0;
};

Excerpt excerpt(std::string_view text, std::size_t caret) {
    const std::vector<Glyph> glyphs = glyphs_of(text);
    const auto after = std::upper_bound(
        glyphs.begin(), glyphs.end(), caret,
        [](std::size_t offset, const Glyph& glyph) { return offset < glyph.offset + glyph.bytes; });
    const auto focus = static_cast<std::size_t>(after - glyphs.begin());
    const Window window = window_around(glyphs, focus);

    Excerpt result;
    if (window.cut_left()) result.text = ellipsis;
    result.caret_column = result.text.size();
    for (std::size_t i = window.begin(); i < window.end(); ++i) {
        if (i < focus) result.caret_column += glyphs[i].columns;
        const std::string_view source = text.substr(glyphs[i].offset, glyphs[i].bytes);
        const Spelling spelling = spell_first(source);
        result.text += spelling.text.empty() ? source : std::string_view(spelling.text);
    }
    if (window.cut_right()) result.text += ellipsis;
    return result;
}

// The line of a text with the caret.
struct Line {
    std::string_view text;
    std::size_t caret = 0;
};
Line line_around(std::string_view text, std::size_t caret) {
    caret = std::min(caret, text.size());
    const std::size_t begin = text.substr(0, caret).rfind('\n') + 1;  // npos + 1 is 0
    const std::size_t end = std::min(text.find('\n', caret), text.size());
    return {text.substr(begin, end - begin), caret - begin};
}

}  // namespace

std::string shown(std::string_view text) { return excerpt(text, 0).text; }

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const Spelling spelling = spell_first(text);
        result += spelling.text.empty() ? text.substr(0, spelling.bytes)
                                        : std::string_view(spelling.text);
        text.remove_prefix(spelling.bytes);
    }
    return result;
}

std::string describe(const Error& error) {
    std::string lines = fmt::format("coalprof: {}\n", printable(error.what()));
    const auto* usage = dynamic_cast<const UsageError*>(&error);
    if (usage == nullptr) return lines;
    if (!usage->text().empty()) {
        const bool has_caret = usage->caret() != UsageError::no_caret;
        const Line shown_line = line_around(usage->text(), has_caret ? usage->caret() : 0);
        const Excerpt line = excerpt(shown_line.text, shown_line.caret);
        lines += fmt::format("  {}\n", line.text);
        if (has_caret) lines += fmt::format("  {:>{}}\n", '^', line.caret_column + 1);
    }
    if (!usage->hint().empty()) lines += fmt::format("hint: {}\n", printable(usage->hint()));
    return lines;
}

// The program never calls setlocale(), so the text is English.
std::string text_of_errno(int error) { return std::generic_category().message(error); }

std::string within_single_quotes(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return escaped;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./%@";
    if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
    return '\'' + within_single_quotes(text) + '\'';
}

std::string shell_words(const std::vector<std::string>& words) {
    return joined(words, shell_word, " ");
}

std::string shell_words(std::string_view text) {
    std::vector<std::string> words;
    bool is_quoted = false, is_in_word = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == ' ' && !is_quoted) {
            is_in_word = false;
            continue;
        }
        if (!is_in_word) words.emplace_back();
        is_in_word = true;
        const bool is_escape = text[at] == '\\' && !is_quoted && at + 1 < text.size();
        if (text[at] == '\'')
            is_quoted = !is_quoted;
        else
            words.back() += text[is_escape ? ++at : at];
    }
    return shell_words(words);
}

std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         std::initializer_list<std::string_view> flags,
                                         std::initializer_list<std::string_view> valued) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string name = words[i].substr(0, words[i].find('='));
        if (std::ranges::find(flags, name) != flags.end()) continue;
        if (std::ranges::find(valued, name) == valued.end())
            kept.push_back(words[i]);
        else if (name == words[i])
            ++i;
    }
    return kept;
}

}  // namespace coalprof
