// What is done inside a program at its launches, against a scripted CUPTI and a driver whose
// kernels end when the test says so.
#include "cupti/attach/attachment.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "cupti/attach/launch_turn.h"
#include "cupti/fake_cupti.h"
#include "cupti/planted_folder.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Streams that are busy, and the context with them. A mark is reached when none was busy at the
// time, or none is any more.
struct FakeWork {
    std::set<CUstream> busy;
    int marks = 0;
    int events = 0;
    int pushed = 0;  // contexts
    bool knows_context = true;
    std::function<bool(CUstream)> is_busy;  // in place of the set
    std::set<CUstream> capturing;           // or invalidated since
};
FakeWork* work = nullptr;

CUresult push(CUcontext) {
    ++work->pushed;
    return CUDA_SUCCESS;
}
CUresult pop(CUcontext* context) {
    --work->pushed;
    *context = nullptr;
    return CUDA_SUCCESS;
}
CUresult query_stream(CUstream stream) {
    const bool is_busy = work->is_busy ? work->is_busy(stream) : work->busy.contains(stream);
    return is_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = work->capturing.contains(stream) ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                               : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
CUresult create_event(CUevent* event, unsigned) {
    ++work->events;
    *event = reinterpret_cast<CUevent>(work);
    return CUDA_SUCCESS;
}
CUresult query_event(CUevent) { return work->busy.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult record_all(CUcontext, CUevent) {
    ++work->marks;
    return work->knows_context ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

// Of a driver that hands out one counter for all: what a line executed.
std::uint64_t executions = 0;
int copies = 0;
CUresult find_words(CUdeviceptr* address, std::size_t* bytes, CUmodule, const char*) {
    *address = 0;
    *bytes = 1 << 20;
    return CUDA_SUCCESS;
}
CUresult copy_words(void* to, CUdeviceptr, std::size_t bytes) {
    ++copies;
    std::memset(to, 0, bytes);
    std::memcpy(to, &executions, sizeof executions);
    return CUDA_SUCCESS;
}
ModuleDriver driver_of_modules() {
    ModuleDriver driver;
    driver.context_get_device = [](CUdevice*) { return CUDA_ERROR_INVALID_CONTEXT; };
    driver.device_get_count = [](int*) { return CUDA_ERROR_UNKNOWN; };
    driver.device_get_attribute = [](int* value, CUdevice_attribute, CUdevice) {
        *value = 9;
        return CUDA_SUCCESS;
    };
    driver.context_push = push;
    driver.context_pop = pop;
    driver.link_create = [](unsigned, CUjit_option*, void**, CUlinkState*) {
        return CUDA_ERROR_INVALID_CONTEXT;
    };
    driver.global_of_module = find_words;
    driver.copy_to_host = copy_words;
    return driver;
}

// A copy, under another name, of a library that this program has loaded anyway.
class LoadedLibrary {
 public:
    explicit LoadedLibrary(const std::string& name) : path_(folder_.path(name)) {
        std::string original;
        const auto find = [](dl_phdr_info* library, std::size_t, void* found) {
            const std::string path = library->dlpi_name;
            if (path.find("/libm.so") != path.npos) *static_cast<std::string*>(found) = path;
            return 0;
        };
        ::dl_iterate_phdr(find, &original);
        std::filesystem::copy_file(original, path_);
        handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    ~LoadedLibrary() {
        if (handle_) ::dlclose(handle_);
    }
    LoadedLibrary(const LoadedLibrary&) = delete;
    LoadedLibrary& operator=(const LoadedLibrary&) = delete;
    const std::string& path() const { return path_; }

 private:
    PlantedFolder folder_;
    std::string path_;
    void* handle_ = nullptr;
};

class AttachedProgram : public ::testing::Test {
 protected:
    AttachedProgram() {
        std::filesystem::create_directories(folder_);
        work = &streams;
        fake.driver().context_get_current(&context);
        api_ = fake.api();
        begin();
    }
    ~AttachedProgram() override {
        attachment.reset();
        std::filesystem::remove_all(folder_);
        work = nullptr;
    }
    void begin(std::chrono::milliseconds longest_wait = std::chrono::milliseconds(2),
               std::chrono::milliseconds least_between_refusals = {},
               RunPass pass = RunPass::traffic, std::uint64_t first_of_each = 3) {
        attachment.reset();
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        attachment.emplace(Attachment::Setup{.orders = {.folder = folder_,
                                                        .first_of_each = first_of_each,
                                                        .pass = pass,
                                                        .left_out = left_out},
                                             .api = [this]() -> const CuptiApi& { return api_; },
                                             .device_of = [](CUcontext) { return 0u; },
                                             .work = {.context_push = push,
                                                      .context_pop = pop,
                                                      .stream_query = query_stream,
                                                      .stream_is_capturing = is_capturing,
                                                      .event_create = create_event,
                                                      .event_query = query_event,
                                                      .record_all_work = record_all},
                                             .longest_wait = longest_wait,
                                             .longest_launch = longest_launch,
                                             .least_between_fetches = least_between_fetches,
                                             .least_between_refusals = least_between_refusals});
    }
    static CUstream stream(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }
    void launch_begins(const std::string& name, CUstream on = stream(8)) {
        attachment->launch_begins({.kernel = {.name = name, .grid = {1, 1, 1}, .block = {32, 1, 1}},
                                   .context = context,
                                   .stream = on});
    }
    // `ends`: before the next launch.
    void launch(const std::string& name, bool ends = true, CUstream on = stream(8)) {
        launch_begins(name, on);
        if (!ends) streams.busy.insert(on);
        attachment->launch_ends(true);
    }
    void begin_capture(CUstream on, bool succeeds = true) {
        attachment->capture_begins();
        if (succeeds) streams.capturing.insert(on);
        attachment->change_captures(
            [&](StreamCaptures& captures) { captures.has_begun(context, on, succeeds); });
    }
    // `ends`: it does so whether or not the call returns an error.
    void end_capture(CUstream on, bool ends = true) {
        if (ends) streams.capturing.erase(on);
        attachment->change_captures([&](StreamCaptures& captures) { captures.may_have_ended(on); });
    }
    Trace trace() const {
        return read_trace(folder_ + '/' + trace_name(static_cast<std::uint64_t>(::getpid())));
    }
    std::ptrdiff_t lines_with(const std::string& word) const {
        std::ifstream file(folder_ + '/' + trace_name(static_cast<std::uint64_t>(::getpid())));
        std::ptrdiff_t found = 0;
        for (std::string line; std::getline(file, line);) found += line.find(word) != line.npos;
        return found;
    }
    std::vector<std::string> counted() const {
        std::vector<std::string> names;
        for (const CountedLaunch& launch : trace().counted) names.push_back(launch.kernel.name);
        return names;
    }

    const std::string folder_ = ::testing::TempDir() + "attached_" + std::to_string(::getpid());
    std::set<std::string> left_out;
    std::chrono::milliseconds longest_launch = std::chrono::seconds(10);
    std::chrono::milliseconds least_between_fetches{0};
    FakeCupti fake;
    FakeWork streams;
    CUcontext context = nullptr;
    std::optional<Attachment> attachment;

 private:
    CuptiApi api_;
};

TEST_F(AttachedProgram, has_its_first_launches_counted_and_all_told) {
    for (int i = 0; i < 5; ++i) launch("k");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k", "k", "k"));
    EXPECT_EQ(trace().launches->begin()->second, 5u);
    EXPECT_THAT(trace().problems, IsEmpty());
    EXPECT_THAT(trace().unfinished, IsEmpty());
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
    EXPECT_EQ(streams.pushed, 0);  // the program's context is current again
}

// The real CUPTI would wait in any of these calls, for ever.
TEST_F(AttachedProgram, goes_on_beside_a_kernel_that_waits_for_another) {
    launch("before");
    attachment->waited();
    launch("waits", false);
    EXPECT_THAT(trace().unfinished, ElementsAre("waits"));
    const auto calls = fake.all_calls();
    launch("what it waits for", true, stream(16));
    attachment->waited();
    attachment->program_ends();
    EXPECT_EQ(fake.all_calls(), calls);
    EXPECT_THAT(counted(), ElementsAre("before"));
    EXPECT_THAT(*trace().launches, SizeIs(3));
    EXPECT_THAT(trace().problems, IsEmpty());  // that one ran on has been told
}

TEST_F(AttachedProgram, is_counted_again_when_such_a_kernel_has_ended) {
    launch("before");
    launch("waits", false);
    launch("beside it", true, stream(16));
    streams.busy.clear();
    attachment->waited();
    EXPECT_THAT(counted(), ElementsAre("before"));
    launch("after");
    launch("waits");  // nobody waits for it again
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("before", "after"));
    EXPECT_THAT(trace().unfinished, SizeIs(1));
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

// Nothing was fetched in between, which would have closed its range.
TEST_F(AttachedProgram, has_no_launch_counted_in_the_range_of_one_that_ran_on) {
    least_between_fetches = std::chrono::hours(1);
    begin();
    launch("waits", false);
    streams.busy.clear();
    launch("after");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("after"));
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

TEST_F(AttachedProgram, is_waited_for_once_where_its_kernel_runs_on) {
    launch("waits", false);
    int asked = 0;
    streams.is_busy = [&](CUstream) {
        ++asked;
        return true;
    };
    launch("waits");
    EXPECT_EQ(asked, 0);
}

// As those that ran on while another pass counted.
TEST_F(AttachedProgram, is_not_counted_in_kernels_that_are_to_be_left_out) {
    left_out = {"waits"};
    begin();
    launch("waits");
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k"));
    EXPECT_THAT(*trace().launches, SizeIs(2));
}

TEST_F(AttachedProgram, is_counted_once_where_one_call_launches_by_another) {
    launch_begins("k");
    launch("k");
    attachment->launch_ends(true);
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k"));
    EXPECT_EQ(trace().launches->begin()->second, 1u);
    EXPECT_THAT(trace().problems, IsEmpty());
}

// Its kernel may come at any time until then, into the range of another.
TEST_F(AttachedProgram, is_counted_again_when_a_launch_that_was_given_up_returns) {
    longest_launch = std::chrono::milliseconds(1);
    begin();
    std::atomic<bool> is_stuck{false};
    std::atomic<bool> goes_on{false};
    {
        const std::jthread other([&] {
            launch_begins("stuck");
            is_stuck = true;
            is_stuck.notify_one();
            goes_on.wait(false);
            attachment->launch_ends(true);
        });
        is_stuck.wait(false);
        launch("beside it");
        launch("beside it");
        EXPECT_THAT(trace().problems, SizeIs(1));
        goes_on = true;
        goes_on.notify_one();
    }
    launch("after");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("after"));
}

// It is told as one that ran on, which says more.
TEST_F(AttachedProgram, is_told_once_of_a_launch_that_does_not_return_while_its_kernel_runs) {
    longest_launch = std::chrono::milliseconds(1);
    begin();
    std::thread([&] { launch_begins("stuck"); }).join();
    streams.busy.insert(stream(8));
    launch("beside it", true, stream(16));
    EXPECT_THAT(trace().unfinished, ElementsAre("stuck"));
    EXPECT_THAT(trace().problems, IsEmpty());
}

// Another context may get the same handle, and knows no event of this one.
TEST_F(AttachedProgram, marks_the_work_of_each_context_with_an_event_of_its_own) {
    launch("k");
    launch("k");
    EXPECT_EQ(streams.events, 1);
    attachment->context_ends(context);
    launch("k");
    EXPECT_EQ(streams.events, 2);
}

// 200 in a row.
TEST_F(AttachedProgram, is_left_alone_after_many_launches_that_nobody_counts) {
    const auto launch_often = [&](int times) {
        for (int i = 0; i < times; ++i) launch("k");
    };
    launch_often(3 + 199);
    EXPECT_TRUE(fake.is_enabled);
    launch("another");
    launch_often(199);
    EXPECT_TRUE(fake.is_enabled);
    launch_often(1);
    EXPECT_FALSE(fake.is_enabled);
    launch("a third");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k", "k", "k", "another", "a third"));
}

// The real CUPTI would wait for it as it is switched off.
TEST_F(AttachedProgram, is_not_left_alone_while_a_kernel_runs_on) {
    for (int i = 0; i < 3; ++i) launch("k");
    attachment->waited();
    streams.busy.insert(stream(24));
    const auto calls = fake.all_calls();
    for (int i = 0; i < 200; ++i) launch("k");
    EXPECT_EQ(fake.all_calls(), calls);
    streams.busy.clear();
    for (int i = 0; i < 200; ++i) launch("k");
    EXPECT_FALSE(fake.is_enabled);
}

TEST_F(AttachedProgram, is_not_counted_where_that_takes_several_passes) {
    fake.passes = 2;
    launch("k");
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(counted(), IsEmpty());
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr("needs 2 passes")));
}

// CUPTI's calls could spoil the graph.
TEST_F(AttachedProgram, is_not_asked_for_its_counts_while_a_stream_is_recorded) {
    launch("k");
    begin_capture(stream(16));
    const auto calls = fake.all_calls();
    attachment->waited();
    EXPECT_EQ(fake.all_calls(), calls);
    end_capture(stream(16));
    attachment->waited();
    EXPECT_THAT(counted(), ElementsAre("k"));
}

TEST_F(AttachedProgram, gets_no_file_in_place_of_its_own_where_none_can_be_written) {
    const std::string file = attachment->file_for("code");
    EXPECT_EQ(std::filesystem::file_size(file), 4u);
    EXPECT_NE(attachment->file_for("code"), file);
    std::filesystem::remove_all(folder_);
    EXPECT_EQ(attachment->file_for("code"), "");
}

// A launch that waits for its kernel holds nobody else up.
TEST_F(AttachedProgram, may_act_while_a_counted_kernel_is_waited_for) {
    begin(std::chrono::seconds(10));
    std::atomic<bool> is_asked{false};
    std::atomic<bool> has_acted{false};
    streams.is_busy = [&](CUstream) {
        is_asked = true;
        return !has_acted;
    };
    std::thread other([&] {
        while (!is_asked) std::this_thread::yield();
        attachment->waited();
        has_acted = true;
    });
    launch("k");
    other.join();
    streams.is_busy = nullptr;
    attachment->program_ends();
    EXPECT_THAT(trace().unfinished, IsEmpty());
    EXPECT_THAT(counted(), ElementsAre("k"));
}

TEST_F(AttachedProgram, is_not_counted_while_kernels_run_that_nobody_counts) {
    launch("first");
    attachment->waited();
    streams.busy.insert(stream(24));
    const auto calls = fake.all_calls();
    for (int i = 0; i < 5; ++i) launch("beside it");
    EXPECT_EQ(fake.all_calls(), calls);
    EXPECT_THAT(trace().problems, SizeIs(1));
    streams.busy.clear();
    // Launches that were not counted do not use up the first three of a kernel.
    for (int i = 0; i < 5; ++i) launch("beside it");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("first", "beside it", "beside it", "beside it"));
}

