// A multiprocessor with blocks of which the answer is known.
#include "core/sim/multiprocessor.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

MultiprocessorRates rates_of_test() {
    MultiprocessorRates rates;
    rates.dependent_issue = 1;
    rates.l1_pass = 1;
    rates.shared_pass = 1;
    rates.l1_latency = 30;
    rates.l2_latency = 200;
    rates.dram_latency = 300;
    rates.read_request = 1;
    rates.sector = 0.5;
    rates.l1_queue = 1e9;
    rates.l2_queue = 1e9;
    rates.l1_lines = 1024;
    return rates;
}

// A warp that loads so many lines one after the other, each waiting for the one before or not.
BlockTraces chain(std::uint32_t loads, bool waits, std::uint64_t stride) {
    BlockTraces traces;
    WarpEvents warp;
    for (std::uint32_t i = 0; i < loads; ++i) {
        warp.events.push_back({.unit = TraceUnit::load,
                               .passes = {1, 1},
                               .number = i,
                               .waits_for = waits ? i : 0,
                               .first_line = i,
                               .lines = 1,
                               .cost = {.issued = 1}});
        traces.lines.push_back({.line = i * stride, .sectors = 0xF, .whole = 0xF});
    }
    warp.events.push_back({.number = loads, .waits_for = loads});
    traces.blocks.push_back({warp});
    return traces;
}

double cycles_of(const BlockTraces& traces, const MultiprocessorRates& rates) {
    return simulate_multiprocessor(traces, rates, {{}}).cycles;
}

TEST(SimulatedMultiprocessor, waits_for_each_load_that_the_next_one_depends_on) {
    const double apart = cycles_of(chain(8, false, 1), rates_of_test());
    const double chained = cycles_of(chain(8, true, 1), rates_of_test());
    EXPECT_NEAR(apart, 200 + 8 * 2, 8);
    EXPECT_NEAR(chained, 8 * 200, 40);
}

// docs/measurements/h200/issue.txt: a block of 32 warps takes 88 cycles for a round of a loop that
// is a barrier, a warp 28, of which 12 are the loop's.
TEST(SimulatedMultiprocessor, lets_warps_pass_a_barrier_one_after_the_other) {
    const auto cycles_of_barrier = [](std::size_t warps) {
        constexpr std::uint32_t barriers = 100;
        WarpEvents warp;
        for (std::uint32_t i = 0; i < barriers; ++i)
            warp.events.push_back({.unit = TraceUnit::barrier, .number = i});
        BlockTraces traces;
        traces.blocks.push_back(std::vector<WarpEvents>(warps, warp));
        return cycles_of(traces, rates_of_test()) / barriers;
    };
    EXPECT_NEAR(cycles_of_barrier(1), 28 - 12, 2);
    EXPECT_NEAR(cycles_of_barrier(32), 88 - 12, 4);
}

TEST(SimulatedMultiprocessor, finds_in_l1_what_was_loaded_before) {
    const SimResult once = simulate_multiprocessor(chain(8, true, 0), rates_of_test(), {{}});
    EXPECT_EQ(once.load_sectors[0], 32);
    EXPECT_EQ(once.hit_sectors[0], 28);
    EXPECT_EQ(once.read_requests[0], 1);
    EXPECT_NEAR(once.cycles, 200 + 7 * 30, 30);
}

TEST(SimulatedMultiprocessor, loses_what_l1_has_no_place_for) {
    BlockTraces twice = chain(64, false, 1);
    const BlockTraces again = twice;
    twice.blocks.push_back(again.blocks.front());
    MultiprocessorRates rates = rates_of_test();
    EXPECT_EQ(simulate_multiprocessor(twice, rates, {{}}).hit_sectors[0], 64 * 4);
    rates.l1_lines = 32;
    EXPECT_LE(simulate_multiprocessor(twice, rates, {{}}).hit_sectors[0], 32 * 4);
}

// 512 lines twice, in an L1 of 1024. If nine of ten rounds lie between, which are left out, 4,608
// more lines came: exp(-4608 / 1024), a hundredth, are still there.
TEST(SimulatedMultiprocessor, loses_what_rounds_that_are_left_out_evict) {
    const auto hits = [](double share) {
        BlockTraces traces = chain(1024, false, 1);
        for (std::size_t i = 512; i < 1024; ++i) {
            traces.lines[i].line -= 512;
            traces.blocks[0][0].events[i].part = 1;
        }
        traces.kept_share = share;
        return simulate_multiprocessor(traces, rates_of_test(), {{}}).hit_sectors[0] / 4;
    };
    EXPECT_EQ(hits(1), 512);
    EXPECT_NEAR(hits(0.1), 5, 15);
}

