#include "core/program/trace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/json/json_tree.h"
#include "core/program/traced_kernels.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

const TracedKernel scale{.name = "_Z5scalePf", .grid = {64, 2, 1}, .block = {256, 1, 1}};

CountedLaunch launch_of(std::uint64_t number, std::uint64_t sectors, double seconds) {
    CountedLaunch launch{.number = number, .kernel = scale, .measured = {}};
    launch.measured[Counter::load_requests] = std::uint64_t{8};
    launch.measured[Counter::load_sectors] = sectors;
    launch.measured[Counter::duration_seconds] = seconds;
    launch.measured[Counter::dram_read_bytes] = Unavailable{"the GPU gave no value"};
    return launch;
}

class TraceFile : public ::testing::Test {
 protected:
    ~TraceFile() override { std::filesystem::remove(path); }
    void append(const std::string& text) { std::ofstream(path, std::ios::app) << text; }

    const std::string path = ::testing::TempDir() + "trace_" + std::to_string(::getpid());
};

TEST_F(TraceFile, is_read_as_it_was_written) {
    {
        TraceWriter writer(path, {.id = 42, .program = "/bin/\"app\""});
        writer.counted(launch_of(3, 32, 1e-6));
        writer.problem("no counters");
        writer.range("step");
        writer.unfinished("_Z5waitsPi");
        writer.loaded("/site/xla_cuda_plugin.so");
        writer.rewritable("_Z5scalePf");
        writer.lacks_ptx("it holds machine code");
        writer.unknown_code("it is of a kind that coalprof does not know");
        writer.rewritten(scale.name);
        writer.end({{scale, 7}});
    }
    const Trace trace = read_trace(path);
    EXPECT_EQ(trace.process.id, 42u);
    EXPECT_EQ(trace.process.program, "/bin/\"app\"");
    ASSERT_EQ(trace.counted.size(), 1u);
    EXPECT_EQ(trace.counted[0].number, 3u);
    EXPECT_EQ(trace.counted[0].kernel, scale);
    EXPECT_EQ(trace.counted[0].measured[Counter::load_sectors], Reading{std::uint64_t{32}});
    EXPECT_EQ(trace.counted[0].measured[Counter::duration_seconds], Reading{1e-6});
    EXPECT_EQ(trace.counted[0].measured[Counter::dram_read_bytes],
              Reading{Unavailable{"the GPU gave no value"}});
    EXPECT_THAT(trace.problems, ElementsAre("no counters"));
    EXPECT_THAT(trace.ranges, ElementsAre("step"));
    EXPECT_THAT(trace.unfinished, ElementsAre("_Z5waitsPi"));
    EXPECT_THAT(trace.libraries, ElementsAre("/site/xla_cuda_plugin.so"));
    EXPECT_THAT(trace.rewritable, ElementsAre("_Z5scalePf"));
    EXPECT_THAT(trace.lacks_ptx, ElementsAre("it holds machine code"));
    EXPECT_THAT(trace.unknown_code, ElementsAre("it is of a kind that coalprof does not know"));
    EXPECT_THAT(trace.rewritten, ElementsAre("_Z5scalePf"));
    EXPECT_EQ(trace.launches.value().at(scale), 7u);
}

// As daemons do with descriptors that they do not know.
TEST_F(TraceFile, is_written_on_where_the_program_closed_it_and_its_own_file_got_the_number) {
    const int number = ::open("/dev/null", O_RDONLY);
    ::close(number);  // the next to be given
    TraceWriter writer(path, {.id = 42, .program = "app"});
    const std::string own = path + "_own";
    const int other = ::open(own.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::dup2(other, number), number);
    writer.problem("no counters");
    writer.problem("none at all");
    EXPECT_EQ(std::filesystem::file_size(own), 0u);
    EXPECT_THAT(read_trace(path).problems, ElementsAre("no counters", "none at all"));
    ::close(other);
    ::close(number);
    std::filesystem::remove(own);
    std::filesystem::rename(path, path + "_gone");
    EXPECT_NO_THROW(writer.problem("the descriptor is enough"));
    std::filesystem::rename(path + "_gone", path);
}

