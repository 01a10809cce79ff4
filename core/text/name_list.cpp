#include "core/text/name_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include "core/text/describe.h"
#include "core/text/utf8.h"
#include "fmt/format.h"

namespace coalprof {

void NameList::add(std::string_view name) {
    if (count_++ >= most_) return;
    if (!told_.empty()) told_ += ", ";
    told_ += name;
}

std::string NameList::text() const {
    return count_ > most_ ? fmt::format("{} and {} more", told_, count_ - most_) : told_;
}

std::vector<std::string> split_list(std::string_view text, std::string_view option) {
    std::vector<std::string> parts;
    std::unordered_set<std::string_view> known;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end == begin)
            throw UsageError(fmt::format("{} {}: a value is missing", option, shown(text)),
                             std::string(text), begin, "lists look like a,b,c");
        const std::string_view part = text.substr(begin, end - begin);
        if (known.insert(part).second) parts.emplace_back(part);
        begin = end + 1;
    }
    return parts;
}

namespace {

constexpr std::size_t listed_columns = 60;

bool same(char a, char b) { return ascii_lower(a) == ascii_lower(b); }

// Damerau-Levenshtein distance with neighbours swapped at most once (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_above(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        two_above.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
            row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
            const bool swapped =
                i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
    const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same);
    return static_cast<std::size_t>(in_a - a.begin());
}

bool begins(std::string_view word, std::string_view candidate) {
    return word.size() >= 2 && word.size() <= candidate.size() &&
           std::equal(word.begin(), word.end(), candidate.begin(), same);
}

std::string listed(std::span<const std::string_view> candidates) {
    std::string list;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (i > 0) list += i + 1 == candidates.size() ? " or " : ", ";
        list += candidates[i];
    }
    return list;
}

// What others call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 23> synonyms{
    {{"read", "load"},
     {"write", "store"},
     {"gather", "scatter"},
     {"random", "scatter"},
     {"misaligned", "offset"},
     {"coalesced", "offset"},
     {"struct", "aos"},
     {"unified", "managed"},
     {"pinned", "host"},
     {"bank-conflict", "shared-stride"},
     {"bank-conflicts", "shared-stride"},
     {"list", "patterns"},
     {"profile", "run"},
     {"record", "run"},
     {"predict", "kernel"},
     {"simulate", "kernel"},
     {"analyze", "kernel"},
     {"diff", "compare"},
     {"show", "report"},
     {"plot", "report"},
     {"gpus", "devices"},
     {"boards", "machines"},
     {"metrics", "counters"}}};

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    // shared-stride for stride-shared
    constexpr std::size_t longest_turned = 64;
    for (std::size_t at = 0; word.size() < longest_turned && at < word.size(); ++at) {
        if (word[at] != '-' && word[at] != '_') continue;
        const std::string turned =
            fmt::format("{}{}{}", word.substr(at + 1), word[at], word.substr(0, at));
        if (const auto found = std::ranges::find(candidates, turned); found != candidates.end())
            return *found;
    }
    for (const auto& [other, known] : synonyms)
        if (word == other && std::ranges::find(candidates, known) != candidates.end()) return known;
    std::optional<std::string_view> best;
    std::size_t best_distance = 0;
    std::size_t best_beginning = 0;
    for (const std::string_view candidate : candidates) {
        const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});
        const std::size_t allowed = longer / 3;
        if (longer - shorter > allowed) continue;
        const std::size_t distance = edit_distance(word, candidate);
        // The one with the same beginning of equally close ones: h20 is h200 rather than k20.
        const std::size_t beginning = common_beginning(word, candidate);
        if (distance > allowed) continue;
        if (best && (distance > best_distance ||
                     (distance == best_distance && beginning <= best_beginning)))
            continue;
        best = candidate;
        best_distance = distance;
        best_beginning = beginning;
    }
    if (best) return best;
    const auto continues = [word](std::string_view candidate) { return begins(word, candidate); };
    const auto first = std::find_if(candidates.begin(), candidates.end(), continues);
    if (first == candidates.end()) return std::nullopt;
    const bool only_one = std::none_of(first + 1, candidates.end(), continues);
    return only_one ? std::optional(*first) : std::nullopt;
}

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> candidates) {
    std::string sentence = fmt::format("unknown {} '{}'", what, shown(word));
    if (const auto near = nearest(word, candidates))
        return sentence + fmt::format(". Did you mean '{}'?", *near);
    const std::string list = listed(candidates);
    return list.empty() || list.size() > listed_columns ? sentence : sentence + ": choose " + list;
}

std::vector<std::string> list_items(const std::string& text) {
    std::vector<std::string> items(1);
    for (const char c : text)
        if (c == ',')
            items.emplace_back();
        else
            items.back() += c;
    return items;
}

void OptionText::refuse(std::size_t caret, std::string_view why) const { refuse(caret, why, hint); }

void OptionText::refuse(std::size_t caret, std::string_view why,
                        std::string_view other_hint) const {
    const bool joined = text.empty() || option.ends_with('=');
    throw UsageError(fmt::format("{}{}{}: {}", option, joined ? "" : " ", shown(text), why),
                     std::string(text), caret, std::string(other_hint));
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    constexpr std::string_view between = " \t\r\n,";
    for (std::size_t at = text.find_first_not_of(between); at != text.npos;) {
        const std::size_t end = std::min(text.find_first_of(between, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(between, end);
    }
    return words;
}

bool has_word(std::string_view words, std::string_view word) {
    for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
            return true;
    }
    return false;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace coalprof
