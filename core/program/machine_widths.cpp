// Instructions of 7.5 to 12.0 as ptxas 13.0 makes them: 16 bytes, the operation in the lowest 12
// bits, an access's width in bits 73 to 75. The line table is DWARF 2.
#include "core/program/machine_widths.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "core/program/dwarf_bytes.h"

namespace coalprof {
namespace {

constexpr std::uint64_t first_mark = 100'000'000;  // no source has so many lines
constexpr std::uint32_t widest_bytes = 16;
constexpr std::size_t instruction_bytes = 16;

bool may_widen(const PtxInstruction& one) {
    return (one.opcode == Opcode::load || one.opcode == Opcode::store) && one.site != ~0u &&
           one.state == PtxState::shared && !one.is_copy && !one.is_opaque &&
           one.width_bytes < widest_bytes;
}

template <typename Record>
std::vector<Record> records_in(std::string_view bytes) {
    std::vector<Record> records(bytes.size() / sizeof(Record));
    if (!records.empty())  // an empty section has no address
        std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
    return records;
}

// By address: the line of the instructions from there on.
using Lines = std::map<std::uint64_t, std::uint64_t>;

class Cubin {
 public:
    explicit Cubin(std::string_view bytes) : bytes_(bytes) {
        const auto header = records_in<Elf64_Ehdr>(part(0, sizeof(Elf64_Ehdr))).front();
        sections_ =
            records_in<Elf64_Shdr>(part(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
        if (header.e_shstrndx >= sections_.size()) throw OutOfBytes{};
        const std::string_view names = bytes_of(sections_[header.e_shstrndx]);
        for (const Elf64_Shdr& one : sections_)
            names_.emplace_back(Bytes(names, one.sh_name).text());
    }
    // `take` gets the line and both halves of each instruction, function by function.
    template <typename Take>
    void each_instruction(Take take) const {
        for (const auto& [section, rows] : lines_of_sections()) {
            const auto words =
                records_in<std::array<std::uint64_t, 2>>(bytes_of(sections_.at(section)));
            for (std::size_t i = 0; i < words.size(); ++i) {
                const auto row = rows.upper_bound(i * instruction_bytes);
                take(row == rows.begin() ? 0 : std::prev(row)->second, words[i]);
            }
        }
    }

 private:
    std::string_view part(std::uint64_t at, std::uint64_t size) const {
        return Bytes(bytes_, at).take(size);
    }
    std::string_view bytes_of(const Elf64_Shdr& section) const {
        return part(section.sh_offset, section.sh_size);
    }
    std::string_view section(std::string_view name) const {
        const auto found = std::ranges::find(names_, name);
        if (found == names_.end()) return {};
        return bytes_of(sections_[static_cast<std::size_t>(found - names_.begin())]);
    }
    // The sections that addresses of the line table are in, by the places of these addresses.
    std::map<std::uint64_t, std::size_t> sections_of_addresses() const {
        const auto symbols = records_in<Elf64_Sym>(section(".symtab"));
        std::map<std::uint64_t, std::size_t> found;
        const auto take = [&](const auto& relocations) {
            for (const auto& one : relocations) {
                const std::uint64_t symbol = ELF64_R_SYM(one.r_info);
                if (symbol >= symbols.size() || symbols[symbol].st_shndx >= sections_.size())
                    throw OutOfBytes{};
                found[one.r_offset] = symbols[symbol].st_shndx;
            }
        };
        take(records_in<Elf64_Rel>(section(".rel.debug_line")));
        take(records_in<Elf64_Rela>(section(".rela.debug_line")));  // from 9.0 on
        return found;
    }
    std::map<std::size_t, Lines> lines_of_sections() const {
        const auto sections = sections_of_addresses();
        const std::string_view table = section(".debug_line");
        std::map<std::size_t, Lines> lines;
        for (Bytes units(table, 0); !units.at_end();) {
            const std::uint64_t size = units.number(4);
            const std::size_t begin = units.at();
            units.take(size);
            read_unit(Bytes(table.substr(0, units.at()), begin), sections, lines);
        }
        return lines;
    }
    static void read_unit(Bytes unit, const std::map<std::uint64_t, std::size_t>& sections,
                          std::map<std::size_t, Lines>& lines) {
        if (unit.number(2) > 3) throw OutOfBytes{};
        const std::uint64_t header = unit.number(4);
        const std::size_t program = unit.at() + header;
        const std::uint64_t step = unit.number(1);
        unit.take(1);  // where statements begin
        const auto line_base = static_cast<std::int8_t>(unit.number(1));
        const std::uint64_t line_range = std::max<std::uint64_t>(1, unit.number(1));
        const std::uint64_t first_special = unit.number(1);
        std::vector<std::uint64_t> operands{0};
        while (operands.size() < first_special) operands.push_back(unit.number(1));
        unit.take(program - unit.at());
        Lines* rows = nullptr;
        std::uint64_t address = 0, line = 1;
        while (!unit.at_end()) {
            const std::uint64_t code = unit.number(1);
            if (code >= first_special || code == copy_row) {
                const std::uint64_t by = code >= first_special ? code - first_special : 0;
                address += by / line_range * step;
                if (code >= first_special)
                    line += by % line_range + static_cast<std::uint64_t>(line_base + 0ll);
                if (rows != nullptr) (*rows)[address] = line;
            } else if (code == advance_address) {
                address += unit.leb() * step;
            } else if (code == advance_line) {
                line += unit.leb(true);
            } else if (code == advance_as_255) {
                address += (255 - first_special) / line_range * step;
            } else if (code == advance_by_16_bits) {
                address += unit.number(2);
            } else if (code == extended) {
                const std::uint64_t bytes = unit.leb();
                Bytes operation(unit.take(bytes), 0);
                if (operation.number(1) != set_address) continue;
                const auto found = sections.find(unit.at() - bytes + 1);
                rows = found == sections.end() ? nullptr : &lines[found->second];
                address = operation.number(8);
                line = 1;
            } else {
                for (std::uint64_t i = 0; i < operands[code]; ++i) unit.leb();
            }
        }
    }
    // DWARF 2, 6.2.5.
    static constexpr std::uint64_t extended = 0, copy_row = 1, advance_address = 2,
                                   advance_line = 3, advance_as_255 = 8, advance_by_16_bits = 9,
                                   set_address = 2;

    std::string_view bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::string> names_;
};

// The width of a lane; 0: it does not access shared memory.
std::uint32_t width_of(const std::array<std::uint64_t, 2>& words) {
    constexpr std::array<std::uint32_t, 8> widths{1, 1, 2, 2, 4, 8, 16, 0};
    const std::uint64_t operation = words[0] & 0xfff;
    const bool is_shared = operation == 0x984 || operation == 0x988 || operation == 0x388;
    return is_shared ? widths[words[1] >> 9 & 7] : 0;
}
// Instructions on both sides are executed equally often at most by chance.
bool ends_stretch(std::uint64_t word) {
    constexpr std::array<std::uint64_t, 6> operations{0x947, 0x547, 0x94d, 0xb1d, 0x945, 0x941};
    return std::ranges::find(operations, word & 0xfff) != operations.end();
}

}  // namespace

std::string ptx_with_marks(const PtxModule& module, const Code& code) {
    std::map<std::size_t, std::string> marks;
    const std::uint32_t file = module.files.empty() ? 1 : module.files.begin()->first;
    for (const PtxInstruction& one : code.instructions)
        if (may_widen(one)) {
            const std::size_t at = code.statements[one.statement].at;
            marks[at] = fmt::format("\n.loc {} {} 0\n", file, first_mark + at);
        }
    if (marks.empty()) return {};
    std::string text;
    std::size_t at = 0;
    for (const auto& [place, mark] : marks) {
        text.append(module.text.substr(at, place - at)).append(mark);
        at = place;
    }
    text.append(module.text.substr(at));
    if (module.files.empty()) text += "\n.file 1 \"ptx\"\n";
    return text;
}

bool take_machine_widths(Code& code, std::string_view cubin) {
    using Counts = std::map<std::uint32_t, std::uint32_t>;           // by width
    std::map<std::uint64_t, std::map<std::uint32_t, Counts>> found;  // by mark, by stretch
    try {
        std::uint32_t stretch = 0;
        Cubin(cubin).each_instruction([&](std::uint64_t line, const auto& words) {
            stretch += ends_stretch(words[0]) ? 1u : 0u;
            if (const std::uint32_t width = width_of(words); width != 0 && line >= first_mark)
                ++found[line - first_mark][stretch][width];
        });
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
