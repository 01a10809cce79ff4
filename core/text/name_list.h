// "a, b, c and 12 more": names for a message, of which the first few are listed.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.h"

namespace coalprof {

class NameList {
 public:
    explicit NameList(std::size_t most) : most_(most) {}

    void add(std::string_view name);
    [[nodiscard]] std::string text() const;

 private:
    std::size_t most_;
    std::size_t count_ = 0;
    std::string told_;
};

// "a, b, c"; `text` gives the text for each.
template <typename Range, typename Text>
requires(!std::convertible_to<Text, std::string_view>) std::string
    joined(const Range& range, Text text, std::string_view between = ", ") {
    std::string all;
    bool is_first = true;
    for (const auto& one : range) {
        if (!is_first) all += between;
        is_first = false;
        all += std::invoke(text, one);
    }
    return all;
}
template <typename Range>
std::string joined(const Range& texts, std::string_view between = ", ") {
    return joined(texts, std::identity(), between);
}

// Lists in options: "a,b,c".

// Its parts, each once. Throws UsageError naming `option` where one is empty.
std::vector<std::string> split_list(std::string_view text, std::string_view option);

// The parts between commas, equal and empty ones among them.
std::vector<std::string> list_items(const std::string& text);

// "Did you mean": the existing word that is closest to the typed one.

// The candidate that `word` most probably means, or none when nothing is close: at most one edit
// (insert, drop, replace, swap two neighbours) per three characters, capitals ignored; or `word`
// begins exactly one candidate. The first of equally close ones. Cost is bounded however long
// `word` is.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

// "unknown pattern 'stirde'. Did you mean 'stride'?"; with nothing close, the candidates are listed
// where a line can hold them. `what` names the kind of word: "pattern", "op", "--type".
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> candidates);

// The value of an option while it is read: used by every parser of options, so that errors have one
// style: "--range 0..x: expected an integer after '..'".

struct OptionText {
    std::string_view option;  // "--range", or "--var k=" where the value follows directly
    std::string_view text;    // the list as the user typed it
    std::string_view hint;    // an example of such values

    // Throws the UsageError. `caret` is a byte offset into `text`, or UsageError::no_caret.
    [[noreturn]] void refuse(std::size_t caret, std::string_view why) const;
    [[noreturn]] void refuse(std::size_t caret, std::string_view why,
                             std::string_view other_hint) const;
};

// Words between blanks and commas.
std::vector<std::string_view> words_of(std::string_view text);
// True where `word` is one of `words`, between blanks: "a bc".
bool has_word(std::string_view words, std::string_view word);

// Without blanks, tabs and line ends on either side.
std::string_view trimmed(std::string_view text);

}  // namespace coalprof
