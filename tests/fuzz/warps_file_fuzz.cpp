// WarpsReader: read whole or in small blocks it gives the same warps and ends with the same error;
// every warp keeps the promises of the format and is what its line says to a plain reading.
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "core/access/warps_file.h"
#include "fuzz/claim.h"
#include "text_source.h"

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

// The blank-separated words of each line, comments left out; the first is line 1.
std::vector<std::vector<std::string>> plain_lines(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    std::vector<std::vector<std::string>> lines(2);
    bool in_word = false;
    bool in_comment = false;
    for (const char c : text) {
        if (c == '\n') {
            lines.emplace_back();
            in_word = in_comment = false;
            continue;
        }
        in_comment = in_comment || c == '#';
        if (in_comment || c == ' ' || c == '\t') {
            in_word = false;
            continue;
        }
        if (!in_word) lines.back().emplace_back();
        in_word = true;
        lines.back().back() += c;
    }
    for (auto& words : lines)
        if (!words.empty() && words.back().ends_with('\r')) words.back().pop_back();
    return lines;
}

void claim_plain(const Warp& warp, const std::vector<std::string>& words) {
    static const std::map<std::string, WarpOp> ops{
        {"load", {AccessKind::load, Space::global}},
        {"store", {AccessKind::store, Space::global}},
        {"atomic", {AccessKind::atomic, Space::global}},
        {"reduce", {AccessKind::reduce, Space::global}},
        {"shared_load", {AccessKind::load, Space::shared}},
        {"shared_store", {AccessKind::store, Space::shared}}};
    const WarpAccess& access = warp.access;
    fuzz::claim(words.size() >= 3 + warp_lanes, "a line has a word for each lane");
    fuzz::claim(words[0] == warp.name, "the name that the line says");
    fuzz::claim(ops.at(words[1]) == WarpOp{access.kind, access.space}, "the op that the line says");
    fuzz::claim(std::strtoull(words[2].c_str(), nullptr, 10) == access.width_bytes,
                "the width that the line says");
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        const std::string& word = words[3 + lane];
        const bool is_active = (access.active_lanes >> lane & 1) != 0;
        fuzz::claim(is_active == (word != "-"), "the lanes that the line says");
        if (!is_active) continue;
        const bool is_hexadecimal = word.starts_with("0x") || word.starts_with("0X");
        fuzz::claim(std::strtoull(word.c_str(), nullptr, is_hexadecimal ? 16 : 10) ==
                        access.addresses[lane],
                    "the address that the line says");
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
    const auto lines = plain_lines(text);
    for (const Warp& warp : whole.warps) claim_plain(warp, lines.at(warp.number));
    if (size % 4 != 0) return 0;  // a second reading doubles the cost of an execution
    claim_ops(text, whole.warps);
    const Reading parts = read(text, size % 97 + 1);
    fuzz::claim(whole.refusal == parts.refusal, "blocks change no error");
    fuzz::claim(whole.warps.size() == parts.warps.size(), "blocks change no number of warps");
    for (std::size_t i = 0; i < whole.warps.size(); ++i)
        fuzz::claim(same(whole.warps[i], parts.warps[i]), "blocks change no warp");
    return 0;
}
