#include "core/program/machine_costs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "core/program/machine_widths.h"

namespace coalprof {
namespace {

// Operations of sm_75 to sm_120, by the lowest 9 bits of an instruction.
constexpr std::uint64_t dfma = 0x2b, imad_wide = 0x25, nop = 0x118;
constexpr std::uint64_t s2r = 0x119, ldc = 0x182, shfl = 0x189;

constexpr std::uint64_t set_of(std::initializer_list<unsigned> all) {
    std::uint64_t set = 0;
    for (const unsigned one : all) set |= std::uint64_t{1} << one;
    return set;
}
constexpr bool is_one_of(std::uint64_t set, std::uint64_t operation) {
    return operation < 64 && (set >> operation & 1) != 0;
}
constexpr std::uint64_t of_integers =
    set_of({2, 3, 6, 7, 8, 9, 0xb, 0xc, 0xf, 0x10, 0x11, 0x12, 0x13, 0x16, 0x19, 0x1c, 0x36, 0x3e});
constexpr std::uint64_t of_reals = set_of({0x20, 0x21, 0x23, 0x30, 0x32, 0x35});
constexpr std::uint64_t of_doubles = set_of({0x28, 0x29, 0x2a, dfma});
constexpr std::uint64_t of_three =
    set_of({0xf, 0x10, 0x11, 0x12, 0x16, 0x19, 0x23, 0x24, imad_wide, 0x26, 0x27, dfma, 0x35});
constexpr std::uint64_t of_two =
    set_of({7, 8, 9, 0xb, 0xc, 0x20, 0x21, 0x28, 0x29, 0x2a, 0x30, 0x32, 0x36});

bool is_slow(std::uint64_t operation) { return operation >= 0x100 && operation <= 0x112; }
bool makes_access(std::uint64_t operation) {
    return operation >= 0x180 && operation <= 0x1a9 && operation != ldc && operation != shfl;
}

// What the copies of a statement cost together.
struct StatementCost {
    IssueCost cost = {};
    float instructions = 0;
    float accesses_and_sums = 0;  // of these
    std::uint32_t in_flight = 0;  // words that it and loads before it wait for together
};

// Adds up what instructions cost, one after the other. Bits 105 to 108 are the cycles until the
// next one, 110 to 112 the scoreboard that notes its result, 116 to 121 those that it waits for.
class MachineCosts {
 public:
    explicit MachineCosts(std::span<const MachineInstruction> machine_code) {
        for (const MachineInstruction& one : machine_code)
            if (one.operation() != nop) add(one);
    }
    // Null: no machine code is marked as the statement's.
    const StatementCost* of(const Code& code, const PtxInstruction& one) const {
        if (one.statement >= code.statements.size()) return nullptr;
        const auto found = costs_.find(code.statements[one.statement].at);
        return found == costs_.end() ? nullptr : &found->second;
    }

 private:
    void add(const MachineInstruction& one) {
        const std::uint64_t operation = one.operation(), second = one.words[1];
        float waited = 0;
        for (std::size_t i = 0; i < results_.size(); ++i)
            if ((second >> (52 + i) & 1) != 0) {
                waited = std::max(waited, results_[i] - now_);
                results_[i] = 0;
                in_flight_[i] = 0;
            }
        IssueCost cost{.issued = std::max(1.0f, read_registers(one) / banks),
                       .elapsed = waited + static_cast<float>(second >> 41 & 0xf)};
        if (is_slow(operation)) cost.special = 8;
        if (is_one_of(of_doubles, operation)) cost.doubles = 2;
        if (is_one_of(of_integers, operation) || operation == 0x45 || operation == 0x46 ||
            operation == 0x48)
            cost.integer = 2;
        const bool is_awaited =
            is_slow(operation) || operation == shfl || operation == s2r || operation == ldc;
        if (const std::uint64_t board = second >> 46 & 7; board < results_.size()) {
            results_[board] = is_awaited ? now_ + waited + latency : 0;
            if (is_load(operation)) in_flight_[board] += words_of(one);
        }
        now_ += cost.elapsed;
        if (one.line < first_mark) return;
        StatementCost& sum = costs_[one.line - first_mark];
        sum.cost.add(cost);
        sum.instructions += 1;
        if (is_load(operation))
            sum.in_flight =
                std::max(sum.in_flight, std::reduce(in_flight_.begin(), in_flight_.end()));
        if (is_one_of(of_reals | of_doubles, operation) || makes_access(operation))
            sum.accesses_and_sums += 1;
    }
    static bool is_load(std::uint64_t operation) {
        return operation == 0x180 || operation == 0x181 || operation == 0x184;
    }
    static std::uint32_t words_of(const MachineInstruction& load) {
        const std::uint64_t width = load.words[1] >> 9 & 7;  // 5, 6: 8, 16 bytes
        return width == 6 ? 4 : width == 5 ? 2 : 1;
    }
    // Not those that the instruction before has left for it (bits 122 to 124).
    float read_registers(const MachineInstruction& one) {
        constexpr std::uint64_t none = 0xff;
        const std::uint64_t operation = one.operation();
        std::array<std::uint64_t, 3> registers{none, none, none};
        if (is_one_of(of_two | of_three, operation)) {
            registers[0] = one.words[0] >> 24 & 0xff;
            if (one.form() == 1) registers[1] = one.words[0] >> 32 & 0xff;
            if (is_one_of(of_three, operation)) registers[2] = one.words[1] & 0xff;
        }
        float reads = 0;
        for (std::size_t i = 0; i < registers.size(); ++i) {
            const bool is_pair = operation == dfma || (operation == imad_wide && i == 2);
            if (registers[i] != none && registers[i] != left_[i]) reads += is_pair ? 2 : 1;
            left_[i] = (one.words[1] >> (58 + i) & 1) != 0 ? registers[i] : none;
        }
        return reads;
    }

