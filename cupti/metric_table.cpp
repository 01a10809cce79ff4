#include "cupti/metric_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace coalprof {
namespace {

// All of these names exist on every chip of CUPTI 13.0 but GV11B, which its host refuses, except
// where a comment says otherwise.
//
// Requests are counted where instructions are executed (smsp), not where L1 receives them
// (l1tex__t_requests_*): the latter cannot be collected in one pass with l1tex__t_sectors_*. With
// all lanes predicated off neither counts; `pred_on_any` makes the two equal.
constexpr std::string_view no_ideal =
    "CUPTI counts ideal sectors for single instructions only, not for a launch";
constexpr std::string_view no_transactions =
    "transactions are counted on GPUs before compute capability 7.0 only, and their counters "
    "cannot be read by this program";
// Those of local and global memory alone: the unit's total also counts what each warp does at its
// start (an H200: shared_op_misc, one wavefront a warp). The name changed with GH100.
constexpr std::string_view data_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_lgds.sum";
constexpr std::string_view data_wavefronts_before_gh100 =
    "l1tex__data_pipe_lsu_wavefronts_mem_lg.sum";
constexpr std::string_view all_data_wavefronts = "l1tex__data_pipe_lsu_wavefronts.sum";
// Both the wavefronts and the conflicts of shared memory include waiting for the data stage where
// warps are many: an H200 counts 0 to 6 % more wavefronts, never twice the same, and as many more
// conflicts. Patched code counts the sum over warps (417 of 417 launches).
constexpr std::string_view shared_load_wavefronts =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr std::string_view shared_store_wavefronts =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
constexpr std::string_view shared_load_conflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr std::string_view shared_store_conflicts =
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
constexpr std::string_view instrumented_load_wavefronts =
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
constexpr std::string_view instrumented_store_wavefronts =
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
constexpr AccessSet any_memory{Access::global_load,   Access::global_store, Access::global_atomic,
                               Access::global_reduce, Access::local_load,   Access::local_store,
                               Access::texture_load};

// The rows of one kind of access to global memory: `word` is what L1 calls it, `executed` what the
// multiprocessors do.
// clang-format off
#define COALPROF_ACCESS_ROWS(kind, word, executed)                                                 \
    {Counter::kind##_requests, MetricCost::base, {Access::global_##kind},                          \
     {{"smsp__inst_executed_op_" executed "_pred_on_any.sum",                                      \
       "l1tex__t_requests_pipe_lsu_mem_global_op_" word ".sum"}}},                                 \
    {Counter::kind##_sectors, MetricCost::base, {Access::global_##kind},                           \
     {{"l1tex__t_sectors_pipe_lsu_mem_global_op_" word ".sum"}}},                                  \
    {Counter::kind##_lines, MetricCost::extra, {Access::global_##kind},                            \
     {{"l1tex__t_set_accesses_pipe_lsu_mem_global_op_" word ".sum"}}},                             \
    {Counter::kind##_unique_bytes, MetricCost::instrumented, {Access::global_##kind},              \
     {{"smsp__sass_data_bytes_mem_global_op_" word ".sum"}}},                                      \
    {Counter::kind##_ideal_sectors, MetricCost::never, {Access::global_##kind}, {}, no_ideal},     \
    {Counter::kind##_sectors_per_request, MetricCost::derived, {Access::global_##kind}},           \
    {Counter::kind##_excess_sectors, MetricCost::never, {Access::global_##kind}, {}, no_ideal},    \
    {Counter::kind##_excess, MetricCost::never, {Access::global_##kind}, {}, no_ideal},            \
    {Counter::kind##_bytes_per_sector, MetricCost::derived, {Access::global_##kind}},              \
    {Counter::kind##_efficiency, MetricCost::derived, {Access::global_##kind}},                    \
    {Counter::kind##_tag_wavefronts, MetricCost::extra, {Access::global_##kind},                   \
     {{"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_" word ".sum"}}},                        \
    {Counter::kind##_data_wavefronts, MetricCost::extra, {Access::global_##kind},                  \
     {{data_wavefronts, data_wavefronts_before_gh100, all_data_wavefronts}}, {}, true},            \
    {Counter::kind##_transactions, MetricCost::never, {}, {}, no_transactions},                    \
    {Counter::kind##_transaction_bytes, MetricCost::never, {}, {}, no_transactions},
// clang-format on

constexpr CounterMetrics table[] = {
    // clang-format off
    COALPROF_ACCESS_ROWS(load, "ld", "global_ld")     // LDG
    COALPROF_ACCESS_ROWS(store, "st", "global_st")    // STG
    COALPROF_ACCESS_ROWS(atomic, "atom", "generic_atom")  // ATOM and ATOMG
    COALPROF_ACCESS_ROWS(reduce, "red", "global_red")  // RED
    // L1 and L2. The source unit TEX is L1: instruction fetches and copies are not in it.
    {Counter::l1_hit_sectors, MetricCost::base, {Access::global_load},
     {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"}}},
    {Counter::l2_read_requests, MetricCost::base,
     {Access::global_load, Access::local_load, Access::texture_load},
     {{"lts__t_requests_srcunit_tex_op_read.sum"}}},
    {Counter::l2_read_sectors, MetricCost::base,
     {Access::global_load, Access::local_load, Access::texture_load},
     {{"lts__t_sectors_srcunit_tex_op_read.sum"}}},
    {Counter::l2_write_requests, MetricCost::base, {Access::global_store, Access::local_store},
     {{"lts__t_requests_srcunit_tex_op_write.sum"}}},
    {Counter::l2_write_sectors, MetricCost::base, {Access::global_store, Access::local_store},
     {{"lts__t_sectors_srcunit_tex_op_write.sum"}}},
    {Counter::l2_atomic_requests, MetricCost::base, {Access::global_atomic},
     {{"lts__t_requests_srcunit_tex_op_atom.sum"}}},
    {Counter::l2_atomic_sectors, MetricCost::base, {Access::global_atomic},
     {{"lts__t_sectors_srcunit_tex_op_atom.sum"}}},
    {Counter::l2_reduce_requests, MetricCost::base, {Access::global_reduce},
     {{"lts__t_requests_srcunit_tex_op_red.sum"}}},
    {Counter::l2_reduce_sectors, MetricCost::base, {Access::global_reduce},
     {{"lts__t_sectors_srcunit_tex_op_red.sum"}}},
    // Device memory, whoever uses it while the launch runs: other names on GB202 to GB207; none on GA10B, GB10B, GB20B, which share the
    // memory of the CPU.
    {Counter::dram_read_bytes, MetricCost::base, any_memory,
     {{"dram__bytes_read.sum",
       "dram__bytes_op_read.sum"}}},
    {Counter::dram_write_bytes, MetricCost::base, any_memory,
     {{"dram__bytes_write.sum",
       "dram__bytes_op_write.sum"}}},
    // Shared memory: LDS and STS.
    {Counter::shared_load_requests, MetricCost::base, {Access::shared_load},
     {{"smsp__inst_executed_op_shared_ld_pred_on_any.sum"}}},
    {Counter::shared_load_wavefronts, MetricCost::base, {Access::shared_load},
     {{shared_load_wavefronts}}, {}, false, shared_load_wavefronts, shared_load_conflicts,
     instrumented_load_wavefronts},
    {Counter::shared_load_conflicts, MetricCost::base, {Access::shared_load},
     {{shared_load_conflicts}},
     {}, false, shared_load_wavefronts, shared_load_conflicts,
     instrumented_load_wavefronts},
    {Counter::shared_load_conflict_degree, MetricCost::derived, {Access::shared_load}},
    {Counter::shared_store_requests, MetricCost::base, {Access::shared_store},
     {{"smsp__inst_executed_op_shared_st_pred_on_any.sum"}}},
    {Counter::shared_store_wavefronts, MetricCost::base, {Access::shared_store},
     {{shared_store_wavefronts}}, {}, false, shared_store_wavefronts, shared_store_conflicts,
     instrumented_store_wavefronts},
    {Counter::shared_store_conflicts, MetricCost::base, {Access::shared_store},
     {{shared_store_conflicts}},
     {}, false, shared_store_wavefronts, shared_store_conflicts,
     instrumented_store_wavefronts},
    {Counter::shared_store_conflict_degree, MetricCost::derived, {Access::shared_store}},
    // ATOMS, with its result used or not.
    {Counter::shared_atomic_requests, MetricCost::base, {Access::shared_atomic},
     {{"smsp__inst_executed_op_shared_atom.sum"}}},
    {Counter::shared_atomic_wavefronts, MetricCost::base, {Access::shared_atomic},
     {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"}}},
    {Counter::shared_atomic_conflict_degree, MetricCost::derived, {Access::shared_atomic}},
    // Constant and local memory. Requests for the kernel's parameters are taken off: a launch that
    // jumps over its constants counts them alone.
    {Counter::constant_requests, MetricCost::base, {Access::constant_load},
     {{"idc__requests.sum"}}},
    {Counter::local_load_requests, MetricCost::base, {Access::local_load},
     {{"smsp__inst_executed_op_local_ld_pred_on_any.sum",
       "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"}}},
    {Counter::local_load_sectors, MetricCost::base, {Access::local_load},
     {{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"}}},
    {Counter::local_store_requests, MetricCost::base, {Access::local_store},
     {{"smsp__inst_executed_op_local_st_pred_on_any.sum",
       "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"}}},
    {Counter::local_store_sectors, MetricCost::base, {Access::local_store},
     {{"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}}},
    // Fetches through textures take another pipe of L1 than LDG. L1's request is a part of an
    // instruction there, so that instructions are counted. From GH100 on the sectors of the two
    // pipes cannot be counted in one pass: textures beside loads or stores take two.
    {Counter::texture_requests, MetricCost::base, {Access::texture_load},
     {{"smsp__inst_executed_op_texture.sum"}}},
    {Counter::texture_sectors, MetricCost::base, {Access::texture_load},
     {{"l1tex__t_sectors_pipe_tex_mem_texture.sum"}}},
    {Counter::texture_hit_sectors, MetricCost::base, {Access::texture_load},
     {{"l1tex__t_sectors_pipe_tex_mem_texture_lookup_hit.sum"}}},
    {Counter::duration_seconds, MetricCost::elsewhere, {}},
    {Counter::useful_bytes, MetricCost::elsewhere, {}},
    {Counter::bandwidth_bytes_per_second, MetricCost::elsewhere, {}},
    {Counter::bandwidth_share, MetricCost::elsewhere, {}},
    {Counter::cost_share, MetricCost::elsewhere, {}},
    {Counter::l1_passes, MetricCost::elsewhere, {}},
    // clang-format on
};

constexpr bool is_in_enum_order() {
    for (std::size_t i = 0; i < std::size(table); ++i)
        if (static_cast<std::size_t>(table[i].counter) != i) return false;
    return true;
}
static_assert(std::size(table) == counter_count && is_in_enum_order());

}  // namespace

std::span<const CounterMetrics> metric_table() { return table; }

const CounterMetrics& metrics_of(Counter counter) {
    return table[static_cast<std::size_t>(counter)];
}

namespace {

// Index of `name` in `names`; it is added if missing.
std::size_t index_of(std::vector<std::string>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) names.emplace_back(name);
    return index;
}

class Planner {
 public:
    Planner(std::string_view chip, const std::function<bool(std::string_view)>& has_metric,
            bool of_lone_warps)
        : chip_(chip), has_metric_(has_metric), of_lone_warps_(of_lone_warps) {}

    void add(Counter counter) {
        const CounterMetrics& row = metrics_of(counter);
        switch (row.cost) {
            case MetricCost::elsewhere: return;
            case MetricCost::derived:
                if (const auto& parts = info(counter).parts) {
                    add(parts->above);
                    add(*parts->below);
                }
                return;
            case MetricCost::never:
                if (is_new(counter))
                    plan_.unavailable.emplace_back(counter, Unavailable{row.why_never});
                return;
            case MetricCost::base:
            case MetricCost::extra:
            case MetricCost::instrumented:
                if (is_new(counter)) add_measured(row);
        }
    }

    MetricPlan take() { return std::move(plan_); }

 private:
    bool is_new(Counter counter) {
        return !std::exchange(seen_[static_cast<std::size_t>(counter)], true);
    }

    // The first candidate that the chip has; empty if there is none.
    std::string_view choose(const CounterMetrics& row) const {
        for (const std::string_view candidate : row.candidates)
            if (!candidate.empty() && has_metric_(candidate)) return candidate;
        return {};
    }

    void add_measured(const CounterMetrics& row) {
        const std::string_view choice = choose(row);
        if (choice.empty()) {
            plan_.unavailable.emplace_back(
                row.counter, Unavailable{keep_reason(
                                 fmt::format("{} has no metric {}", chip_, row.candidates[0]))});
            return;
        }
        const bool is_instrumented = row.cost == MetricCost::instrumented;
        MetricPlan::Source source{.counter = row.counter, .is_instrumented = is_instrumented};
        source.metric = index_of(is_instrumented ? plan_.instrumented : plan_.hardware, choice);
        if (row.needs_sole_access) source.must_be_zero = other_accesses(row.concerns);
        if (!of_lone_warps_ && !row.without_waiting.empty() && has_metric_(row.without_waiting))
            source.waiting = {.with = index_of(plan_.hardware, row.with_waiting),
                              .conflicts = index_of(plan_.hardware, row.conflicts),
                              .without = index_of(plan_.instrumented, row.without_waiting)};
        plan_.sources.push_back(std::move(source));
    }

    // Counters that show whether the launch made accesses other than `sole`.
    std::vector<std::size_t> other_accesses(AccessSet sole) {
        std::vector<std::size_t> metrics;
        for (const Counter requests :
             {Counter::load_requests, Counter::store_requests, Counter::atomic_requests,
              Counter::reduce_requests, Counter::shared_load_requests,
              Counter::shared_store_requests, Counter::local_load_requests,
              Counter::local_store_requests}) {
            const CounterMetrics& row = metrics_of(requests);
            if (row.concerns.meets(sole)) continue;
            const std::string_view choice = choose(row);
            if (!choice.empty()) metrics.push_back(index_of(plan_.hardware, choice));
        }
        return metrics;
    }

    std::string_view chip_;
    const std::function<bool(std::string_view)>& has_metric_;
    bool of_lone_warps_;
    MetricPlan plan_;
    std::array<bool, counter_count> seen_{};
};

}  // namespace

MetricPlan plan_metrics(std::span<const Counter> wanted, std::string_view chip,
                        const std::function<bool(std::string_view)>& has_metric,
                        bool of_lone_warps) {
    Planner planner(chip, has_metric, of_lone_warps);
    for (const Counter counter : wanted) planner.add(counter);
    return planner.take();
}

namespace {

bool is_field(Counter counter, AccessField field) {
    for (const AccessKind kind : access_kinds)
        if (counter == access_counter(kind, field)) return true;
    return false;
}

bool is_in_basic(const CounterMetrics& row) {
    return row.cost == MetricCost::base || is_field(row.counter, AccessField::sectors_per_request);
}

bool is_in(CounterSet set, const CounterMetrics& row) {
    switch (set) {
        case CounterSet::basic: return is_in_basic(row);
        case CounterSet::memory:
            return is_in_basic(row) || row.cost == MetricCost::instrumented ||
                   row.cost == MetricCost::derived || is_field(row.counter, AccessField::lines) ||
                   is_field(row.counter, AccessField::tag_wavefronts);
        case CounterSet::all: return row.cost != MetricCost::elsewhere;
    }
    return false;  // not reached
}

}  // namespace

std::optional<CounterSet> find_counter_set(std::string_view name) {
    if (name == "basic") return CounterSet::basic;
    if (name == "memory") return CounterSet::memory;
    if (name == "all") return CounterSet::all;
    return std::nullopt;
}

std::vector<Counter> counters_of(CounterSet set, AccessSet accesses) {
    std::vector<Counter> counters;
    for (const CounterMetrics& row : metric_table())
        if (row.concerns.meets(accesses) && is_in(set, row)) counters.push_back(row.counter);
    return counters;
}

}  // namespace coalprof