// cuCtxRecordEvent came with CUDA 12.5, and would spoil what is being recorded.
TEST_F(AttachedProgram, is_counted_where_its_work_cannot_be_asked_for) {
    streams.knows_context = false;
    streams.busy.insert(stream(24));
    launch("k");
    const int marks = streams.marks;
    begin_capture(stream(16));
    attachment->waited();
    EXPECT_EQ(streams.marks, marks);
    end_capture(stream(16));
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k"));
}

// Nothing is counted while a stream is recorded, and everything after.
TEST_F(AttachedProgram, is_counted_again_whatever_ended_a_recording) {
    begin_capture(stream(16));
    launch("recorded", true, stream(16));
    end_capture(stream(16), false);  // by a thread that did not begin it
    launch("recorded", true, stream(16));
    end_capture(stream(16));  // here the call may have returned an error
    launch("after its end");
    end_capture(stream(16));  // nothing to end
    begin_capture(stream(16), false);
    launch("after one that never began");
    begin_capture(stream(16));
    begin_capture(stream(24));
    attachment->change_captures(
        [&](StreamCaptures& captures) { captures.stream_ends(stream(16)); });
    launch("recorded", true, stream(24));
    end_capture(stream(24));
    launch("after a stream's end");
    attachment->program_ends();
    EXPECT_THAT(counted(),
                ElementsAre("after its end", "after one that never began", "after a stream's end"));
    EXPECT_THAT(*trace().launches, SizeIs(3));
}

