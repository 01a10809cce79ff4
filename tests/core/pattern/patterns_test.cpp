#include "core/sweep/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/count/launch_sum.h"
#include "core/count/predict.h"
#include "core/pattern/built.h"
#include "core/text/error.h"
#include "core/text/range.h"
#include "core/text/refusal.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

Plan plan_of(const std::string& pattern, std::uint64_t value, Op op = Op::load,
             ElementType type = ElementType::f32, std::uint64_t size_bytes = 1u << 20) {
    return built({.pattern = pattern,
                  .value = value,
                  .op = op,
                  .type = type,
                  .shape = {.size_bytes = size_bytes}});
}

Readings predicted(const Plan& plan, const char* machine = "h200") {
    return Predictor(find_machine(machine)).predict_launch(plan, {});
}

double number(const Readings& readings, Counter counter) { return number_in(readings[counter]); }

// --- the numbers that the field knows ------------------------------------------------------------

// Rows start at multiples of 480 bytes, that is at 0, 96, 64 or 32 bytes into a line: only every
// fourth on a line boundary. 512 is four lines.
TEST(KnownNumbers, a_row_of_480_bytes_straddles_lines_and_512_does_not) {
    const Readings straddling = predicted(plan_of("row", 480));
    const Readings aligned = predicted(plan_of("row", 512));
    EXPECT_EQ(number(aligned, Counter::load_lines), number(aligned, Counter::load_requests));
    EXPECT_GT(number(straddling, Counter::load_lines), number(straddling, Counter::load_requests));
    Plan pitched = plan_of("row", 480);
    pitched.options.pitch = "auto";
    build_program(pitched);
    const Readings mended = predicted(pitched);
    EXPECT_EQ(number(mended, Counter::load_lines), number(mended, Counter::load_requests));
}

// --- the transpose through tiles of shared memory
// --------------------------------------------------

Plan transpose_of(const char* variant, std::uint64_t width, ElementType type = ElementType::f32,
                  std::uint64_t size_bytes = 1u << 20, std::optional<std::uint64_t> tile = 32) {
    return built({.pattern = "transpose",
                  .value = width,
                  .op = Op::copy,
                  .type = type,
                  .shape = {.size_bytes = size_bytes},
                  .options = {.tile = tile, .variant = variant}});
}

// What b holds after the program, as indices of a: every block by itself, each instruction for all
// its threads before the next one.
std::vector<std::uint64_t> moved_by(const Program& program, std::uint64_t of_one_block) {
    constexpr std::uint32_t a = 0, b = 2;
    std::vector<std::uint64_t> result(program.arrays[b].elements, ~0ull);
    for (std::uint64_t begin = 0; begin < program.threads; begin += of_one_block) {
        std::vector<std::uint64_t> tile(program.arrays[1].elements, ~0ull);
        std::vector<std::vector<std::uint64_t>> values;  // by instruction and thread
        for (const Instruction& one : program.instructions) {
            auto& of_one = values.emplace_back(of_one_block);
            for (std::uint64_t k = 0; k < of_one_block; ++k) {
                std::uint64_t element = 0;
                one.formula->evaluate(begin + k, 1, &element);
                auto& memory = one.array == b ? result : tile;
                if (one.kind == AccessKind::load)
                    of_one[k] = one.array == a ? element : memory.at(element);
                else
                    memory.at(element) = values[*one.value_of][k];
            }
        }
    }
    return result;
}

TEST(TiledTranspose, is_a_transpose) {
    for (const auto& [variant, tile] : {std::pair{"tile", 16u},
                                        {"padded", 16u},
                                        {"tile", 32u},
                                        {"padded", 32u},
                                        {"padded", 64u},
                                        {"swizzled", 16u},
                                        {"swizzled", 32u},
                                        {"swizzled", 64u}})
        for (const std::uint64_t width : {1u, 2u, 10u}) {
            const Plan plan = transpose_of(variant, width * tile, ElementType::f32, 1 << 18, tile);
            const std::uint64_t height = plan.program.threads / plan.value;
            const auto moved = moved_by(plan.program, plan.shape.block * plan.shape.per_thread);
            for (std::uint64_t y = 0; y < height; ++y)
                for (std::uint64_t x = 0; x < plan.value; ++x)
                    ASSERT_EQ(moved[x * height + y], y * plan.value + x) << variant << " " << tile;
            // And that is what is said of b, which measurements are checked against.
            const Origin& origin = plan.program.arrays[2].origin.value();
            EXPECT_EQ(origin.array, 0u);
            for (std::uint64_t e = 0; e < moved.size(); ++e) {
                std::uint64_t from = 0;
                origin.formula->evaluate(e, 1, &from);
                ASSERT_EQ(moved[e], from);
            }
        }
}

