// WarpsReader: read whole or in small blocks it gives the same warps and ends with the same error;
// every warp keeps the promises of the format.
#include <optional>
#include <vector>

#include "core/warps/warps_file.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;

struct Warp {
    std::string name;
    WarpAccess access;
    std::uint64_t number = 0;
};
struct Reading {
    std::vector<Warp> warps;
    std::optional<std::string> refusal;
};

void claim_fits(const WarpLine& line) {
    const WarpAccess& access = line.access;
    const std::uint64_t width = access.width_bytes;
    const bool is_atomic = access.kind == AccessKind::atomic || access.kind == AccessKind::reduce;
    fuzz::claim(!line.name.empty() && line.name.size() <= most_warp_name_bytes, "a name's length");
    fuzz::claim(printable(line.name) == line.name, "a name needs no escape");
    fuzz::claim(is_atomic ? width == 4 || width == 8
                          : width == 1 || width == 2 || width == 4 || width == 8 || width == 16,
                "a width is one of the format's");
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::uint64_t address = access.addresses[lane];
        fuzz::claim(address % width == 0 && address + width > address, "an address fits its width");
        fuzz::claim((access.active_lanes >> lane & 1) != 0 || address == 0,
                    "inactive lanes hold 0");
    }
}

Reading read(std::string_view text, std::size_t block_bytes) {
    const auto source = bytes_of_text(text, block_bytes);
    Reading reading;
    try {
        WarpsReader reader(*source, "w.txt");
        WarpLine line;
        while (reader.next(line)) {
            claim_fits(line);
            reading.warps.push_back({std::string(line.name), line.access, line.number});
        }
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
        reading.refusal = describe(error);
    }
    return reading;
}

bool same(const Warp& a, const Warp& b) {
    return a.name == b.name && a.number == b.number && a.access.addresses == b.access.addresses &&
           a.access.active_lanes == b.access.active_lanes && a.access.kind == b.access.kind &&
           a.access.space == b.access.space && a.access.width_bytes == b.access.width_bytes;
}

// A look at the ops alone gives those of the warps, and gets at least as far.
void claim_ops(std::string_view text, const std::vector<Warp>& warps) {
    const auto source = bytes_of_text(text);
    WarpsReader reader(*source, "w.txt");
    WarpOp op;
    for (const Warp& warp : warps) {
        fuzz::claim(reader.next_op(op), "an op for each warp");
        fuzz::claim(op == WarpOp{warp.access.kind, warp.access.space}, "the warp's op");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    const Reading whole = read(text, std::string_view::npos);
    if (size % 4 != 0) return 0;  // a second reading doubles the cost of an execution
    claim_ops(text, whole.warps);
    const Reading parts = read(text, size % 97 + 1);
    fuzz::claim(whole.refusal == parts.refusal, "blocks change no error");
    fuzz::claim(whole.warps.size() == parts.warps.size(), "blocks change no number of warps");
    for (std::size_t i = 0; i < whole.warps.size(); ++i)
        fuzz::claim(same(whole.warps[i], parts.warps[i]), "blocks change no warp");
    return 0;
}
