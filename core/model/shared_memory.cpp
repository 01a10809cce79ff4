#include "core/model/shared_memory.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

// Whether lanes n and n ^ distance want the same address wherever both are active.
bool agree(const WarpAccess& access, std::uint32_t distance) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint32_t partner = lane ^ distance;
        const bool both = (access.active_lanes >> lane & access.active_lanes >> partner & 1) != 0;
        if (both && access.addresses[lane] != access.addresses[partner]) return false;
    }
    return true;
}

}  // namespace

void SharedCounts::add(const SharedCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    wavefronts += other.wavefronts * times;
    ideal_wavefronts += other.ideal_wavefronts * times;
    fewer += other.fewer * times;
    more += other.more * times;
}

SharedMemory::SharedMemory(const Rules& rules)
    : rules_(rules.shared),
      bank_shift_(shift_of(rules_.bank_bytes)),
      row_shift_(shift_of(rules_.row_bytes)) {}

SharedCounts SharedMemory::count(const WarpAccess& access) const {
    if (access.active_lanes == 0) return {};
    if (rules_.rule == SharedRule::broadcast_word) return count_broadcasts(access);
    SharedCounts counts{.requests = 1};
    const std::uint32_t extra = access.width_bytes == 16 ? rules_.extra_passes : 0;
    each_group(access.active_lanes, lanes_together(access), [&](std::uint32_t lanes) {
        counts.wavefronts += passes(access, lanes) + extra;
        counts.ideal_wavefronts += 1;
    });
    return counts;
}

// Lanes that go through together. Pair packing (loads of 8 and 16 bytes, 7.0 on) lets twice as many
// do so when lanes n and n ^ 1, or n and n ^ 2, agree everywhere. Measured on an H200; lanes
// further apart and stores never pack.
std::uint32_t SharedMemory::lanes_together(const WarpAccess& access) const {
    const std::uint32_t width = access.width_bytes;
    const std::uint32_t lanes = rules_.lanes.lanes(width);
    if (!rules_.packs_pairs || access.kind != AccessKind::load || width < 8) return lanes;
    const bool packs = agree(access, 1) || agree(access, 2);
    return packs ? 2 * lanes : lanes;
}

// Passes of one group: the most different words that any bank is asked for.
std::uint32_t SharedMemory::passes(const WarpAccess& access, std::uint32_t lanes) const {
    // The words of one lane lie side by side in as many banks, and two lanes want either the same
    // ones or none in common: the first bank stands for all.
    const std::uint32_t words = std::max(1u, access.width_bytes >> bank_shift_);
    const std::uint32_t bank_mask = (rules_.banks - 1) & ~(words - 1);
    const auto bank_of = [&](std::uint64_t address) {
        return static_cast<std::uint32_t>(address >> bank_shift_) & bank_mask;
    };
    // No bank wanted twice, or all in one row: one pass, as in good code.
    const std::uint64_t first_row =
        access.addresses[static_cast<std::uint32_t>(std::countr_zero(lanes))] >> row_shift_;
    std::uint32_t wanted = 0;
    std::uint32_t twice = 0;
    std::uint64_t other_rows = 0;
    each_lane(lanes, [&](std::uint32_t lane) {
        const std::uint32_t bank = 1u << bank_of(access.addresses[lane]);
        twice |= wanted & bank;
        wanted |= bank;
        other_rows |= first_row ^ access.addresses[lane] >> row_shift_;
    });
    if (twice == 0 || other_rows == 0) return 1;

    LaneSet different;
    std::array<std::uint8_t, 32> words_of_bank{};
    std::uint8_t most = 0;
    each_lane(lanes, [&](std::uint32_t lane) {
        const std::uint64_t address = access.addresses[lane];
        const std::uint32_t bank = bank_of(address);
        const std::uint32_t known = different.size();
        different.insert(address >> row_shift_ << 5 | bank);
        words_of_bank[bank] =
            static_cast<std::uint8_t>(words_of_bank[bank] + different.size() - known);
        most = std::max(most, words_of_bank[bank]);
    });
    return most;
}

