#include "core/explain/near_memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/access/lane_set.h"
#include "core/count/near_memory.h"

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

namespace {

std::string passes_of(std::uint64_t count) {
    return count == 1 ? "one pass" : fmt::format("{} passes", count);
}

// Lanes of 8 and 16 bytes do not all go together.
std::string groups_of(const BankUse& use) {
    if (use.counts.ideal_wavefronts == 1) return {};
    return fmt::format(", one for each group of {} lanes", use.group_lanes);
}

Reasons free_of_conflicts(const WarpShape& shape, const BankUse& use) {
    const bool shares = shape.places < shape.active_lanes;
    return {
        Cause::no_conflict,
        fmt::format("{} {} through in {}{}: no bank is asked for two different words at once.{}",
                    lanes_text(shape), shape.active_lanes == 1 ? "goes" : "go",
                    passes_of(use.counts.wavefronts), groups_of(use),
                    shares ? " Lanes that want the same word share it." : ""),
        "Nothing to fix."};
}

Reasons conflicting(const WarpShape& shape, const BankUse& use) {
    std::string why;
    if (shape.lanes_keep_distance)
        why = fmt::format("Neighbouring lanes are {} bytes apart. ", *shape.distance_bytes);
    why += fmt::format(
        "Up to {} different words of one bank are wanted at once, and a bank gives one word a "
        "pass, so the warp takes {} where {} would do.",
        use.most_words, passes_of(use.counts.wavefronts), use.counts.ideal_wavefronts);
    const bool one_word_lanes = shape.width_bytes == 4 && shape.lanes_keep_distance;
    return {Cause::bank_conflict, why,
            one_word_lanes
                ? "Let neighbouring lanes lie an odd number of words apart, for instance by one "
                  "word of padding to each row: then each has a bank of its own."
                : "Spread the words over the banks: pad the rows, or exchange columns from row to "
                  "row (a swizzle)."};
}

std::string all_lanes_of(const WarpShape& shape) {
    if (shape.active_lanes == 1) return "The one active lane wants one address";
    return fmt::format("All {}{} lanes want the same address", shape.active_lanes,
                       shape.active_lanes == warp_lanes ? "" : " active");
}

}  // namespace

Reasons shared_reasons_of(const WarpShape& shape, const BankUse& use) {
    if (shape.active_lanes == 0) return reasons_of_no_lanes();
    return use.counts.conflicts() == 0 ? free_of_conflicts(shape, use) : conflicting(shape, use);
}

Reasons shared_atomic_reasons_of(const WarpShape& shape) {
    if (shape.active_lanes == 0) return reasons_of_no_lanes();
    if (shape.most_lanes_a_place < 2)
        return {Cause::not_documented,
                fmt::format("{} update different words. In how many passes atomics go through the "
                            "banks is not known; only a measurement tells.",
                            lanes_text(shape)),
                "No two lanes meet on a word: there is nothing to combine."};
    return {Cause::not_documented,
            fmt::format("{} update {} word{}, up to {} of them the same one: these take turns. In "
                        "how many passes is not known; only a measurement tells.",
                        lanes_text(shape), shape.places, shape.places == 1 ? "" : "s",
                        shape.most_lanes_a_place),
            "Let lanes that meet on a word combine their values first (a warp reduction), or give "
            "each warp words of its own and add these up at the end."};
}

Reasons constant_reasons_of(const WarpShape& shape, std::size_t passes, std::size_t instructions) {
    if (shape.active_lanes == 0) return reasons_of_no_lanes();
    const std::string each =
        instructions == 1
            ? std::string()
            : fmt::format(" in each of {} loads of {} bytes", instructions,
                          shape.width_bytes / static_cast<std::uint32_t>(instructions));
    if (passes == instructions)
        return {Cause::one_address,
                fmt::format("{}, and the constant cache serves it in one pass{}.",
                            all_lanes_of(shape), each),
                "Nothing to fix."};
    return {Cause::several_addresses,
            fmt::format("{} want {} different addresses{}, and the constant cache serves one a "
                        "pass, so the warp takes {}.",
                        lanes_text(shape), shape.places, each, passes_of(passes)),
            "Let all lanes of a warp want the same address at a time; where they cannot, global or "
            "shared memory serves different addresses together."};
}

std::uint32_t ideal_local_sectors(const WarpShape& shape) {
    return static_cast<std::uint32_t>((shape.active_lanes * shape.width_bytes + sector_bytes - 1) /
                                      sector_bytes);
}

std::uint32_t sectors_in(std::span<const TouchedLine> lines) {
    std::uint32_t sectors = 0;
    for (const TouchedLine& line : lines)
        for (const TouchedSector& sector : line.sectors) sectors += sector.lanes != 0;
    return sectors;
}

Reasons local_reasons_of(const WarpShape& shape, std::span<const TouchedLine> lines) {
    if (shape.active_lanes == 0) return reasons_of_no_lanes();
    const std::uint32_t sectors = sectors_in(lines);
    const std::uint32_t ideal = ideal_local_sectors(shape);
    const std::string side_by_side =
        "Local memory is interleaved: the same word of all lanes' arrays lies side by side in one "
        "line.";
    if (sectors <= ideal)
        return {Cause::interleaved,
                fmt::format("{} {} come by with {} sector{}, the fewest there can be.",
                            side_by_side, lanes_text(shape), sectors, sectors == 1 ? "" : "s"),
                "Nothing to fix."};
    return {Cause::own_indices,
            fmt::format(
                "{} {} are at {} different words of theirs and so touch {} cache lines, with {} "
                "sectors where {} would do.",
                side_by_side, lanes_text(shape), lines.size(), lines.size(), sectors, ideal),
            "Let the lanes of a warp use the same index at a time, or keep the array in registers "
            "(indices that the compiler knows) or in shared memory."};
}

}  // namespace coalprof
