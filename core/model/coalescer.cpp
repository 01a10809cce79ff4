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

// std::popcount is a call where the processor is not known to have the instruction, and calls keep
// loops from becoming vector code.
constexpr std::uint32_t ones(std::uint32_t bits) {
    bits -= bits >> 1 & 0x5555'5555u;
    bits = (bits & 0x3333'3333u) + (bits >> 2 & 0x3333'3333u);
    bits = (bits + (bits >> 4)) & 0x0F0F'0F0Fu;
    bits += bits >> 8;
    return (bits + (bits >> 16)) & 0x3F;
}
constexpr std::uint32_t ones(std::uint64_t bits) {
    return ones(static_cast<std::uint32_t>(bits)) + ones(static_cast<std::uint32_t>(bits >> 32));
}
constexpr std::uint32_t nonzero_bytes(std::uint32_t bits) {
    std::uint32_t tops = (bits | ((bits & 0x7F7F'7F7Fu) + 0x7F7F'7F7Fu)) >> 7 & 0x0101'0101u;
    tops += tops >> 8;
    return (tops + (tops >> 16)) & 0x7;
}

}  // namespace

// The tag bank of each line, and how many tag wavefronts the warp takes: the k-th new line of each
// bank, in lane order, belongs to wavefront k.
struct Coalescer::TagStage {
    std::array<std::uint8_t, warp_lanes> bank;
    std::uint32_t wavefronts = 0;
};

// The lines a warp touches, in the order in which its lanes first touch them. This is the loop that
// everything waits for, hence its shape: few words a lane, sums over lines afterwards in loops that
// compilers turn into vector code, and no table where a warp's addresses never step back.
struct Coalescer::Lines {
    using Words = std::array<std::uint32_t, warp_lanes>;  // one bit a 4-byte word, for each line

    std::uint32_t count = 0;
    std::uint64_t differing_bits = 0;  // in which any two line numbers differ
    std::array<std::uint64_t, warp_lanes> line;
    std::array<Words, 4> phase_words;  // the words that each phase's lanes touch
    std::array<std::array<std::uint64_t, 2>, warp_lanes> bytes;  // first bytes; widths below 4 only
    std::array<std::uint8_t, warp_lanes> line_of_lane;           // index into the arrays above

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