// Warps that each store to `lines` lines of their own, again and again; no block waits.
BlockTraces stores(std::uint32_t warps, std::uint32_t lines, std::uint32_t times,
                   bool are_words = true) {
    BlockTraces traces;
    traces.blocks.emplace_back(warps);
    for (std::uint32_t warp = 0; warp < warps; ++warp)
        for (std::uint32_t i = 0; i < lines * times; ++i) {
            const auto first = static_cast<std::uint32_t>(traces.lines.size());
            traces.blocks[0][warp].events.push_back({.unit = TraceUnit::store,
                                                     .passes = {1, 1},
                                                     .number = i,
                                                     .first_line = first,
                                                     .lines = 1,
                                                     .cost = {.issued = 1}});
            traces.lines.push_back(
                {.line = warp * lines + i % lines, .sectors = 1, .is_of_words = are_words});
        }
    return traces;
}

double requests_of(const BlockTraces& traces, double write_request) {
    MultiprocessorRates rates = rates_of_test();
    rates.join_cycles = 8;
    rates.l1_queue = 0;
    rates.write_request = write_request;
    return simulate_multiprocessor(traces, rates, {{}}).write_requests[0];
}

// 64 stores to one line, a cycle apart.
TEST(SimulatedMultiprocessor, joins_stores_as_long_as_they_wait_for_l2) {
    EXPECT_GT(requests_of(stores(1, 1, 64), 0), 4);
    EXPECT_EQ(requests_of(stores(1, 1, 64), 1000), 1);
}

// In turn, with one line more than there are places, each finds that its line has just left.
TEST(SimulatedMultiprocessor, joins_stores_to_as_many_lines_as_have_a_place) {
    EXPECT_EQ(requests_of(stores(1, 24, 3), 1e6), 24);
    EXPECT_EQ(requests_of(stores(1, 25, 3), 1e6), 75);
    EXPECT_EQ(requests_of(stores(1, 8, 3, false), 1e6), 8);
    EXPECT_EQ(requests_of(stores(1, 9, 3, false), 1e6), 27);
}

// Four warps with 6 lines each find a place, with 7 none: one warp after the other would.
TEST(SimulatedMultiprocessor, takes_stores_from_four_schedulers_in_turn) {
    EXPECT_EQ(requests_of(stores(4, 6, 3), 1e6), 24);
    EXPECT_EQ(requests_of(stores(4, 7, 3), 1e6), 84);
}

// 2.6 sectors' time for up to so many, in a tenth of the slices.
TEST(SimulatedMultiprocessor, takes_stores_one_after_the_other_where_they_meet_in_few_slices) {
    const auto l2_cycles = [](double crowd, std::uint8_t sectors) {
        BlockTraces traces = stores(1, 1, 1);
        traces.lines[0].sectors = traces.lines[0].whole = sectors;
        MultiprocessorRates rates = rates_of_test();
        rates.slice_sector = 2;
        rates.write_sector = 0.5;
        rates.store_crowds = {crowd};
        return simulate_multiprocessor(traces, rates, {{}})
            .busy[static_cast<std::size_t>(SimUnit::l2)];
    };
    EXPECT_DOUBLE_EQ(l2_cycles(10, 0x1), 10 * 2 * 2.6);
    EXPECT_DOUBLE_EQ(l2_cycles(10, 0xF), 10 * 2 * 4);
    EXPECT_DOUBLE_EQ(l2_cycles(1.5, 0xF), 1.5 * 4 * 0.5);
}

// docs/measurements/h200/few_lines.txt: of 200 stores to a line, 26 cycles apart, the first 61 are
// requests of their own; then one leaves each 1,500 cycles that the slice takes, at 3,000, 4,500
// and in the end. Where L1's banks are busy all the time, none leaves before.
TEST(SimulatedMultiprocessor, sends_stores_to_few_lines_while_a_slice_has_few) {
    const auto requests = [](std::uint16_t passes) {
        BlockTraces traces = stores(1, 1, 200);
        for (TraceEvent& event : traces.blocks[0][0].events) {
            event.passes.data = passes;
            event.cost = {.issued = 26};
        }
        MultiprocessorRates rates = rates_of_test();
        rates.join_cycles = 8;
        rates.slices = 80;
        rates.slice_sector = 1500 / 2.6 / 80;
        rates.store_crowds = {80};
        return simulate_multiprocessor(traces, rates, {{}}).write_requests[0];
    };
    EXPECT_DOUBLE_EQ(requests(1), 64);
    EXPECT_DOUBLE_EQ(requests(30), 1);
}

