// --path and --alloc: what predictions hold, what becomes unavailable, what is refused.
#include "core/count/load_path.h"

#include <gtest/gtest.h>

#include "core/count/predict.h"
#include "core/pattern/memory_settings.h"
#include "core/sweep/all_points.h"
#include "core/sweep/sweep.h"
#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

Plan plan_of(const std::string& pattern, Op op, LoadPath path, Allocation allocation,
             ElementType type = ElementType::f32) {
    Sweep sweep;
    sweep.pattern = pattern;
    sweep.values = {pattern == "constant" ? 1u : 3u};
    sweep.launch.op = op;
    sweep.launch.type = type;
    sweep.launch.shape.size_bytes = 1 << 16;
    sweep.launch.path = path;
    sweep.launch.allocation = allocation;
    sweep.machines = {find_machine("h200")};
    return SweepPoints(sweep).at(0).plan;
}
Plan on_path(LoadPath path, Op op = Op::copy) {
    return plan_of("offset", op, path, Allocation::device);
}
Plan in(Allocation allocation, Op op = Op::rmw) {
    return plan_of("offset", op, LoadPath::ld, allocation);
}

Readings predicted(const Plan& plan, const std::string& machine = "h200") {
    return Predictor(find_machine(machine)).predict_launch(plan, {});
}

bool is_unavailable(const Reading& reading) { return std::holds_alternative<Unavailable>(reading); }

std::string refusal_of(const std::string& pattern, Op op, LoadPath path, Allocation allocation,
                       ElementType type = ElementType::f32) {
    return usage_error_of([&] { plan_of(pattern, op, path, allocation, type); }).what();
}

// Measured on an H200: ld.global.nc is LDG.CONSTANT and counts as every other load.
TEST(LoadPath, read_only_loads_count_as_plain_ones_from_volta_on) {
    const Readings plain = predicted(on_path(LoadPath::ld));
    const Readings read_only = predicted(on_path(LoadPath::ldg));
    plain.each([&](Counter counter, const Reading& reading) {
        EXPECT_EQ(read_only[counter], reading) << key_of(counter);
    });
}

TEST(LoadPath, read_only_loads_hit_l1_whatever_the_default_modifier) {
    Plan plan = on_path(LoadPath::ldg);
    plan.cache.dlcm = LoadModifier::cg;
    EXPECT_FALSE(bypasses_l1(plan));
    // Offset 3: warps share lines, so hits depend on their order; past L1 there are none.
    EXPECT_TRUE(is_unavailable(predicted(plan)[Counter::l1_hit_sectors]));
    Plan past = on_path(LoadPath::ld);
    past.cache.dlcm = LoadModifier::cg;
    EXPECT_EQ(predicted(past)[Counter::l1_hit_sectors], Reading{std::uint64_t{0}});
}

TEST(LoadPath, older_machines_have_no_such_load_or_another_cache_for_it) {
    for (const char* machine : {"c2050", "k40", "gtx1080"}) {
        const Readings readings = predicted(on_path(LoadPath::ldg), machine);
        EXPECT_TRUE(is_unavailable(readings[Counter::load_transactions])) << machine;
        EXPECT_TRUE(is_unavailable(readings[Counter::bandwidth_bytes_per_second])) << machine;
        EXPECT_TRUE(is_number(readings[Counter::store_transactions])) << machine;
    }
}

// 2^14 floats are 512 warps; everything else about textures is the hardware's own.
TEST(LoadPath, texture_fetches_are_counted_apart) {
    const Readings readings = predicted(on_path(LoadPath::tex));
    EXPECT_EQ(readings[Counter::texture_requests], Reading{std::uint64_t{512}});
    for (const Counter counter : {Counter::texture_sectors, Counter::texture_hit_sectors,
                                  Counter::l2_read_requests, Counter::l2_read_sectors})
        EXPECT_TRUE(is_unavailable(readings[counter])) << key_of(counter);
    EXPECT_FALSE(is_present(readings[Counter::load_requests]));
    EXPECT_FALSE(is_present(readings[Counter::l1_hit_sectors]));
    EXPECT_TRUE(is_number(readings[Counter::store_sectors]));
    // Device memory moves the same blocks, whoever asks.
    EXPECT_EQ(readings[Counter::bandwidth_bytes_per_second],
              predicted(on_path(LoadPath::ld))[Counter::bandwidth_bytes_per_second]);
}