// Both sides go along rows of 32 floats: a line each, and nothing of it is shared, so that L2 is
// asked once for each. In the tile a row is 32 banks, a column one: 32 passes, 31 too many. With a
// word of padding neighbouring lanes are 33 words apart: 32 banks.
TEST(TiledTranspose, coalesces_both_sides_and_moves_the_cost_to_the_banks) {
    const double warps = (1u << 20) / 128;
    for (const char* variant : {"tile", "padded"}) {
        const Readings readings = predicted(transpose_of(variant, 1024));
        for (const Counter counter :
             {Counter::load_requests, Counter::load_lines, Counter::l2_read_requests,
              Counter::store_requests, Counter::store_lines, Counter::l2_write_requests,
              Counter::shared_load_requests, Counter::shared_store_requests,
              Counter::shared_store_wavefronts})
            EXPECT_EQ(number(readings, counter), warps) << key_of(counter);
        for (const Counter counter : {Counter::load_sectors, Counter::l2_read_sectors,
                                      Counter::store_sectors, Counter::l2_write_sectors})
            EXPECT_EQ(number(readings, counter), 4 * warps) << key_of(counter);
        const bool is_padded = std::string(variant) == "padded";
        EXPECT_EQ(number(readings, Counter::shared_load_wavefronts), (is_padded ? 1 : 32) * warps);
        EXPECT_EQ(number(readings, Counter::shared_load_conflicts), (is_padded ? 0 : 31) * warps);
        EXPECT_EQ(number(readings, Counter::useful_bytes), 2 << 20);
    }
}

// Two rows of 16 floats to a warp. Unpadded, a column has two banks, and two columns of it four: 8
// of 32 lanes to each. With 18 words to a row the two columns lie in the even and the odd banks,
// but the last two of a warp's 16 + 2 + 16 words in a row are the banks of the first two. Both ways
// the global accesses are 64 bytes of two lines each.
TEST(TiledTranspose, of_16_columns_takes_two_rows_to_a_warp) {
    const double warps = (1u << 20) / 128;
    for (const char* variant : {"tile", "padded"}) {
        const Readings readings =
            predicted(transpose_of(variant, 1024, ElementType::f32, 1u << 20, 16));
        for (const Counter counter : {Counter::load_sectors, Counter::l2_read_sectors,
                                      Counter::store_sectors, Counter::l2_write_sectors})
            EXPECT_EQ(number(readings, counter), 4 * warps) << key_of(counter);
        EXPECT_EQ(number(readings, Counter::load_lines), 2 * warps);
        EXPECT_EQ(number(readings, Counter::l1_hit_sectors), 0);
        const bool is_padded = std::string(variant) == "padded";
        EXPECT_EQ(number(readings, Counter::shared_load_wavefronts), (is_padded ? 1 : 8) * warps);
        EXPECT_EQ(number(readings, Counter::shared_store_wavefronts), (is_padded ? 2 : 1) * warps);
    }
}

// Passes of a warp that stores rows and loads columns of a tile of 16 with rows of so many
// elements, by the banks alone: 32 lanes of up to 4 bytes go together, 16 of 8, 8 of 16.
std::uint64_t passes_of_16_columns(std::uint64_t pitch, std::uint64_t bytes) {
    const std::uint64_t together = std::min<std::uint64_t>(32, 128 / bytes);
    std::uint64_t passes = 0;
    for (const bool is_column : {false, true})
        for (std::uint64_t first = 0; first < 32; first += together) {
            std::array<std::set<std::uint64_t>, 32> words;  // of each bank
            for (std::uint64_t lane = first; lane < first + together; ++lane) {
                const std::uint64_t element =
                    is_column ? lane % 16 * pitch + lane / 16 : lane / 16 * pitch + lane % 16;
                for (std::uint64_t byte = 0; byte < bytes; ++byte)
                    words[(element * bytes + byte) / 4 % 32].insert((element * bytes + byte) / 4);
            }
            passes += std::ranges::max_element(words, {}, &std::set<std::uint64_t>::size)->size();
        }
    return passes;
}