// docs/measurements/h200/stores.txt: whether the sectors are whole makes no difference.
TEST(SimulatedMultiprocessor, takes_as_long_for_part_of_a_sector_as_for_all_of_it) {
    const auto l2_cycles = [](std::uint8_t whole) {
        BlockTraces traces = stores(1, 1, 1);
        traces.lines[0].sectors = 0xF;
        traces.lines[0].whole = whole;
        MultiprocessorRates rates = rates_of_test();
        rates.write_sector = 3;
        return simulate_multiprocessor(traces, rates, {{}})
            .busy[static_cast<std::size_t>(SimUnit::l2)];
    };
    EXPECT_DOUBLE_EQ(l2_cycles(0xF), 4 * 3);
    EXPECT_DOUBLE_EQ(l2_cycles(0), 4 * 3);
}

// docs/measurements/h200/busy_memory.txt: 8 loads, each after the one before, and a line written
// back that takes as long as one of them.
TEST(SimulatedMultiprocessor, lets_loads_wait_longer_for_memory_that_also_writes) {
    const auto cycles = [](double write_crowd) {
        BlockTraces traces = chain(8, true, 1);
        auto& events = traces.blocks[0][0].events;
        traces.lines.push_back({.line = 1000, .sectors = 0xF, .whole = 0xF});
        events.insert(events.begin(), {.unit = TraceUnit::store,
                                       .passes = {1, 1},
                                       .site = 1,
                                       .number = 9,
                                       .first_line = 8,
                                       .lines = 1,
                                       .cost = {.issued = 1}});
        MultiprocessorRates rates = rates_of_test();
        rates.dram_byte = rates.dram_write_byte = 1;
        rates.write_crowd = write_crowd;
        return simulate_multiprocessor(traces, rates, {{.read_bytes = 32}, {.write_bytes = 32}})
            .cycles;
    };
    // Less than all the time is written, so each of the 8 waits for less than b / sqrt(1 - b) *
    // 400.
    EXPECT_GT(cycles(400), cycles(0) + 8);
    EXPECT_LT(cycles(400), cycles(0) + 8 * 400);
}

// A line is loaded, stored to at `at`, and loaded once more when all has settled. Measured on an
// H200: all four sectors miss where a word was stored meanwhile, none where all were stored whole
// (docs/measurements/h200/met_lines.txt).
double hits_around_a_store(std::uint8_t whole, std::uint32_t cycles_before) {
    BlockTraces traces;
    const auto event = [](TraceUnit unit, std::uint32_t number, std::uint32_t cycles) {
        return TraceEvent{.unit = unit,
                          .passes = {1, 1},
                          .number = number,
                          .first_line = number,
                          .lines = 1,
                          .cost = {.issued = static_cast<float>(cycles)}};
    };
    WarpEvents warp;
    warp.events = {event(TraceUnit::load, 0, 1), event(TraceUnit::store, 1, cycles_before),
                   event(TraceUnit::load, 2, 2000)};
    traces.lines = {{.sectors = 0xF, .whole = 0xF},
                    {.sectors = whole == 0 ? std::uint8_t{1} : whole, .whole = whole},
                    {.sectors = 0xF, .whole = 0xF}};
    traces.blocks = {{warp}};
    return simulate_multiprocessor(traces, rates_of_test(), {{}}).hit_sectors[0];
}
TEST(SimulatedMultiprocessor, loses_a_line_that_is_stored_to_in_part_while_it_is_loaded) {
    EXPECT_EQ(hits_around_a_store(0, 1), 0);
    EXPECT_EQ(hits_around_a_store(0xF, 1), 4);
    EXPECT_EQ(hits_around_a_store(0, 1000), 4);
}

// Loads of a sector that is on its way join it, whatever is stored meanwhile: half of a row's loads
// miss where each store comes while the next load is on its way
// (docs/measurements/h200/hoisted.txt).
TEST(SimulatedMultiprocessor, joins_what_is_on_its_way_of_a_line_that_is_stored_to) {
    BlockTraces traces = chain(3, false, 0);
    TraceEvent& store = traces.blocks[0][0].events[1];
    store.unit = TraceUnit::store;
    traces.lines[1] = {.line = 0, .sectors = 1};
    EXPECT_EQ(simulate_multiprocessor(traces, rates_of_test(), {{}}).hit_sectors[0], 4);
}

