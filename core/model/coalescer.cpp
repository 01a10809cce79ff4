#include "core/model/coalescer.h"

#include <algorithm>
#include <bit>

namespace coalprof {
namespace {

constexpr std::uint32_t tag_bank_count = 4;

// Up to this many tag wavefronts a store's data stage sees all its lanes together. Measured: no
// exception in 85 stores of 4 to 16 bytes and 44 of 1 or 2 bytes on an H200; beyond, the data
// stage merges some wavefronts in a way that no tried formula gives exactly.
constexpr std::uint32_t store_wavefronts_merged(std::uint32_t width_bytes) {
    return width_bytes >= 4 ? 8 : 4;
}

// Lanes that pass through the data stage together: 32, 16 or 8 by width.
constexpr std::uint32_t phase_count(std::uint32_t width_bytes) {
    return width_bytes <= 4 ? 1 : width_bytes / 4;
}

// Counts, for each of 32 word banks, how many of the masks added so far have that bit; answers the
// largest of them. One bit plane per power of two: adding is a ripple of and and xor.
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

// The most of four masks that have one bit in common: 0 to 4.
std::uint32_t most_in_common(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t either_ab = a | b, both_ab = a & b;
    const std::uint32_t either_cd = c | d, both_cd = c & d;
    const bool one = (either_ab | either_cd) != 0;
    const bool two = (both_ab | both_cd | (either_ab & either_cd)) != 0;
    const bool three = ((both_ab & either_cd) | (both_cd & either_ab)) != 0;
    const bool four = (both_ab & both_cd) != 0;
    return static_cast<std::uint32_t>(one) + two + three + four;
}

}  // namespace

// The lines a warp touches, in the order in which its lanes first touch them.
struct Coalescer::Lines {
    static constexpr std::uint32_t slots = 256;  // eight times the lanes: probes rarely collide
    static constexpr std::uint8_t empty = 0xFF;

    std::uint32_t count = 0;
    std::array<std::uint8_t, slots> index_of_slot;
    std::array<std::uint64_t, warp_lanes> line;
    std::array<std::uint32_t, warp_lanes> words;  // 4-byte words of the line that are touched
    std::array<std::array<std::uint32_t, 4>, warp_lanes> phase_words;  // the same, by phase
    std::array<std::array<std::uint64_t, 2>, warp_lanes> bytes;  // first bytes; widths below 4 only
    std::array<std::uint8_t, warp_lanes> sector_mask;
    std::array<std::uint8_t, warp_lanes> tag_bank;      // set by assign_wavefronts
    std::array<std::uint8_t, warp_lanes> wavefront;     // likewise: its tag wavefront
    std::array<std::uint8_t, warp_lanes> line_of_lane;  // index into the arrays above

    Lines() { index_of_slot.fill(empty); }  // the other arrays are filled as lines are added