// 1.x: each step serves all lanes that want one word, the broadcast, and of every other bank one
// lane. Which word is broadcast is not documented: steps are counted for the first waiting lane's,
// and with them how few and how many another choice could make. Accesses wider than a bank go word
// by word, each in as many steps: the next word of every lane lies one bank further.
SharedMemory::Steps SharedMemory::possible_steps(const WarpAccess& access,
                                                 std::uint32_t waiting) const {
    LaneSet words;
    std::array<std::uint32_t, warp_lanes> lanes_of_word{};
    std::array<std::vector<std::uint32_t>, 32> words_of_bank;  // by their numbers in the set
    std::array<std::uint32_t, 32> lanes_of_bank{};
    each_lane(waiting, [&](std::uint32_t lane) {
        const std::uint64_t word = access.addresses[lane] >> bank_shift_;
        const auto bank = static_cast<std::size_t>(word & (rules_.banks - 1));
        const std::uint32_t number = words.insert(word);
        if (lanes_of_word[number]++ == 0) words_of_bank[bank].push_back(number);
        ++lanes_of_bank[bank];
    });
    // Each step ends at least the word that it broadcasts, and takes a lane from every bank: none
    // takes more steps than it has lanes. Nor more than the other banks and then its own words.
    Steps steps{1, 1};
    for (std::size_t bank = 0; bank < words_of_bank.size(); ++bank) {
        std::uint32_t others = 0;
        for (std::size_t other = 0; other < words_of_bank.size(); ++other)
            if (other != bank) others = std::max(others, lanes_of_bank[other]);
        const auto own = static_cast<std::uint32_t>(words_of_bank[bank].size());
        others = std::min(others, words.size() - own);
        steps.most = std::max(steps.most, std::min(lanes_of_bank[bank], others + own));
    }
    for (auto& numbers : words_of_bank)
        std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
            return lanes_of_word[a] > lanes_of_word[b];
        });
    // In n steps n words are broadcast, in every bank those with the most lanes; the other lanes of
    // the bank take the steps that are left to it.
    const auto is_enough = [&](std::uint32_t n) {
        std::uint32_t broadcasts = 0;
        for (std::size_t bank = 0; bank < words_of_bank.size(); ++bank) {
            std::uint32_t rest = lanes_of_bank[bank];
            std::uint32_t of_bank = 0;
            for (; of_bank <= n && rest > n - of_bank; ++of_bank)
                rest -= lanes_of_word[words_of_bank[bank][of_bank]];
            broadcasts += of_bank;
        }
        return broadcasts <= n;
    };
    while (steps.fewest < steps.most && !is_enough(steps.fewest)) ++steps.fewest;
    return steps;
}

SharedCounts SharedMemory::count_broadcasts(const WarpAccess& access) const {
    const std::uint32_t words = std::max(1u, access.width_bytes >> bank_shift_);
    SharedCounts counts;
    each_group(access.active_lanes, rules_.lanes.lanes(access.width_bytes),
               [&](std::uint32_t waiting) {
                   const Steps possible = possible_steps(access, waiting);
                   std::uint64_t steps = 0;
                   for (; waiting != 0; ++steps) waiting &= ~served_by_broadcast(access, waiting);
                   ++counts.requests;
                   counts.ideal_wavefronts += words;
                   counts.wavefronts += words * steps;
                   counts.fewer += words * (steps - possible.fewest);
                   counts.more += words * (possible.most - steps);
               });
    return counts;
}

// The lanes of `waiting` that one step serves.
std::uint32_t SharedMemory::served_by_broadcast(const WarpAccess& access,
                                                std::uint32_t waiting) const {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(waiting));
    const std::uint64_t broadcast = access.addresses[first] >> bank_shift_;
    std::uint32_t served = 0;
    std::uint32_t busy = 0;
    each_lane(waiting, [&](std::uint32_t lane) {
        const std::uint64_t wanted = access.addresses[lane] >> bank_shift_;
        const std::uint32_t bank = 1u << (wanted & (rules_.banks - 1));
        if (wanted != broadcast && (busy & bank) != 0) return;
        busy |= bank;
        served |= 1u << lane;
    });
    return served;
}

}  // namespace coalprof
