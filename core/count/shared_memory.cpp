#include "core/count/shared_memory.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

// True if lanes n and n ^ distance want the same address wherever both are active.
bool agree(const WarpAccess& access, std::uint32_t distance) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint32_t partner = lane ^ distance;
        const bool both = (access.active_lanes >> lane & access.active_lanes >> partner & 1) != 0;
        if (both && access.addresses[lane] != access.addresses[partner]) return false;
    }
    return true;
}

// A bank of 1.x: how many lanes wait for each of its words, the fewest first.
using WaitingBank = std::vector<std::uint32_t>;

std::uint32_t lanes_of(const WaitingBank& bank) {
    return std::accumulate(bank.begin(), bank.end(), 0u);
}

// A step that broadcasts a word of another bank serves one lane; it is best to take one of the word
// with most lanes.
void serve_one_lane(WaitingBank& bank) {
    for (std::uint32_t& lanes : bank)
        if (lanes > 1) {
            --lanes;
            return;
        }
    bank.erase(bank.begin());
}

// The most steps, from the first on, whose broadcast can be a word of these banks, which lose a
// lane in every step as all do: the bank that will be empty first gives its word with fewest lanes.
// Trying every order of every 16 lanes showed that no other order gives more.
std::uint32_t most_broadcasts(std::vector<WaitingBank> banks) {
    std::uint32_t steps = 0;
    for (; !banks.empty(); ++steps) {
        const auto giving = std::ranges::min_element(banks, {}, lanes_of);
        for (auto bank = banks.begin(); bank != banks.end(); ++bank)
            if (bank == giving)
                bank->erase(bank->begin());
            else
                serve_one_lane(*bank);
        std::erase_if(banks, [](const WaitingBank& bank) { return bank.empty(); });
    }
    return steps;
}

// Some bank is served last. Each step takes at least a lane of it, and after the others are empty
// each step broadcasts one of its words; earlier steps can leave at most as many words as it has
// lanes for.
std::uint32_t most_steps(const std::vector<WaitingBank>& banks) {
    std::uint32_t most = 1;
    for (std::size_t last = 0; last < banks.size(); ++last) {
        const std::uint32_t lanes = lanes_of(banks[last]);
        if (lanes <= most) continue;
        std::vector<WaitingBank> others = banks;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(last));
        const auto words = static_cast<std::uint32_t>(banks[last].size());
        most = std::max(most, std::min(lanes, most_broadcasts(std::move(others)) + words));
    }
    return most;
}

// In n steps n words are broadcast, in every bank those with the most lanes; the other lanes of the
// bank take its remaining steps.
bool are_enough(std::uint32_t steps, const std::vector<WaitingBank>& banks) {
    std::uint32_t broadcasts = 0;
    for (const WaitingBank& bank : banks) {
        std::uint32_t rest = lanes_of(bank);
        std::uint32_t of_bank = 0;
        for (auto lanes = bank.rbegin(); of_bank <= steps && rest > steps - of_bank; ++of_bank)
            rest -= *lanes++;
        broadcasts += of_bank;
    }
    return broadcasts <= steps;
}

}  // namespace

void SharedCounts::add(const SharedCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    wavefronts += other.wavefronts * times;
    ideal_wavefronts += other.ideal_wavefronts * times;
    fewer += other.fewer * times;
    more += other.more * times;
    fewer_conflicts += other.fewer_conflicts * times;
    more_conflicts += other.more_conflicts * times;
}

SharedMemory::SharedMemory(const Rules& rules)
    : rules_(rules.shared),
      bank_shift_(shift_of(rules_.bank_bytes)),
      row_shift_(shift_of(rules_.row_bytes)) {}

SharedCounts SharedMemory::count(const WarpAccess& access) const {
    if (access.active_lanes == 0) return {};
    if (rules_.rule == SharedRule::broadcast_word) return count_broadcasts(access);
    SharedCounts counts = count_groups(access, lanes_together(access));
    if (!rules_.may_pack_pairs || !pairs_agree(access)) return counts;
    const SharedCounts packed = count_groups(access, 2 * lanes_together(access));
    counts.fewer = counts.wavefronts - packed.wavefronts;
    counts.fewer_conflicts = counts.conflicts() - std::min(counts.conflicts(), packed.conflicts());
    counts.more_conflicts = packed.conflicts() - std::min(counts.conflicts(), packed.conflicts());
    return counts;
}