    template <std::uint32_t Width>
    std::uint32_t find_or_add(std::uint64_t wanted) {
        auto slot = static_cast<std::uint32_t>((wanted * 0x9E37'79B9'7F4A'7C15ull) >> 56);
        for (; index_of_slot[slot] != empty; slot = (slot + 1) % slots)
            if (line[index_of_slot[slot]] == wanted) return index_of_slot[slot];
        index_of_slot[slot] = static_cast<std::uint8_t>(count);
        line[count] = wanted;
        words[count] = 0;
        for (std::uint32_t phase = 0; phase < phase_count(Width); ++phase)
            phase_words[count][phase] = 0;
        if constexpr (Width < 4) bytes[count] = {};
        sector_mask[count] = 0;
        return count++;
    }

    // Enters every active lane; adds up sectors and unique bytes on the way. The width is known at
    // compile time: this is the loop that everything waits for.
    template <std::uint32_t Width>
    void enter(const WarpAccess& access, GlobalCounts& counts) {
        constexpr std::uint32_t word_bits = Width <= 4 ? 1u : (1u << (Width / 4)) - 1;
        constexpr std::uint32_t lanes_per_phase = warp_lanes / phase_count(Width);
        std::uint64_t previous = ~0ull;
        std::uint32_t at = 0;
        std::uint32_t sectors = 0;
        std::uint32_t unique = 0;  // distinct addresses
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((access.active_lanes >> lane & 1) == 0) continue;
            const std::uint64_t address = access.addresses[lane];
            const std::uint64_t line_number = address / line_bytes;
            if (line_number != previous) at = find_or_add<Width>(line_number);
            previous = line_number;
            line_of_lane[lane] = static_cast<std::uint8_t>(at);

            const auto byte = static_cast<std::uint32_t>(address % line_bytes);
            const std::uint32_t touched = word_bits << (byte / 4);
            if constexpr (Width >= 4) {
                unique += (words[at] & touched) == 0;
            } else {
                const std::uint64_t bit = 1ull << (byte % 64);
                unique += (bytes[at][byte / 64] & bit) == 0;
                bytes[at][byte / 64] |= bit;
            }
            words[at] |= touched;
            phase_words[at][lane / lanes_per_phase] |= touched;
            const auto sector = static_cast<std::uint8_t>(1u << (byte / sector_bytes));
            sectors += (sector_mask[at] & sector) == 0;
            sector_mask[at] |= sector;
        }
        counts.sectors = sectors;
        counts.unique_bytes = std::uint64_t{unique} * Width;
        counts.lines = count;
    }

    void enter(const WarpAccess& access, GlobalCounts& counts) {
        switch (access.width_bytes) {
            case 1:
                return enter<1>(access, counts);
            case 2:
                return enter<2>(access, counts);
            case 4:
                return enter<4>(access, counts);
            case 8:
                return enter<8>(access, counts);
            default:
                return enter<16>(access, counts);
        }
    }

    bool in_one_window(std::uint32_t shift) const {
        std::uint64_t differing = 0;
        for (std::uint32_t i = 1; i < count; ++i) differing |= line[i] ^ line[0];
        return differing >> shift == 0;
    }

    // Passes of the data stage when the lanes of all lines go through together.
    std::uint64_t merged_data_wavefronts(std::uint32_t phases) const {
        std::uint64_t sum = 0;
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            BankDegree degree;
            for (std::uint32_t i = 0; i < count; ++i) degree.add(phase_words[i][phase]);
            sum += degree.largest();
        }
        return sum;
    }

    // Passes when each tag wavefront goes through on its own, as a cold load's do.
    std::uint64_t split_data_wavefronts(std::uint32_t phases, std::uint32_t wavefronts) const {
        // A tag wavefront holds at most one line of each tag bank.
        std::array<std::array<std::uint8_t, tag_bank_count>, warp_lanes> members;
        for (std::uint32_t wave = 0; wave < wavefronts; ++wave) members[wave].fill(empty);
        for (std::uint32_t i = 0; i < count; ++i)
            members[wavefront[i]][tag_bank[i]] = static_cast<std::uint8_t>(i);
        std::uint64_t sum = 0;
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            for (std::uint32_t wave = 0; wave < wavefronts; ++wave) {
                const auto words_of = [&](std::uint32_t bank) {
                    const std::uint8_t member = members[wave][bank];
                    return member == empty ? 0u : phase_words[member][phase];
                };
                sum += most_in_common(words_of(0), words_of(1), words_of(2), words_of(3));
            }
        }
        return sum;
    }
};