// CUPTI's calls could spoil the graph.
TEST_F(AttachedProgram, is_recorded_when_the_launch_that_is_counted_has_returned) {
    begin(std::chrono::seconds(10));
    std::atomic<bool> is_asked{false};
    std::atomic<bool> has_come{false};
    int asked = 0;  // since then
    streams.is_busy = [&](CUstream) {
        is_asked = true;
        return !has_come || ++asked < 100;
    };
    bool is_counting = true;
    std::thread other([&] {
        while (!is_asked) std::this_thread::yield();
        has_come = true;
        begin_capture(stream(16));
        is_counting = fake.is_range_open();
    });
    launch("k");
    other.join();
    EXPECT_FALSE(is_counting);
    EXPECT_THAT(trace().unfinished, IsEmpty());
}

// Its kernel was given up so that the recording could begin.
TEST_F(AttachedProgram, is_not_asked_for_its_kernel_while_a_stream_is_recorded) {
    longest_launch = std::chrono::milliseconds(1);
    begin(std::chrono::seconds(10));
    std::atomic<bool> is_asked{false};
    std::atomic<bool> is_recorded{false};
    bool asked_meanwhile = false;
    streams.is_busy = [&](CUstream) {
        is_asked = true;
        asked_meanwhile = is_recorded;
        return !is_recorded;
    };
    std::thread other([&] { launch("k"); });
    while (!is_asked) std::this_thread::yield();
    begin_capture(stream(16));
    is_recorded = true;
    other.join();
    EXPECT_FALSE(asked_meanwhile);
}

