#include "core/program/machine_widths.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "core/program/cubin.h"
#include "core/program/dwarf_bytes.h"
#include "core/program/machine_costs.h"

namespace coalprof {
namespace {

constexpr std::uint32_t widest_bytes = 16;

bool may_widen(const PtxInstruction& one) {
    return (one.opcode == Opcode::load || one.opcode == Opcode::store) && one.site != ~0u &&
           one.state == PtxState::shared && !one.is_copy && !one.is_opaque &&
           one.width_bytes < widest_bytes;
}

// The width of a lane, in bits 73 to 75; 0: it does not access shared memory.
std::uint32_t width_of(const MachineInstruction& one) {
    constexpr std::array<std::uint32_t, 8> widths{1, 1, 2, 2, 4, 8, 16, 0};
    const bool is_shared = one.operation() == 0x184 || one.operation() == 0x188;
    return is_shared ? widths[one.words[1] >> 9 & 7] : 0;
}
// Instructions on both sides are executed equally often at most by chance.
bool ends_stretch(std::uint64_t operation) {
    constexpr std::array<std::uint64_t, 5> operations{0x147, 0x14d, 0x11d, 0x145, 0x141};
    return std::ranges::find(operations, operation) != operations.end();
}

}  // namespace

std::string ptx_with_marks(const PtxModule& module, const Code& code) {
    std::set<std::size_t> places;
    for (const PtxInstruction& one : code.instructions)
        if (one.statement < code.statements.size())
            places.insert(code.statements[one.statement].at);
    const std::uint32_t file = module.files.empty() ? 1 : module.files.begin()->first;
    std::string text;
    std::size_t at = 0;
    for (const std::size_t place : places) {
        text.append(module.text.substr(at, place - at));
        text += fmt::format("\n.loc {} {} 0\n", file, first_mark + place);
        at = place;
    }
    text.append(module.text.substr(at));
    if (module.files.empty()) text += "\n.file 1 \"ptx\"\n";
    return text;
}

bool take_machine_code(Code& code, std::string_view cubin) {
    using Counts = std::map<std::uint32_t, std::uint32_t>;           // by width
    std::map<std::uint64_t, std::map<std::uint32_t, Counts>> found;  // by mark, by stretch
    try {
        std::uint32_t stretch = 0;
        const Cubin all(cubin);
        const std::vector<MachineInstruction> machine_code = all.instructions();
        code.machine_registers = all.registers();
        take_machine_costs(code, machine_code);
        for (const MachineInstruction& one : machine_code) {
            stretch += ends_stretch(one.operation()) ? 1u : 0u;
            if (const std::uint32_t width = width_of(one); width != 0 && one.line >= first_mark)
                ++found[one.line - first_mark][stretch][width];
        }
    } catch (const OutOfBytes&) {
        return false;
    }
    std::vector<MachineWidths> widths;
    for (const PtxSite& site : code.sites) widths.push_back({.bytes = site.width_bytes});
    bool is_wider = false;
    for (const PtxInstruction& one : code.instructions) {
        if (!may_widen(one)) continue;
        MachineWidths& of = widths[one.site];
        of.bytes = 0;
        std::uint32_t widest = 0;
        for (const auto& [stretch, counts] : found[code.statements[one.statement].at])
            for (const auto& [width, count] : counts) {
                of.bytes |= width;
                widest = std::max(widest, width);
            }
        for (const auto& [stretch, counts] : found[code.statements[one.statement].at])
            if (const auto most = counts.find(widest);
                most != counts.end() && most->second > of.widest) {
                of.widest = most->second;
                of.narrower = 0;
                for (const auto& [width, count] : counts) of.narrower += width < widest ? count : 0;
            }
        if (widest <= one.width_bytes) continue;
        is_wider = true;
        PtxSite& site = code.sites[one.site];
        site.width_bytes = widest;
        if (const std::size_t type = site.instruction.rfind('.'); type != std::string::npos) {
            const std::size_t vector = site.instruction.rfind(".v", type);
            const std::size_t begin = vector < type ? vector : type;
            site.instruction.replace(
                begin, type - begin,
                fmt::format(".v{}", widest / std::max(1u, one.type.bytes() + 0u)));
        }
    }
    code.is_as_compiled = true;
    if (is_wider) code.machine_widths = std::move(widths);
    return true;
}

}  // namespace coalprof
