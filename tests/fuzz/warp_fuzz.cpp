// One warp whose lanes the bytes give: counted as a load by
// sets of sectors, lines and words.

#include "bench/count_with_sets.h"
#include "core/count/coalescer.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;
using fuzz::claim;

constexpr std::size_t header_bytes = 6;

// The first bytes: width and kind, how far lanes lie apart, where the warp begins, two bytes that
// say which lanes idle. Then one for each lane, where its address differs.
WarpAccess access_from(const std::uint8_t* data, std::size_t size) {
    WarpAccess access;
    access.width_bytes = 1u << data[0] % 5;
    access.kind = access_kinds[data[0] / 5 % access_kinds.size()];
    access.active_lanes = ~(std::uint32_t{data[3]} << 24 | std::uint32_t{data[4]} << 8) | 1u;
    const std::uint64_t unit = std::uint64_t{1} << data[1] % 40;
    const std::uint64_t begin = std::uint64_t{data[2]} << data[5] % 40;
    for (std::size_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t moved = header_bytes + lane < size ? data[header_bytes + lane] : lane;
        access.addresses[lane] = (begin + moved * unit) / access.width_bytes * access.width_bytes;
    }
    return access;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < header_bytes) return 0;
    static const Rules& rules = *find_machine("h200").rules;
    static const Coalescer coalescer(rules);
    WarpAccess access = access_from(data, size);
    access.kind = AccessKind::load;
    const GlobalCounts counts = coalescer.count(access);
    const bench::ReferenceCounts expected = bench::count_with_sets(access, *rules.tag_banks);
    claim(counts.requests == 1, "a warp is one request");
    claim(counts.sectors == expected.sectors, "distinct sectors");
    claim(counts.lines == expected.lines, "distinct lines");
    claim(counts.unique_bytes == expected.unique_bytes, "distinct bytes");
    claim(counts.ideal_sectors <= counts.sectors, "no warp takes less than its bytes need");
    if (counts.tag_doubts != 0) return 0;  // lines in several windows of the hash
    claim(counts.tag_wavefronts == expected.tag_wavefronts, "tag wavefronts");
    claim(counts.data_wavefronts == expected.data_wavefronts, "data wavefronts");
    return 0;
}