TEST(TiledTranspose, of_16_columns_has_the_padding_that_takes_the_fewest_passes) {
    for (const std::string_view name : element_type_list()) {
        const ElementType type = *find_element_type(name);
        if (bytes_of(type) > 16) continue;  // shared memory takes no more of a lane
        const Readings readings = predicted(transpose_of("padded", 1024, type, 1u << 20, 16));
        const double passes = number(readings, Counter::shared_load_wavefronts) +
                              number(readings, Counter::shared_store_wavefronts);
        std::uint64_t fewest = ~0ull;
        for (std::uint64_t padding = 0; padding <= 32; ++padding)
            fewest = std::min(fewest, passes_of_16_columns(16 + padding, bytes_of(type)));
        EXPECT_EQ(passes / number(readings, Counter::shared_load_requests), fewest) << name;
    }
}

// Rows of 9, 17 and 33 words of 1, 2 and 4 bytes are odd, so that 32 rows have 32 banks; rows of 33
// elements of 8 and 16 bytes likewise part the 16 and 8 lanes that go together. A swizzle needs no
// more room than the tile itself, and parts tiles of 16 columns as well.
TEST(TiledTranspose, is_free_of_conflicts_with_padding_or_a_swizzle_for_every_type) {
    for (const std::string_view name : element_type_list())
        for (const auto& [variant, tile] : {std::pair{"padded", 32u},
                                            {"padded", 64u},
                                            {"swizzled", 16u},
                                            {"swizzled", 32u},
                                            {"swizzled", 64u}}) {
            const ElementType type = *find_element_type(name);
            if (bytes_of(type) > 16 || (tile == 64 && bytes_of(type) == 16))
                continue;  // more than shared memory holds
            const Plan plan = transpose_of(variant, 1024, type, 1u << 20, tile);
            if (variant == std::string("swizzled")) {
                EXPECT_EQ(plan.program.arrays[1].elements, std::uint64_t{tile} * tile);
            }
            const Readings readings = predicted(plan);
            EXPECT_EQ(number(readings, Counter::shared_load_conflicts), 0) << name << " " << tile;
            EXPECT_EQ(number(readings, Counter::shared_store_conflicts), 0) << name << " " << tile;
        }
}

// Device memory sees what it sees of a copy. Where the banks may be slower, it does not decide.
TEST(TiledTranspose, is_as_fast_as_a_copy_when_padded) {
    constexpr std::uint64_t size_bytes = 64u << 20;  // more than L2 holds
    const Readings padded = predicted(transpose_of("padded", 1024, ElementType::f32, size_bytes));
    const Readings copy = predicted(plan_of("offset", 0, Op::copy, ElementType::f32, size_bytes));
    EXPECT_DOUBLE_EQ(number(padded, Counter::bandwidth_bytes_per_second),
                     number(copy, Counter::bandwidth_bytes_per_second));
    EXPECT_FALSE(is_number(predicted(transpose_of(
        "tile", 1024, ElementType::f32, size_bytes))[Counter::bandwidth_bytes_per_second]));
    // A small one fits in L2, and the speed of a copy would say nothing.
    EXPECT_FALSE(
        is_number(predicted(transpose_of("padded", 1024))[Counter::bandwidth_bytes_per_second]));
}

// On 1.x half-warps of 16 go through 16 banks: 16 passes down an unpadded column, none extra else.
TEST(TiledTranspose, is_predicted_for_every_generation) {
    const double half_warps = 2.0 * (1u << 20) / 128;
    const Readings tile = predicted(transpose_of("tile", 1024), "c870");
    EXPECT_EQ(number(tile, Counter::shared_load_wavefronts), 16 * half_warps);
    const Readings padded = predicted(transpose_of("padded", 1024), "c870");
    EXPECT_EQ(number(padded, Counter::shared_load_wavefronts), half_warps);
    EXPECT_EQ(number(padded, Counter::store_transactions), half_warps);
}

