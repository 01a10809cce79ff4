#include "core/machine/rules.h"

#include <fmt/format.h>

namespace coalprof {
std::string text_of(ComputeCapability cc) { return fmt::format("{}.{}", cc.major, cc.minor); }

std::string_view text_of(Evidence evidence) {
    constexpr std::array<std::string_view, 3> texts{
        "rules measured", "rules from published measurements", "rules documented, not measured"};
    return texts[static_cast<std::size_t>(evidence)];
}

std::string_view text_of(GlobalRule rule) {
    constexpr std::array<std::string_view, 4> texts{
        "half-warps: one 64- or 128-byte transaction in order, else one per lane",
        "half-warps: one transaction of 32, 64 or 128 bytes per segment",
        "128-byte lines through an L1 that fetches them, else 32-byte segments",
        "32-byte sectors of the whole warp"};
    return texts[static_cast<std::size_t>(rule)];
}

std::string_view text_of(SharedRule rule) {
    return rule == SharedRule::broadcast_word
               ? "per step one word for all its lanes, and one lane of every other bank"
               : "per step one word of every bank, for any number of lanes";
}

L1Split l1_split(const L1Rules& rules, std::optional<std::uint32_t> shared_percent) {
    const L1Split largest = rules.splits.back();
    if (!shared_percent) return largest;
    const std::uint32_t from = rules.percent_of_largest ? 0 : rules.splits.front().shared_kib;
    // In hundredths of a KiB, so that nothing is lost to rounding.
    const std::uint32_t wanted = 100 * from + *shared_percent * (largest.shared_kib - from);
    for (const L1Split& split : rules.splits)
        if (100 * split.shared_kib >= wanted) return split;
    return largest;
}

}  // namespace coalprof