SharedCounts SharedMemory::count_groups(const WarpAccess& access, std::uint32_t lanes) const {
    SharedCounts counts{.requests = 1};
    const std::uint32_t extra = access.width_bytes == 16 ? rules_.extra_passes : 0;
    each_group(access.active_lanes, lanes, [&](std::uint32_t group) {
        counts.wavefronts += passes(access, group) + extra;
        counts.ideal_wavefronts += 1;
    });
    return counts;
}

// Pair packing (loads of 8 and 16 bytes, 7.0 on) lets twice as many lanes go through together when
// lanes n and n ^ 1, or n and n ^ 2, agree everywhere. Measured on an H200; lanes at larger
// distances and stores never pack.
bool SharedMemory::pairs_agree(const WarpAccess& access) const {
    if (access.kind != AccessKind::load || access.width_bytes < 8) return false;
    return agree(access, 1) || agree(access, 2);
}

std::uint32_t SharedMemory::lanes_together(const WarpAccess& access) const {
    const std::uint32_t lanes = rules_.lanes.lanes(access.width_bytes);
    return rules_.packs_pairs && pairs_agree(access) ? 2 * lanes : lanes;
}

// Passes of one group: the most different words that any bank is asked for.
std::uint32_t SharedMemory::passes(const WarpAccess& access, std::uint32_t lanes) const {
    // The words of one lane are in as many adjacent banks, and two lanes want either the same ones
    // or none in common: the first bank represents all.
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

// 1.x: each step serves all lanes that want one word, the broadcast, and one lane of every other
// bank. Which word is broadcast is not documented: steps are counted for the first waiting lane's,
// together with the fewest and most steps that another choice could give. Accesses wider than a
// bank go word by word, each in as many steps: the next word of every lane is in the next bank.
SharedMemory::Steps SharedMemory::possible_steps(const WarpAccess& access,
                                                 std::uint32_t waiting) const {
    LaneSet words;
    std::array<std::uint32_t, warp_lanes> lanes_of_word{};
    std::array<std::uint8_t, warp_lanes> bank_of_word{};
    each_lane(waiting, [&](std::uint32_t lane) {
        const std::uint64_t word = access.addresses[lane] >> bank_shift_;
        const std::uint32_t number = words.insert(word);
        bank_of_word[number] = static_cast<std::uint8_t>(word & (rules_.banks - 1));
        ++lanes_of_word[number];
    });
    std::array<WaitingBank, 32> all;
    for (std::uint32_t number = 0; number < words.size(); ++number)
        all[bank_of_word[number]].push_back(lanes_of_word[number]);
    std::vector<WaitingBank> banks;
    for (WaitingBank& bank : all) {
        if (bank.empty()) continue;
        std::ranges::sort(bank);
        banks.push_back(std::move(bank));
    }
    Steps steps{1, most_steps(banks)};
    while (steps.fewest < steps.most && !are_enough(steps.fewest, banks)) ++steps.fewest;
    return steps;
}

SharedCounts SharedMemory::count_broadcasts(const WarpAccess& access) const {
    const std::uint32_t words = std::max(1u, access.width_bytes >> bank_shift_);
    SharedCounts counts{.requests = 1};
    each_group(access.active_lanes, rules_.lanes.lanes(access.width_bytes),
               [&](std::uint32_t waiting) {
                   const Steps possible = possible_steps(access, waiting);
                   std::uint64_t steps = 0;
                   for (; waiting != 0; ++steps) waiting &= ~served_by_broadcast(access, waiting);
                   counts.ideal_wavefronts += words;
                   counts.wavefronts += words * steps;
                   counts.fewer += words * (steps - possible.fewest);
                   counts.more += words * (possible.most - steps);
               });
    counts.fewer_conflicts = counts.fewer;
    counts.more_conflicts = counts.more;
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

SharedCounts count_shared_atomic(const WarpAccess& access, SharedAtomic sort) {
    if (access.active_lanes == 0) return {};
    constexpr std::uint32_t word_bytes = 4, banks = 32;
    if (sort == SharedAtomic::unknown || access.width_bytes != word_bytes)
        return {.requests = 1, .more = 1};
    LaneSet words;
    std::array<std::uint32_t, banks> passes_of_bank{};
    each_lane(access.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t word = access.addresses[lane] / word_bytes;
        const std::uint32_t known = words.size();
        words.insert(word);
        if (sort != SharedAtomic::by_word || words.size() > known) ++passes_of_bank[word % banks];
    });
    const std::uint32_t times = sort == SharedAtomic::twice ? 2 : 1;
    return {.requests = 1,
            .wavefronts = std::uint64_t{times} * *std::ranges::max_element(passes_of_bank),
            .ideal_wavefronts = times};
}

}  // namespace coalprof