TEST_F(AttachedProgram, is_counted_in_other_contexts_when_one_that_is_recorded_has_gone) {
    begin_capture(stream(16));
    attachment->context_ends(context);
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("k"));
}

// Each thread means another stream by the same word.
TEST(StreamCaptures, tell_the_streams_of_threads_apart) {
    StreamCaptures captures(nullptr);
    captures.begins();
    EXPECT_TRUE(captures.any());
    captures.has_begun(nullptr, CU_STREAM_PER_THREAD, true);
    std::thread([&] { captures.may_have_ended(CU_STREAM_PER_THREAD); }).join();
    EXPECT_TRUE(captures.any());
    captures.may_have_ended(CU_STREAM_PER_THREAD);
    EXPECT_FALSE(captures.any());
}

// Asking costs time, at each of what may be a million launches.
TEST_F(AttachedProgram, is_not_asked_at_every_launch_whether_kernels_run_on) {
    begin(std::chrono::milliseconds(2), std::chrono::hours(1));
    launch("first");
    attachment->waited();
    streams.busy.insert(stream(24));
    launch("beside it");
    const int marks = streams.marks;
    launch("beside it");
    EXPECT_EQ(streams.marks, marks);
}

TEST_F(AttachedProgram, is_asked_nothing_more_when_counting_has_failed) {
    fake.fail("RangePush", 1, 1);
    launch("k");
    EXPECT_THAT(trace().problems, SizeIs(1));
    const int marks = streams.marks;
    launch("k");
    EXPECT_EQ(streams.marks, marks);
}