TEST(TiledTranspose, takes_whole_tiles_and_blocks_that_divide_them) {
    EXPECT_EQ(transpose_of("tile", 64).shape.per_thread, 4u);
    const auto refused = [](const char* variant, std::uint64_t width, std::uint32_t block,
                            std::uint32_t per_thread, std::uint64_t tile = 32) {
        return std::string(usage_error_of([&] {
                               built({.pattern = "transpose",
                                      .value = width,
                                      .op = Op::copy,
                                      .shape = {1u << 20, block, per_thread},
                                      .options = {.tile = tile, .variant = variant}});
                           }).what());
    };
    EXPECT_EQ(refused("tile", 64, 128, 1), "(accepted)");
    EXPECT_EQ(refused("padded", 64, 128, 8), "(accepted)");
    EXPECT_THAT(refused("tile", 100, 256, 1), testing::HasSubstr("multiples of 32"));
    EXPECT_THAT(refused("tile", 64, 96, 1), testing::HasSubstr("--block 96"));
    EXPECT_THAT(refused("tile", 64, 256, 2), testing::HasSubstr("--per-thread 2"));
    EXPECT_THAT(refused("tile", 1 << 14, 256, 1), testing::HasSubstr("--size 1MiB"));
    EXPECT_THAT(refused("tyle", 64, 256, 1), testing::HasSubstr("Did you mean 'tile'"));
    EXPECT_THAT(refused("tile", 64, 256, 1, 48), testing::HasSubstr("16, 32 or 64 columns"));
    EXPECT_THAT(refused("naive", 64, 256, 1, 64), testing::HasSubstr("has no tile"));
    EXPECT_THAT(refused("tile", 96, 256, 1, 64), testing::HasSubstr("multiples of 64"));
    EXPECT_THAT(refused("tile", 64, 32, 1, 64), testing::HasSubstr("tile of 4096 elements"));
    // A tile of 16 has rows for half a warp and elements for 256 threads.
    EXPECT_EQ(refused("tile", 48, 16, 1, 16), "(accepted)");
    EXPECT_EQ(refused("padded", 48, 256, 1, 16), "(accepted)");
    EXPECT_THAT(refused("tile", 48, 256, 1), testing::HasSubstr("--tile 16"));
    EXPECT_THAT(refused("tile", 48, 512, 1, 16),
                testing::HasSubstr("choose 16, 32, 64, 128 or 256 threads"));
    EXPECT_THAT(refused("tile", 48, 8, 1, 16), testing::HasSubstr("tile of 256 elements"));
    // 64 x 64 x 16 bytes.
    EXPECT_THAT([] { transpose_of("tile", 64, ElementType::f32x4, 1u << 20, 64); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr("65536 bytes")));
}

// Rows of 256 bytes where that is 64 elements or more; the user's word goes before. Widths that
// only the other tile divides are refused with the way out.
TEST(TiledTranspose, chooses_its_tile_by_the_width_of_an_element) {
    const auto per_thread = [](ElementType type, std::optional<std::uint64_t> tile) {
        return transpose_of("padded", 1024, type, 1u << 20, tile).shape.per_thread;
    };
    EXPECT_EQ(per_thread(ElementType::u8, std::nullopt), 64u * 64 / 256);
    EXPECT_EQ(per_thread(ElementType::f32, std::nullopt), 64u * 64 / 256);
    EXPECT_EQ(per_thread(ElementType::f64, std::nullopt), 32u * 32 / 256);
    EXPECT_EQ(per_thread(ElementType::f32x4, std::nullopt), 32u * 32 / 256);
    EXPECT_EQ(per_thread(ElementType::f32, 32), 32u * 32 / 256);
    EXPECT_THAT(
        [] { transpose_of("tile", 96, ElementType::f32, 1u << 20, std::nullopt); },
        testing::ThrowsMessage<UsageError>(testing::HasSubstr("multiples of 64, or --tile 32")));
    EXPECT_NO_THROW(transpose_of("naive", 96, ElementType::f32, 1u << 20, std::nullopt));
}

