#include "core/machine/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {

namespace {

std::string name_of(const Rules& rules) {
    return fmt::format("sm_{}{}", rules.cc.major, rules.cc.minor);
}

// Removes the differences in spelling of a name: "RTX 2070 SUPER", "rtx-2070-super" and "Tesla T4"
// become "rtx2070super" and "t4".
std::string plain(std::string_view text) {
    std::string kept;
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z') kept += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') kept += c;
    }
    for (const std::string_view vendor : {"nvidia", "tesla", "geforce", "jetson"}) {
        const auto at = kept.find(vendor);
        if (at != std::string::npos && kept.size() > vendor.size()) kept.erase(at, vendor.size());
    }
    return kept;
}

// "sm_90", "sm90", "90", "9.0", and with the suffix of a special target: "sm_90a". The plain text
// has no underscores any more.
const Rules* find_rules(std::string_view text) {
    for (const std::string_view prefix : {"sm", "compute", "cc"})
        if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.remove_suffix(1);
    for (const Rules& rules : all_rules()) {
        const std::string digits = fmt::format("{}{}", rules.cc.major, rules.cc.minor);
        if (text == text_of(rules.cc) || text == digits) return &rules;
    }
    return nullptr;
}

const Rules& rules_of(ComputeCapability cc) {
    const auto found = std::ranges::find(all_rules(), cc, &Rules::cc);
    return *found;  // every board's rules are in the table: a test holds us to it
}

// Boards whose keys have the same beginning mostly have one compute capability: "gtx590" that of
// "gtx580". Up to the last digit that `wanted` shares with one.
std::set<std::string> likely_capabilities(std::string_view wanted) {
    std::set<std::string> likely;
    for (bool is_whole = true;
         likely.empty() && wanted.find_first_of(is_whole ? wanted : "0123456789") != wanted.npos;
         is_whole = false, wanted.remove_suffix(1))
        for (const Board& board : all_boards())
            if (plain(board.key).starts_with(wanted)) likely.insert(text_of(board.cc));
    return likely;
}

std::string hint_for(std::string_view wanted) {
    const std::string all = "`coalprof machines` lists all boards and compute capabilities";
    const std::set<std::string> likely = likely_capabilities(wanted);
    const bool is_capability = wanted.find_first_not_of("0123456789.") == wanted.npos;
    if (is_capability || likely.empty() || likely.size() > 3) return all;
    return fmt::format("its compute capability will do, here most likely {} (--machine {}); {}",
                       fmt::join(likely, " or "), *likely.begin(), all);
}

[[noreturn]] void refuse(std::string_view text, std::string_view wanted) {
    const std::string hint = hint_for(wanted);
    // Boards that differ in the missing words, or those of "hopper" and "9".
    std::vector<std::string_view> several;
    bool is_generation = false;
    for (const Board& board : all_boards()) {
        const bool is_of_it = wanted.starts_with(plain(rules_of(board.cc).family)) ||
                              wanted == std::to_string(board.cc.major);
        is_generation |= is_of_it;
        if (is_of_it || (!wanted.empty() && plain(board.key).starts_with(wanted)))
            several.push_back(board.key);
    }
    constexpr std::size_t most = 6;  // "gtx" alone is no abbreviation
    if (is_generation) several.resize(std::min(several.size(), most));
    if (several.size() > 1 && several.size() <= most)
        throw UsageError(fmt::format("--machine: '{}' could be {}: name one", shown(text),
                                     fmt::join(several, " or ")),
                         hint);

    std::vector<std::string> spellings;
    for (const Rules& rules : all_rules()) {
        spellings.push_back(text_of(rules.cc));
        spellings.push_back(name_of(rules));
    }
    std::vector<std::string_view> candidates(spellings.begin(), spellings.end());
    for (const Board& board : all_boards()) candidates.push_back(board.key);
    throw UsageError("--machine: " + unknown_word("GPU", text, candidates), hint);
}

constexpr std::string_view bank_hint =
    "a machine of compute capability 3.x may end in :bank4 or :bank8, as in k40:bank8";

Machine in_bank_mode(Machine machine, std::string_view typed_mode) {
    const std::string mode = plain(typed_mode);
    if (mode != "bank4" && mode != "bank8")
        throw UsageError(
            fmt::format("--machine {0}:{1}: unknown mode '{1}'", machine.name, shown(typed_mode)),
            std::string(bank_hint));
    if (mode == "bank4" && machine.rules->shared.bank_bytes == 4) {
        machine.name += ":bank4";
        return machine;
    }
    const Rules* rules = with_8_byte_banks(*machine.rules);
    if (!rules)
        throw UsageError(
            fmt::format("--machine {}:bank8: compute capability {} has banks of {} "
                        "bytes only",
                        machine.name, text_of(machine.rules->cc), machine.rules->shared.bank_bytes),
            std::string(bank_hint));
    machine.rules = rules;
    machine.name += ":bank8";
    return machine;
}

}  // namespace

bool is_called(const Board& board, std::string_view text) {
    const std::string wanted = plain(text);
    if (wanted == plain(board.key) || wanted == plain(board.name)) return true;
    const std::vector<std::string> aliases = list_items(std::string(board.aliases));
    return !board.aliases.empty() && std::ranges::count(aliases, wanted, plain) > 0;
}

Machine find_machine(std::string_view text) {
    const auto colon = text.find(':');
    const std::string wanted = plain(text.substr(0, colon));
    const auto in_mode = [&](Machine machine) {
        if (colon == std::string_view::npos) return machine;
        return in_bank_mode(std::move(machine), text.substr(colon + 1));
    };
    if (const Rules* rules = find_rules(wanted))
        return in_mode({name_of(*rules), rules, std::nullopt});
    // "1080 ti" may be a GTX or an RTX.
    const bool has_no_series = wanted.find_first_of("0123456789") == 0;
    for (const std::string_view series : {"", "rtx", "gtx", "gt"})
        for (const Board& board : all_boards())
            if ((series.empty() || has_no_series) && is_called(board, std::string(series) + wanted))
                return in_mode({std::string(board.key), &rules_of(board.cc), board});
    refuse(text, wanted);
}

Machine machine_of_device(ComputeCapability cc, std::string_view device_name,
                          const std::optional<DeviceSizes>& sizes) {
    // A GPU newer than this table most likely keeps the newest rules known below it.
    const Rules* rules = &all_rules().front();
    for (const Rules& known : all_rules())
        if (known.cc <= cc) rules = &known;
    Machine machine{std::string(device_name), rules, std::nullopt};
    if (sizes)
        machine.board = Board{"device",
                              "the device present",
                              cc,
                              sizes->multiprocessors,
                              sizes->peak_bytes_per_second,
                              sizes->l2_bytes,
                              sizes->memory_bytes,
                              "queried from the device"};
    return machine;
}

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
             {"memory_bytes", known(board.memory_bytes)},
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

// The abilities of kernels there besides loads and stores.
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
