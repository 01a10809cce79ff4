// Printing of errors and of a user's text in them (interface: one sentence, the offending text with
// a caret, a hint). For any input bytes, the output is valid UTF-8 of bounded length without
// control characters.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.h"

namespace coalprof {

inline constexpr std::size_t shown_columns = 80;

// `text` made safe to print: a tab becomes a space, other control characters and bytes that are not
// UTF-8 become \xNN or \u{NNNN}, and longer text than 80 columns is cut and ends in "...".
std::string shown(std::string_view text);

// The same without cutting, for whole sentences.
std::string printable(std::string_view text);

// The lines for stderr, each ended by a newline: "coalprof: " and the sentence; for a UsageError
// also its text (of several lines the caret's, cut around it), the caret and the hint, if any.
std::string describe(const Error& error);

// The system's text for an errno, independent of the locale.
std::string text_of_errno(int error);

// Quoting for shells.

// `text` for use between single quotes.
std::string within_single_quotes(std::string_view text);

// `text` as one word: unchanged, or in single quotes where a shell would change it.
std::string shell_word(std::string_view text);
// Words with blanks between them, each quoted if it has blanks.
std::string shell_words(const std::vector<std::string>& words);
// The same for words that a shell would take from `text`, of which single quotes and \ count.
std::string shell_words(std::string_view text);

// The words of a command line without these options: those without a value, and those with one,
// which follows '=' or is the next word.
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         std::initializer_list<std::string_view> flags,
                                         std::initializer_list<std::string_view> valued);

}  // namespace coalprof
