#include "core/count/coalescer.h"

#include <algorithm>
#include <bit>

#include "core/count/warp_lines.h"

namespace coalprof {
namespace {

constexpr std::uint32_t tag_bank_count = 4;

// Up to this many tag wavefronts a store's data stage sees all its lanes together. Measured: no
// exception in 85 stores of 4 to 16 bytes and 44 of 1 or 2 bytes on an H200; beyond, the data
// stage merges some wavefronts in a way that no tried formula gives exactly.
constexpr std::uint32_t store_wavefronts_merged(std::uint32_t width_bytes) {
    return width_bytes >= 4 ? 8 : 4;
}

// Counts, for each of 32 word banks, how many of the masks added so far have that bit; returns the
// largest count. One bit plane per power of two: adding is a ripple of and and xor.
class BankDegree {
 public:
    void add(std::uint32_t mask) {
        for (auto& plane : planes_) {
            const std::uint32_t carry = plane & mask;
            plane ^= mask;
            mask = carry;
            if (mask == 0) return;
        }
    }
    std::uint32_t largest() const {
        std::uint32_t candidates = 0xFFFF'FFFFu;
        std::uint32_t degree = 0;
        for (std::size_t bit = planes_.size(); bit-- > 0;) {
            if ((candidates & planes_[bit]) == 0) continue;
            candidates &= planes_[bit];
            degree |= 1u << bit;
        }
        return degree;
    }

 private:
    std::array<std::uint32_t, 6> planes_{};  // up to 32 lines
};

// The largest number of four masks that share a bit: 0 to 4.
std::uint32_t most_in_common(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t either_ab = a | b, both_ab = a & b;
    const std::uint32_t either_cd = c | d, both_cd = c & d;
    const bool one = (either_ab | either_cd) != 0;
    const bool two = (both_ab | both_cd | (either_ab & either_cd)) != 0;
    const bool three = ((both_ab & either_cd) | (both_cd & either_ab)) != 0;
    const bool four = (both_ab & both_cd) != 0;
    return static_cast<std::uint32_t>(one) + two + three + four;
}

// Passes of the data stage when the lanes of all lines go through together.
std::uint64_t merged_data_wavefronts(const WarpLines& lines, std::uint32_t phases) {
    std::uint64_t sum = 0;
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        BankDegree degree;
        for (const LineOfWarp& line : lines.all()) degree.add(line.words[phase]);
        sum += degree.largest();
    }
    return sum;
}

std::uint32_t word_bank_of(std::uint64_t address) {
    return static_cast<std::uint32_t>(address / 4 % 32);
}

// The traffic of atomics: packets (L2 requests) and the sectors of all packets.
struct Packets {
    std::uint64_t count = 0;
    std::uint64_t sectors = 0;
};

// One tag bank's lanes, in lane order. The leader is the first lane still waiting; its packet takes
// the waiting lanes of the leader's line whose word bank no earlier waiting lane has, lanes of
// other lines included. Repeats until none waits.
Packets serve_bank(const WarpAccess& access, std::uint32_t waiting) {
    Packets packets;
    while (waiting != 0) {
        const auto leader = static_cast<std::uint32_t>(std::countr_zero(waiting));
        const std::uint64_t line = access.addresses[leader] / line_bytes;
        std::uint32_t seen = 0;
        std::uint32_t sectors = 0;
        for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
            const std::uint64_t address = access.addresses[lane];
            const std::uint32_t bank = 1u << word_bank_of(address);
            if (address / line_bytes == line && (seen & bank) == 0) {
                waiting &= ~(1u << lane);
                sectors |= 1u << (address % line_bytes / sector_bytes);
            }
            seen |= bank;
        }
        packets.count += 1;
        packets.sectors += static_cast<std::uint64_t>(std::popcount(sectors));
    }
    return packets;
}

}  // namespace

std::string_view reason_of(Doubts doubts) {
    if (has(doubts, Doubt::tag_hash_unknown))
        return "the hash of the tag banks is known for compute capability 9.0 only";
    if (has(doubts, Doubt::hash_not_summed))
        return "the warps of the launch differ in too many ways under the hash of the tag banks to "
               "be summed; a smaller --size can be";
    if (has(doubts, Doubt::wide_window))
        return "a warp touches lines in different 16 GiB windows, where the hash of the tag banks "
               "is not known";
    if (has(doubts, Doubt::store_data_stage))
        return "a store with this many tag wavefronts: the data stage merges some of them by no "
               "known rule";
    if (has(doubts, Doubt::atomic_data_stage))
        return "no exact rule is known for the data stage of atomics and reductions";
    if (has(doubts, Doubt::atomic_tag_stage))
        return "no exact rule is known for the tag stage of atomics and reductions";
    if (has(doubts, Doubt::atomic_order))
        return "lanes of different lines collide, and which wait depends on a hash of the tag "
               "banks that is not known for this machine or these addresses";
    return {};
}

void GlobalCounts::add(const GlobalCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    sectors += other.sectors * times;
    lines += other.lines * times;
    unique_bytes += other.unique_bytes * times;
    ideal_sectors += other.ideal_sectors * times;
    tag_wavefronts += other.tag_wavefronts * times;
    data_wavefronts += other.data_wavefronts * times;
    l2_requests += other.l2_requests * times;
    l2_sectors += other.l2_sectors * times;
    active_bytes += other.active_bytes * times;
    tag_doubts |= other.tag_doubts;
    data_doubts |= other.data_doubts;
    traffic_doubts |= other.traffic_doubts;
}