    // Passes of the data stage when the lanes of all lines go through together.
    std::uint64_t merged_data_wavefronts(std::uint32_t phases) const {
        std::uint64_t sum = 0;
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            BankDegree degree;
            for (std::uint32_t i = 0; i < count; ++i) degree.add(phase_words[phase][i]);
            sum += degree.largest();
        }
        return sum;
    }

    // Passes when each tag wavefront goes through on its own, as a cold load's do. A tag wavefront
    // holds at most one line of each tag bank.
    std::uint64_t split_data_wavefronts(std::uint32_t phases, const TagStage& tags) const {
        std::uint32_t sum = 0;
        for (std::uint32_t phase = 0; phase < phases; ++phase) {
            std::array<Words, tag_bank_count> of_bank;  // words, by tag bank and tag wavefront
            std::array<std::uint8_t, tag_bank_count> used{};
            for (std::uint32_t i = 0; i < count; ++i)
                of_bank[tags.bank[i]][used[tags.bank[i]]++] = phase_words[phase][i];
            for (std::uint32_t bank = 0; bank < tag_bank_count; ++bank)
                for (std::uint32_t wave = used[bank]; wave < tags.wavefronts; ++wave)
                    of_bank[bank][wave] = 0;
            for (std::uint32_t wave = 0; wave < tags.wavefronts; ++wave)
                sum += most_in_common(of_bank[0][wave], of_bank[1][wave], of_bank[2][wave],
                                      of_bank[3][wave]);
        }
        return sum;
    }

 private:
    // Active lanes, closed up: lane(k) asks for address[k]. Of a full warp nothing is copied.
    template <bool Full>
    class Lanes {
     public:
        explicit Lanes(const WarpAccess& access) {
            if constexpr (Full) {
                address_ = access.addresses.data();
            } else {
                count_ = 0;
                for (std::uint32_t at = 0; at < warp_lanes; ++at) {
                    closed_up_[count_] = access.addresses[at];
                    lane_[count_] = static_cast<std::uint8_t>(at);
                    count_ += access.active_lanes >> at & 1;
                }
                address_ = closed_up_.data();
            }
        }
        std::uint32_t count() const { return Full ? warp_lanes : count_; }
        std::uint64_t address(std::uint32_t k) const { return address_[k]; }
        std::uint32_t lane(std::uint32_t k) const { return Full ? k : lane_[k]; }

        bool lines_never_fall() const {
            std::uint64_t steps = 0;
            for (std::uint32_t k = 1; k < count(); ++k)
                steps |= address_[k] / line_bytes - address_[k - 1] / line_bytes;
            return steps >> 63 == 0;  // numbers of lines have 57 bits: a step back sets the top one
        }

     private:
        const std::uint64_t* address_ = nullptr;
        std::uint32_t count_ = warp_lanes;
        std::array<std::uint64_t, Full ? 0 : warp_lanes> closed_up_;
        std::array<std::uint8_t, Full ? 0 : warp_lanes> lane_;
    };

    template <std::uint32_t Width>
    static constexpr std::uint32_t words_at(std::uint64_t address) {
        constexpr std::uint32_t bits = Width <= 4 ? 1u : (1u << (Width / 4)) - 1;
        return bits << (address % line_bytes / 4);
    }
    template <std::uint32_t Width>
    static constexpr std::uint32_t phase_of(std::uint32_t lane) {
        if constexpr (phase_count(Width) == 1) return 0;
        return lane / (warp_lanes / phase_count(Width));
    }

    template <std::uint32_t Width>
    void enter(const WarpAccess& access, GlobalCounts& counts) {
        for (std::uint32_t phase = 0; phase < phase_count(Width); ++phase)
            phase_words[phase].fill(0);
        if (is_contiguous<Width>(access)) return enter_contiguous<Width>(access, counts);
        if constexpr (Width < 4) bytes.fill({});
        if (access.active_lanes == all_lanes)
            enter_lanes<Width>(Lanes<true>(access));
        else
            enter_lanes<Width>(Lanes<false>(access));
        sum_up<Width>(counts);
    }

    template <std::uint32_t Width>
    static bool is_contiguous(const WarpAccess& access) {
        const std::uint64_t first = access.addresses.front();
        if (access.active_lanes != all_lanes ||
            access.addresses.back() != first + (warp_lanes - 1) * Width)
            return false;
        std::uint64_t differing = 0;
        for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
            differing |= access.addresses[lane] ^ (first + lane * Width);
        return differing == 0;
    }

    // What most warps of this world do, in closed form: one run of bytes.
    template <std::uint32_t Width>
    void enter_contiguous(const WarpAccess& access, GlobalCounts& counts) {
        constexpr std::uint64_t phase_bytes = warp_lanes * Width / phase_count(Width);
        const std::uint64_t first = access.addresses.front();
        const std::uint64_t first_line = first / line_bytes;
        const std::uint64_t last = access.addresses.back() + Width - 1;
        count = static_cast<std::uint32_t>(last / line_bytes - first_line) + 1;
        differing_bits = first_line ^ (last / line_bytes);
        for (std::uint32_t i = 0; i < count; ++i) line[i] = first_line + i;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            line_of_lane[lane] =
                static_cast<std::uint8_t>((first % line_bytes + lane * Width) / line_bytes);
        for (std::uint32_t phase = 0; phase < phase_count(Width); ++phase) {
            // At most 128 bytes: in one line, or to its end and on from the start of the next.
            const std::uint64_t begin = first + phase * phase_bytes;
            const std::uint64_t end = begin + phase_bytes - 1;
            const std::uint32_t from = ~0u << (begin % line_bytes / 4);
            const std::uint32_t until = ~0u >> (31 - end % line_bytes / 4);
            const std::uint64_t at = begin / line_bytes - first_line;
            const bool in_one_line = begin / line_bytes == end / line_bytes;
            phase_words[phase][at] = in_one_line ? from & until : from;
            if (!in_one_line) phase_words[phase][at + 1] = until;
        }
        counts.lines = count;
        counts.sectors = last / sector_bytes - first / sector_bytes + 1;
        counts.unique_bytes = warp_lanes * Width;
    }

    template <std::uint32_t Width, bool Full>
    void enter_lanes(const Lanes<Full>& lanes) {
        if (lanes.lines_never_fall())
            enter_rising<Width>(lanes);
        else
            enter_any<Width>(lanes);
    }

    // Where lines never fall, one that differs from the last is new. No branch hangs on addresses.
    template <std::uint32_t Width, bool Full>
    void enter_rising(const Lanes<Full>& lanes) {
        const std::uint64_t first = lanes.address(0) / line_bytes;
        std::uint64_t last = first;
        std::uint32_t last_phase = 0;
        std::uint32_t at = 0;
        std::uint32_t words = 0;
        for (std::uint32_t k = 0; k < lanes.count(); ++k) {
            const std::uint64_t address = lanes.address(k);
            const std::uint64_t number = address / line_bytes;
            const std::uint32_t phase = phase_of<Width>(lanes.lane(k));
            const bool is_new = number != last;
            at += is_new;
            words = is_new || phase != last_phase ? 0 : words;
            words |= words_at<Width>(address);
            line[at] = number;
            phase_words[phase][at] = words;
            line_of_lane[lanes.lane(k)] = static_cast<std::uint8_t>(at);
            if constexpr (Width < 4) enter_byte(at, address);
            last = number;
            last_phase = phase;
        }
        count = at + 1;
        differing_bits = first ^ last;  // numbers between them differ in no higher bit
    }

    template <std::uint32_t Width, bool Full>
    void enter_any(const Lanes<Full>& lanes) {
        constexpr std::uint32_t slots = 256;  // eight times the lanes: probes rarely collide
        constexpr std::uint8_t empty = 0xFF;
        std::array<std::uint8_t, slots> index_of_slot;
        index_of_slot.fill(empty);
        for (std::uint32_t k = 0; k < lanes.count(); ++k) {
            const std::uint64_t address = lanes.address(k);
            const std::uint64_t number = address / line_bytes;
            // Fibonacci hashing: the product's top bits are mixed well for strides of all kinds.
            auto slot = static_cast<std::uint32_t>((number * 0x9E37'79B9'7F4A'7C15ull) >> 56);
            std::uint8_t at = index_of_slot[slot];
            while (at != empty && line[at] != number) {
                slot = (slot + 1) % slots;
                at = index_of_slot[slot];
            }
            if (at == empty) {
                at = index_of_slot[slot] = static_cast<std::uint8_t>(count);
                line[count++] = number;
            }
            phase_words[phase_of<Width>(lanes.lane(k))][at] |= words_at<Width>(address);
            line_of_lane[lanes.lane(k)] = at;
            if constexpr (Width < 4) enter_byte(at, address);
        }
        for (std::uint32_t i = 1; i < count; ++i) differing_bits |= line[i] ^ line[0];
    }

    void enter_byte(std::uint32_t at, std::uint64_t address) {
        const auto byte = static_cast<std::uint32_t>(address % line_bytes);
        bytes[at][byte / 64] |= 1ull << (byte % 64);
    }

    // Words are enough for both sums from 4 bytes a lane on; a sector is eight words.
    template <std::uint32_t Width>
    void sum_up(GlobalCounts& counts) const {
        std::uint32_t sectors = 0;
        std::uint32_t distinct_words = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            std::uint32_t words = phase_words[0][i];
            for (std::uint32_t phase = 1; phase < phase_count(Width); ++phase)
                words |= phase_words[phase][i];
            sectors += nonzero_bytes(words);
            distinct_words += ones(words);
        }
        counts.lines = count;
        counts.sectors = sectors;
        counts.unique_bytes = std::uint64_t{distinct_words} * 4;
        if constexpr (Width < 4) {
            std::uint64_t elements = 0;
            for (std::uint32_t i = 0; i < count; ++i)
                elements += ones(bytes[i][0]) + ones(bytes[i][1]);
            counts.unique_bytes = elements * Width;
        }
    }
};

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

