// What is done inside a program at its launches, against a scripted CUPTI and a driver whose
// kernels end when the test says so.
#include "cupti/attach/attachment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "cupti/attach/stream_captures.h"
#include "cupti/fake_cupti.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Streams that are busy, and the context with them. A mark is reached when none was busy at the
// time, or none is any more.
struct FakeWork {
    std::set<CUstream> busy;
    int marks = 0;
    bool knows_context = true;
    std::function<bool(CUstream)> is_busy;  // in place of the set
    std::set<CUstream> capturing;           // or invalidated since
};
FakeWork* work = nullptr;

CUresult push(CUcontext) { return CUDA_SUCCESS; }
CUresult pop(CUcontext* context) {
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
    *event = reinterpret_cast<CUevent>(work);
    return CUDA_SUCCESS;
}
CUresult query_event(CUevent) { return work->busy.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
CUresult record_all(CUcontext, CUevent) {
    ++work->marks;
    return work->knows_context ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

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
    void begin(std::chrono::milliseconds longest_wait = std::chrono::milliseconds(2)) {
        attachment.reset();
        attachment.emplace(
            Attachment::Setup{.orders = {.folder = folder_, .first_of_each = 3},
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
                              .least_between_fetches = std::chrono::milliseconds(0)});
    }
    static CUstream stream(std::uintptr_t number) { return reinterpret_cast<CUstream>(number); }
    // `ends`: before the next launch.
    void launch(const std::string& name, bool ends = true, CUstream on = stream(8)) {
        attachment->launch_begins({.kernel = {.name = name, .grid = {1, 1, 1}, .block = {32, 1, 1}},
                                   .context = context,
                                   .stream = on});
        if (!ends) streams.busy.insert(on);
        attachment->launch_ends(true);
    }
    void begin_capture(CUstream on, bool succeeds = true) {
        attachment->change_captures([](StreamCaptures& captures) { captures.begins(); });
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
    std::vector<std::string> counted() const {
        std::vector<std::string> names;
        for (const CountedLaunch& launch : trace().counted) names.push_back(launch.kernel.name);
        return names;
    }

    FakeCupti fake;
    FakeWork streams;
    CUcontext context = nullptr;
    std::optional<Attachment> attachment;

 private:
    const std::string folder_ = ::testing::TempDir() + "attached_" + std::to_string(::getpid());
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
}

TEST_F(AttachedProgram, is_counted_again_when_such_a_kernel_has_ended) {
    launch("before");
    launch("waits", false);
    launch("beside it", true, stream(16));
    streams.busy.clear();
    attachment->waited();
    EXPECT_THAT(counted(), ElementsAre("before"));
    launch("after");
    launch("waits", false);  // nobody waits for it again
    streams.busy.clear();
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("before", "after"));
    EXPECT_THAT(trace().unfinished, SizeIs(1));
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
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
    launch("beside it");
    launch("beside it");
    EXPECT_EQ(fake.all_calls(), calls);
    EXPECT_THAT(trace().problems, SizeIs(1));
    streams.busy.clear();
    launch("beside it");
    attachment->program_ends();
    EXPECT_THAT(counted(), ElementsAre("first", "beside it"));
}

// cuCtxRecordEvent came with CUDA 12.5, and would spoil what is being recorded.
TEST_F(AttachedProgram, is_counted_where_its_work_cannot_be_asked_for) {
    streams.knows_context = false;
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
