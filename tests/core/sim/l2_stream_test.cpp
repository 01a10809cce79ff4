// What L2 keeps of accesses whose traffic is known.
#include "core/sim/l2_stream.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "core/sim/kernel_time.h"
#include "core/sim/random.h"
#include "core/sim/slices.h"

namespace coalprof {
namespace {

constexpr double mib = 1 << 20;

// `rounds` times over so many lines, whole or one sector of each.
L2Sample rounds_over(std::uint64_t lines, int rounds, AccessKind kind, std::uint8_t sectors,
                     std::uint8_t whole) {
    L2Sample sample;
    sample.blocks = sample.blocks_of_launch = 1;
    for (int round = 0; round < rounds; ++round)
        for (std::uint64_t line = 0; line < lines; ++line)
            sample.accesses.push_back({.order = 0,
                                       .line = line,
                                       .site = 0,
                                       .kind = kind,
                                       .sectors = sectors,
                                       .whole = whole,
                                       .bytes = 4});
    return sample;
}
L2Traffic traffic_of(L2Sample sample, double l2_bytes) {
    const L2Sizes sizes{.bytes = l2_bytes, .most_dirty_bytes = 0, .most_partial_bytes = l2_bytes};
    return replay_l2(sample, sizes, 1);
}

KernelLaunch one_block() { return {}; }
void add_sums(L2Stream& stream, std::uint64_t line, int times) {
    WarpAccess access{.active_lanes = 1, .kind = AccessKind::reduce};
    access.addresses[0] = line * line_bytes;
    for (int i = 0; i < times; ++i) stream.take(0, access, {}, BlockBox());
}

// 5000 lines once each, then one line 1000 times; what a dropped attempt counted is not there.
TEST(L2Stream, knows_the_busiest_line_however_late_it_comes) {
    L2Stream stream(one_block(), 1, 1);
    add_sums(stream, 7000, 3000);
    stream.drop();
    for (std::uint64_t line = 0; line < 5000; ++line) add_sums(stream, line, 1);
    add_sums(stream, 7000, 1000);
    stream.keep();
    EXPECT_NEAR(stream.sample().atomics.busiest, 1000.0 / 6000, 0.001);  // few share its cell
}

// As many as there are where each has the same share, whether the table has as many cells or not;
// of one that has half and many that share the rest, 1 / (1/2)^2.
TEST(L2Stream, counts_the_lines_that_are_busy) {
    for (const std::uint64_t lines : {1u, 2u, 32u, 1000u, 30'000u}) {
        L2Stream stream(one_block(), 1, 1);
        for (std::uint64_t i = 0; i < lines; ++i) add_sums(stream, i, 3);
        stream.keep();
        const auto expected = static_cast<double>(lines);
        EXPECT_NEAR(stream.sample().atomics.lines, expected, 0.15 * expected);
    }
    L2Stream stream(one_block(), 1, 1);
    for (std::uint64_t i = 0; i < 20'000; ++i) add_sums(stream, i, 1);
    add_sums(stream, 0, 20'000);
    stream.keep();
    EXPECT_NEAR(stream.sample().atomics.lines, 4, 0.1);
}

// Blocks of a box that have the same line, neighbouring ones, and ones 4 KiB apart: four neighbours
// lie in one slice, so that 256 lines far from each other are in as many slices as 1,024.
TEST(L2Stream, counts_the_lines_of_all_blocks_of_a_box) {
    for (const std::int64_t apart : {0, 128, 4096}) {
        KernelLaunch launch;
        launch.grid[0] = 256;
        L2Stream stream(launch, 256, 1);
        WarpAccess access{.active_lanes = 1, .kind = AccessKind::store};
        stream.take(0, access, {apart, 0, 0}, BlockBox{.count = {256, 1, 1}});
        stream.keep();
        const double expected = apart == 0 ? 4 : apart == 128 ? 256 : 1024;
        EXPECT_NEAR(stream.sample().stores[0].lines, expected, 0.15 * expected);
    }
}

// An H100 takes sums of one word at the rate of one slice, and at random places in 128 MiB at that
// of all 80 (docs/measurements/h100/slices.txt).
TEST(L2Slices, are_one_for_one_line_and_all_for_many) {
    EXPECT_EQ(busy_slices(1, 80), 1);
    EXPECT_EQ(busy_slices(32, 80), 8);
    EXPECT_NEAR(busy_slices(1 << 20, 80), 80, 2);
}

// 1024 blocks at once load 500 lines each in a loop, as they do before they read a row again.
TEST(L2Stream, follows_a_long_loop_to_its_end) {
    KernelLaunch launch;
    launch.grid[0] = 1024;
    launch.block[0] = 256;
    L2Stream stream(launch, 1024, 1);
    constexpr std::uint64_t rounds = 500;
    const BlockBox box{.count = {1024, 1, 1}};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        WarpAccess access{.active_lanes = 1};
        access.addresses[0] = round * line_bytes;
        stream.take(0, access, {rounds * line_bytes, 0, 0}, box);
    }
    stream.keep();
    const L2Sample sample = stream.sample();
    EXPECT_NEAR(static_cast<double>(sample.accesses.size()) / sample.share, 1024 * rounds,
                0.05 * 1024 * rounds);
}

// Boxes of 1 to 4 blocks, of which some have no access and some are tried twice, to 1 to 5 threads
// in different orders. Several warps are the longest, and too many lines are kept.
// From any line, up or down, steps come to each sampled line that they reach, and the share of
// lines is what it says: of 2^17 lines at random places within a third.
TEST(SampledLines, are_all_found_by_steps_and_as_many_as_their_share) {
    Random random;
    for (SampledLines sampled; sampled.halvings < 14; ++sampled.halvings)
        for (const std::int64_t step : {1, 3, 8, 33, 64, 1000, -1, -8, -70}) {
            const auto by = static_cast<std::uint64_t>(step);
            const std::uint64_t first = (random.word() >> 20) + (1u << 30);
            const auto width = static_cast<std::uint64_t>(std::abs(step));
            std::uint64_t expected = 0, found = 0;
            for (std::uint64_t i = 0; i < 1 << 17; ++i) expected += sampled.holds(first + i * by);
            for (std::uint64_t i = 0; i < 1 << 17;) {
                const std::uint64_t line = first + i * by, next = sampled.next(line, step);
                found += sampled.holds(line);
                i += ((step > 0 ? next - line : line - next) + width - 1) / width;
            }
            EXPECT_EQ(found, expected) << sampled.halvings << " " << step;
            if (width >= 33 && sampled.halvings < 9) {
                EXPECT_NEAR(std::ldexp(static_cast<double>(expected), -17),
                            std::ldexp(1.0, -static_cast<int>(sampled.halvings)),
                            std::ldexp(0.33, -static_cast<int>(sampled.halvings)))
                    << sampled.halvings << " " << step;
            }
        }
}

TEST(L2Stream, is_the_same_whichever_thread_takes_which_box) {
    KernelLaunch launch;
    launch.grid[0] = 80;
    launch.block[0] = 64;
    const auto sample_of = [&](std::uint32_t threads, std::uint32_t step) {
        std::vector<L2Stream> streams(threads, L2Stream(launch, 8, 1, {.most_kept = 60}));
        for (std::uint32_t i = 0; i < 32; ++i) {
            const std::uint32_t number = i * step % 32;
            L2Stream& stream = streams[i * i % threads];
            const BlockBox box{.first = {number / 4 * 10 + number % 4 * (number % 4 + 1) / 2, 0, 0},
                               .count = {number % 4 + 1, 1, 1}};
            stream.begin(box);
            for (std::uint32_t warp = 0; warp < 2 * (number % 3); ++warp) {
                if (warp == 2) stream.drop();
                stream.resume(warp % 2);
                for (std::uint32_t round = 0; round < 1 + number % 5; ++round) {
                    WarpAccess access{.active_lanes = 1};
                    access.addresses[0] = (number * 16 + round * 2 + warp % 2) * line_bytes;
                    stream.take(0, access, {line_bytes, 0, 0}, box);
                }
            }
            stream.keep();
        }
        for (std::uint32_t i = 1; i < threads; ++i) streams[0].add(streams[i]);
        const L2Sample all = streams[0].sample();
        std::vector<double> numbers{all.share,         static_cast<double>(all.longest_block),
                                    all.longest,       all.accesses_of_warp,
                                    all.work.middle(), all.work.all(),
                                    all.working.all(), static_cast<double>(all.accesses.size())};
        for (const L2Access& one : all.accesses)
            numbers.insert(numbers.end(), {double(one.order), double(one.line)});
        return numbers;
    };
    const std::vector<double> alone = sample_of(1, 1);
    EXPECT_LT(alone[0], 1);
    for (std::uint32_t threads = 1; threads <= 5; ++threads)
        for (const std::uint32_t step : {1u, 3u, 7u, 31u})
            EXPECT_EQ(sample_of(threads, step), alone) << threads << " " << step;
}

TEST(L2Replay, reads_once_what_fits_and_again_what_does_not) {
    const std::uint64_t lines = 8192;  // 1 MiB
    const L2Sample twice = rounds_over(lines, 2, AccessKind::load, 0xF, 0xF);
    EXPECT_DOUBLE_EQ(traffic_of(twice, 2 * mib).read_bytes, mib);
    EXPECT_GT(traffic_of(twice, mib / 4).read_bytes, 1.9 * mib);
}

TEST(L2Replay, does_not_see_what_l1_keeps) {
    L2Sample twice = rounds_over(8192, 2, AccessKind::load, 0xF, 0xF);
    Ages kept;
    kept.fill(1);
    const L2Sizes sizes{.bytes = mib / 4, .kept_by_l1 = {kept}};
    EXPECT_DOUBLE_EQ(replay_l2(twice, sizes, 1).read_bytes, mib);
    EXPECT_DOUBLE_EQ(replay_l2(twice, sizes, 1).repeats_of_site[0][0], 4 * 8192);
}

// 1000 sectors of 32 bytes: a row of 256 bytes takes as long as cbrt(32^3 + 64^3) or, whole,
// cbrt(256^3 + 64^3) bytes of a long run.
TEST(L2Replay, takes_longer_for_parts_of_rows_of_device_memory) {
    const L2Sizes sizes{
        .bytes = mib, .fetch_bytes = 32, .read_row_bytes = 64, .write_row_bytes = 64};
    const auto time_of = [&](AccessKind kind, std::uint64_t lines_apart, std::uint8_t sectors) {
        L2Sample sample = rounds_over(1000, 1, kind, sectors, sectors);
        for (L2Access& one : sample.accesses) one.line *= lines_apart;
        const L2Traffic found = replay_l2(sample, sizes, 1);
        return kind == AccessKind::load ? found.read_time_of_site[0] : found.write_time_of_site[0];
    };
    for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
        EXPECT_NEAR(time_of(kind, 2, 0x1), 1000 * 66.56, 10);
        EXPECT_NEAR(time_of(kind, 1, 0xF), 500 * 257.33, 10);
    }
}

// 1000 rows, of which each sector is written in part, a line's four by one request or by four. Each
// request's are read and written for themselves: cbrt(128^3 + 64^3) for four, cbrt(32^3 + 64^3) for
// one. The last lines stay in L2.
TEST(L2Replay, shares_no_activation_among_requests_that_write_parts_of_sectors) {
    const L2Sizes sizes{
        .bytes = 4096, .most_partial_bytes = mib, .read_row_bytes = 64, .write_row_bytes = 64};
    const auto expect = [&](L2Sample parts, double time) {
        for (std::size_t i = 0; i < parts.accesses.size(); ++i) parts.accesses[i].order = i;
        const L2Traffic found = replay_l2(parts, sizes, 1);
        EXPECT_NEAR(found.read_time_of_site[0], time, 0.02 * time);
        EXPECT_NEAR(found.write_time_of_site[0], time, 0.02 * time);
    };
    const L2Sample together = rounds_over(2000, 1, AccessKind::store, 0xF, 0);
    expect(together, 2000 * 133.14);
    L2Sample apart = together;
    apart.accesses.clear();
    for (const L2Access& line : together.accesses)
        for (const unsigned sector : {1u, 2u, 4u, 8u}) {
            apart.accesses.push_back(line);
            apart.accesses.back().sectors = static_cast<std::uint8_t>(sector);
        }
    expect(apart, 8000 * 66.56);
}

// A sector of each second line or of each line, loaded and stored, or stored only. The row is
// activated as for loads, and each line is a turn of 32 bytes: cbrt(32^3 + (64 + 32)^3) for a row
// with one line, cbrt(64^3 + (64 + 2 * 32)^3) for two, cbrt(32^3 + 64^3) without reads.
TEST(L2Replay, turns_for_each_line_that_is_written_among_reads) {
    const L2Sizes sizes{.bytes = 4096,
                        .fetch_bytes = 32,
                        .read_row_bytes = 64,
                        .write_row_bytes = 64,
                        .turn_bytes = 32};
    const auto time_of = [&](std::uint64_t lines_apart, bool is_loaded) {
        L2Sample sample = rounds_over(1000, 1, AccessKind::store, 0x1, 0x1);
        std::vector<L2Access> all;
        for (L2Access one : sample.accesses) {
            one.line *= lines_apart;
            one.kind = AccessKind::load;
            if (is_loaded) all.push_back(one);
            one.kind = AccessKind::store;
            all.push_back(one);
        }
        sample.accesses = all;
        return replay_l2(sample, sizes, 1).write_time_of_site[0];
    };
    EXPECT_NEAR(time_of(2, true), 1000 * 97.17, 100);
    EXPECT_NEAR(time_of(1, true), 500 * 133.14, 100);
    EXPECT_NEAR(time_of(2, false), 1000 * 66.56, 100);
}

TEST(L2Replay, keeps_as_many_dirty_lines_however_much_of_each_is_dirty) {
    const L2Sizes sizes{.bytes = 8 * mib, .most_dirty_bytes = 1024 * double{line_bytes}};
    for (const std::uint8_t sectors : {std::uint8_t{0x1}, std::uint8_t{0xF}}) {
        L2Sample sample = rounds_over(5000, 1, AccessKind::store, sectors, sectors);
        EXPECT_DOUBLE_EQ(replay_l2(sample, sizes, 1).dirty_bytes,
                         1024.0 * sector_bytes * std::popcount(sectors));
    }
}

// Of 1000 sectors that are written in part the last 100 still wait for the rest of their bytes.
TEST(L2Replay, completes_the_oldest_of_too_many_parts) {
    const L2Sizes sizes{
        .bytes = 8 * mib, .most_dirty_bytes = mib, .most_partial_bytes = 100 * double{line_bytes}};
    L2Sample sample = rounds_over(1000, 1, AccessKind::store, 0x1, 0);
    const L2Traffic found = replay_l2(sample, sizes, 1);
    EXPECT_DOUBLE_EQ(found.read_bytes, 900.0 * sector_bytes);
    EXPECT_DOUBLE_EQ(found.dirty_bytes, 100.0 * sector_bytes);
}

// Two parts of each row, 500 rows or 1 MiB later.
TEST(L2Replay, rows_stay_open_for_a_while) {
    const L2Sizes sizes{.bytes = 8 * mib, .fetch_bytes = 32, .read_row_bytes = 64};
    const auto time_of = [&](std::uint64_t rows) {
        L2Sample sample = rounds_over(2 * rows, 1, AccessKind::load, 0x1, 0x1);
        for (std::uint64_t i = 0; i < 2 * rows; ++i)
            sample.accesses[i].line = i < rows ? 2 * i : 2 * (i - rows) + 1;
        return replay_l2(sample, sizes, 1).read_time_of_site[0] / static_cast<double>(rows);
    };
    EXPECT_NEAR(time_of(500), 80.63, 0.1);  // cbrt(64^3 + 64^3)
    EXPECT_NEAR(time_of(32768), 2 * 66.56, 0.1);
}

TEST(L2Replay, fetches_64_bytes_for_a_sector) {
    const L2Sample sectors = rounds_over(1000, 1, AccessKind::load, 0x1, 0x1);
    EXPECT_DOUBLE_EQ(traffic_of(sectors, mib).read_bytes, 64'000);
}

TEST(L2Replay, reads_what_is_written_in_part_and_nothing_else) {
    const L2Sample whole = rounds_over(8192, 1, AccessKind::store, 0xF, 0xF);
    EXPECT_DOUBLE_EQ(traffic_of(whole, mib / 4).read_bytes, 0);
    EXPECT_DOUBLE_EQ(traffic_of(whole, mib / 4).write_bytes, mib);
    const L2Sample parts = rounds_over(8192, 1, AccessKind::store, 0xF, 0);
    EXPECT_GT(traffic_of(parts, mib / 4).read_bytes, 0.7 * mib);
}

// Blocks of both halves of the GPU store to neighbouring words.
TEST(L2Replay, completes_a_sector_that_blocks_write_together) {
    L2Sample sample;
    sample.blocks = sample.blocks_of_launch = 2;
    for (std::uint64_t line = 0; line < 8192; ++line)
        for (const std::uint64_t block : {std::uint64_t{0}, std::uint64_t{1}})
            sample.accesses.push_back({.order = block,
                                       .line = line,
                                       .site = 0,
                                       .kind = AccessKind::store,
                                       .sectors = 0xF,
                                       .whole = 0,
                                       .bytes = 16});
    const L2Traffic traffic = traffic_of(sample, mib / 4);
    EXPECT_DOUBLE_EQ(traffic.read_bytes, 0);
    EXPECT_DOUBLE_EQ(traffic.write_bytes, mib);
}

// Blocks behind the first 32nd leave at once: half of the work is done after a 64th of the blocks.
TEST(WorkShape, knows_where_the_work_is) {
    WorkShape even, front;
    even.add(0, 1, 1000);
    front.add(0, 1.0 / 32, 1000);
    EXPECT_DOUBLE_EQ(even.middle(), 0.5);
    EXPECT_DOUBLE_EQ(even.density(0.9), 1);
    EXPECT_DOUBLE_EQ(front.middle(), 1.0 / 64);
    EXPECT_DOUBLE_EQ(front.density(0.01), 32);
    EXPECT_DOUBLE_EQ(front.density(0.9), 0);
    EXPECT_DOUBLE_EQ(WorkShape().middle(), 0.5) << "a launch of no accesses";
}

// 24 of 32,768 blocks on 132 multiprocessors with 8 places each are followed.
TEST(TracedBlocks, are_where_the_work_is) {
    WorkShape front;
    front.add(0, 1.0 / 32, 1000);
    const auto odd = [](std::uint64_t block) { return block % 2; };
    for (const auto& [work, first, last] :
         {std::tuple{WorkShape(), 14'700, 18'100}, std::tuple{front, 0, 3'200}}) {
        const std::vector<std::uint64_t> blocks = traced_blocks(32'768, 132, 8, 3, work);
        EXPECT_EQ(blocks.size(), 24u);
        EXPECT_GE(blocks.front(), first);
        EXPECT_LT(blocks.back(), last);
        EXPECT_TRUE(std::ranges::is_sorted(blocks));
        const auto odd_ones = std::ranges::count_if(blocks, odd);
        EXPECT_EQ(odd_ones, 12) << "every other block may leave";
    }
}

}  // namespace
}  // namespace coalprof