TEST_F(TraceFile, of_a_killed_program_gives_what_is_whole) {
    {
        TraceWriter writer(path, {.id = 1, .program = "app"});
        writer.counted(launch_of(1, 32, 1e-6));
    }
    append(R"({"launch":2,"kernel":"_Z5sc)");
    const Trace trace = read_trace(path);
    EXPECT_EQ(trace.counted.size(), 1u);
    EXPECT_TRUE(trace.problems.empty());
    EXPECT_FALSE(trace.launches);
}

TEST_F(TraceFile, that_never_launched_says_so) {
    TraceWriter(path, {.id = 1, .program = "app"}).end({});
    EXPECT_TRUE(read_trace(path).launches.value().empty());
}

TEST_F(TraceFile, that_cannot_be_read_has_that_for_a_problem) {
    EXPECT_EQ(read_trace(path).problems.size(), 1u) << "it is not there";
    EXPECT_EQ(read_trace(::testing::TempDir()).problems.size(), 1u) << "the system reads no folder";
    for (const char* text : {"", "no json\n", "{}\n", "[1]\n", R"({"coalprof_trace":5,"proc)",
                             R"({"coalprof_trace":3})"
                             "\n",
                             R"({"coalprof_trace":"1"})"
                             "\n"}) {
        std::ofstream(path) << text;
        const Trace trace = read_trace(path);
        EXPECT_EQ(trace.problems.size(), 1u) << text;
        EXPECT_FALSE(trace.launches) << text;
    }
}

TEST_F(TraceFile, is_read_on_behind_a_line_that_is_too_long) {
    {
        TraceWriter writer(path, {.id = 1, .program = "app"});
        writer.problem(std::string(most_json_bytes + 1, 'x'));
        writer.range("behind");
    }
    const Trace trace = read_trace(path);
    EXPECT_EQ(trace.problems.size(), 1u);
    EXPECT_THAT(trace.ranges, ElementsAre("behind"));
}

// Of two PID namespaces, or one behind exec().
TEST_F(TraceFile, is_one_of_two_where_processes_have_one_number) {
    TraceWriter first(path + ".trace", {.id = 42, .program = "first"});
    TraceWriter second(path + ".trace", {.id = 42, .program = "second"});
    first.range("outer");
    second.range("inner");
    EXPECT_THAT(read_trace(first.path()).ranges, ElementsAre("outer"));
    EXPECT_THAT(read_trace(second.path()).ranges, ElementsAre("inner"));
    EXPECT_EQ(std::filesystem::path(second.path()).extension(), ".trace");
    std::filesystem::remove(first.path());
    std::filesystem::remove(second.path());
}

TEST_F(TraceFile, holds_the_times_that_were_written_last) {
    TraceWriter writer(path, {.id = 1, .program = "app"});
    writer.timed(scale, {.launches = 1, .median_seconds = 3e-6, .total_seconds = 3e-6});
    writer.timed(scale, {.launches = 2, .median_seconds = 2e-6, .total_seconds = 5e-6});
    const Trace trace = read_trace(path);
    ASSERT_EQ(trace.timed.size(), 1u);
    EXPECT_EQ(trace.timed.at(scale).launches, 2u);
    EXPECT_EQ(trace.timed.at(scale).median_seconds, 2e-6);
    EXPECT_EQ(trace.timed.at(scale).total_seconds, 5e-6);
}

TEST_F(TraceFile, with_lines_of_other_types_goes_on_behind_them) {
    {
        TraceWriter writer(path, {.id = 1, .program = "app"});
        writer.problem("one");
    }
    append("{\"launch\":\"x\",\"measured\":3}\n[]\n\n{\"problem\":\"two\"}\n");
    EXPECT_THAT(read_trace(path).problems, ::testing::Contains("two"));
}