// Others are nobody's business, and the program itself has no name there.
TEST_F(AttachedProgram, tells_of_its_libraries_those_that_compile_and_link) {
    attachment->program_ends();
    EXPECT_THAT(trace().libraries, IsEmpty());
    begin();
    const LoadedLibrary xla("libjax_common.so");
    const LoadedLibrary linker("libnvJitLink.so.13");
    for (int i = 0; i < 2; ++i) attachment->waited();
    attachment->program_ends();
    EXPECT_THAT(trace().libraries, UnorderedElementsAre(xla.path(), linker.path()));
    EXPECT_EQ(lines_with("libjax_common.so"), 1);
}

TEST_F(AttachedProgram, is_told_which_counts_could_not_be_fetched) {
    launch("k");
    streams.busy.insert(stream(24));
    attachment->program_ends();
    EXPECT_THAT(counted(), IsEmpty());
    EXPECT_THAT(trace().problems, SizeIs(1));
}

// As the driver does to users that may not read counters.
TEST_F(AttachedProgram, has_its_launches_told_where_counters_are_refused) {
    fake.fail("RangeEnable", 1, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    for (int i = 0; i < 5; ++i) launch("k");
    attachment->program_ends();
    EXPECT_THAT(counted(), IsEmpty());
    EXPECT_EQ(trace().launches->begin()->second, 5u);
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr("only administrators")));
}

TEST_F(AttachedProgram, is_set_up_once_for_all_its_contexts) {
    launch("in one context");
    attachment->context_ends(context);
    const int hosts = fake.calls("HostInitialize");
    launch("in the next");
    attachment->context_ends(context);
    EXPECT_GT(hosts, 0);
    EXPECT_EQ(fake.calls("HostInitialize"), hosts);
    EXPECT_THAT(counted(), ElementsAre("in one context", "in the next"));
}