// Tiles go down a, and so along the rows of b.
TEST(TiledTranspose, takes_neighbouring_tiles_of_the_result_one_after_the_other) {
    const Program program = transpose_of("padded", 1024).program;
    const std::uint64_t height = program.threads / 1024;
    const auto element = [&](std::size_t instruction, std::uint64_t i) {
        std::uint64_t at = 0;
        program.instructions[instruction].formula->evaluate(i, 1, &at);
        return at;
    };
    constexpr std::uint64_t of_tile = 32 * 32;
    EXPECT_EQ(element(3, of_tile), 32u);         // b: the next 32 columns of its first rows
    EXPECT_EQ(element(0, of_tile), 32u * 1024);  // a: the next 32 rows
    EXPECT_EQ(element(3, height / 32 * of_tile), 32 * height);  // b: the next 32 rows
}

// --- laws ----------------------------------------------------------------------------------------

constexpr Op every_op[] = {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce};

std::vector<Plan> many_plans() {
    std::vector<Plan> plans;
    unsigned number = 0;
    for (const PatternInfo& pattern : pattern_catalog()) {
        for (const std::string_view type_name : element_type_list()) {
            const ElementType type = *find_element_type(type_name);
            for (const Op op : every_op) {
                std::vector<std::uint64_t> values =
                    parse_sized_range(pattern.default_range(bytes_of(type)), "--range").values;
                std::erase_if(values, [](std::uint64_t value) { return value > 1u << 16; });
                for (const std::uint64_t value : values) {
                    if (++number % fewer_cases != 0) continue;
                    try {
                        plans.push_back(
                            plan_of(std::string(pattern.name), value, op, type, 1 << 17));
                    } catch (const UsageError&) {
                        continue;  // atomics of types that have none, transposes of other ops
                    }
                }
            }
        }
    }
    for (const char* variant : {"tile", "padded"})
        for (const ElementType type : {ElementType::u8, ElementType::f32, ElementType::f64x2})
            plans.push_back(transpose_of(variant, 96, type, 1 << 17));
    return plans;
}

template <typename Visit>
void each_warp(const Program& program, Visit visit) {
    for (const Instruction& instruction : program.instructions) {
        if (instruction.space != Space::global) continue;
        each_family(program, {}, instruction, true,
                    [&](const WarpFamily& family) { visit(family.access); });
    }
}

bool is_global(const Plan& plan) {
    return plan.program.instructions.front().space == Space::global;
}

TEST(Laws, hold_for_every_pattern_of_global_memory_type_and_op) {
    const Coalescer coalescer(*find_machine("h200").rules);
    std::mt19937 random(7);
    const auto plans = many_plans();
    EXPECT_GT(plans.size(), 5000u / fewer_cases);
    for (const Plan& plan : plans) {
        if (!is_global(plan)) continue;
        SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value) + " " +
                     std::string(name_of(plan.op)) + " " + std::string(name_of(plan.type)));
        std::uint64_t seen = 0;
        each_warp(plan.program, [&](const WarpAccess& access) {
            if (++seen % 61 != 1 || access.active_lanes == 0) return;  // a sample of the warps
            const GlobalCounts counts = coalescer.count(access);
            const bool plain = access.kind == AccessKind::load || access.kind == AccessKind::store;
            ASSERT_EQ(counts.requests, 1u);
            ASSERT_GE(counts.sectors * sector_bytes, counts.unique_bytes);
            ASSERT_LE(counts.lines, counts.sectors);
            ASSERT_LE(counts.ideal_sectors, counts.sectors);
            if (!plain) return;
            ASSERT_LE(counts.sectors, 4 * counts.lines);
            ASSERT_LE(counts.tag_wavefronts, counts.lines);
            ASSERT_GE(4 * counts.tag_wavefronts, counts.lines);

            // The order of the lanes changes no sector.
            WarpAccess permuted = access;
            std::array<std::uint32_t, warp_lanes> order;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) order[lane] = lane;
            std::shuffle(order.begin(), order.end(), random);
            permuted.active_lanes = 0;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                permuted.addresses[lane] = access.addresses[order[lane]];
                permuted.active_lanes |= (access.active_lanes >> order[lane] & 1) << lane;
            }
            ASSERT_EQ(coalescer.count(permuted).sectors, counts.sectors);
            ASSERT_EQ(coalescer.count(permuted).lines, counts.lines);

            // A lane less costs no sector more.
            WarpAccess fewer = access;
            fewer.active_lanes &= ~(1u << random() % warp_lanes);
            ASSERT_LE(coalescer.count(fewer).sectors, counts.sectors);
        });
    }
}

