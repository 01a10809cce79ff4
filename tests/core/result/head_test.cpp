// The parts of a head as named values: what is written can be read, and is then what it was.
#include "core/result/head.h"

#include <gmock/gmock.h>

#include <stdexcept>

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

NamedValues sweep_of_a_transpose() {
    return values_of(SweepFacts{.pattern = "transpose",
                                .op = "copy",
                                .size_bytes = 4096,
                                .settings = {{"dscm", "wb"}, {"path", "ld"}},
                                .variant = "padded",
                                .tile = 32,
                                .more = {{"pitch", "auto"}, {"dlcm", "ca"}},
                                .repeat = 20,
                                .cache = "cold"});
}

TEST(Head, holds_only_what_is_there_in_the_order_of_files) {
    EXPECT_THAT(sweep_of_a_transpose(),
                ElementsAre(Pair("pattern", Value{"transpose"}), Pair("op", Value{"copy"}),
                            Pair("size_bytes", Value{4096}), Pair("dscm", Value{"wb"}),
                            Pair("path", Value{"ld"}), Pair("variant", Value{"padded"}),
                            Pair("tile", Value{32}), Pair("pitch", Value{"auto"}),
                            Pair("dlcm", Value{"ca"}), Pair("repeat", Value{20}),
                            Pair("cache", Value{"cold"})));
    EXPECT_THAT(values_of(MeasuredDevice{}), IsEmpty());
}

TEST(Head, is_read_as_it_was_written) {
    EXPECT_EQ(values_of(sweep_from(sweep_of_a_transpose())), sweep_of_a_transpose());
    const MeasuredDevice device{.index = 0,
                                .name = "NVIDIA H200",
                                .memory_bytes = ~std::uint64_t{0},
                                .ecc = false,
                                .read_ceiling = 4.5e12,
                                .copy_ceiling = Unavailable{"no memory for it"},
                                .start = 3.3e-6};
    EXPECT_THAT(values_of(device), testing::Contains(Pair("start_seconds", Value{3.3e-6})));
    EXPECT_EQ(values_of(device_from(values_of(device))), values_of(device));
    const MachineFacts machine{
        .name = "h200", .evidence = "rules measured", .board = "NVIDIA H200"};
    EXPECT_EQ(values_of(machine_from(values_of(machine))), values_of(machine));
}

TEST(Head, finds_members_by_name_and_lists_by_place) {
    const SweepFacts sweep = sweep_from(sweep_of_a_transpose());
    EXPECT_EQ(sweep.tile, 32u);
    EXPECT_EQ(sweep.cache, "cold");
    EXPECT_THAT(sweep.settings, ElementsAre(Pair("dscm", Value{"wb"}), Pair("path", Value{"ld"})));
    EXPECT_THAT(sweep.more, ElementsAre(Pair("pitch", Value{"auto"}), Pair("dlcm", Value{"ca"})));
}

// Titles name a modifier that somebody chose, and no other.
TEST(Head, knows_from_its_place_whether_a_modifier_of_loads_was_chosen) {
    const NamedValues chosen{{"pattern", "offset"}, {"dlcm", "cg"}, {"dscm", "wb"}};
    const NamedValues usual{{"pattern", "offset"}, {"dscm", "wb"}, {"dlcm", "cg"}, {"seed", 2}};
    EXPECT_THAT(sweep_from(chosen).settings,
                ElementsAre(Pair("dlcm", Value{"cg"}), Pair("dscm", Value{"wb"})));
    EXPECT_THAT(sweep_from(usual).settings, ElementsAre(Pair("dscm", Value{"wb"})));
    for (const NamedValues& values : {chosen, usual})
        EXPECT_EQ(values_of(sweep_from(values)), values);
}

TEST(Head, keeps_what_later_versions_add) {
    const NamedValues later{{"name", "h300"}, {"rubin_mode", "on"}};
    EXPECT_EQ(values_of(machine_from(later)), later);
    EXPECT_EQ(values_of(sweep_from({{"cache", "warm"}, {"grid", "8x8"}})),
              (NamedValues{{"grid", "8x8"}, {"cache", "warm"}}));
}

TEST(Head, names_what_is_of_another_kind) {
    const auto complaint = [](const NamedValues& values) -> std::string {
        try {
            sweep_from(values);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return {};
    };
    EXPECT_EQ(complaint({{"pattern", 7}}), "pattern");
    EXPECT_EQ(complaint({{"size_bytes", "much"}}), "size_bytes");
    EXPECT_EQ(complaint({{"size_bytes", -1}}), "size_bytes");
    EXPECT_EQ(complaint({{"pattern", "offset"}, {"tile", 1.5}}), "tile");
}

}  // namespace
}  // namespace coalprof
