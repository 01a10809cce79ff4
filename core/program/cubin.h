// Machine code as ptxas 13.0 writes it for compute capability 7.5 to 12.1: ELF, instructions of 16
// bytes, a line table of DWARF 2.
#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// Both halves of an instruction: the operation in the lowest 9 bits, its form in the next 3.
using MachineWords = std::array<std::uint64_t, 2>;

struct MachineInstruction {
    std::uint64_t line = 0;  // of the line table; 0: none
    MachineWords words = {};
    std::uint64_t operation() const { return words[0] & 0x1ff; }
    std::uint64_t form() const { return words[0] >> 9 & 7; }
};

// By address: the line of the instructions from there on.
using LineStarts = std::map<std::uint64_t, std::uint64_t>;

class Cubin {
 public:
    // Throws OutOfBytes (core/program/dwarf_bytes.h), as the others do.
    explicit Cubin(std::string_view bytes);

    // Function by function, without the slow paths of divisions and roots that ptxas puts behind
    // them.
    std::vector<MachineInstruction> instructions() const;
    // Registers of a thread; 0: the file does not say.
    std::uint32_t registers() const;

 private:
    std::string_view part(std::uint64_t at, std::uint64_t size) const;
    std::string_view bytes_of(const Elf64_Shdr& section) const;
    std::string_view section(std::string_view name) const;
    std::map<std::uint64_t, std::size_t> sections_of_addresses() const;
    std::map<std::size_t, LineStarts> lines_of_sections() const;

    std::string_view bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::string> names_;
};

}  // namespace coalprof
