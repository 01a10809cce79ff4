#include "core/count/launch_sum.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <random>

#include "core/count/coalescer.h"
#include "core/formula/index_of.h"
#include "core/machine/machine.h"
#include "core/runtime/parallel.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

// The elements of a matrix, tile by tile of `side`, `across` of them to a line. The steps, in
// elements, are from tile to tile, from line to line, and from row to row of a tile.
std::string tiles_text(std::uint64_t across, std::uint64_t step, std::uint64_t line_step,
                       std::uint64_t pitch, std::uint64_t side) {
    return fmt::format("i/{0}%{1}*{2} + i/{0}/{1}*{3} + i%{0}/{4}*{5} + i%{4}", side * side, across,
                       step, line_step, side, pitch);
}

// A launch of random shape over a formula; small enough to walk.
struct Launch {
    Program program;
    Placement placement;
};

class LaunchMaker {
 public:
    explicit LaunchMaker(std::uint32_t seed) : random_(seed) {}

    Launch make() {
        Launch launch;
        const std::uint32_t width = 1u << pick(0, 4);
        Program& program = launch.program;
        program.block =
            static_cast<std::uint32_t>(one_of({32, 64, 96, 256, 1024, 33, 48, 100, 1, 7}));
        program.threads = pick(0, 3) == 0 ? 1024 * pick(1, 12) : pick(1, 6000);
        const Formula formula = make_formula(program);
        program.arrays = {{"a", width, 0}};
        const AccessKind kind =
            width == 4 || width == 8 ? access_kinds[pick(0, 3)] : access_kinds[pick(0, 1)];
        program.instructions = {{kind, Space::global, width, 0, formula}};
        // Bases of all alignments: the sum must hold for the addresses of a real allocation too.
        launch.placement.base_addresses = {
            one_of({0, 256, 4096 + 512, 0x7F12'3456'7800, 1ull << 40, (1ull << 34) - 4096})};
        return launch;
    }

 private:
    std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
        return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
    }
    std::uint64_t one_of(std::initializer_list<std::uint64_t> values) {
        return *(values.begin() + pick(0, values.size() - 1));
    }
    Formula make_formula(const Program& program) {
        const auto index = [&](const std::string& text) {
            return index_of(text, program.threads, program.block);
        };
        switch (pick(0, 11)) {
            case 0: return index(fmt::format("i + {}", pick(0, 300)));
            case 1:
                return index(fmt::format(
                    "i*{} + {}", one_of({1, 2, 3, 5, 8, 31, 32, 33, 63, 64, 100, 1024, 4096}),
                    pick(0, 40)));
            case 2:
                return index(fmt::format("i/{}", one_of({1, 2, 3, 7, 16, 32, 33, 64, 1000, 4096})));
            case 3:
                return index(
                    fmt::format("i - i%32 + ((i%32*{} ^ {}) & 31)", pick(0, 31), pick(0, 31)));
            case 4: {
                const std::uint64_t columns = one_of({1, 20, 32, 64, 120, 128, 1000});
                const std::uint64_t lanes = pick(0, 1) ? (columns + 31) / 32 * 32 : columns;
                return index(fmt::format("i/{0}*{1} + i%{0} if i%{0} < {2}", lanes,
                                         columns + pick(0, 40), columns));
            }
            case 5:
                return index(fmt::format("i%{0}*{1} + i/{0}", one_of({1, 32, 33, 64, 320, 4096}),
                                         one_of({1, 8, 32, 120, 512, 1 << 12, 1 << 16})));
            case 6: {  // a matrix in tiles, and at times its transpose
                const std::uint64_t across = pick(1, 4);
                const std::uint64_t side = one_of({16, 32, 64});
                const std::uint64_t pitch = side * one_of({1, 2, 3, 4, 6});
                return index(
                    pick(0, 1) ? tiles_text(across, side, side * side * across, side * across, side)
                               : tiles_text(across, side * pitch, side, pitch, side));
            }
            case 7:  // tiles that may overlap
                return index(tiles_text(pick(1, 3), pick(0, 2000), pick(0, 2000), pick(0, 100),
                                        one_of({16, 32})));
            case 8:  // of shared memory
                return index(fmt::format("i%{0}/{1}*{2} + i%{1}*{3}", 1024, one_of({16, 32}),
                                         pick(0, 40), pick(0, 40)));
            case 9:
                return index(fmt::format("i%1024/32*32 + (i%32 ^ i%1024/32/{}*{} & 31)",
                                         one_of({1, 2, 4}), one_of({1, 2, 4})));
            case 10:  // down, by blocks at times
                return index(
                    pick(0, 1)
                        ? fmt::format("(n - 1 - i)*{}/{}", one_of({1, 3, 33, 64}), pick(1, 3))
                        : fmt::format("4000000 - bid*{} + tid", one_of({64, 200, 256})));
            default: return index(fmt::format("hash(i, {}, {})", pick(1, 5000), pick(0, 9)));
        }
    }
    std::mt19937 random_;
};