// --- shared, constant and local memory -----------------------------------------------------------

// The trap of 16-wide tiles: a half-warp of a C870 has no conflict, while from 2.0 on lanes 0 and
// 31 of the whole warp meet in a bank: 15 * 17 + 1 = 256 words lie between them.
TEST(NearMemories, a_17_wide_tile_conflicts_where_whole_warps_are_served) {
    Plan plan = plan_of("shared-pad", 1);
    plan.options.tile = 16;
    build_program(plan);
    EXPECT_GT(number(predicted(plan, "h200"), Counter::shared_load_conflicts), 0);
    EXPECT_EQ(number(predicted(plan, "c870"), Counter::shared_load_conflicts), 0);
}

using Element = Index (*)(Index i);

struct Touched {
    const char* pattern;
    std::uint64_t value;
    Element element;  // in the order of threads, of 64 Ki floats
    PatternOptions options = {};
    std::size_t instruction = 0;
    Op op = Op::load;
};

// Rows of 100 floats have 4 warps; 256 KiB hold 655 of them, or 20 warps of a column. Rows of a
// table of pointers are 512 bytes apart.
const std::vector<Touched>& touched_elements() {
    static const std::vector<Touched> all{
        {"offset", 11, [](Index i) { return i + 11; }},
        {"stride", 3, [](Index i) { return i * 3; }},
        {"broadcast", 5, [](Index i) { return i / 5; }},
        {"permute", 17, [](Index i) { return i ^ 17; }},
        {"permute", 5, [](Index i) { return i / 32 * 32 + (i + 5) % 32; }, {.order = "rotate"}},
        {"permute",
         1,
         [](Index i) { return i / 32 * 32 + (32 - i % 32) % 32; },
         {.order = "reversed"}},
        {"scatter",
         400,
         [](Index i) {
             return Scatter{100, 7}(i);
         },
         {.seed = 7}},
        {"aos", 12, [](Index i) { return i * 3 + 1; }, {.member = 1}},
        {"soa", 12, [](Index i) { return (2ull << 16) + i; }, {.member = 2}},
        {"row", 400, [](Index i) { return i % 128 < 100 ? i / 128 * 100 + i % 128 : idle_lane; }},
        {"row",
         400,
         [](Index i) { return i % 128 < 100 ? i / 128 * 128 + i % 128 : idle_lane; },
         {.pitch = "auto"}},
        {"row",
         400,  // the contiguous array has no pitch
         [](Index i) { return i % 128 < 100 ? i / 128 * 100 + i % 128 : idle_lane; },
         {.pitch = "auto"},
         1,
         Op::copy},
        {"column", 400, [](Index i) { return i % 640 * 100 + i / 640; }},
        {"transpose", 96, [](Index i) { return i; }, {}, 0, Op::copy},
        {"transpose", 96, [](Index i) { return i % 96 * 682 + i / 96; }, {}, 1, Op::copy},
        {"indirect", 400, [](Index i) { return i / 100; }},
        {"indirect", 400, [](Index i) { return i / 100 * 128 + i % 100; }, {}, 1},
        {"shared-stride", 3, [](Index i) { return i % 32 * 3; }},
        {"shared-pad", 1, [](Index i) { return i % 32 * 33; }},
        {"shared-pad", 1, [](Index i) { return i % 16 * 17 + i % 32 / 16; }, {.tile = 16}},
        {"shared-broadcast", 5, [](Index i) { return i % 32 / 5; }},
        {"shared-random", 400,
         [](Index i) {
             return Scatter{100, 1}(i);
         }},
        {"constant", 5, [](Index i) { return i % 32 % 5; }},
        {"local", 5, [](Index i) { return i % 32 % 5; }},
    };
    return all;
}

