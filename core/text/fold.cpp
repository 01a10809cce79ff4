#include "core/text/fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/text/utf8.h"

namespace coalprof {

namespace {

// The first part of a word that must be cut: as much as fits a line, but at least a character.
std::string_view first_part(std::string_view word, std::size_t columns) {
    const std::string_view part = beginning(word, columns);
    return part.empty() && !word.empty() ? word.substr(0, first_utf8_char(word).bytes) : part;
}

class Folder {
 public:
    explicit Folder(const Folding& folding)
        : folding_(folding),
          limit_(folding.columns == 0 ? std::numeric_limits<std::size_t>::max() : folding.columns) {
        begin_line(folding.indent);
    }

    void add(std::string_view word) {
        do {
            if (has_words_ && used_ + 1 + terminal_columns(word) > limit_)
                begin_line(folding_.indent + folding_.hanging);
            const std::size_t room = limit_ - std::min(used_, limit_);
            const std::string_view part = folding_.cuts_words ? first_part(word, room) : word;
            if (has_words_) put(" ");
            put(part);
            has_words_ |= !part.empty();
            word.remove_prefix(part.size());
        } while (!word.empty());
    }

    std::vector<std::string> lines() && { return std::move(lines_); }

 private:
    void begin_line(std::size_t indent) {
        lines_.emplace_back(indent, ' ');
        used_ = indent;
        has_words_ = false;
    }
    void put(std::string_view text) {
        lines_.back() += text;
        used_ += terminal_columns(text);
    }

    const Folding& folding_;
    std::size_t limit_;
    std::vector<std::string> lines_;
    std::size_t used_ = 0;  // columns of the last line
    bool has_words_ = false;
};

// True if a quotation begins in `text` and does not end. An apostrophe within a word is none.
bool is_open_quotation(std::string_view text) {
    bool is_open = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const auto is_name = [&](std::size_t at) {
            return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at]));
        };
        if (is_open)
            is_open = c != quote || (c == '\'' && is_name(i + 1));
        else if (c == '`' || (c == '\'' && (i == 0 || !is_name(i - 1)))) {
            is_open = true;
            quote = c;
        }
    }
    return is_open;
}

bool is_option(std::string_view word) {
    return word.starts_with("--") &&
           word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == word.npos;
}

// The end of the word at `begin`, with the rest of a quotation that begins in it.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
    const std::size_t first = std::min(text.find(' ', begin), text.size());
    for (std::size_t end = first; end < text.size(); end = text.find(' ', end + 1))
        if (!is_open_quotation(text.substr(begin, end - begin))) return end;
    return is_open_quotation(text.substr(begin)) ? first : text.size();
}

// The end of the options with their values that `text` begins with, or of its first word.
std::size_t end_of_command(std::string_view text) {
    std::size_t end = end_of_quoted(text, 0);
    for (std::size_t begin = 0; end < text.size() && is_option(text.substr(begin, end - begin));) {
        end = end_of_quoted(text, end + 1);  // its value
        if (!text.substr(end).starts_with(" --")) break;
        begin = end + 1;
        end = end_of_quoted(text, begin);
    }
    return end;
}

}  // namespace

std::vector<std::string> folded(std::string_view text, const Folding& folding) {
    Folder folder(folding);
    while (!text.empty()) {
        const std::string_view word =
            text.substr(0, folding.keeps_commands ? end_of_command(text) : text.find(' '));
        folder.add(word);
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return std::move(folder).lines();
}

std::string folded_text(std::string_view text, const Folding& folding) {
    std::string all;
    for (const std::string& line : folded(text, folding)) all.append(line) += '\n';
    return all;
}

bool begins_like_command(std::string_view line) {
    const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    return words.starts_with("::") || words.starts_with("##");
}

std::string without_commands(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t size = std::min(line.size() + 1, text.size());
        const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
        safe += text.substr(0, blanks);
        if (begins_like_command(line)) safe += '\\';
        safe += text.substr(blanks, size - blanks);
        text.remove_prefix(size);
    }
    return safe;
}

std::string rounded_time(double seconds) {
    if (seconds < 99.5) return fmt::format("{:.0f} s", std::ceil(seconds));
    if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.0f} h", seconds / 3600);
}

namespace {

// Three digits: 0.0213, 4.15, 1230
std::string rate_text(double rate) {
    return rate < 1000 ? fmt::format("{:.3g}", rate) : fmt::format("{:.0f}", rate);
}

}  // namespace

std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> all, double seconds,
                          std::string_view what) {
    std::string text = all ? fmt::format("{} of {} {}", done, *all, what)
                           : fmt::format("{} point{}", done, done == 1 ? "" : "s");
    if (done == 0 || !(seconds > 0)) return text + fmt::format(", {}", rounded_time(seconds));
    const double rate = static_cast<double>(done) / seconds;
    text += fmt::format(", {} a second", rate_text(rate));
    if (all && *all > done)
        text += fmt::format(", {} left", rounded_time(static_cast<double>(*all - done) / rate));
    return text;
}

}  // namespace coalprof