GlobalCounts sum(const Coalescer& coalescer, const Launch& launch, bool walk) {
    return sum_over_launch<GlobalCounts>(
        launch.program, launch.placement, launch.program.instructions[0],
        Sensitivity{.hashes_lines = coalescer.hashes_lines()},
        [&](const WarpAccess& access) { return coalescer.count(access); }, walk);
}

void expect_equal(const GlobalCounts& a, const GlobalCounts& b) {
    EXPECT_EQ(a.requests, b.requests);
    EXPECT_EQ(a.sectors, b.sectors);
    EXPECT_EQ(a.lines, b.lines);
    EXPECT_EQ(a.unique_bytes, b.unique_bytes);
    EXPECT_EQ(a.ideal_sectors, b.ideal_sectors);
    EXPECT_EQ(a.tag_wavefronts, b.tag_wavefronts);
    EXPECT_EQ(a.data_wavefronts, b.data_wavefronts);
    EXPECT_EQ(a.l2_requests, b.l2_requests);
    EXPECT_EQ(a.l2_sectors, b.l2_sectors);
    EXPECT_EQ(a.active_bytes, b.active_bytes);
    EXPECT_EQ(a.tag_doubts, b.tag_doubts);
    EXPECT_EQ(a.data_doubts, b.data_doubts);
    EXPECT_EQ(a.traffic_doubts, b.traffic_doubts);
}

TEST(LaunchSum, the_sum_by_periods_equals_the_walk_with_and_without_a_hash) {
    for (const char* machine : {"9.0", "8.0"}) {
        const Coalescer coalescer(*find_machine(machine).rules);
        LaunchMaker maker(1);
        for (unsigned i = 0; i < 3000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
            SCOPED_TRACE(std::string(machine) + " launch " + std::to_string(i));
            const Launch launch = maker.make();
            expect_equal(sum(coalescer, launch, false), sum(coalescer, launch, true));
        }
    }
}

TEST(LaunchSum, a_large_launch_costs_no_more_evaluations_than_a_small_one) {
    const Coalescer coalescer(*find_machine("9.0").rules);
    const auto evaluations = [&](std::uint64_t threads) {
        Program program;
        program.threads = threads;
        program.arrays = {{"a", 4, threads + 33}};
        program.instructions = {
            {AccessKind::load, Space::global, 4, 0, index_of("i*33 + 1", threads)}};
        std::uint64_t count = 0;
        sum_over_launch<GlobalCounts>(program, {}, program.instructions[0],
                                      Sensitivity{.hashes_lines = true},
                                      [&](const WarpAccess& access) {
                                          ++count;
                                          return coalescer.count(access);
                                      });
        return count;
    };
    // 64 residues of the 4224-byte step in an 8192-byte window, and per residue one evaluation for
    // each number of trailing ones that occurs: 5 more for 2^10 times as many warps.
    EXPECT_LE(evaluations(1ull << 30), evaluations(1ull << 20) + 64 * 10);
    EXPECT_LE(evaluations(1ull << 30), 64u * 30u);
}

Program columns_of(std::uint64_t rows, std::uint64_t pitch, AccessKind kind) {
    Program program;
    program.threads = rows * pitch;
    program.arrays = {{"a", 4, rows * pitch}};
    program.instructions = {
        {kind, Space::global, 4, 0,
         index_of(fmt::format("i%{0}*{1} + i/{0}", rows, pitch), program.threads)}};
    return program;
}

// The stores of a naive transpose: lanes a power of two apart move as one until they carry into the
// bits in which they differ.
TEST(LaunchSum, of_lanes_a_power_of_two_apart_equals_the_walk) {
    const Coalescer coalescer(*find_machine("9.0").rules);
    for (const AccessKind kind : {AccessKind::store, AccessKind::reduce})
        for (const auto& [rows, pitch] :
             {std::pair<std::uint64_t, std::uint64_t>{32, 1 << 13}, {64, 1 << 12}, {32, 1 << 12}})
            for (const std::uint64_t base : {0ull, 0x7F12'3456'7800ull, (1ull << 34) - 4096}) {
                SCOPED_TRACE(rows);
                const Launch launch{columns_of(rows, pitch, kind), {{base}}};
                expect_equal(sum(coalescer, launch, false), sum(coalescer, launch, true));
            }
}