// Two parities, both folded in one number, 16 bits each: std::popcount is a call where a processor
// need not have the instruction.
std::uint32_t Coalescer::TagHash::bank_of(std::uint64_t line) const {
    const std::uint32_t of_high = static_cast<std::uint32_t>(line) & high_mask;
    const std::uint32_t of_low = static_cast<std::uint32_t>(line) & low_mask;
    std::uint32_t folded =
        ((of_high << 16) ^ (of_high & 0xFFFF'0000u)) | ((of_low ^ (of_low >> 16)) & 0xFFFFu);
    for (const int bits : {8, 4, 2, 1}) folded ^= folded >> bits;
    return (folded >> 15 & 2) | (folded & 1);
}

// The tag stage of a warp, and the passes of the data stage when each tag wavefront goes through
// alone, as a cold load's do. A tag wavefront holds at most one line of each tag bank: the k-th new
// line of a bank, in lane order, belongs to wavefront k.
void Coalescer::count_wavefronts(const WarpAccess& access, const WarpLines& lines,
                                 GlobalCounts& counts) const {
    if (!hash_.is_known || lines.differing_bits() >> hash_.window_shift != 0) {
        const Doubt doubt = hash_.is_known ? Doubt::wide_window : hash_.why_not_known;
        counts.tag_doubts = counts.data_doubts = static_cast<Doubts>(doubt);
        return;
    }
    std::array<std::array<const LineOfWarp*, tag_bank_count>, warp_lanes> wavefronts;
    std::array<std::uint32_t, tag_bank_count> used{};
    for (const LineOfWarp& line : lines.all()) {
        const std::uint32_t bank = hash_.bank_of(line.number);
        wavefronts[used[bank]++][bank] = &line;
    }
    counts.tag_wavefronts = *std::ranges::max_element(used);
    const std::uint32_t phases = phase_count(access.width_bytes);
    if (access.kind != AccessKind::load) {
        if (counts.tag_wavefronts <= store_wavefronts_merged(access.width_bytes))
            counts.data_wavefronts = merged_data_wavefronts(lines, phases);
        else
            counts.data_doubts = static_cast<Doubts>(Doubt::store_data_stage);
        return;
    }
    for (std::uint32_t at = 0; at < counts.tag_wavefronts; ++at)
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            const auto words = [&](std::uint32_t bank) {
                return at < used[bank] ? wavefronts[at][bank]->words[phase] : 0;
            };
            counts.data_wavefronts += most_in_common(words(0), words(1), words(2), words(3));
        }
}

Coalescer::Coalescer(const Rules& rules) {
    if (!rules.tag_banks) return;
    hash_.is_known = true;
    hash_.high_mask = static_cast<std::uint32_t>(rules.tag_banks->high_mask);
    hash_.low_mask = static_cast<std::uint32_t>(rules.tag_banks->low_mask);
    hash_.window_shift = rules.tag_banks->known_address_bits - 7;
}

Coalescer Coalescer::without_hash() const {
    Coalescer other = *this;
    other.hash_.is_known = false;
    other.hash_.why_not_known = other.hash_.why_no_order = Doubt::hash_not_summed;
    return other;
}

GlobalCounts Coalescer::count(const WarpAccess& access) const {
    GlobalCounts counts;
    if (access.active_lanes == 0) return counts;
    const WarpLines lines(access);
    counts.requests = 1;
    counts.lines = counts.l2_requests = lines.count();
    counts.sectors = counts.l2_sectors = lines.sectors();
    counts.unique_bytes = std::uint64_t{lines.elements()} * access.width_bytes;
    counts.active_bytes =
        static_cast<std::uint64_t>(std::popcount(access.active_lanes)) * access.width_bytes;
    counts.ideal_sectors =
        std::min(counts.sectors, (counts.active_bytes + sector_bytes - 1) / sector_bytes);
    if (access.kind == AccessKind::atomic || access.kind == AccessKind::reduce)
        count_packets(access, lines, counts);
    else
        count_wavefronts(access, lines, counts);
    return counts;
}

void Coalescer::count_packets(const WarpAccess& access, const WarpLines& lines,
                              GlobalCounts& counts) const {
    counts.tag_doubts = static_cast<Doubts>(Doubt::atomic_tag_stage);
    counts.data_doubts = static_cast<Doubts>(Doubt::atomic_data_stage);
    // Lines that share no word bank cannot delay each other's lanes: whatever the hash, each is
    // served separately.
    std::array<std::uint32_t, warp_lanes> groups{};  // of lanes that are served one after the other
    std::uint32_t taken = 0;
    bool collide = false;
    for (std::uint32_t at = 0; at < lines.count(); ++at) {
        groups[at] = lines.all()[at].lanes;
        std::uint32_t banks = 0;
        each_lane(groups[at],
                  [&](std::uint32_t lane) { banks |= 1u << word_bank_of(access.addresses[lane]); });
        collide = collide || (taken & banks) != 0;
        taken |= banks;
    }
    if (collide) {
        if (!hash_.is_known || lines.differing_bits() >> hash_.window_shift != 0) {
            counts.traffic_doubts = static_cast<Doubts>(hash_.why_no_order);
            return;
        }
        std::array<std::uint32_t, tag_bank_count> of_bank{};
        for (const LineOfWarp& line : lines.all())
            of_bank[hash_.bank_of(line.number)] |= line.lanes;
        groups = {};
        std::copy(of_bank.begin(), of_bank.end(), groups.begin());
    }
    Packets sum;
    for (const std::uint32_t lanes : groups) {
        const Packets packets = serve_bank(access, lanes);
        sum.count += packets.count;
        sum.sectors += packets.sectors;
    }
    counts.sectors = counts.l2_sectors = sum.sectors;
    counts.l2_requests = counts.lines = sum.count;  // each packet looks up its line's tag once
}

}  // namespace coalprof