// The median of 3 launches of 10, 30 and 20 us is 20; the 2 that were not counted take as much.
TEST(Kernels, have_the_median_of_their_launches) {
    Trace trace;
    trace.counted = {launch_of(1, 100, 10e-6), launch_of(2, 300, 30e-6), launch_of(3, 200, 20e-6)};
    trace.launches = {{scale, 5}};
    const auto kernels = summarize({trace});
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].counted, 3u);
    EXPECT_EQ(kernels[0].launches, 5u);
    EXPECT_EQ(kernels[0].measured[Counter::load_sectors], Reading{std::uint64_t{200}});
    EXPECT_EQ(kernels[0].measured[Counter::load_sectors_per_request], Reading{25.0});
    EXPECT_DOUBLE_EQ(kernels[0].total_seconds(), 100e-6);
    EXPECT_FALSE(is_number(kernels[0].measured[Counter::dram_read_bytes]));
}

// Two launches were counted, of 30 and 10 us; CUPTI recorded the 3 others, which took 9 us
// together.
TEST(Kernels, take_what_their_launches_took_together) {
    Trace trace;
    trace.counted = {launch_of(1, 100, 30e-6), launch_of(2, 100, 10e-6)};
    trace.launches = {{scale, 5}};
    trace.timed = {{scale, {.launches = 3, .median_seconds = 2e-6, .total_seconds = 9e-6}}};
    const auto kernels = summarize({trace});
    EXPECT_EQ(kernels[0].measured[Counter::duration_seconds], Reading{10e-6});
    EXPECT_DOUBLE_EQ(kernels[0].total_seconds(), 49e-6);
    trace.timed.at(scale) = {.launches = 4, .median_seconds = 2e-6, .total_seconds = 12e-6};
    EXPECT_DOUBLE_EQ(summarize({trace})[0].total_seconds(), 52e-6) << "of one it was not told";
}

// Records can be lost: 4 of 5 launches took 8 us, so all took 10. A kernel of CUPTI's own is none
// of the program's.
TEST(Kernels, are_timed_where_nothing_may_be_counted) {
    Trace trace;
    TracedKernel of_cupti = scale;
    of_cupti.name = "WaitNs";
    trace.launches = {{scale, 5}};
    trace.timed = {{scale, {.launches = 4, .median_seconds = 1e-6, .total_seconds = 8e-6}},
                   {of_cupti, {.launches = 1, .median_seconds = 1, .total_seconds = 1}}};
    const auto kernels = summarize({trace});
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_DOUBLE_EQ(kernels[0].total_seconds(), 10e-6);
    EXPECT_EQ(kernels[0].measured[Counter::duration_seconds], Reading{1e-6});
}

TEST(Kernels, of_all_processes_are_one_list_with_the_longest_first) {
    CountedLaunch other = launch_of(1, 32, 1.0);
    other.kernel.block = {128, 1, 1};
    Trace first;
    first.counted = {launch_of(1, 32, 1e-6)};
    first.launches = {{scale, 2}};
    Trace second;
    second.counted = {launch_of(1, 32, 1e-6), other};  // killed: launches are not known
    const auto kernels = summarize({first, second});
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].kernel.block[0], 128u);
    EXPECT_FALSE(kernels[0].launches);
    EXPECT_EQ(kernels[1].counted, 2u);
}

TEST(Kernels, take_their_use_of_sectors_from_the_second_run) {
    Trace hardware;
    hardware.counted = {launch_of(1, 64, 1e-6)};
    CountedLaunch patched{.number = 1, .kernel = scale, .measured = {}};
    patched.measured[Counter::load_sectors] = std::uint64_t{32};
    patched.measured[Counter::load_unique_bytes] = std::uint64_t{256};
    Trace use;
    use.counted = {patched};
    auto kernels = summarize({hardware});
    add_use(kernels, summarize({use}));
    // 256 bytes in 32 sectors are 8 bytes a sector, a quarter; the sectors stay the hardware's.
    EXPECT_EQ(kernels[0].measured[Counter::load_bytes_per_sector], Reading{8.0});
    EXPECT_EQ(kernels[0].measured[Counter::load_efficiency], Reading{0.25});
    EXPECT_EQ(kernels[0].measured[Counter::load_sectors], Reading{std::uint64_t{64}});
}

CountedLaunch without_time(std::uint64_t number, TracedKernel kernel, Counter counter,
                           Reading value) {
    CountedLaunch launch{.number = number, .kernel = std::move(kernel), .measured = {}};
    launch.measured[counter] = value;
    return launch;
}
Trace with_values(Counter counter, const std::vector<Reading>& values) {
    Trace trace;
    for (const Reading& value : values)
        trace.counted.push_back(without_time(trace.counted.size() + 1, scale, counter, value));
    return trace;
}

