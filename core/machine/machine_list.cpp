#include "core/machine/machine_list.h"

#include <algorithm>

#include "core/machine/machine.h"

namespace coalprof {
namespace {

// Absent where it is 0 or not known.
template <typename Number>
Value known(Number number) {
    return number != 0 ? Value{number} : Value{};
}
template <typename Number>
Value known(const std::optional<Number>& number) {
    return number ? Value{*number} : Value{};
}

ListRow row_of(const Board& board) {
    std::optional<std::uint64_t> clock_hz;
    if (board.boost_clock_mhz) clock_hz = *board.boost_clock_mhz * 1'000'000ull;
    return {{{"compute_capability", text_of(board.cc)},
             {"board", board.key},
             {"name", board.name},
             {"multiprocessors", known(board.multiprocessors)},
             {"peak_bytes_per_second", board.peak_bytes_per_second},
             {"l2_bytes", known(board.l2_bytes)},
             {"boost_clock_hz", known(clock_hz)},
             {"source", board.source}}};
}

std::vector<Value> loads_that_l1_keeps(const L1Loads& loads) {
    std::vector<Value> kept;
    if (loads.by_default) kept.emplace_back("default");
    if (loads.keeps_ca) kept.emplace_back("ca");
    if (loads.keeps_cs) kept.emplace_back("cs");
    return kept;
}

std::vector<Value> by_width(const LaneGroups& lanes) {
    return {lanes.of_narrow, lanes.of_8_bytes, lanes.of_16_bytes};
}

// What kernels can do there beside loads and stores.
std::vector<Value> abilities_of(const Abilities& has) {
    std::vector<Value> can;
    const auto add = [&](bool does, std::string_view what) {
        if (does) can.emplace_back(what);
    };
    add(has.doubles, "f64");
    add(has.atomic_bytes >= 4, "u32 atomics");
    add(has.atomic_bytes >= 8, "u64 atomics");
    add(has.float_atomics, "f32 atomics");
    add(has.double_atomics, "f64 atomics");
    add(has.shared_atomics,
        has.native_shared_atomics ? "shared atomics" : "shared atomics by locks");
    add(has.managed_memory, "managed memory");
    return can;
}

NamedValues of_memories(const Rules& rules) {
    const SharedRules& shared = rules.shared;
    return {{"l1_fetch_bytes", rules.l1_loads.fetch_bytes},
            {"shared_banks", shared.banks},
            {"shared_bank_bytes", shared.has_8_byte_mode ? "4 or 8" : Value{shared.bank_bytes}},
            {"shared_row_bytes", shared.row_bytes},
            {"shared_rule", text_of(shared.rule)},
            {"shared_evidence", text_of(shared.evidence)},
            {"shared_source", shared.source},
            {"constant_lanes", rules.constant.request_lanes},
            {"constant_widest_bytes", rules.constant.widest_bytes},
            {"constant_source", rules.constant.source},
            {"l2_fill_bytes", known(rules.memory.fill_bytes)},
            {"l2_fill_evidence", text_of(rules.memory.evidence)},
            {"l2_fill_source", rules.memory.source},
            {"l2_flush_reads", rules.memory.flush_reads},
            {"sustained_fraction", rules.memory.sustained_fraction},
            {"sustained_source", rules.memory.sustained_source}};
}

NamedValues of_occupancy(const OccupancyLimits& limits) {
    return {{"threads_per_multiprocessor", limits.threads},
            {"blocks_per_multiprocessor", limits.blocks},
            {"registers_per_multiprocessor", limits.registers},
            {"shared_bytes_per_multiprocessor", limits.shared_bytes},
            {"threads_per_block", limits.threads_per_block},
            {"registers_per_block", limits.registers_per_block},
            {"registers_per_thread", limits.registers_per_thread},
            {"shared_bytes_per_block", limits.shared_bytes_per_block},
            {"registers_by", limits.registers_by_block ? "block" : "warp"},
            {"register_unit", limits.register_unit},
            {"warp_unit", limits.warp_unit},
            {"sub_partitions", limits.sub_partitions},
            {"shared_unit_bytes", limits.shared_unit_bytes},
            {"shared_reserved_bytes", limits.shared_reserved_bytes},
            {"barriers", known(limits.barriers)},
            {"occupancy_source", limits.source}};
}

ListRow row_of(const Rules& rules) {
    ListRow row{{{"compute_capability", text_of(rules.cc)},
                 {"family", rules.family},
                 {"evidence", text_of(rules.evidence)},
                 {"source", rules.source},
                 {"transactions", text_of(rules.global)}}};
    for (const NamedValues& more : {of_memories(rules), of_occupancy(rules.occupancy)})
        row.values.insert(row.values.end(), more.begin(), more.end());
    std::vector<Value> shared;
    std::vector<Value> l1;
    for (const L1Split& split : rules.l1.splits) {
        shared.emplace_back(split.shared_kib);
        l1.emplace_back(split.l1_kib);
    }
    const auto& grid = rules.abilities.grid_blocks;
    row.lists = {{"request_lanes", by_width(rules.transactions.request_lanes)},
                 {"can", abilities_of(rules.abilities)},
                 {"grid_blocks", {grid[0], grid[1], grid[2]}},
                 {"l1_keeps", loads_that_l1_keeps(rules.l1_loads)},
                 {"shared_lanes", by_width(rules.shared.lanes)},
                 {"split_shared_kib", std::move(shared)},
                 {"split_l1_kib", std::move(l1)}};
    return row;
}

}  // namespace

ListDocument list_of_machines() {
    ListDocument list{.key = "machines", .rows = {}};
    for (const Rules& rules : all_rules()) {
        list.rows.push_back(row_of(rules));
        for (const Board& board : all_boards())
            if (board.cc == rules.cc) list.rows.push_back(row_of(board));
    }
    return list;
}

}  // namespace coalprof