// Room takes time to make, and so does fetching.
TEST_F(AttachedProgram, has_more_room_where_more_launches_of_a_kernel_are_wanted) {
    const auto room_for = [&](std::uint64_t first_of_each) {
        begin(std::chrono::milliseconds(2), {}, RunPass::traffic, first_of_each);
        launch("k");
        return fake.session_sizes.back();
    };
    const std::size_t usual = room_for(5);
    EXPECT_GT(room_for(300), usual);
    EXPECT_EQ(room_for(1'000'000'000), room_for(1000));
}

TEST_F(AttachedProgram, is_left_to_itself_while_no_launch_of_it_is_chosen) {
    launch("nccl_all_reduce");
    EXPECT_THAT(fake.all_calls(), IsEmpty());
}

class ProgramWithLines : public AttachedProgram {
 protected:
    ProgramWithLines() {
        executions = 5;
        copies = 0;
        begin(std::chrono::milliseconds(2), {}, RunPass::lines);
        attachment->count_lines(driver_of_modules());
        attachment->with_lines([&](LineProbe& lines) {
            EXPECT_NE(lines.replacement(".version 8.0\n.target sm_80\n.address_size 64\n"
                                        ".visible .entry k()\n{\n\t.reg .b64 %rd<2>;\n"
                                        "\tst.global.f32 [%rd1], 0f00000000;\n\tret;\n}\n"),
                      nullptr);
            lines.loaded(CUmodule{}, context);
            return true;
        });
        launch("k");
    }
    void unload() {
        attachment->with_lines([](LineProbe& lines) {
            lines.unloads(CUmodule{});
            return true;
        });
    }
};

TEST_F(ProgramWithLines, has_them_read_before_their_module_goes) {
    unload();
    EXPECT_THAT(trace().sites, SizeIs(1));
    EXPECT_THAT(trace().problems, IsEmpty());
}

// So that nobody has to be allowed to read any.
TEST_F(ProgramWithLines, has_them_counted_without_a_counter_of_the_gpu) {
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(trace().sites, SizeIs(1));
    EXPECT_THAT(fake.all_calls(), IsEmpty());
}

// As in the run that the hardware counts: what is recorded runs when its graph is launched.
TEST_F(ProgramWithLines, has_launches_that_are_recorded_left_out_of_those_told) {
    begin_capture(stream(16));
    launch("k", true, stream(16));
    end_capture(stream(16));
    launch("k");
    attachment->program_ends();
    EXPECT_EQ(trace().launches->begin()->second, 2u);
}

// Their counts lie in the context that the graph runs in.
TEST_F(ProgramWithLines, has_lines_of_kernels_that_are_only_recorded) {
    attachment->context_ends(context);
    begin_capture(stream(16));
    launch("k", true, stream(16));
    end_capture(stream(16));
    const auto contexts = [&] {
        std::size_t known = 0;
        attachment->with_lines([&](LineProbe& lines) {
            known = lines.contexts().size();
            return true;
        });
        return known;
    };
    EXPECT_EQ(contexts(), 1u);
}

// The copy would wait for the kernel, or spoil what is recorded.
TEST_F(ProgramWithLines, goes_on_where_they_cannot_be_read_and_says_so) {
    const auto cannot_be_read = [&](const std::function<void()>& ends) {
        const std::size_t told = trace().problems.size();
        ends();
        EXPECT_EQ(copies, 0);
        EXPECT_THAT(trace().problems, SizeIs(told + 1));
    };
    begin_capture(stream(16));
    cannot_be_read([&] { unload(); });
    end_capture(stream(16));
    streams.busy.insert(stream(24));
    cannot_be_read([&] { attachment->program_ends(); });
}

TEST_F(ProgramWithLines, may_end_while_a_graph_is_recorded) {
    begin_capture(stream(16));
    attachment->program_ends();
    EXPECT_EQ(copies, 0);
    EXPECT_THAT(trace().problems, SizeIs(1));
}

TEST_F(ProgramWithLines, may_unload_and_end_contexts_beside_a_kernel_that_waits) {
    streams.busy.insert(stream(24));
    unload();
    attachment->context_ends(context);
    EXPECT_EQ(copies, 0);
    EXPECT_THAT(trace().problems, SizeIs(1));
}

TEST_F(AttachedProgram, a_context_that_goes_beside_a_running_kernel_is_left_as_it_is) {
    launch("before");
    launch("waits", false);
    const auto calls = fake.all_calls();
    attachment->context_ends(context);
    attachment->program_ends();
    EXPECT_EQ(fake.all_calls(), calls);
    EXPECT_TRUE(trace().launches.has_value());
}

}  // namespace
}  // namespace coalprof