// Of an even number the lower of the two in the middle: a count that some launch had. A launch that
// the GPU gave no value leaves it to the others.
TEST(Kernels, have_the_lower_median_of_the_launches_that_have_a_value) {
    const Reading none = Unavailable{"the GPU gave no value"};
    const auto median = [](const std::vector<Reading>& values) {
        return summarize({with_values(Counter::load_sectors, values)})[0]
            .measured[Counter::load_sectors];
    };
    const auto of = [](std::uint64_t value) { return Reading{value}; };
    EXPECT_EQ(median({of(4), of(1), of(3), of(2)}), of(2));
    EXPECT_EQ(median({of(7), of(1)}), of(1));
    EXPECT_EQ(median({of(5)}), of(5));
    EXPECT_EQ(median({none, of(9), of(8), none, of(7)}), of(8));
    EXPECT_EQ(median({none, none}), none);
}

TEST(Kernels, vary_where_their_loads_or_their_stores_do) {
    for (const auto& [counter, varies] : {std::pair{Counter::load_sectors, true},
                                          {Counter::store_sectors, true},
                                          {Counter::l2_read_sectors, false}}) {
        const auto is_varying = [](const Trace& trace) {
            return summarize({trace})[0].sectors_vary;
        };
        EXPECT_EQ(is_varying(with_values(counter, {std::uint64_t{1}, std::uint64_t{2}})), varies);
        EXPECT_FALSE(is_varying(with_values(counter, {std::uint64_t{2}, std::uint64_t{2}})));
    }
}

// 3 launches of 10 stored sectors are more than one of 20 loaded; launches of both processes are
// added.
TEST(Kernels, without_time_are_ordered_by_the_sectors_of_all_launches) {
    TracedKernel stores = scale;
    stores.name = "_Z6storesPf";
    Trace first;
    first.counted = {without_time(1, scale, Counter::load_sectors, std::uint64_t{20}),
                     without_time(2, stores, Counter::store_sectors, std::uint64_t{10})};
    first.launches = {{scale, 1}, {stores, 2}};
    Trace second;
    second.launches = {{stores, 1}};
    const auto kernels = summarize({first, second});
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].kernel.name, stores.name);
    EXPECT_EQ(kernels[0].launches, 3u);
}

TEST(Kernels, take_the_use_of_what_they_store_from_the_second_run_too) {
    Trace hardware;
    hardware.counted = {launch_of(1, 64, 1e-6)};
    CountedLaunch patched{.number = 1, .kernel = scale, .measured = {}};
    patched.measured[Counter::store_sectors] = std::uint64_t{32};
    patched.measured[Counter::store_unique_bytes] = std::uint64_t{512};
    Trace use;
    use.counted = {patched};
    auto kernels = summarize({hardware});
    add_use(kernels, summarize({use}));
    EXPECT_EQ(kernels[0].measured[Counter::store_unique_bytes], Reading{std::uint64_t{512}});
    EXPECT_EQ(kernels[0].measured[Counter::store_bytes_per_sector], Reading{16.0});
    EXPECT_EQ(kernels[0].measured[Counter::store_efficiency], Reading{0.5});
}

// --- lines ---------------------------------------------------------------------------------------

TracedSite site_of(const std::string& id, std::uint64_t executed) {
    TracedSite traced{.id = id,
                      .site = {.function = "_Z5scalePf",
                               .source = {"/src/app.cu", 12},
                               .inlined_at = {},
                               .instruction = "ld.global.f32"},
                      .totals = {.executed = executed,
                                 .lanes = 32 * executed,
                                 .sectors = 12 * executed,
                                 .lines = 3 * executed,
                                 .places = 32 * executed,
                                 .ideal_sectors = 4 * executed,
                                 .needed_sectors = 4 * executed},
                      .samples = {}};
    WarpAccess warp{.active_lanes = 0b101, .width_bytes = 4};
    warp.addresses[0] = 1ull << 47;
    warp.addresses[2] = 24;
    traced.samples.push_back(warp);
    return traced;
}