std::string_view reason_of(Doubts doubts) {
    if (has(doubts, Doubt::tag_hash_unknown))
        return "the hash of the tag banks is known for compute capability 9.0 only";
    if (has(doubts, Doubt::wide_window))
        return "a warp touches lines in different 16 GiB windows, where the hash of the tag banks "
               "is not known";
    if (has(doubts, Doubt::store_data_stage))
        return "a store with this many tag wavefronts: the data stage merges some of them by no "
               "known rule";
    if (has(doubts, Doubt::atomic_data_stage))
        return "no exact rule is known for the data stage of atomics and reductions";
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

Coalescer::Coalescer(const Rules& rules) : hash_known_(rules.tag_banks.has_value()) {
    if (!hash_known_) return;
    const TagBanks& banks = *rules.tag_banks;
    window_shift_ = banks.known_address_bits - 7;
    for (std::uint32_t position = 0; position < bank_table_.size(); ++position) {
        for (std::uint64_t byte = 0; byte < 256; ++byte) {
            const std::uint64_t line = byte << (8 * position);
            const int high = std::popcount(line & banks.high_mask) % 2;
            const int low = std::popcount(line & banks.low_mask) % 2;
            bank_table_[position][byte] = static_cast<std::uint8_t>(2 * high + low);
        }
    }
}

std::uint32_t Coalescer::bank_of(std::uint64_t line) const {
    return static_cast<std::uint32_t>(
        bank_table_[0][line & 0xFF] ^ bank_table_[1][line >> 8 & 0xFF] ^
        bank_table_[2][line >> 16 & 0xFF] ^ bank_table_[3][line >> 24 & 0xFF]);
}

// The k-th new line of each tag bank, in lane order, belongs to tag wavefront k. Answers how many
// wavefronts there are.
std::uint32_t Coalescer::assign_wavefronts(Lines& lines) const {
    std::array<std::uint8_t, tag_bank_count> in_bank{};
    for (std::uint32_t i = 0; i < lines.count; ++i) {
        lines.tag_bank[i] = static_cast<std::uint8_t>(bank_of(lines.line[i]));
        lines.wavefront[i] = in_bank[lines.tag_bank[i]]++;
    }
    return *std::max_element(in_bank.begin(), in_bank.end());
}

GlobalCounts Coalescer::count(const WarpAccess& access) const {
    GlobalCounts counts;
    if (access.active_lanes == 0) return counts;
    Lines lines;
    lines.enter(access, counts);
    counts.requests = 1;
    counts.active_bytes =
        static_cast<std::uint64_t>(std::popcount(access.active_lanes)) * access.width_bytes;
    counts.ideal_sectors =
        std::min(counts.sectors, (counts.active_bytes + sector_bytes - 1) / sector_bytes);
    counts.l2_requests = counts.lines;
    counts.l2_sectors = counts.sectors;
    if (access.kind == AccessKind::atomic || access.kind == AccessKind::reduce) {
        count_atomic(access, lines, counts);
        return counts;
    }
    if (!hash_known_ || !lines.in_one_window(window_shift_)) {
        const Doubt doubt = hash_known_ ? Doubt::wide_window : Doubt::tag_hash_unknown;
        counts.tag_doubts = counts.data_doubts = static_cast<Doubts>(doubt);
        return counts;
    }
    const std::uint32_t wavefronts = assign_wavefronts(lines);
    const std::uint32_t phases = phase_count(access.width_bytes);
    counts.tag_wavefronts = wavefronts;
    if (access.kind == AccessKind::load) {
        counts.data_wavefronts = lines.split_data_wavefronts(phases, wavefronts);
    } else if (wavefronts <= store_wavefronts_merged(access.width_bytes)) {
        counts.data_wavefronts = lines.merged_data_wavefronts(phases);
    } else {
        counts.data_doubts = static_cast<Doubts>(Doubt::store_data_stage);
    }
    return counts;
}

namespace {

std::uint32_t word_bank_of(std::uint64_t address) {
    return static_cast<std::uint32_t>(address / 4 % 32);
}

// What atomics send on: packets (L2 requests) and the sectors of all packets.
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

void Coalescer::count_atomic(const WarpAccess& access, const Lines& lines,
                             GlobalCounts& counts) const {
    counts.tag_doubts = counts.data_doubts = static_cast<Doubts>(Doubt::atomic_data_stage);
    // Lines that share no word bank cannot hold each other's lanes back: whatever the hash, each is
    // served on its own.
    std::array<std::uint32_t, warp_lanes> lanes_of_line{};
    std::array<std::uint32_t, warp_lanes> banks_of_line{};
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        lanes_of_line[lines.line_of_lane[lane]] |= 1u << lane;
        banks_of_line[lines.line_of_lane[lane]] |= 1u << word_bank_of(access.addresses[lane]);
    }
    std::uint32_t taken = 0;
    bool collide = false;
    for (std::uint32_t i = 0; i < lines.count; ++i) {
        collide = collide || (taken & banks_of_line[i]) != 0;
        taken |= banks_of_line[i];
    }
    const bool hash_is_known = hash_known_ && lines.in_one_window(window_shift_);
    if (collide && !hash_is_known) {
        counts.traffic_doubts = static_cast<Doubts>(Doubt::atomic_order);
        return;
    }
    if (collide) {
        std::array<std::uint32_t, tag_bank_count> lanes_of_bank{};
        for (std::uint32_t i = 0; i < lines.count; ++i)
            lanes_of_bank[bank_of(lines.line[i])] |= lanes_of_line[i];
        lanes_of_line = {};
        std::copy(lanes_of_bank.begin(), lanes_of_bank.end(), lanes_of_line.begin());
    }
    Packets sum;
    for (const std::uint32_t lanes : lanes_of_line) {
        const Packets packets = serve_bank(access, lanes);
        sum.count += packets.count;
        sum.sectors += packets.sectors;
    }
    counts.sectors = counts.l2_sectors = sum.sectors;
    counts.l2_requests = counts.lines = sum.count;  // each packet looks up its line's tag once
}

}  // namespace coalprof
