#include "core/machine/generation.h"

#include <algorithm>

namespace coalprof {

std::vector<Generation> listed_generations();  // written by the build

namespace {

// The abilities by compute capability.
constexpr Abilities abilities_of(ComputeCapability cc) {
    const auto from = [cc](int major, int minor) { return cc >= ComputeCapability{major, minor}; };
    return {.doubles = from(1, 3),
            .atomic_bytes = from(1, 2)   ? 8u
                            : from(1, 1) ? 4u
                                         : 0u,
            .float_atomics = from(2, 0),
            .double_atomics = from(6, 0),
            .managed_memory = from(3, 0),
            .grid_blocks = {from(3, 0) ? 2147483647u : 65535u, 65535, from(2, 0) ? 65535u : 1u},
            .shared_atomics = from(1, 2),
            .native_shared_atomics = from(5, 0),
            .widest_access_bytes = from(10, 0) ? 32u : 16u,
            .source =
                "CUDA C Programming Guide 4.2, appendix F; CUDA Programming Guide 13, compute "
                "capabilities and unified memory"};
}

std::vector<Rules> rules_of_all() {
    std::vector<Rules> all;
    for (const Generation& one : all_generations())
        all.insert(all.end(), one.rules.begin(), one.rules.end());
    for (Rules& rules : all) rules.abilities = abilities_of(rules.cc);
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