TEST_F(TraceFile, tells_sites_as_they_were_told_last) {
    {
        TraceWriter writer(path, {.id = 1, .program = "app"});
        writer.site(site_of("0:0", 1));
        writer.site(site_of("0:1", 2));
        writer.site(site_of("0:0", 3));
    }
    const Trace trace = read_trace(path);
    ASSERT_EQ(trace.sites.size(), 2u);
    const TracedSite& read = trace.sites.at("0:0");
    EXPECT_EQ(read.totals.executed, 3u);
    EXPECT_EQ(read.totals.needed_sectors, 12u);
    EXPECT_EQ(read.site.source, (SourceLine{"/src/app.cu", 12}));
    ASSERT_EQ(read.samples.size(), 1u);
    EXPECT_EQ(read.samples[0].active_lanes, 0b101u);
    EXPECT_EQ(read.samples[0].addresses[0], 1ull << 47);
    EXPECT_EQ(read.samples[0].addresses[2], 24u);
}

TEST_F(TraceFile, with_a_site_that_is_damaged_gives_the_rest) {
    {
        TraceWriter writer(path, {.id = 1, .program = "app"});
        writer.site(site_of("0:0", 1));
    }
    append(
        R"({"site":"0:1","function":"f"})"
        "\n"
        R"({"site":"0:2","function":"f","source":["a",1],"inlined_at":["",0],"instruction":"ld",)"
        R"("kind":"none","space":"global","width":4,"totals":[1,1,1,1,1,1,1],"samples":[]})"
        "\n");
    const Trace trace = read_trace(path);
    EXPECT_EQ(trace.sites.size(), 1u);
    EXPECT_EQ(trace.problems.size(), 2u);
}

// The memory in which a program's warps are kept is the program's as well.
TEST_F(TraceFile, gives_no_warp_that_no_gpu_executes) {
    const auto line = [](std::uint64_t width, const std::string& samples) {
        return R"({"site":"0:)" + std::to_string(width) +
               R"(","function":"f","source":["a",1],"inlined_at":["",0],"instruction":"ld",)"
               R"("kind":"load","space":"global","width":)" +
               std::to_string(width) + R"(,"totals":[1,1,1,1,1,1,1,1,1],"samples":)" + samples +
               "}\n";
    };
    TraceWriter(path, {.id = 1, .program = "app"});
    append(line(16, "[[1,16],[1,40],[3,32,31],[0],[2,48]]"));
    for (const std::uint64_t width : {0u, 3u, 64u}) append(line(width, "[[1,96]]"));
    const Trace trace = read_trace(path);
    ASSERT_EQ(trace.sites.size(), 1u);
    EXPECT_EQ(trace.sites.at("0:16").samples.size(), 2u);
    EXPECT_EQ(trace.problems.size(), 3u);
}

// Unrolled loops and several processes have one line more than once.
TEST(Lines, are_added_up_over_sites_and_processes) {
    Trace first;
    first.sites = {{"0:0", site_of("0:0", 1)}, {"0:1", site_of("0:1", 2)}};
    Trace second;
    second.sites = {{"0:0", site_of("0:0", 4)}};
    const std::vector<LineSummary> lines = summarize_lines({first, second});
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].totals.executed, 7u);
    EXPECT_EQ(lines[0].wasted_sectors(), 7u * 8);
    EXPECT_EQ(lines[0].samples.size(), 3u);
    const Readings readings = readings_of(lines[0]);
    EXPECT_EQ(readings[Counter::load_requests], Reading{std::uint64_t{7}});
    EXPECT_EQ(readings[Counter::load_unique_bytes], Reading{std::uint64_t{7 * 128}});
    EXPECT_EQ(readings[Counter::load_sectors_per_request], Reading{12.0});
    EXPECT_EQ(readings[Counter::load_efficiency], Reading{128.0 / (12 * 32)});
}

KernelSummary kernel_of(std::initializer_list<std::uint64_t> sectors) {
    Trace trace;
    for (const std::uint64_t each : sectors) trace.counted.push_back(launch_of(1, each, 1e-6));
    return summarize({trace})[0];
}

