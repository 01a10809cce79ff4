#include "core/machine/generation.h"

#include <algorithm>

namespace coalprof {

std::vector<Generation> listed_generations();  // written by the build

namespace {

std::vector<Rules> rules_of_all() {
    std::vector<Rules> all;
    for (const Generation& one : all_generations())
        all.insert(all.end(), one.rules.begin(), one.rules.end());
    return all;
}

}  // namespace

const std::vector<Generation>& all_generations() {
    static const std::vector<Generation> all = [] {
        std::vector<Generation> listed = listed_generations();
        std::ranges::sort(listed, {}, [](const Generation& one) { return one.rules.front().cc; });
        return listed;
    }();
    return all;
}

std::span<const Rules> all_rules() {
    static const std::vector<Rules> all = rules_of_all();
    return all;
}

std::span<const Board> all_boards() {
    static const std::vector<Board> all = [] {
        std::vector<Board> boards;
        for (const Generation& one : all_generations())
            boards.insert(boards.end(), one.boards.begin(), one.boards.end());
        return boards;
    }();
    return all;
}

const Rules* with_8_byte_banks(const Rules& rules) {
    static const std::vector<Rules> all = [] {
        std::vector<Rules> with = rules_of_all();
        std::erase_if(with, [](const Rules& one) { return !one.shared.has_8_byte_mode; });
        for (Rules& one : with) one.shared.bank_bytes = 8;
        return with;
    }();
    const auto found = std::ranges::find(all, rules.cc, &Rules::cc);
    return found != all.end() ? &*found : nullptr;
}

}  // namespace coalprof
