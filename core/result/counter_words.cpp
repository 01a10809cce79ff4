#include "core/result/counter_words.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "core/result/counter.h"
#include "core/result/nvprof_names.h"
#include "core/text/name_list.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

struct Word {
    std::string_view word;
    std::string_view keys;
};
// The words of tables first.
constexpr std::array words{
    Word{"time", "duration_seconds"},
    Word{"duration", "duration_seconds"},
    Word{"bandwidth", "bandwidth_bytes_per_second"},
    Word{"GB/s", "bandwidth_bytes_per_second"},
    Word{"requests", "load_requests or store_requests"},
    Word{"sectors", "load_sectors or store_sectors"},
    Word{"lines", "load_lines or store_lines"},
    Word{"sectors/request", "load_sectors_per_request or store_sectors_per_request"},
    Word{"bytes/sector", "load_bytes_per_sector or store_bytes_per_sector"},
    Word{"efficiency", "load_efficiency or store_efficiency"},
    Word{"conflicts", "shared_load_conflicts or shared_store_conflicts"},
    Word{"passes/request", "shared_load_conflict_degree or shared_store_conflict_degree"},
    Word{"shared_load_passes_per_request", "shared_load_conflict_degree"},
    Word{"shared_store_passes_per_request", "shared_store_conflict_degree"},
    Word{"shared_atomic_passes_per_request", "shared_atomic_conflict_degree"},
};

std::vector<std::string_view> keys_with(std::string_view part) {
    std::vector<std::string_view> keys;
    for (const CounterInfo& counter : all_counters())
        if (counter.key.find(part) != counter.key.npos) keys.push_back(counter.key);
    return keys;
}

std::string list_of(const std::vector<std::string_view>& keys) {
    NameList list(6);
    for (const std::string_view key : keys) list.add(key);
    return list.text();
}

// The longest part of the word, from some '_' on, that keys have; empty: none does.
std::string_view known_part_of(std::string_view word) {
    while (word.size() >= 3 && keys_with(word).empty()) {
        const std::size_t end = word.find('_');
        word.remove_prefix(end == word.npos ? word.size() : end + 1);
    }
    return word.size() >= 3 ? word : std::string_view{};
}

}  // namespace

std::string unknown_counter(std::string_view what, std::string_view word) {
    std::vector<std::string_view> keys;
    for (const CounterInfo& counter : all_counters()) keys.push_back(counter.key);
    return unknown_word(what, word, keys);
}

std::string hint_for_counter(std::string_view word) {
    for (const NvprofName& nvprof : nvprof_names())
        if (nvprof.name == word)
            return fmt::format("nvprof's {} is {}; `coalprof counters {}` says more", word,
                               key_of(nvprof.counter), word);
    std::vector<std::string_view> known_words;
    for (const Word& known : words) known_words.push_back(known.word);
    const auto meant = nearest(word, known_words);
    for (const Word& known : words)
        if (known.word == meant)
            return fmt::format("'{}' is {}; `coalprof counters` lists them all", known.word,
                               known.keys);
    if (const std::string_view part = known_part_of(word); !part.empty())
        return fmt::format("with '{}' there are {}; `coalprof counters` lists them all", part,
                           list_of(keys_with(part)));
    return "`coalprof counters` lists them";
}

}  // namespace coalprof