// A load and a store of one line in turn, which all 100 multiprocessors send: of those of a line
// half come behind a store. Of those that come seldom none does.
TEST(SimulatedMultiprocessor, keeps_a_slice_busy_for_loads_behind_stores) {
    const auto l2_cycles = [](double turn, double lines) {
        BlockTraces traces = stores(1, 1, 200);
        for (std::size_t i = 0; i < 200; i += 2) {
            TraceEvent& one = traces.blocks[0][0].events[i];
            one.unit = TraceUnit::load;
            one.goes_past_l1 = true;
            one.cost.issued = 3000;  // beyond the window of its own store
        }
        MultiprocessorRates rates = rates_of_test();
        rates.stored_lines = {lines};
        rates.slice_turn = turn;
        rates.turn_window = 1000;
        rates.sharers = 100;
        return simulate_multiprocessor(traces, rates, {{}})
            .busy[static_cast<std::size_t>(SimUnit::l2)];
    };
    EXPECT_NEAR(l2_cycles(20, 4) - l2_cycles(0, 4), 100 * 20 * 0.5, 100 * 20 * 0.05);
    EXPECT_LT(l2_cycles(20, 1e5) - l2_cycles(0, 1e5), 10);
}

// A warp that stores to a word and at once loads what is left in L2 of the same sector, or of the
// next one: only the first waits for the store (docs/measurements/h200/hoisted.txt).
TEST(SimulatedMultiprocessor, keeps_a_slice_busy_for_loads_of_a_sector_just_stored_to) {
    const auto l2_cycles = [](double turn, std::uint8_t loaded) {
        BlockTraces traces = stores(1, 1, 2);
        TraceEvent& load = traces.blocks[0][0].events[1];
        load.unit = TraceUnit::load;
        load.goes_past_l1 = true;
        traces.lines[1].sectors = loaded;
        MultiprocessorRates rates = rates_of_test();
        rates.stored_lines = {1e5};
        rates.slice_turn = turn;
        rates.turn_window = 1000;
        return simulate_multiprocessor(traces, rates, {{}})
            .busy[static_cast<std::size_t>(SimUnit::l2)];
    };
    EXPECT_DOUBLE_EQ(l2_cycles(20, 1) - l2_cycles(0, 1), 20);
    EXPECT_LT(l2_cycles(20, 2) - l2_cycles(0, 2), 1);
}

// The sectors of a line one after the other, a cycle apart, within and without the wait.
TEST(SimulatedMultiprocessor, joins_loads_of_a_line_that_come_while_the_first_one_waits) {
    const auto requests = [](double wait) {
        BlockTraces traces = chain(4, false, 0);
        for (std::size_t i = 0; i < 4; ++i)
            traces.lines[i].sectors = static_cast<std::uint8_t>(1u << i);
        MultiprocessorRates rates = rates_of_test();
        rates.join_cycles = wait;
        return simulate_multiprocessor(traces, rates, {{}}).read_requests[0];
    };
    EXPECT_EQ(requests(8), 1);
    EXPECT_EQ(requests(0), 4);
}

TEST(SimulatedMultiprocessor, looks_up_tags_again_for_a_line_that_comes_back) {
    const auto l1_cycles = [](std::uint16_t data, std::uint64_t stride) {
        BlockTraces traces = chain(100, false, stride);
        for (TraceEvent& one : traces.blocks.front().front().events)
            if (one.unit == TraceUnit::load) one.passes.data = data;
        return simulate_multiprocessor(traces, rates_of_test(), {{}})
            .busy[static_cast<std::size_t>(SimUnit::l1)];
    };
    EXPECT_DOUBLE_EQ(l1_cycles(1, 0), 101);
    EXPECT_DOUBLE_EQ(l1_cycles(1, 1), 200);
    // At the same time as words of one bank wait for each other.
    EXPECT_DOUBLE_EQ(l1_cycles(3, 1), 300);
}

TEST(SimulatedMultiprocessor, serves_no_faster_than_device_memory) {
    MultiprocessorRates rates = rates_of_test();
    rates.dram_byte = 0.5;
    const BlockTraces traces = chain(100, false, 1);
    const SimResult run = simulate_multiprocessor(traces, rates, {{.read_bytes = 32}});
    EXPECT_GE(run.cycles, 100 * 128 * 0.5);
    EXPECT_LT(run.cycles, 100 * 128 * 0.5 + 700);
    EXPECT_DOUBLE_EQ(run.busy[static_cast<std::size_t>(SimUnit::dram)], 100 * 128 * 0.5);
}

}  // namespace
}  // namespace coalprof
