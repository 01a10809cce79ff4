// The lines that a warp touches, found for all lanes at once: every lane is compared with every
// other in vector registers, whose width the caller gives in bytes. Everything here is inlined into
// functions that are compiled for one or the other kind of processor (core/access/vectors.h), and
// nothing is a lambda, which would be compiled for the usual kind.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/access/lane_set.h"
#include "core/access/vectors.h"
#include "core/access/warp_access.h"

namespace coalprof {

// One number a lane, or a slot.
struct alignas(64) LaneNumbers {
    std::array<std::uint32_t, warp_lanes> at;
};

// Lanes that pass through the data stage together: 32, 16 or 8 by width.
constexpr std::uint32_t phase_count(std::uint32_t width_bytes) {
    return width_bytes <= 4 ? 1 : width_bytes / 4;
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
constexpr std::uint32_t nonzero_bytes(std::uint32_t bits) {
    std::uint32_t tops = (bits | ((bits & 0x7F7F'7F7Fu) + 0x7F7F'7F7Fu)) >> 7 & 0x0101'0101u;
    tops += tops >> 8;
    return (tops + (tops >> 16)) & 0x7;
}

template <std::size_t Bytes>
struct VectorOf {
    using Type [[gnu::vector_size(Bytes)]] = std::uint32_t;
    static constexpr std::size_t lanes = Bytes / 4;
    static constexpr std::size_t count = warp_lanes / lanes;  // of a warp
};

template <std::size_t Bytes, typename Array>
COALPROF_INLINED void clear(Array& numbers) {
    typename VectorOf<Bytes>::Type zeros{};
    // Compilers that see zeros call memset, or rep stos, which take longer to start than this does.
    asm("" : "+m"(zeros));
    auto* to = reinterpret_cast<std::byte*>(&numbers);
    static_assert(sizeof numbers % Bytes == 0);
    for (std::size_t at = 0; at < sizeof numbers; at += Bytes) std::memcpy(to + at, &zeros, Bytes);
}

// The keys of all lanes, and those of the first half once more.
using Circle = std::array<std::uint32_t, warp_lanes * 3 / 2>;

// True if two lanes have the same key. Lane i is compared with lanes i + 1, i + 2, ... i + 16 of
// the circle: every pair once.
template <std::size_t Bytes>
COALPROF_INLINED bool has_twins(const Circle& circle) {
    using Vector = typename VectorOf<Bytes>::Type;
    Vector found{};
    for (std::size_t first = 0; first < warp_lanes; first += VectorOf<Bytes>::lanes) {
        Vector mine;
        std::memcpy(&mine, circle.data() + first, sizeof mine);
        for (std::size_t turn = 1; turn <= warp_lanes / 2; ++turn) {
            Vector other;
            std::memcpy(&other, circle.data() + first + turn, sizeof other);
            found |= reinterpret_cast<Vector>(mine == other);
        }
    }
    std::array<std::uint64_t, Bytes / 8> parts;
    std::memcpy(parts.data(), &found, sizeof found);
    std::uint64_t any = 0;
    for (const std::uint64_t part : parts) any |= part;
    return any != 0;
}

// For each lane: the lanes with its key, one bit each, and the union of their `bits`, by phases of
// the data stage.
template <std::size_t Bytes, std::size_t Phases>
COALPROF_INLINED void merge_twins(const std::uint32_t* key, const LaneNumbers& bits,
                                  LaneNumbers& lanes, std::array<LaneNumbers, Phases>& merged) {
    using Vector = typename VectorOf<Bytes>::Type;
    constexpr std::size_t count = VectorOf<Bytes>::count;
    constexpr std::uint32_t phase_lanes = warp_lanes / Phases;
    Vector mine[count], twins[count];
    std::memcpy(mine, key, sizeof mine);
    std::memset(twins, 0, sizeof twins);
    for (std::uint32_t phase = 0; phase < Phases; ++phase) {
        Vector sum[count];
        std::memset(sum, 0, sizeof sum);
        for (std::uint32_t lane = phase * phase_lanes; lane < (phase + 1) * phase_lanes; ++lane) {
            const Vector its_key = Vector{} + key[lane];
            const Vector its_bits = Vector{} + bits.at[lane];
            const Vector itself = Vector{} + (1u << lane);
            for (std::size_t i = 0; i < count; ++i) {
                const Vector same = reinterpret_cast<Vector>(mine[i] == its_key);
                sum[i] |= same & its_bits;
                twins[i] |= same & itself;
            }
        }
        std::memcpy(merged[phase].at.data(), sum, sizeof sum);
    }
    std::memcpy(lanes.at.data(), twins, sizeof twins);
}

// A line has the slot of the first lane that touches it, so that slots are in the order in which
// lanes come to new lines; the slots of other lanes are empty. Where there are few lines, known
// beforehand, they have the first slots.
template <std::uint32_t Width, std::uint32_t Slots>
struct WarpLines {
    static constexpr std::uint32_t phases = phase_count(Width);

    std::uint32_t count = 0;
    std::uint32_t sectors = 0;
    std::uint32_t unique_bytes = 0;
    std::uint64_t differing_bits = 0;       // in which any two line numbers differ
    LaneNumbers line;                       // by slot: its number, modulo 2^32
    LaneNumbers is_used;                    // by slot: 1 or 0
    LaneNumbers lanes;                      // by slot: the lanes on the line; of 32 slots only
    std::array<LaneNumbers, phases> words;  // by slot: the words that each phase's lanes touch
};

namespace detail {

template <std::uint32_t Width>
constexpr std::uint32_t words_at(std::uint64_t address) {
    constexpr std::uint32_t bits = Width <= 4 ? 1u : (1u << (Width / 4)) - 1;
    return bits << (address % line_bytes / 4);
}

// The address of each lane. An inactive lane has that of the active one before it, or of the first:
// it adds no line, and where no active lane steps back none does.
struct Places {
    const std::uint64_t* address;
    std::array<std::uint64_t, warp_lanes> filled;

    COALPROF_INLINED explicit Places(const WarpAccess& access) : address(access.addresses.data()) {
        if (access.active_lanes == all_lanes) return;
        std::uint64_t last =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(access.active_lanes))];
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            last = (access.active_lanes >> lane & 1) != 0 ? access.addresses[lane] : last;
            filled[lane] = last;
        }
        address = filled.data();
    }
    COALPROF_INLINED bool lines_never_fall() const {
        std::uint64_t steps = 0;
        for (std::uint32_t lane = 1; lane < warp_lanes; ++lane)
            steps |= address[lane] / line_bytes - address[lane - 1] / line_bytes;
        return steps >> 63 == 0;  // numbers of lines have 57 bits: a step back sets the top one
    }
};

// The words that each lane touches; none of inactive lanes.
template <std::uint32_t Width>
COALPROF_INLINED void find_words(const Places& places, std::uint32_t active_lanes,
                                 LaneNumbers& words) {
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        words.at[lane] = words_at<Width>(places.address[lane]);
    if (active_lanes == all_lanes) return;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        words.at[lane] &= 0u - (active_lanes >> lane & 1);
}

// Distinct elements narrower than a word, which words do not distinguish.
template <std::size_t Bytes>
COALPROF_INLINED std::uint32_t distinct_elements(const Places& places,
                                                 const LaneNumbers& slot_of_lane) {
    LaneNumbers element;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        element.at[lane] = slot_of_lane.at[lane] << 7 |
                           static_cast<std::uint32_t>(places.address[lane] % line_bytes);
    LaneNumbers twins;
    std::array<LaneNumbers, 1> none;
    merge_twins<Bytes>(element.at.data(), element, twins, none);
    std::uint32_t sum = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        sum += (twins.at[lane] & ((1u << lane) - 1)) == 0;
    return sum;
}

// Each lane has a different line.
template <std::size_t Bytes, std::uint32_t Width>
COALPROF_INLINED void set_distinct_lines(const LaneNumbers& words,
                                         WarpLines<Width, warp_lanes>& lines) {
    constexpr std::uint32_t phase_lanes = warp_lanes / phase_count(Width);
    lines.count = lines.sectors = warp_lanes;
    lines.unique_bytes = warp_lanes * Width;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        lines.is_used.at[lane] = 1;
        lines.lanes.at[lane] = 1u << lane;
    }
    clear<Bytes>(lines.words);
    for (std::uint32_t phase = 0; phase < phase_count(Width); ++phase) {
        std::memcpy(&lines.words[phase].at[phase * phase_lanes], &words.at[phase * phase_lanes],
                    phase_lanes * sizeof words.at[0]);
    }
}