// 2^30 threads: 2^25 warps down columns that are 2^27 bytes apart. Each of the 64 places in 256
// bytes is looked at, once or twice.
TEST(LaunchSum, of_lanes_a_power_of_two_apart_is_quick) {
    const Coalescer coalescer(*find_machine("9.0").rules);
    const Program program = columns_of(32, 1 << 25, AccessKind::store);
    const Sensitivity sensitivity{.hashes_lines = true};
    EXPECT_FALSE(costs_too_much(program, {}, program.instructions[0], sensitivity));
    int evaluations = 0;
    sum_over_launch<GlobalCounts>(program, {}, program.instructions[0], sensitivity,
                                  [&](const WarpAccess& access) {
                                      ++evaluations;
                                      return coalescer.count(access);
                                  });
    EXPECT_LE(evaluations, 128);
}

// Lanes an odd distance apart: the hash makes nearly every warp differ from every other.
TEST(LaunchSum, that_takes_too_long_does_without_the_hash) {
    const Program program = columns_of(1000, 1 << 20 | 1, AccessKind::reduce);
    const Sensitivity sensitivity{.hashes_lines = true};
    EXPECT_TRUE(costs_too_much(program, {}, program.instructions[0], sensitivity));
    const Program small = columns_of(1000, 1 << 10 | 1, AccessKind::reduce);
    EXPECT_FALSE(costs_too_much(small, {}, small.instructions[0], sensitivity));

    const Coalescer coalescer(*find_machine("9.0").rules);
    const Program stores = columns_of(1000, 1 << 10 | 1, AccessKind::store);
    const GlobalCounts exact = sum(coalescer, {stores, {}}, true);
    const GlobalCounts without = sum(coalescer.without_hash(), {stores, {}}, false);
    EXPECT_EQ(without.sectors, exact.sectors);
    EXPECT_EQ(without.lines, exact.lines);
    EXPECT_EQ(without.l2_requests, exact.l2_requests);
    EXPECT_TRUE(has(without.tag_doubts, Doubt::hash_not_summed));
    EXPECT_NE(reason_of(without.tag_doubts).find("smaller --size"), std::string_view::npos);
}

Program scattered(std::uint64_t threads, std::uint32_t block) {
    Program program;
    program.threads = threads;
    program.block = block;
    program.arrays = {{"a", 4, 3000}};
    program.instructions = {
        {AccessKind::load, Space::global, 4, 0, index_of("hash(i, 3000, 5)", threads, block)}};
    return program;
}