std::vector<std::uint64_t> elements_of(const Plan& plan, std::size_t instruction) {
    std::vector<std::uint64_t> elements((plan.program.threads + 31) / 32 * 32);
    for (std::uint64_t first = 0; first < plan.program.threads; first += warp_lanes)
        plan.program.instructions[instruction].formula->evaluate(first, warp_lanes,
                                                                 elements.data() + first);
    return elements;
}

TEST(Programs, touch_the_elements_that_the_patterns_say) {
    for (const Touched& one : touched_elements()) {
        const Plan plan = built({.pattern = one.pattern,
                                 .value = one.value,
                                 .op = one.op,
                                 .shape = {.size_bytes = 1 << 18},
                                 .options = one.options});
        const std::vector<std::uint64_t> elements = elements_of(plan, one.instruction);
        for (std::uint64_t i = 0; i < plan.program.threads; ++i)
            ASSERT_EQ(elements[i], one.element(i)) << one.pattern << " " << one.value << " " << i;
    }
    for (const PatternInfo& pattern : pattern_catalog())
        EXPECT_TRUE(std::ranges::any_of(touched_elements(), [&](const Touched& one) {
            return one.pattern == pattern.name;
        })) << pattern.name;
}

// Every warp takes its 32 elements in one order, which seed and parameter change.
TEST(Programs, shuffle_the_lanes_of_every_warp_alike) {
    std::set<std::vector<std::uint64_t>> orders;
    for (const std::uint64_t seed : {1u, 2u})
        for (const std::uint64_t value : {0u, 1u, 1000u}) {
            const Plan plan = built({.pattern = "permute",
                                     .value = value,
                                     .shape = {.size_bytes = 1 << 16},
                                     .options = {.seed = seed, .order = "shuffle"}});
            const std::vector<std::uint64_t> elements = elements_of(plan, 0);
            std::vector<std::uint64_t> first(elements.begin(), elements.begin() + 32);
            for (std::uint64_t i = 0; i < elements.size(); ++i)
                ASSERT_EQ(elements[i], i / 32 * 32 + first[i % 32]);
            EXPECT_TRUE(orders.insert(first).second);
            std::ranges::sort(first);
            for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(first[lane], lane);
        }
}

// No index may lie outside the array that the program asks for: a kernel would write elsewhere.
TEST(Programs, touch_no_element_outside_their_arrays) {
    for (const Plan& plan : many_plans())
        for (const Instruction& instruction : plan.program.instructions)
            each_family(plan.program, {}, instruction, true, [&](const WarpFamily& family) {
                if (family.access.active_lanes == 0) return;
                ASSERT_LT(extent_of(family.access).high,
                          plan.program.arrays[instruction.array].bytes())
                    << plan.pattern << " " << plan.value;
            });
}

TEST(Programs, of_what_makes_no_sense_are_refused) {
    EXPECT_THROW(plan_of("stride", 0), UsageError);
    EXPECT_THROW(plan_of("broadcast", 0), UsageError);
    EXPECT_THROW(plan_of("permute", 32), UsageError);
    EXPECT_THROW(plan_of("aos", 10), UsageError);                             // no whole floats
    EXPECT_THROW(plan_of("aos", 4, Op::load, ElementType::f64), UsageError);  // too small
    EXPECT_THROW(plan_of("offset", 0, Op::atomic, ElementType::u8), UsageError);
    EXPECT_THROW(plan_of("offset", 0, Op::load, ElementType::f32, 3), UsageError);
    EXPECT_THROW(plan_of("row", 1 << 21), UsageError);  // > --size
    EXPECT_THROW(plan_of("stride", ~0ull), UsageError);
    EXPECT_THROW(plan_of("offset", ~0ull), UsageError);
    EXPECT_THROW(plan_of("transpose", 32, Op::load), UsageError);
}

}  // namespace
}  // namespace coalprof
