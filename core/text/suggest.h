// "Did you mean": the nearest of the words that exist to the one that was typed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coalprof {

// The candidate that `word` most probably means, or none when nothing is near: at most one edit
// (insert, drop, replace, swap two neighbours) per three characters, capitals ignored; or `word`
// begins exactly one candidate. Of equals the first. Cost is bounded however long `word` is.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

// "unknown pattern 'stirde'. Did you mean 'stride'?"; with nothing near, the candidates are listed
// where a line can hold them. `what` names the kind of word: "pattern", "op", "--type".
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> candidates);

}  // namespace coalprof