TEST(LoadPath, is_refused_where_a_launch_writes_what_it_reads_or_reads_nothing) {
    EXPECT_EQ(refusal_of("offset", Op::rmw, LoadPath::ldg, Allocation::device),
              "--path ldg: op rmw writes the array that it reads, and this path is for data that a "
              "launch leaves alone");
    EXPECT_EQ(refusal_of("offset", Op::store, LoadPath::tex, Allocation::device),
              "--path tex: op store loads nothing from global memory");
    EXPECT_EQ(refusal_of("offset", Op::atomic, LoadPath::ldg, Allocation::device),
              "--path ldg: op atomic loads nothing from global memory");
    EXPECT_EQ(refusal_of("constant", Op::load, LoadPath::ldg, Allocation::device),
              "--path ldg: constant keeps its data in constant memory, not in global memory");
    for (const Op op : {Op::load, Op::copy, Op::add})
        EXPECT_EQ(refusal_of("offset", op, LoadPath::ldg, Allocation::device), "(accepted)");
}

TEST(LoadPath, textures_have_texels_of_4_bytes_and_more) {
    for (const ElementType type : {ElementType::u8, ElementType::u16})
        EXPECT_NE(refusal_of("offset", Op::load, LoadPath::tex, Allocation::device, type),
                  "(accepted)");
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f32x4})
        EXPECT_EQ(refusal_of("offset", Op::load, LoadPath::tex, Allocation::device, type),
                  "(accepted)");
}

// What L1 is asked for depends on the addresses alone.
TEST(Allocation, changes_nothing_that_is_counted_before_l1_looks_anything_up) {
    const Readings usual = predicted(in(Allocation::device));
    for (const Allocation allocation :
         {Allocation::static_array, Allocation::managed, Allocation::host}) {
        const Readings readings = predicted(in(allocation));
        for (const Counter counter :
             {Counter::load_requests, Counter::load_sectors, Counter::load_lines,
              Counter::load_unique_bytes, Counter::store_requests, Counter::store_sectors})
            EXPECT_EQ(readings[counter], usual[counter]) << key_of(counter);
    }
}

TEST(Allocation, in_device_memory_of_any_kind_changes_nothing_at_all) {
    const Readings usual = predicted(in(Allocation::device));
    for (const Allocation allocation : {Allocation::static_array, Allocation::managed})
        usual.each([&](Counter counter, const Reading& reading) {
            EXPECT_EQ(predicted(in(allocation))[counter], reading) << key_of(counter);
        });
}

TEST(Allocation, on_the_host_leaves_caches_and_bandwidth_unknown) {
    const Readings readings = predicted(in(Allocation::host));
    for (const Counter counter :
         {Counter::l1_hit_sectors, Counter::l2_read_sectors, Counter::l2_write_requests,
          Counter::dram_read_bytes, Counter::bandwidth_bytes_per_second}) {
        ASSERT_TRUE(is_unavailable(readings[counter])) << key_of(counter);
        EXPECT_NE(std::get<Unavailable>(readings[counter]).reason.find("host memory"),
                  std::string_view::npos);
    }
}

TEST(Sweep, names_points_after_path_and_allocation_where_they_are_swept) {
    Sweep sweep;
    sweep.pattern = "offset";
    sweep.values = {1};
    sweep.launch.op = Op::load;
    take_option(sweep, "alloc", "device,static");
    take_option(sweep, "path", "ld,tex");
    sweep.machines = {find_machine("h200")};
    std::vector<std::string> names;
    for (const PlannedPoint& point : all_points(SweepPoints(sweep))) names.push_back(point.name);
    EXPECT_EQ(names, (std::vector<std::string>{
                         "offset=1 alloc=device path=ld", "offset=1 alloc=device path=tex",
                         "offset=1 alloc=static path=ld", "offset=1 alloc=static path=tex"}));
}

}  // namespace
}  // namespace coalprof