// 200,000 threads are seven pieces of a walk, the last of which ends within a warp.
TEST(LaunchSum, of_a_walk_is_the_same_for_every_count_of_threads) {
    const Coalescer coalescer(*find_machine("9.0").rules);
    for (const std::uint32_t block : {256u, 33u, 1000u}) {
        const Launch launch{scattered(200'000 - 7, block), {}};
        std::vector<GlobalCounts> sums;
        for (const unsigned threads : {1u, 2u, 3u, 8u}) {
            set_thread_count(threads);
            sums.push_back(sum(coalescer, launch, true));
        }
        set_thread_count(processors_of_this_process());
        for (const GlobalCounts& one : sums) expect_equal(one, sums.front());
        // Every block ends in a partial warp where it is not made of whole ones.
        const std::uint64_t blocks = 199'993 / block;
        const std::uint64_t rest = 199'993 % block;
        EXPECT_EQ(sums.front().requests, blocks * ((block + 31) / 32) + (rest + 31) / 32);
        EXPECT_EQ(sums.front().active_bytes, 199'993u * 4);
    }
}

TEST(LaunchSum, that_is_stopped_in_another_thread_stops) {
    const Program program = scattered(1 << 20, 256);
    std::atomic<int> warps{0};
    for (const unsigned threads : {1u, 4u}) {
        set_thread_count(threads);
        EXPECT_THROW(sum_over_launch<GlobalCounts>(program, {}, program.instructions[0], {},
                                                   [&](const WarpAccess&) -> GlobalCounts {
                                                       if (++warps % 2048 == 0) throw Stopped{};
                                                       return {};
                                                   }),
                     Stopped);
    }
    set_thread_count(processors_of_this_process());
    EXPECT_LT(warps, 1 << 15);
}

TEST(WarpsWalked, are_those_that_repeat_no_other) {
    Program program = columns_of(32, 1 << 10, AccessKind::load);
    EXPECT_EQ(warps_walked(program, program.instructions[0]), 1u);
    program.instructions[0].formula = index_of("hash(i, 1000)", program.threads);
    EXPECT_EQ(warps_walked(program, program.instructions[0]), 1u << 10);
}

bool truly_share(const Launch& launch, std::uint64_t unit_bytes) {
    std::map<std::uint64_t, std::uint64_t> owner;
    std::uint64_t warp = 0;
    bool share = false;
    each_family(launch.program, launch.placement, launch.program.instructions[0], true,
                [&](const WarpFamily& family) {
                    ++warp;
                    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                        if ((family.access.active_lanes >> lane & 1) == 0) continue;
                        const std::uint64_t unit = family.access.addresses[lane] / unit_bytes;
                        if (owner.emplace(unit, warp).first->second != warp) share = true;
                    }
                });
    return share;
}

TEST(LaunchSum, warps_said_to_share_no_line_or_sector_share_none) {
    LaunchMaker maker(2);
    std::array<int, 2> proven{}, unproven{};  // of lines and of sectors
    for (unsigned i = 0; i < 6000 / fewer_cases; ++i) {
        const auto launch = maker.make();
        const auto& [program, placement] = launch;
        const Instruction& one = program.instructions[0];
        for (const bool of_sectors : {false, true}) {
            const bool proof = of_sectors ? warps_share_no_sector(program, placement, one)
                                          : warps_share_no_line(program, placement, one);
            const bool truth = !truly_share(launch, of_sectors ? sector_bytes : line_bytes);
            ASSERT_TRUE(truth || !proof) << "launch " << i;
            proven[of_sectors] += proof;
            unproven[of_sectors] += truth && !proof;
        }
    }
    // The proof must be worth having: it finds most launches that share nothing.
    for (const std::size_t unit : {0u, 1u}) {
        EXPECT_GT(proven[unit], 500 / static_cast<int>(fewer_cases));
        EXPECT_LT(unproven[unit], proven[unit] / 2) << proven[unit] << " proven";
    }
}

TEST(LaunchSum, one_warp_shares_with_nobody) {
    Program program;
    program.arrays = {{"a", 4, 64}};
    for (const std::uint64_t threads : {1u, 20u, 32u}) {
        program.threads = threads;
        for (const Formula& formula :
             {index_of("i + 1", threads), index_of("i*3", threads), index_of("i/2", threads)}) {
            program.instructions = {{AccessKind::load, Space::global, 4, 0, formula}};
            EXPECT_TRUE(warps_share_no_line(program, {}, program.instructions[0])) << threads;
        }
    }
    program.threads = 33;
    program.instructions = {{AccessKind::load, Space::global, 4, 0, index_of("i + 1", 33)}};
    EXPECT_FALSE(warps_share_no_line(program, {}, program.instructions[0]));
}

// A matrix of 320 x 192 elements by rows of tiles and down its columns. In tiles of 64 every warp
// has a line of its own of 4 bytes; two bytes are half a line to each. In tiles of 16, two rows to
// a warp, a line has two warps of 4 bytes, but no sector has.
TEST(LaunchSum, warps_of_tiles_share_lines_and_sectors_by_their_width) {
    for (const std::uint64_t side : {64u, 16u})
        for (const std::string& tiles : {tiles_text(320 / side, side, side * 320, 320, side),
                                         tiles_text(192 / side, side * 320, side, 320, side)})
            for (const std::uint32_t bytes : {1u, 2u, 4u, 8u}) {
                Launch launch;
                launch.program.threads = 320 * 192;
                launch.program.arrays = {{"a", bytes, launch.program.threads}};
                launch.program.instructions = {{AccessKind::load, Space::global, bytes, 0,
                                                index_of(tiles, launch.program.threads)}};
                launch.program.instructions[0].takes_all = true;
                launch.placement.base_addresses = {0};
                const auto& [program, placement] = launch;
                const Instruction& load = program.instructions[0];
                const bool has_sectors = side == 64 || bytes >= 2;
                const bool has_lines = bytes >= (side == 64 ? 4 : 8);
                EXPECT_EQ(warps_share_no_sector(program, placement, load), has_sectors);
                EXPECT_EQ(warps_share_no_line(program, placement, load), has_lines);
                EXPECT_EQ(truly_share(launch, sector_bytes), !has_sectors);
                EXPECT_EQ(truly_share(launch, line_bytes), !has_lines);
            }
}

TEST(EndingInOnes, counts_like_a_loop) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t first = random() >> (random() % 64);
        const std::uint64_t step = random() >> (random() % 64);
        const std::uint64_t count = 1 + random() % 50;
        std::map<std::uint32_t, Occurrences> expected;
        for (std::uint64_t x = 0; x < count; ++x) {
            auto& found = expected[static_cast<std::uint32_t>(std::countr_one(first + x * step))];
            if (found.count++ == 0) found.first_position = x;
        }
        for (std::uint32_t ones = 0; ones < 64; ++ones) {
            const Occurrences found = ending_in_ones(first, step, count, ones);
            ASSERT_EQ(found.count, expected[ones].count) << first << " " << step << " " << ones;
            if (found.count > 0) {
                ASSERT_EQ(found.first_position, expected[ones].first_position);
            }
        }
    }
}

}  // namespace
}  // namespace coalprof
