#include "core/program/cubin.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/program/dwarf_bytes.h"

namespace coalprof {
namespace {

constexpr std::size_t instruction_bytes = sizeof(MachineWords);

template <typename Record>
std::vector<Record> records_in(std::string_view bytes) {
    std::vector<Record> records(bytes.size() / sizeof(Record));
    if (!records.empty())  // an empty section has no address
        std::memcpy(records.data(), bytes.data(), records.size() * sizeof(Record));
    return records;
}

void read_unit(Bytes unit, const std::map<std::uint64_t, std::size_t>& sections,
               std::map<std::size_t, LineStarts>& lines) {
    // DWARF 2, 6.2.5
    constexpr std::uint64_t extended = 0, copy_row = 1, advance_address = 2, advance_line = 3,
                            advance_as_255 = 8, advance_by_16_bits = 9, set_address = 2;
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
    LineStarts* rows = nullptr;
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

}  // namespace

Cubin::Cubin(std::string_view bytes) : bytes_(bytes) {
    const auto header = records_in<Elf64_Ehdr>(part(0, sizeof(Elf64_Ehdr))).front();
    sections_ = records_in<Elf64_Shdr>(part(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
    if (header.e_shstrndx >= sections_.size()) throw OutOfBytes{};
    const std::string_view names = bytes_of(sections_[header.e_shstrndx]);
    for (const Elf64_Shdr& one : sections_) names_.emplace_back(Bytes(names, one.sh_name).text());
}

std::string_view Cubin::part(std::uint64_t at, std::uint64_t size) const {
    return Bytes(bytes_, at).take(size);
}
std::string_view Cubin::bytes_of(const Elf64_Shdr& section) const {
    return part(section.sh_offset, section.sh_size);
}
std::string_view Cubin::section(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return {};
    return bytes_of(sections_[static_cast<std::size_t>(found - names_.begin())]);
}

// The sections that addresses of the line table are in, by the places of these addresses.
std::map<std::uint64_t, std::size_t> Cubin::sections_of_addresses() const {
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

std::map<std::size_t, LineStarts> Cubin::lines_of_sections() const {
    const auto sections = sections_of_addresses();
    const std::string_view table = section(".debug_line");
    std::map<std::size_t, LineStarts> lines;
    for (Bytes units(table, 0); !units.at_end();) {
        const std::uint64_t size = units.number(4);
        const std::size_t begin = units.at();
        units.take(size);
        read_unit(Bytes(table.substr(0, units.at()), begin), sections, lines);
    }
    return lines;
}

std::vector<MachineInstruction> Cubin::instructions() const {
    std::vector<MachineInstruction> all;
    const auto symbols = records_in<Elf64_Sym>(section(".symtab"));
    for (const auto& [section, rows] : lines_of_sections()) {
        auto words = records_in<MachineWords>(bytes_of(sections_.at(section)));
        for (const Elf64_Sym& one : symbols)
            if (ELF64_ST_TYPE(one.st_info) == STT_FUNC && one.st_shndx == section &&
                one.st_value != 0)
                words.resize(std::min<std::size_t>(words.size(), one.st_value / instruction_bytes));
        for (std::size_t i = 0; i < words.size(); ++i) {
            const auto row = rows.upper_bound(i * instruction_bytes);
            all.push_back({row == rows.begin() ? 0 : std::prev(row)->second, words[i]});
        }
    }
    return all;
}

// A fact of .nv.info is its form, what it is about, and, of this form, its size before itself.
std::uint32_t Cubin::registers() const {
    constexpr std::uint64_t sized = 4, register_count = 0x2f;
    std::uint32_t most = 0;
    for (Bytes facts(section(".nv.info"), 0); !facts.at_end();) {
        const std::uint64_t form = facts.number(1), what = facts.number(1);
        const std::uint64_t size = facts.number(2);
        if (form != sized) continue;
        Bytes fact(facts.take(size), 0);
        if (what != register_count) continue;
        fact.number(4);  // the function
        most = std::max(most, static_cast<std::uint32_t>(fact.number(4)));
    }
    return most;
}

}  // namespace coalprof
