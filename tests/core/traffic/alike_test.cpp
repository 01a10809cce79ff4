// Stores whose warps go to nearly the same lines as their neighbours, and lines that are stored to
// in whole sectors and in parts, measured launch by measured launch
// (tests/data/h200/alike.jsonl.gz).
#include <gtest/gtest.h>

#include "core/pattern/catalog.h"
#include "core/traffic/launches.h"

namespace coalprof {
namespace {

CacheTraffic lanes_apart(std::int64_t elements, Op op, ElementType type, std::uint64_t bytes,
                         std::uint32_t block, std::uint32_t per_thread = 1) {
    return caches_of(formula_of("lane*K + i/32", elements, op, type, bytes, block, per_thread));
}

// Measured on an H200: 112,614 requests of 131,072 warps to eleven lines each, which are 1.4
// million; all 16 warps of a block store to the same lines. Of updates 17,514 of 350,208.
TEST(CacheTraffic, of_neighbours_that_store_alike_leaves_a_request_for_each_line_of_a_block) {
    const CacheTraffic stores = lanes_apart(10, Op::store, ElementType::f32, 16 * mib, 512);
    EXPECT_NEAR(stores.l2_write_requests, 112'614, 0.3 * 112'614);
    const CacheTraffic updates = lanes_apart(10, Op::rmw, ElementType::f32, 4 * mib, 1024);
    EXPECT_NEAR(updates.l2_write_requests, 17'514, 0.2 * 17'514);
}

// Measured on an H200, of 131,072 warps' requests: bytes to 15 lines leave nearly as they are (1.77
// of 1.91 million); to nine lines they join (40,324 of 1.1 million), where words still do to 24
// (95,783 of 794,624, updated).
TEST(CacheTraffic, of_neighbours_that_store_alike_joins_while_their_lines_find_room) {
    EXPECT_NEAR(lanes_apart(56, Op::store, ElementType::u8, 4 * mib, 1024).l2_write_requests,
                1'767'764, 0.1 * 1'767'764);
    EXPECT_LT(lanes_apart(31, Op::store, ElementType::u8, 4 * mib, 1024).l2_write_requests,
              2 * 40'324);
    EXPECT_LT(lanes_apart(24, Op::rmw, ElementType::f32, 4 * mib, 1024).l2_write_requests,
              2 * 95'783);
}

// Measured on an H200: 3.9 million requests of 6.1 million, where a thread stores four elements.
TEST(CacheTraffic, of_neighbours_that_store_alike_joins_less_where_threads_store_several_elements) {
    EXPECT_NEAR(lanes_apart(11, Op::store, ElementType::f32, 64 * mib, 1024, 4).l2_write_requests,
                3'908'648, 0.3 * 3'908'648);
}

double seconds_of_lanes(std::int64_t lanes) {
    const Plan plan =
        formula_of("a[i] if lane < K", lanes, Op::store, ElementType::f32, 128 * mib, 1024);
    return launch_seconds(plan, "h200", CacheState::cold);
}

// Measured on an H200: 42.4 us where a warp stores a whole sector of its line and 111.2 where it
// stores an element of the next one as well; 45.9 and 105.7 us of three whole sectors.
TEST(Duration, of_lines_with_whole_and_open_sectors_is_what_completing_them_takes) {
    EXPECT_NEAR(seconds_of_lanes(8), 42.4e-6, 0.1 * 42.4e-6);
    EXPECT_NEAR(seconds_of_lanes(9), 111.2e-6, 0.15 * 111.2e-6);
    EXPECT_NEAR(seconds_of_lanes(24), 45.9e-6, 0.1 * 45.9e-6);
    EXPECT_NEAR(seconds_of_lanes(25), 105.7e-6, 0.15 * 105.7e-6);
}

// Measured on an H200: 6.52e7 bytes are read to complete 2.1 million sectors, a warp's last one
// each, whether seven of its elements are missing (9 lanes) or one (15, 23, 31).
TEST(DramTraffic, of_sectors_that_lack_an_element_reads_them) {
    const auto bytes_read = [](std::int64_t lanes) {
        const Plan plan =
            formula_of("a[i] if lane < K", lanes, Op::store, ElementType::f32, 256 * mib, 256);
        return estimate_of(plan, "h200", CacheState::cold, Counter::dram_read_bytes);
    };
    for (const std::int64_t lanes : {9, 15, 23, 31})
        EXPECT_NEAR(bytes_read(lanes), 6.52e7, 0.05 * 6.52e7) << lanes;
    EXPECT_EQ(bytes_read(16), 0);
}

}  // namespace
}  // namespace coalprof
