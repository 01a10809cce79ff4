#include "core/text/fold.h"

#include <algorithm>
#include <limits>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

// Of a word that must be cut: what a line has room for, but at least a character.
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

}  // namespace

std::vector<std::string> folded(std::string_view text, const Folding& folding) {
    Folder folder(folding);
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
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

}  // namespace coalprof