// Where lines never fall, one that differs from the last is new. No branch depends on addresses.
template <std::size_t Bytes, std::uint32_t Width>
COALPROF_INLINED void set_rising_lines(const Places& places, const LaneNumbers& words,
                                       WarpLines<Width, warp_lanes>& lines,
                                       LaneNumbers& slot_of_lane) {
    constexpr std::uint32_t phase_lanes = warp_lanes / phase_count(Width);
    clear<Bytes>(lines.words);
    clear<Bytes>(lines.lanes);
    std::uint64_t last = ~places.address[0];
    std::uint32_t slot = 0, lanes = 0, on_line = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t number = places.address[lane] / line_bytes;
        const std::uint32_t stays = number == last ? ~0u : 0;
        slot = number == last ? slot : lane;
        lanes = (lanes & stays) | 1u << lane;
        on_line &= lane % phase_lanes == 0 ? 0 : stays;
        on_line |= words.at[lane];
        lines.is_used.at[lane] = 1 + stays;
        lines.lanes.at[slot] = lanes;
        lines.words[lane / phase_lanes].at[slot] = on_line;
        if constexpr (Width < 4) slot_of_lane.at[lane] = slot;
        last = number;
    }
}

// Some lanes share a line, in any order. `key` distinguishes lines.
template <std::size_t Bytes, std::uint32_t Width>
COALPROF_INLINED void set_shared_lines(const Circle& key, const LaneNumbers& words,
                                       WarpLines<Width, warp_lanes>& lines,
                                       LaneNumbers& slot_of_lane) {
    merge_twins<Bytes>(key.data(), words, lines.lanes, lines.words);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint32_t lanes = lines.lanes.at[lane];
        lines.is_used.at[lane] = (lanes & ((1u << lane) - 1)) == 0 ? 1 : 0;
        if constexpr (Width < 4) slot_of_lane.at[lane] = ones((lanes & (0u - lanes)) - 1);
    }
    for (LaneNumbers& of_phase : lines.words)
        for (std::uint32_t slot = 0; slot < warp_lanes; ++slot)
            of_phase.at[slot] &= 0u - lines.is_used.at[slot];
}

