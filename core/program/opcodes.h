// The words of an opcode, "ld.global.nc.v4.f32", and the properties that they give its instruction.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

struct MemoryWords {
    Opcode opcode = Opcode::nothing;
    AccessKind kind = AccessKind::load;
    PtxState state = PtxState::generic;
    PtxType type = {};
    char variant = 0;  // of atomics: + < > & | ^ x(change) c(ompare) i d; m: matrices of ldmatrix;
                       // b: a bulk copy, t: one by a tensor map
    std::uint32_t width_bytes = 0;
    std::size_t types = 0;       // that it names
    std::uint32_t elements = 1;  // elements of a vector; 0: it names several sizes
    bool is_transposed = false;
    bool is_uncounted = false;  // it accesses memory in a way that is not counted here
    bool is_copy = false;       // cp.async: the second operand is what is read
    bool is_reduction = false;  // an atomic without result
    // A clause, where PTX has no such access of those that are executed here; else empty.
    std::string_view fault() const;
};

class OpcodeWords {
 public:
    explicit OpcodeWords(std::string_view opcode);

    std::string_view base() const { return parts_.front(); }
    std::string text() const { return std::string(text_); }
    bool has(std::string_view word) const;
    bool is_memory() const;
    MemoryWords memory() const;
    // Opcode, types, comparison and variant of an instruction without memory; `unknown` for unknown
    // ones.
    void describe(PtxInstruction& instruction) const;
    // A clause, where PTX has no instruction with these words; empty: it has, or it is unknown.
    std::string_view fault(const PtxInstruction& described) const;
    // One that PTX does not have in this instruction; empty: none, or an unknown instruction.
    std::string_view unknown_word() const;
    // The number of results among `operands`.
    std::size_t results(std::size_t operands) const;
    std::size_t least_inputs() const;
    bool takes_carry() const;

 private:
    std::vector<PtxType> types() const;
    bool is_tensor_copy() const;
    void describe_conversion(PtxInstruction& instruction) const;
    void describe_comparison(PtxInstruction& instruction) const;
    std::string_view text_;
    std::vector<std::string_view> parts_;
};

std::optional<SlotKind> special_register(std::string_view name);

}  // namespace coalprof
