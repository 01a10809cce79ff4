// Text that a shell is to take as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// `text` as it stands between single quotes.
std::string within_single_quotes(std::string_view text);

// `text` as one word: as it is, or in single quotes where a shell would make something else of it.
std::string shell_word(std::string_view text);
// Words with blanks between them; of a text, those that have blanks between them.
std::string shell_words(const std::vector<std::string>& words);
std::string shell_words(std::string_view text);

}  // namespace coalprof