// 7 executions of 12 sectors: 84.
Trace of_lines(std::map<TracedKernel, std::uint64_t> launches) {
    Trace trace;
    trace.sites = {{"0:0", site_of("0:0", 7)}};
    trace.launches = std::move(launches);
    return trace;
}

TEST(Lines, differ_from_the_hardware_where_their_sums_do) {
    EXPECT_TRUE(kernels_whose_lines_differ({kernel_of({84})}, {of_lines({{scale, 1}})}).empty());
    const auto differ = kernels_whose_lines_differ({kernel_of({42})}, {of_lines({{scale, 1}})});
    ASSERT_EQ(differ.size(), 1u);
    EXPECT_EQ(differ[0].sectors_of_lines, 84);
    EXPECT_EQ(differ[0].sectors_of_hardware, 42);
}

// A program that measures itself launches as often as time allows: 2 launches of 42 sectors are
// those of the run whose lines were counted, however many the other had.
TEST(Lines, are_held_against_as_many_launches_as_they_are_of) {
    KernelSummary kernel = kernel_of({42, 42, 42});
    kernel.launches = 9;
    EXPECT_TRUE(kernels_whose_lines_differ({kernel}, {of_lines({{scale, 2}})}).empty());
}

// Launches of 20 and 64 sectors: their median times two says nothing about their sum. A shape that
// the hardware did not count, or a program that was killed, leaves nothing to compare.
TEST(Lines, are_not_held_against_what_is_not_known) {
    EXPECT_TRUE(
        kernels_whose_lines_differ({kernel_of({20, 64})}, {of_lines({{scale, 2}})}).empty());
    TracedKernel other = scale;
    other.block = {32, 1, 1};
    EXPECT_TRUE(kernels_whose_lines_differ({kernel_of({42})}, {of_lines({{scale, 1}, {other, 1}})})
                    .empty());
    Trace killed = of_lines({});
    killed.launches.reset();
    EXPECT_TRUE(kernels_whose_lines_differ({kernel_of({42})}, {killed}).empty());
}

// Of 15 launches of a kernel 12 were inside graphs, which are one launch each (H200, CUDA 13.0):
// its lines hold all, and of the hardware's launches nobody knows which kernels a graph had.
TEST(Lines, are_not_held_against_the_hardware_where_kernels_may_be_in_graphs) {
    const TracedKernel graph{.name = "(CUDA graph)", .grid = {0, 0, 0}, .block = {0, 0, 0}};
    KernelSummary of_graph;
    of_graph.kernel = graph;
    const KernelSummary counted = kernel_of({42});
    EXPECT_EQ(kernels_whose_lines_differ({counted}, {of_lines({{scale, 1}})}).size(), 1u);
    EXPECT_TRUE(kernels_whose_lines_differ({counted, of_graph}, {of_lines({{scale, 1}})}).empty());
    EXPECT_TRUE(
        kernels_whose_lines_differ({counted}, {of_lines({{scale, 1}, {graph, 3}})}).empty());
}

TEST(Lines, are_not_held_against_a_counter_that_is_wrong_of_their_instructions) {
    for (const auto& [instruction, width, is_compared] :
         {std::tuple{"cp.async.ca.shared.global", 4u, true},
          {"cp.async.cg.shared.global", 16u, false}}) {
        Trace trace = of_lines({{scale, 1}});
        PtxSite& site = trace.sites.begin()->second.site;
        site.instruction = instruction;
        site.width_bytes = width;
        EXPECT_EQ(kernels_whose_lines_differ({kernel_of({42})}, {trace}).empty(), !is_compared);
    }
}

TEST(Lines, of_the_toolkit_stand_where_they_were_inlined) {
    LineSummary line;
    line.site.source = {"/usr/local/cuda/include/x.hpp", 3};
    EXPECT_EQ(line.place().line, 3u);
    line.site.inlined_at = {"/src/app.cu", 12};
    EXPECT_EQ(line.place().line, 12u);
    line.site.source = {"/src/mine.h", 5};
    EXPECT_EQ(line.place().line, 5u);
}

}  // namespace
}  // namespace coalprof