    // docs/measurements/h200/issue.txt: a bank gives a register a cycle; reciprocals, roots and
    // exponentials take 18 cycles, others about as long.
    static constexpr float banks = 2, latency = 18;
    std::map<std::size_t, StatementCost> costs_;  // by place in the module
    std::array<float, 6> results_{};              // when they are there; 0: not waited for here
    std::array<std::uint32_t, 6> in_flight_{};    // words that are being loaded
    std::array<std::uint64_t, 3> left_{};         // by operand: the register
    float now_ = 0;
};

// Each copy of it has one instruction of machine code that makes accesses or sums.
bool is_one_in_a_copy(const PtxInstruction& one) {
    switch (one.opcode) {
        case Opcode::load:
        case Opcode::store:
        case Opcode::atomic: return one.site != ~0u;
        case Opcode::add:
        case Opcode::sub:
        case Opcode::multiply:
        case Opcode::mad: return one.type.is_real();
        default: return false;
    }
}

// How often ptxas has copied a basic block: loops are unrolled, and their rests follow.
float copies_of(const Code& code, std::span<const PtxInstruction> block,
                const MachineCosts& costs) {
    std::vector<float> counts, of_one;
    for (const PtxInstruction& one : block)
        if (const StatementCost* const of = costs.of(code, one)) {
            counts.push_back(of->instructions);
            if (is_one_in_a_copy(one) && of->accesses_and_sums > 0)
                of_one.push_back(of->accesses_and_sums);
        }
    std::ranges::sort(counts);
    std::ranges::sort(of_one);
    return !of_one.empty()   ? of_one[of_one.size() / 2]
           : !counts.empty() ? counts[counts.size() / 4]
                             : 1;
}

std::vector<bool> begins_of_blocks(const Code& code) {
    const std::size_t count = code.instructions.size();
    std::vector<bool> begins(count + 1);
    for (std::size_t at = 0; at < count; ++at) {
        const PtxInstruction& one = code.instructions[at];
        if (one.opcode != Opcode::branch && one.opcode != Opcode::branch_table) continue;
        begins[at + 1] = true;
        begins[std::min<std::size_t>(one.target, count)] = true;
        for (const std::uint32_t target : one.targets)
            begins[std::min<std::size_t>(target, count)] = true;
    }
    begins[count] = true;
    return begins;
}

}  // namespace

void take_machine_costs(Code& code, std::span<const MachineInstruction> machine_code) {
    const MachineCosts costs(machine_code);
    const std::vector<bool> begins = begins_of_blocks(code);
    std::map<std::uint32_t, float> sharers;  // instructions, by statement
    for (const PtxInstruction& one : code.instructions) ++sharers[one.statement];
    code.machine_costs.assign(code.instructions.size(), {});
    code.machine_loads.assign(code.instructions.size(), 0);
    for (std::size_t begin = 0, end = 0; begin < code.instructions.size(); begin = end) {
        for (end = begin + 1; !begins[end];) ++end;
        const auto block = std::span(code.instructions).subspan(begin, end - begin);
        const float copies = copies_of(code, block, costs);
        std::uint32_t together = 0;
        for (const PtxInstruction& one : block)
            if (const StatementCost* const of = costs.of(code, one))
                together = std::max(together, of->in_flight);
        for (std::size_t at = begin; at < end; ++at) {
            const PtxInstruction& one = code.instructions[at];
            code.machine_loads[at] = together;
            if (const StatementCost* const of = costs.of(code, one))
                code.machine_costs[at] = of->cost.times(1 / (copies * sharers[one.statement]));
        }
    }
}

}  // namespace coalprof
