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
template <std::uint32_t Width, std::uint32_t Slots>
std::uint64_t merged_data_wavefronts(const WarpLines<Width, Slots>& lines) {
    std::uint64_t sum = 0;
    for (const LaneNumbers& words : lines.words) {
        BankDegree degree;
        for (std::uint32_t slot = 0; slot < Slots; ++slot) degree.add(words.at[slot]);
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

// Compiled once for each kind of processor.
struct Coalescer::Body {
    // The tag stage of a warp, and the passes of the data stage when each tag wavefront goes
    // through alone, as a cold load's do. A tag wavefront holds at most one line of each tag bank:
    // the k-th new line of a bank, in lane order, belongs to wavefront k.
    template <std::uint32_t Width, std::uint32_t Slots>
    struct Wavefronts {
        // By phase, tag bank and wavefront: the words of its line.
        std::array<std::array<std::array<std::uint32_t, Slots>, tag_bank_count>, phase_count(Width)>
            words;
        std::uint32_t tag = 0;
        std::uint32_t data = 0;
    };

    // The bank of each line.
    template <std::uint32_t Slots>
    COALPROF_INLINED static void find_banks(const LaneNumbers& line, const TagHash& hash,
                                            LaneNumbers& bank) {
        for (std::uint32_t slot = 0; slot < Slots; ++slot) {
            // Its two bits are parities. Both are folded in one number, 16 bits each.
            const std::uint32_t of_high = line.at[slot] & hash.high_mask;
            const std::uint32_t of_low = line.at[slot] & hash.low_mask;
            std::uint32_t folded = ((of_high << 16) ^ (of_high & 0xFFFF'0000u)) |
                                   ((of_low ^ (of_low >> 16)) & 0xFFFFu);
            folded ^= folded >> 8;
            folded ^= folded >> 4;
            folded ^= folded >> 2;
            folded ^= folded >> 1;
            bank.at[slot] = (folded >> 15 & 2) | (folded & 1);
        }
    }

    template <std::size_t VectorBytes, std::uint32_t Width, std::uint32_t Slots>
    COALPROF_INLINED static void pass_tag_stage(const WarpLines<Width, Slots>& lines,
                                                const TagHash& hash,
                                                Wavefronts<Width, Slots>& wavefronts) {
        LaneNumbers bank, count;
        find_banks<Slots>(lines.line, hash, bank);
        for (std::uint32_t slot = 0; slot < Slots; ++slot)
            count.at[slot] = lines.is_used.at[slot] << 8 * bank.at[slot];
        clear<VectorBytes>(wavefronts.words);
        std::uint32_t used = 0;  // lines so far, 8 bits a bank
        for (std::uint32_t slot = 0; slot < Slots; ++slot) {
            const std::uint32_t wavefront = used >> 8 * bank.at[slot] & 0xFF;
            // An empty slot writes its zeros where the bank's next line will be.
            for (std::uint32_t phase = 0; phase < phase_count(Width); ++phase)
                wavefronts.words[phase][bank.at[slot]][wavefront] = lines.words[phase].at[slot];
            used += count.at[slot];
        }
        wavefronts.tag = std::max({used & 0xFF, used >> 8 & 0xFF, used >> 16 & 0xFF, used >> 24});
    }

    template <std::uint32_t Width, std::uint32_t Slots>
    COALPROF_INLINED static void pass_data_stage(Wavefronts<Width, Slots>& wavefronts) {
        constexpr std::uint32_t together = std::min(Slots, 16u);  // in whole vector registers
        std::uint32_t sum = 0;
        for (const auto& words : wavefronts.words)
            for (std::uint32_t first = 0; first < wavefronts.tag; first += together)
                for (std::uint32_t at = first; at < first + together; ++at)
                    sum += most_in_common(words[0][at], words[1][at], words[2][at], words[3][at]);
        wavefronts.data = sum;
    }

    template <std::uint32_t Width>
    static void count_atomic(const WarpAccess& access, const WarpLines<Width, warp_lanes>& lines,
                             const TagHash& hash, GlobalCounts& counts);

    template <std::uint32_t Width, std::uint32_t Slots>
    COALPROF_INLINED static GlobalCounts counts_of(const WarpAccess& access,
                                                   const WarpLines<Width, Slots>& lines) {
        GlobalCounts counts;
        counts.requests = 1;
        counts.lines = counts.l2_requests = lines.count;
        counts.sectors = counts.l2_sectors = lines.sectors;
        counts.unique_bytes = lines.unique_bytes;
        counts.active_bytes = std::uint64_t{ones(access.active_lanes)} * Width;
        counts.ideal_sectors =
            std::min(counts.sectors, (counts.active_bytes + sector_bytes - 1) / sector_bytes);
        return counts;
    }

    template <std::size_t VectorBytes, std::uint32_t Width, std::uint32_t Slots>
    COALPROF_INLINED static void count_wavefronts(AccessKind kind,
                                                  const WarpLines<Width, Slots>& lines,
                                                  const TagHash& hash, GlobalCounts& counts) {
        if (!hash.is_known || lines.differing_bits >> hash.window_shift != 0) {
            const Doubt doubt = hash.is_known ? Doubt::wide_window : hash.why_not_known;
            counts.tag_doubts = counts.data_doubts = static_cast<Doubts>(doubt);
            return;
        }
        Wavefronts<Width, Slots> wavefronts;
        pass_tag_stage<VectorBytes>(lines, hash, wavefronts);
        counts.tag_wavefronts = wavefronts.tag;
        if (kind == AccessKind::load) {
            pass_data_stage(wavefronts);
            counts.data_wavefronts = wavefronts.data;
        } else if (wavefronts.tag <= store_wavefronts_merged(Width)) {
            counts.data_wavefronts = merged_data_wavefronts(lines);
        } else {
            counts.data_doubts = static_cast<Doubts>(Doubt::store_data_stage);
        }
    }

    template <std::size_t VectorBytes, std::uint32_t Width>
    COALPROF_INLINED static GlobalCounts count(const WarpAccess& access, const TagHash& hash) {
        const bool is_atomic =
            access.kind == AccessKind::atomic || access.kind == AccessKind::reduce;
        if constexpr (Width <= 16) {  // wider ones are on more lines than there are slots for
            if (!is_atomic && is_contiguous<Width>(access)) {
                WarpLines<Width, contiguous_slots> lines;
                find_lines(access, lines);
                GlobalCounts counts = counts_of(access, lines);
                count_wavefronts<VectorBytes>(access.kind, lines, hash, counts);
                return counts;
            }
        }
        WarpLines<Width, warp_lanes> lines;
        find_lines<VectorBytes>(access, lines);
        GlobalCounts counts = counts_of(access, lines);
        if (is_atomic)
            count_atomic(access, lines, hash, counts);
        else
            count_wavefronts<VectorBytes>(access.kind, lines, hash, counts);
        return counts;
    }

    template <std::size_t VectorBytes>
    COALPROF_INLINED static GlobalCounts count(const WarpAccess& access, const TagHash& hash) {
        if (access.active_lanes == 0) return {};
        switch (access.width_bytes) {
            case 1: return count<VectorBytes, 1>(access, hash);
            case 2: return count<VectorBytes, 2>(access, hash);
            case 4: return count<VectorBytes, 4>(access, hash);
            case 8: return count<VectorBytes, 8>(access, hash);
            case 16: return count<VectorBytes, 16>(access, hash);
            default: return count<VectorBytes, 32>(access, hash);
        }
    }
    static GlobalCounts count_usual(const WarpAccess& access, const TagHash& hash) {
        return count<usual_vector_bytes>(access, hash);
    }
    COALPROF_AVX2 static GlobalCounts count_avx2(const WarpAccess& access, const TagHash& hash) {
        return count<avx2_vector_bytes>(access, hash);
    }
};

Coalescer::Coalescer(const Rules& rules, Vectors vectors)
    : count_(vectors == Vectors::avx2 ? Body::count_avx2 : Body::count_usual) {
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

GlobalCounts Coalescer::count(const WarpAccess& access) const { return count_(access, hash_); }

template <std::uint32_t Width>
void Coalescer::Body::count_atomic(const WarpAccess& access,
                                   const WarpLines<Width, warp_lanes>& lines, const TagHash& hash,
                                   GlobalCounts& counts) {
    counts.tag_doubts = static_cast<Doubts>(Doubt::atomic_tag_stage);
    counts.data_doubts = static_cast<Doubts>(Doubt::atomic_data_stage);
    // Lines that share no word bank cannot delay each other's lanes: whatever the hash, each is
    // served separately.
    std::array<std::uint32_t, warp_lanes> groups{};  // of lanes that are served one after the other
    std::uint32_t taken = 0;
    bool collide = false;
    for (std::uint32_t slot = 0; slot < warp_lanes; ++slot) {
        if (lines.is_used.at[slot] == 0) continue;
        groups[slot] = lines.lanes.at[slot] & access.active_lanes;
        std::uint32_t banks = 0;
        for (std::uint32_t rest = groups[slot]; rest != 0; rest &= rest - 1)
            banks |= 1u << word_bank_of(
                         access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))]);
        collide = collide || (taken & banks) != 0;
        taken |= banks;
    }
    if (collide) {
        if (!hash.is_known || lines.differing_bits >> hash.window_shift != 0) {
            counts.traffic_doubts = static_cast<Doubts>(hash.why_no_order);
            return;
        }
        LaneNumbers bank;
        find_banks<warp_lanes>(lines.line, hash, bank);
        std::array<std::uint32_t, tag_bank_count> of_bank{};
        for (std::uint32_t slot = 0; slot < warp_lanes; ++slot)
            of_bank[bank.at[slot]] |= groups[slot];
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