template <std::uint32_t Width>
COALPROF_INLINED void sum_up(WarpLines<Width, warp_lanes>& lines) {
    std::uint32_t used = 0, sectors = 0, distinct_words = 0;
    for (std::uint32_t slot = 0; slot < warp_lanes; ++slot) {
        std::uint32_t all = lines.words[0].at[slot];
        for (std::uint32_t phase = 1; phase < phase_count(Width); ++phase)
            all |= lines.words[phase].at[slot];
        used += lines.is_used.at[slot];
        sectors += nonzero_bytes(all);
        distinct_words += ones(all);
    }
    lines.count = used;
    lines.sectors = sectors;
    lines.unique_bytes = distinct_words * 4;
}

}  // namespace detail

// Any warp with an active lane.
template <std::size_t Bytes, std::uint32_t Width>
COALPROF_INLINED void find_lines(const WarpAccess& access, WarpLines<Width, warp_lanes>& lines) {
    const detail::Places places(access);
    Circle key;
    std::uint64_t differing = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        differing |= places.address[lane] ^ places.address[0];
        key[lane] = lines.line.at[lane] =
            static_cast<std::uint32_t>(places.address[lane] / line_bytes);
    }
    lines.differing_bits = differing / line_bytes;
    if (lines.differing_bits >> 32 != 0) {  // no launch does so, but warps of files may
        LaneSet numbers;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            key[lane] = numbers.insert(places.address[lane] / line_bytes);
    }
    std::memcpy(&key[warp_lanes], key.data(), sizeof key / 3);
    LaneNumbers words, slot_of_lane;
    detail::find_words<Width>(places, access.active_lanes, words);
    if (places.lines_never_fall())
        detail::set_rising_lines<Bytes>(places, words, lines, slot_of_lane);
    else if (has_twins<Bytes>(key))
        detail::set_shared_lines<Bytes>(key, words, lines, slot_of_lane);
    else
        return detail::set_distinct_lines<Bytes>(words, lines);
    detail::sum_up(lines);
    if constexpr (Width < 4)
        lines.unique_bytes = detail::distinct_elements<Bytes>(places, slot_of_lane) * Width;
}

// True if all lanes together touch one run of bytes, in order, as most warps do.
template <std::uint32_t Width>
COALPROF_INLINED bool is_contiguous(const WarpAccess& access) {
    const std::uint64_t first = access.addresses.front();
    if (access.active_lanes != all_lanes ||
        access.addresses.back() != first + (warp_lanes - 1) * Width)
        return false;
    std::uint64_t differing = 0;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane)
        differing |= access.addresses[lane] ^ (first + lane * Width);
    return differing == 0;
}

// A contiguous warp, in closed form: 512 bytes are on five lines at most.
inline constexpr std::uint32_t contiguous_slots = 8;
template <std::uint32_t Width>
COALPROF_INLINED void find_lines(const WarpAccess& access,
                                 WarpLines<Width, contiguous_slots>& lines) {
    constexpr std::uint32_t phases = phase_count(Width);
    constexpr std::uint64_t phase_bytes = warp_lanes * Width / phases;
    const std::uint64_t first = access.addresses.front();
    const std::uint64_t first_line = first / line_bytes;
    const std::uint64_t last = access.addresses.back() + Width - 1;
    lines.count = static_cast<std::uint32_t>(last / line_bytes - first_line) + 1;
    lines.sectors = static_cast<std::uint32_t>(last / sector_bytes - first / sector_bytes) + 1;
    lines.unique_bytes = warp_lanes * Width;
    lines.differing_bits = first_line ^ (last / line_bytes);
    for (std::uint32_t slot = 0; slot < contiguous_slots; ++slot) {
        lines.line.at[slot] = static_cast<std::uint32_t>(first_line) + slot;
        lines.is_used.at[slot] = slot < lines.count ? 1 : 0;
        for (LaneNumbers& words : lines.words) words.at[slot] = 0;
    }
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
        // At most 128 bytes: within one line, or up to its end and from the start of the next.
        const std::uint64_t begin = first + phase * phase_bytes;
        const std::uint64_t end = begin + phase_bytes - 1;
        const std::uint32_t from = ~0u << (begin % line_bytes / 4);
        const std::uint32_t until = ~0u >> (31 - end % line_bytes / 4);
        const std::uint64_t at = begin / line_bytes - first_line;
        const bool in_one_line = begin / line_bytes == end / line_bytes;
        lines.words[phase].at[at] = in_one_line ? from & until : from;
        if (!in_one_line) lines.words[phase].at[at + 1] = until;
    }
}

}  // namespace coalprof
