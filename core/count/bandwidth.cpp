#include "core/count/bandwidth.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/count/footprint.h"
#include "core/count/launch_sum.h"
#include "core/count/shared_memory.h"
#include "core/count/transactions.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

constexpr Unavailable only_global{"bandwidth is predicted for global memory only"};
constexpr Unavailable atomics{
    "atomics run in L2: its rate, not that of device memory, decides their bandwidth"};
constexpr Unavailable far_reuse{
    "threads at large distances share blocks of memory: the content of caches decides the "
    "bandwidth"};
constexpr Unavailable near_reuse{
    "lanes share elements: device memory does not decide the bandwidth"};
constexpr Unavailable bank_conflicts{
    "bank conflicts: passes through shared memory can take longer than device memory does"};
constexpr Unavailable disputed_stores{
    "how many transactions the stores take is known as a range alone"};
constexpr Unavailable no_board{
    "a compute capability has no bandwidth: name a board, such as --machine h200"};

std::variant<Traffic, Unavailable> sum_transactions(const Rules& rules, const Program& program,
                                                    LoadModifier modifier) {
    const Transactions transactions(rules, modifier);
    Traffic traffic{.useful_bytes = program.useful_bytes};
    for (const Instruction& instruction : program.instructions) {
        if (instruction.space != Space::global) continue;
        const auto counts = sum_over_launch<TransactionCounts>(
            program, {}, instruction, {},
            [&](const WarpAccess& access) { return transactions.count(access); });
        if (counts.more != 0) return disputed_stores;
        (instruction.kind == AccessKind::load ? traffic.read_bytes : traffic.write_bytes) +=
            counts.transaction_bytes();
    }
    return traffic;
}

bool has_bank_conflicts(const Rules& rules, const Program& program) {
    const SharedMemory shared(rules);
    return std::ranges::any_of(program.instructions, [&](const Instruction& instruction) {
        if (instruction.space != Space::shared) return false;
        const auto count = [&](const WarpAccess& access) { return shared.count(access); };
        return sum_over_launch<SharedCounts>(program, {}, instruction, {}, count).conflicts() != 0;
    });
}

// The smallest block that a load fetches from device memory.
std::uint32_t fetched_bytes(const Rules& rules, const CachePolicy& cache) {
    const std::uint32_t l2 = l2_fill_bytes(rules, cache);
    const std::uint32_t l1 = keeps_in_l1(rules, cache.dlcm) ? rules.l1_loads.fetch_bytes
                                                            : rules.transactions.smallest_bytes;
    return std::max(l1, l2);
}

// Bytes that instructions of `kind` touch on one array, each block once.
std::optional<std::uint64_t> bytes_touched(const Program& program, std::uint32_t array,
                                           AccessKind kind, std::uint64_t block_bytes) {
    std::vector<Instruction> instructions;
    for (const Instruction& instruction : program.instructions)
        if (instruction.array == array && instruction.kind == kind)
            instructions.push_back(instruction);
    if (instructions.empty()) return 0;
    const auto blocks = blocks_of(instructions, program.threads, block_bytes);
    if (!blocks) return std::nullopt;
    return *blocks * block_bytes;
}

std::variant<Traffic, Unavailable> sum_footprints(const Rules& rules, const Program& program,
                                                  const CachePolicy& cache) {
    Traffic traffic{.useful_bytes = program.useful_bytes};
    for (std::uint32_t array = 0; array < program.arrays.size(); ++array) {
        if (space_of(program, array) != Space::global) continue;
        const auto read =
            bytes_touched(program, array, AccessKind::load, fetched_bytes(rules, cache));
        const auto written = bytes_touched(program, array, AccessKind::store, sector_bytes);
        if (!read || !written) return far_reuse;
        traffic.read_bytes += *read;
        traffic.write_bytes += *written;
        // Reads and writes of one array are at the same places, or nearly.
        traffic.footprint_bytes += std::max(*read, *written);
    }
    return traffic;
}

}  // namespace

std::uint32_t l2_fill_bytes(const Rules& rules, const CachePolicy& cache) {
    const bool set = rules.memory.fill_settable && cache.l2_fetch_bytes;
    return set ? *cache.l2_fetch_bytes : rules.memory.fill_bytes;
}

std::variant<Traffic, Unavailable> predict_traffic(const Rules& rules, const Program& program,
                                                   const CachePolicy& cache) {
    bool is_global = false;
    for (const Instruction& instruction : program.instructions) {
        if (instruction.space == Space::constant || instruction.space == Space::local)
            return only_global;
        is_global = is_global || instruction.space == Space::global;
        if (instruction.kind == AccessKind::atomic || instruction.kind == AccessKind::reduce)
            return atomics;
    }
    if (!is_global) return only_global;
    if (has_bank_conflicts(rules, program)) return bank_conflicts;
    const bool cached = rules.memory.fill_bytes != 0;
    const auto answer = cached ? sum_footprints(rules, program, cache)
                               : sum_transactions(rules, program, cache.dlcm);
    if (const auto* traffic = std::get_if<Traffic>(&answer))
        if (traffic->useful_bytes > traffic->read_bytes + traffic->write_bytes) return near_reuse;
    return answer;
}

Reading predict_bandwidth(const Machine& machine, const Traffic& traffic) {
    if (!machine.board) return no_board;
    if (traffic.read_bytes + traffic.write_bytes == 0)
        return Unavailable{"nothing is read or written"};
    if (!machine.board->l2_bytes)
        return Unavailable{"the size of this board's L2 is not known, and so not its content"};
    const std::uint64_t l2_bytes = *machine.board->l2_bytes;
    if (traffic.footprint_bytes <= l2_bytes && traffic.footprint_bytes != 0)
        return Unavailable{
            keep_reason(fmt::format("all that the launch touches fits in L2 ({}): the estimate, "
                                    "which is of device memory, needs a larger --size "
                                    "or --grid",
                                    bytes_text(l2_bytes)))};
    return traffic.efficiency() * machine.rules->memory.sustained_fraction *
           machine.board->peak_bytes_per_second;
}

Reading predict_bandwidth(const Machine& machine, const Program& program,
                          const CachePolicy& cache) {
    if (!machine.board) return no_board;
    const auto answer = predict_traffic(*machine.rules, program, cache);
    if (const auto* reason = std::get_if<Unavailable>(&answer)) return *reason;
    return predict_bandwidth(machine, std::get<Traffic>(answer));
}

}  // namespace coalprof