Coalescer::Coalescer(const Rules& rules) : hash_known_(rules.tag_banks.has_value()) {
    if (!hash_known_) return;
    high_mask_ = static_cast<std::uint32_t>(rules.tag_banks->high_mask);
    low_mask_ = static_cast<std::uint32_t>(rules.tag_banks->low_mask);
    window_shift_ = rules.tag_banks->known_address_bits - 7;
}

Coalescer Coalescer::without_hash() const {
    Coalescer other = *this;
    other.hash_known_ = false;
    other.why_not_known_ = other.why_no_order_ = Doubt::hash_not_summed;
    return other;
}

Coalescer::TagStage Coalescer::tag_stage(const Lines& lines) const {
    TagStage stage;
    std::uint32_t high = 0, low = 0, both = 0;  // lines in whose bank's number that bit is set
    for (std::uint32_t i = 0; i < lines.count; ++i) {
        // The two bits of a bank are parities. Both are folded in one number, 16 bits each.
        const auto line = static_cast<std::uint32_t>(lines.line[i]);
        const std::uint32_t of_high = line & high_mask_, of_low = line & low_mask_;
        std::uint32_t folded =
            ((of_high << 16) ^ (of_high & 0xFFFF'0000u)) | ((of_low ^ (of_low >> 16)) & 0xFFFFu);
        folded ^= folded >> 8;
        folded ^= folded >> 4;
        folded ^= folded >> 2;
        folded ^= folded >> 1;
        const std::uint32_t high_bit = folded >> 16 & 1, low_bit = folded & 1;
        stage.bank[i] = static_cast<std::uint8_t>(2 * high_bit + low_bit);
        high += high_bit;
        low += low_bit;
        both += high_bit & low_bit;
    }
    stage.wavefronts = std::max({lines.count + both - high - low, low - both, high - both, both});
    return stage;
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
    if (!hash_known_ || lines.differing_bits >> window_shift_ != 0) {
        const Doubt doubt = hash_known_ ? Doubt::wide_window : why_not_known_;
        counts.tag_doubts = counts.data_doubts = static_cast<Doubts>(doubt);
        return counts;
    }
    const TagStage tags = tag_stage(lines);
    const std::uint32_t phases = phase_count(access.width_bytes);
    counts.tag_wavefronts = tags.wavefronts;
    if (access.kind == AccessKind::load) {
        counts.data_wavefronts = lines.split_data_wavefronts(phases, tags);
    } else if (tags.wavefronts <= store_wavefronts_merged(access.width_bytes)) {
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
    counts.tag_doubts = static_cast<Doubts>(Doubt::atomic_tag_stage);
    counts.data_doubts = static_cast<Doubts>(Doubt::atomic_data_stage);
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
    const bool hash_is_known = hash_known_ && lines.differing_bits >> window_shift_ == 0;
    if (collide && !hash_is_known) {
        counts.traffic_doubts = static_cast<Doubts>(why_no_order_);
        return;
    }
    if (collide) {
        std::array<std::uint32_t, tag_bank_count> lanes_of_bank{};
        const TagStage tags = tag_stage(lines);
        for (std::uint32_t i = 0; i < lines.count; ++i)
            lanes_of_bank[tags.bank[i]] |= lanes_of_line[i];
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
