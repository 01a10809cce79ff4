#include <algorithm>
#include <array>
#include <cmath>

#include "core/traffic/reach.h"
#include "core/traffic/touched_lines.h"

namespace coalprof {
namespace {

using Elements = std::array<std::uint64_t, warp_lanes>;
using Lag = std::optional<std::uint64_t>;

// Their first bytes.
Elements places_at(const Instruction& one, std::uint64_t thread) {
    Elements elements;
    evaluate(one.formula, thread, warp_lanes, elements.data());
    for (std::uint64_t& element : elements)
        if (element != idle_lane) element *= one.width_bytes;
    return elements;
}

// Warps, chosen at random from equal shares of the launch.
class Places {
 public:
    static constexpr std::uint64_t count = 8;
    explicit Places(std::uint64_t threads) {
        const std::uint64_t warps = threads / warp_lanes;
        for (std::uint64_t k = 0; k < count; ++k) {
            const std::uint64_t share = std::max<std::uint64_t>(1, warps / count);
            firsts_[k] = (warps * k / count + (hash_of(k + 1) >> 32) % share) * warp_lanes;
        }
    }
    const std::array<std::uint64_t, count>& firsts() const { return firsts_; }

 private:
    std::array<std::uint64_t, count> firsts_{};
};

double difference(std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from));
}

// The possible distances in threads of `behind` from `ahead`, from their distance at one place and
// the motion of the one behind: from thread to thread, or over half of the launch.
std::array<double, 2> candidates(const Program& program, const Instruction& ahead,
                                 const Instruction& behind, std::uint64_t place) {
    const Elements own = places_at(behind, place);
    const double apart = difference(own[0], places_at(ahead, place)[0]);
    const std::uint64_t half = program.threads / 2 / warp_lanes * warp_lanes;
    const bool is_early = place < half;
    const std::uint64_t far = places_at(behind, is_early ? place + half : place - half)[0];
    const double step = difference(own[0], own[1]);
    const double steps = (is_early ? 1 : -1) * difference(own[0], far) / static_cast<double>(half);
    return {step == 0 ? 0 : apart / step, steps == 0 ? 0 : apart / steps};
}

// True if `behind` takes the places of `ahead` this many threads later. The ends of a launch, where
// formulas are held to the array, need not agree.
bool follows(const Program& program, const Instruction& ahead, const Instruction& behind,
             std::uint64_t lag, const Places& places) {
    constexpr std::uint64_t most_others = Places::count / 4;
    std::uint64_t same = 0;
    std::uint64_t others = 0;
    for (const std::uint64_t first : places.firsts()) {
        if (first + lag + warp_lanes > program.threads) continue;
        (places_at(ahead, first) == places_at(behind, first + lag) ? same : others) += 1;
        if (others > most_others) return false;
    }
    return same >= 3 * others && same > 0;
}

Lag lag_between(const Program& program, const Instruction& ahead, const Instruction& behind,
                const Places& places) {
    Lag shortest;
    for (const std::uint64_t place : {places.firsts()[2], places.firsts()[5]})
        for (const double candidate : candidates(program, ahead, behind, place)) {
            if (!(candidate >= 0 && candidate < static_cast<double>(program.threads))) continue;
            const auto lag = static_cast<std::uint64_t>(std::llround(candidate));
            if ((!shortest || lag < *shortest) && follows(program, ahead, behind, lag, places))
                shortest = lag;
        }
    return shortest;
}

}  // namespace

std::vector<std::optional<std::uint64_t>> lags_of(
    const Program& program, std::span<const Instruction* const> instructions) {
    std::vector<Lag> lags(instructions.size());
    // All pairs are compared.
    constexpr std::size_t most_instructions = 16;
    if (instructions.size() < 2 || instructions.size() > most_instructions ||
        program.threads < 2 * Places::count * warp_lanes)
        return lags;
    const Places places(program.threads);
    for (std::size_t behind = 0; behind < lags.size(); ++behind)
        for (std::size_t ahead = 0; ahead < lags.size(); ++ahead) {
            // A narrower access does not fetch all of it.
            if (ahead == behind ||
                instructions[ahead]->width_bytes < instructions[behind]->width_bytes)
                continue;
            const Lag lag =
                lag_between(program, *instructions[ahead], *instructions[behind], places);
            // The later one of two in step follows.
            if (!lag || (*lag == 0 && behind < ahead)) continue;
            if (!lags[behind] || *lag < *lags[behind]) lags[behind] = lag;
        }
    // Those in a cycle have no first one.
    if (std::ranges::all_of(lags, [](const Lag& lag) { return lag.has_value(); }))
        std::ranges::fill(lags, std::nullopt);
    return lags;
}

}  // namespace coalprof
