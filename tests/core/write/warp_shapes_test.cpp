// Where lanes go, packed for a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/write/source_lines.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

// Lane n at first + n * step, of those that are active.
PointWarp warp_of(std::uint64_t first, std::uint64_t step, std::uint32_t active = all_lanes) {
    WarpAccess access;
    access.active_lanes = active;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = first + step * lane;
    return {.index = 3, .instructions = {{"load a", access}}};
}

TEST(WarpShapes, count_offsets_from_the_line_of_the_lowest_address) {
    WarpShapes shapes;
    shapes.add(warp_of(1024 + 132, 4));
    EXPECT_THAT(shapes.shapes(), ElementsAre(R"([["load a",4,[0,32,4,4]]])"));
    EXPECT_THAT(shapes.warps(), ElementsAre(3));
}

TEST(WarpShapes, hold_each_shape_once) {
    WarpShapes shapes;
    shapes.add(warp_of(0, 4));
    shapes.add(warp_of(4, 4));
    shapes.add(std::nullopt);
    shapes.add(warp_of(1280, 4));
    EXPECT_EQ(shapes.shapes().size(), 2u);
    EXPECT_THAT(shapes.of_points(), ElementsAre(0, 1, -1, 0));
}

// Lanes 0, 1 and 30 take part; a lane that goes back is a step below 0.
TEST(WarpShapes, leave_out_lanes_that_do_nothing) {
    WarpShapes shapes;
    shapes.add(warp_of(0, 8, 0x4000'0003));
    shapes.add(warp_of(124, ~std::uint64_t{3}));
    EXPECT_THAT(shapes.shapes(), ElementsAre(R"([["load a",4,[0,2,0,8,30,1,240,0]]])",
                                             R"([["load a",4,[0,32,124,-4]]])"));
}

TEST(WarpShapes, stop_where_a_page_would_grow_too_large) {
    WarpShapes shapes;
    for (std::uint64_t k = 1; k < 100'000; ++k) shapes.add(warp_of(0, 4 * k));
    EXPECT_TRUE(shapes.is_full());
    std::size_t bytes = 0;
    for (const std::string& shape : shapes.shapes()) bytes += shape.size();
    EXPECT_LE(bytes, 100'000u);
    EXPECT_EQ(shapes.of_points().size(), 99'999u);
    EXPECT_EQ(shapes.of_points().back(), -1);
}

}  // namespace
}  // namespace coalprof
