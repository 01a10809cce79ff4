#include "core/explain/near_memory.h"

#include <algorithm>
#include <array>

#include "core/access/lane_set.h"
#include "core/count/local_memory.h"

namespace coalprof {
namespace {

// The passes of the lanes `group`, which go through together.
std::vector<NearPass> passes_of(const WarpAccess& access, const SharedRules& rules,
                                std::uint32_t group) {
    const std::uint32_t words = std::max(1u, access.width_bytes / rules.bank_bytes);
    std::array<std::vector<std::uint64_t>, 32> words_of_bank;
    std::vector<NearPass> passes;
    each_lane(group, [&](std::uint32_t lane) {
        const std::uint64_t word = access.addresses[lane] / rules.bank_bytes;
        const auto bank = static_cast<std::uint32_t>(word % rules.banks);
        // The words of a wide lane are in neighbouring banks and go in one pass.
        std::vector<std::uint64_t>& wanted = words_of_bank[bank];
        auto at = std::find(wanted.begin(), wanted.end(), word);
        if (at == wanted.end()) at = wanted.insert(at, word);
        const auto pass = static_cast<std::size_t>(at - wanted.begin());
        if (pass == passes.size()) passes.emplace_back();
        passes[pass].lanes |= 1u << lane;
        for (std::uint32_t i = bank; i < bank + words; ++i) {
            passes[pass].banks |= 1u << i;
            passes[pass].lanes_of_bank[i] |= 1u << lane;
        }
    });
    return passes;
}

}  // namespace

BankUse bank_use_of(const WarpAccess& access, const Rules& rules) {
    const SharedMemory shared(rules);
    BankUse use;
    use.counts = shared.count(access);
    use.group_lanes = shared.lanes_together(access);
    each_group(access.active_lanes, use.group_lanes, [&](std::uint32_t group) {
        const std::vector<NearPass> passes = passes_of(access, rules.shared, group);
        use.passes.insert(use.passes.end(), passes.begin(), passes.end());
        use.most_words = std::max(use.most_words, static_cast<std::uint32_t>(passes.size()));
    });
    return use;
}

std::vector<NearPass> constant_passes_of(const WarpAccess& access, const Rules& rules) {
    std::vector<NearPass> passes;
    each_group(access.active_lanes, rules.constant.request_lanes, [&](std::uint32_t group) {
        const auto first = static_cast<std::ptrdiff_t>(passes.size());
        each_lane(group, [&](std::uint32_t lane) {
            const std::uint64_t address = access.addresses[lane];
            const auto serves = [&](const NearPass& pass) { return pass.address == address; };
            auto at = std::find_if(passes.begin() + first, passes.end(), serves);
            if (at == passes.end()) at = passes.insert(at, NearPass{.address = address});
            at->lanes |= 1u << lane;
        });
    });
    const std::size_t of_one = passes.size();
    for (std::uint32_t part = 1; part < rules.constant.instructions(access.width_bytes); ++part)
        for (std::size_t k = 0; k < of_one; ++k) {
            NearPass pass = passes[k];
            pass.address += std::uint64_t{part} * rules.constant.widest_bytes;
            passes.push_back(pass);
        }
    return passes;
}

namespace {

void merge(std::vector<TouchedLine>& lines, const TouchedLine& added) {
    const auto same = [&](const TouchedLine& line) { return line.address == added.address; };
    const auto at = std::find_if(lines.begin(), lines.end(), same);
    if (at == lines.end()) {
        lines.push_back(added);
        return;
    }
    for (std::size_t s = 0; s < sectors_per_line; ++s) {
        at->sectors[s].lanes |= added.sectors[s].lanes;
        at->sectors[s].is_moved |= added.sectors[s].is_moved;
        at->sectors[s].used_bytes |= added.sectors[s].used_bytes;
        for (std::size_t w = 0; w < words_per_sector; ++w)
            at->sectors[s].lanes_of_word[w] = static_cast<std::uint8_t>(
                at->sectors[s].lanes_of_word[w] + added.sectors[s].lanes_of_word[w]);
    }
}

}  // namespace

std::vector<TouchedLine> local_lines_of(const WarpAccess& access, const Rules& rules) {
    const LocalMemory local(rules);
    const std::uint32_t words = std::max(1u, access.width_bytes / rules.local.interleave_bytes);
    std::vector<TouchedLine> lines;
    for (std::uint32_t word = 0; word < words; ++word)
        for (const TouchedLine& line : touched_lines(local.interleaved(access, word)))
            merge(lines, line);
    std::sort(lines.begin(), lines.end(),
              [](const TouchedLine& a, const TouchedLine& b) { return a.address < b.address; });
    return lines;
}

}  // namespace coalprof
