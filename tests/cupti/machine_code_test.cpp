// What is done inside a program whose machine code is counted, against a scripted CUPTI.
#include "core/program/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "cupti/attach/attachment.h"
#include "cupti/attach/launch_turn.h"
#include "cupti/fake_cupti.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string sectors_metric = "smsp__sass_sectors_mem_global";
const std::string ideal_metric = "smsp__sass_sectors_mem_global_ideal";
const std::string load_metric = "smsp__sass_inst_executed_op_global_ld";
const std::string width_metric = "smsp__sass_inst_executed_op_memory_32b";

// Kernels that run on, in the context and in its stream.
bool is_context_busy = false;
bool is_stream_busy = false;
int stream_queries = 0;
int synchronized = 0;
int pushed = 0;  // contexts

class MachineCodeProgram : public ::testing::Test {
 protected:
    MachineCodeProgram() {
        std::filesystem::create_directories(folder_);
        is_context_busy = is_stream_busy = false;
        synchronized = stream_queries = pushed = 0;
        fake.driver().context_get_current(&context);
        fake.machine_code["k"] = {
            {0x10,
             {{load_metric, 4}, {sectors_metric, 128}, {ideal_metric, 16}, {width_metric, 4}}},
            {0x20, {{load_metric, 0}, {sectors_metric, 0}, {ideal_metric, 0}}}};
        fake.machine_code["other"] = {{0x30, {{load_metric, 1}, {sectors_metric, 4}}}};
        begin();
    }
    ~MachineCodeProgram() override {
        attachment.reset();
        std::filesystem::remove_all(folder_);
    }
    void begin(std::uint64_t launches = 2) {
        api_ = fake.api();
        attachment.reset();
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        attachment.emplace(Attachment::Setup{
            .orders = {.folder = folder_,
                       .first_of_each = launches,
                       .pass = RunPass::machine_code,
                       .one_kernel = "k"},
            .api = [this]() -> const CuptiApi& { return api_; },
            .device_of = [](CUcontext) { return 0u; },
            .work = {.context_push =
                         [](CUcontext) {
                             ++pushed;
                             return CUDA_SUCCESS;
                         },
                     .context_pop =
                         [](CUcontext*) {
                             --pushed;
                             return CUDA_SUCCESS;
                         },
                     .context_synchronize =
                         [] {
                             ++synchronized;
                             return CUDA_SUCCESS;
                         },
                     .stream_query =
                         [](CUstream) {
                             ++stream_queries;
                             return is_stream_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
                         },
                     .event_create = [](CUevent*, unsigned) { return CUDA_SUCCESS; },
                     .event_query =
                         [](CUevent) {
                             return is_context_busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
                         },
                     .record_all_work = [](CUcontext, CUevent) { return CUDA_SUCCESS; }},
            .longest_wait = std::chrono::milliseconds(2),
            .least_between_fetches = std::chrono::milliseconds(0)});
        attachment->instructions()->start_profiler();
    }
    void launch(const std::string& name, std::uint32_t blocks = 1, bool succeeds = true) {
        attachment->launch_begins(
            {.kernel = {.name = name, .grid = {blocks, 1, 1}, .block = {32, 1, 1}},
             .context = context,
             .stream = nullptr});
        if (succeeds) fake.launched(name);
        attachment->launch_ends(succeeds);
    }
    Trace trace() const {
        return read_trace(folder_ + '/' + trace_name(static_cast<std::uint64_t>(::getpid())));
    }

    const std::string folder_ = ::testing::TempDir() + "machine_code_" + std::to_string(::getpid());
    FakeCupti fake;
    CUcontext context = nullptr;
    std::optional<Attachment> attachment;

 private:
    CuptiApi api_;
};

// Configured at the launch, not before: earlier, CUPTI counts nothing. Of two launches each count
// is twice that of one; what was never executed is left out.
TEST_F(MachineCodeProgram, has_one_kernel_counted_from_its_first_launch_to_its_last) {
    launch("other");
    EXPECT_THAT(fake.sass_calls, IsEmpty());
    launch("k", 1);
    launch("other");
    EXPECT_THAT(fake.sass_calls, ElementsAre("SassSetConfig", "SassEnable"));
    EXPECT_EQ(synchronized, 0);
    launch("k", 2);
    EXPECT_THAT(fake.sass_calls, ElementsAre("SassSetConfig", "SassEnable", "SassGetDataProperties",
                                             "SassFlushData", "SassDisable", "SassUnsetConfig"));
    EXPECT_EQ(synchronized, 1);
    EXPECT_EQ(pushed, 0);
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(fake.sass_calls, SizeIs(6));
    const Trace told = trace();
    ASSERT_THAT(told.instructions, SizeIs(1));
    EXPECT_EQ(told.instructions[0].function, "k");
    EXPECT_EQ(told.instructions[0].offset, 0x10u);
    EXPECT_EQ(told.instructions[0].counts.at(sectors_metric), 256u);
    EXPECT_EQ(told.instructions[0].counts.at(ideal_metric), 32u);
    EXPECT_THAT(told.problems, IsEmpty());
    // One of each of two grids.
    EXPECT_THAT(*told.launches, SizeIs(2));
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

TEST_F(MachineCodeProgram, is_fetched_at_its_end_where_it_launches_less_often) {
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(trace().instructions, SizeIs(1));
    EXPECT_EQ(trace().launches->begin()->second, 1u);
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

TEST_F(MachineCodeProgram, is_fetched_before_its_context_goes) {
    launch("k");
    attachment->context_ends(context);
    EXPECT_THAT(trace().instructions, SizeIs(1));
    launch("k");
    attachment->program_ends();
    EXPECT_EQ(fake.calls("SassSetConfig"), 1);
    EXPECT_EQ(trace().launches->begin()->second, 1u);
}

TEST_F(MachineCodeProgram, has_launches_that_failed_left_out) {
    launch("k", 1, false);
    launch("k");
    launch("k");
    EXPECT_EQ(trace().instructions.at(0).counts.at(load_metric), 8u);
}

// Each call that CUPTI refuses is told once, and nothing is asked again.
TEST_F(MachineCodeProgram, goes_on_where_cupti_refuses) {
    for (const char* call :
         {"SassSetConfig", "SassEnable", "SassGetDataProperties", "SassFlushData"}) {
        SCOPED_TRACE(call);
        for (int nth = 1; nth <= 2; ++nth) fake.fail(call, fake.calls(call) + nth, 35);
        fake.was_sass_configured = false;
        begin();
        for (int i = 0; i < 4; ++i) launch("k");
        attachment->program_ends();
        EXPECT_THAT(trace().instructions, IsEmpty());
        EXPECT_THAT(trace().problems,
                    ElementsAre(HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")));
        attachment.reset();
        EXPECT_THAT(fake.breaches(), IsEmpty());
    }
}

// 7 are known to fit.
TEST_F(MachineCodeProgram, is_counted_by_fewer_metrics_where_cupti_takes_no_more) {
    fake.most_sass_metrics = 7;
    launch("k");
    launch("k");
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr("first 7")));
    ASSERT_THAT(trace().instructions, SizeIs(1));
    EXPECT_EQ(trace().instructions[0].counts.at(load_metric), 8u);
    EXPECT_FALSE(trace().instructions[0].counts.contains(width_metric));
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

TEST_F(MachineCodeProgram, lacks_what_its_chip_does_not_count) {
    fake.unknown_metrics = {width_metric};
    launch("k");
    launch("k");
    EXPECT_THAT(trace().problems, IsEmpty());
    EXPECT_FALSE(trace().instructions.at(0).counts.contains(width_metric));
    fake.unknown_metrics = {sectors_metric};
    begin();
    launch("k");
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr(sectors_metric)));
}

TEST_F(MachineCodeProgram, is_left_alone_where_this_cupti_has_no_such_calls) {
    CuptiApi api = fake.api();
    api.sass_enable = nullptr;
    EXPECT_THAT(missing_sass_calls(api), ElementsAre("cuptiSassMetricsEnable"));
    EXPECT_THROW(SassSession(api, context, 0, machine_code_metrics(), 7), CountersError);
    EXPECT_THAT(fake.sass_calls, IsEmpty());
}

// CUPTI would wait for it, for ever.
TEST_F(MachineCodeProgram, is_not_asked_while_a_kernel_runs_on) {
    launch("k");
    is_context_busy = true;
    launch("k");
    attachment->program_ends();
    EXPECT_THAT(fake.sass_calls, ElementsAre("SassSetConfig", "SassEnable"));
    EXPECT_THAT(trace().problems, SizeIs(1));
    EXPECT_THAT(*trace().launches, IsEmpty());
}

TEST_F(MachineCodeProgram, is_not_begun_with_while_a_kernel_runs_on) {
    is_context_busy = true;
    launch("k");
    EXPECT_THAT(fake.sass_calls, IsEmpty());
}

// With one that waits for another kernel a first time; all its launches are counted.
TEST_F(MachineCodeProgram, is_waited_for_once_where_its_kernel_runs_on) {
    begin(3);
    is_stream_busy = true;
    launch("k");
    is_context_busy = true;
    for (int i = 0; i < 2; ++i) {
        stream_queries = 0;
        launch("k");
        EXPECT_LE(stream_queries, 2);
    }
    is_stream_busy = is_context_busy = false;
    attachment->program_ends();
    EXPECT_EQ(trace().instructions.at(0).counts.at(load_metric), 12u);
    EXPECT_EQ(trace().launches->begin()->second, 3u);
    EXPECT_THAT(trace().problems, IsEmpty());
}

// Counted code is slower, and its last launch may end only when the program goes on. Until then
// CUPTI counts what else is launched of it.
TEST_F(MachineCodeProgram, is_fetched_when_the_program_has_waited_for_what_ran_on) {
    launch("k");
    is_context_busy = true;
    launch("k");
    attachment->waited();
    launch("k");
    is_context_busy = false;
    attachment->waited();
    EXPECT_EQ(fake.sass_calls.back(), "SassUnsetConfig");
    launch("k");
    attachment->program_ends();
    EXPECT_EQ(trace().instructions.at(0).counts.at(load_metric), 12u);
    EXPECT_EQ(trace().launches->begin()->second, 3u);
    EXPECT_THAT(trace().problems, IsEmpty());
    attachment.reset();
    EXPECT_THAT(fake.breaches(), IsEmpty());
}

// As where another tool launched a kernel of its own in between.
TEST_F(MachineCodeProgram, says_where_cupti_counted_another_kernel) {
    attachment->launch_begins({.kernel = {.name = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}},
                               .context = context,
                               .stream = nullptr});
    fake.launched("other");
    attachment->launch_ends(true);
    launch("k");
    EXPECT_THAT(trace().instructions, IsEmpty());
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr("other")));
}

TEST_F(MachineCodeProgram, says_how_many_counts_were_lost) {
    fake.dropped = 3;
    launch("k");
    launch("k");
    EXPECT_THAT(trace().problems, ElementsAre(HasSubstr("3")));
}

// What a graph is made of is not launched then.
TEST_F(MachineCodeProgram, is_not_counted_while_a_stream_is_recorded) {
    attachment->capture_begins();
    launch("k");
    EXPECT_THAT(fake.sass_calls, IsEmpty());
    attachment->change_captures(
        [&](StreamCaptures& captures) { captures.has_begun(context, nullptr, false); });
    launch("k");
    launch("k");
    EXPECT_EQ(trace().instructions.at(0).counts.at(load_metric), 8u);
}

TEST_F(MachineCodeProgram, may_end_while_a_graph_is_recorded) {
    launch("k");
    attachment->capture_begins();
    attachment->program_ends();
    EXPECT_THAT(fake.sass_calls, ElementsAre("SassSetConfig", "SassEnable"));
    EXPECT_THAT(trace().problems, SizeIs(1));
}

// Its code has CRC 7; code of other kernels is not kept.
TEST_F(MachineCodeProgram, has_lines_where_its_code_tells_them) {
    fake.source_lines = {{0x10, 12}};
    for (const std::string& cubin : {std::string("\5"), std::string("\6 k"), std::string("\7 k")})
        attachment->instructions()->cubins().loaded(cubin.data(), cubin.size());
    launch("k");
    launch("k");
    ASSERT_THAT(trace().instructions, SizeIs(1));
    EXPECT_EQ(trace().instructions[0].source, (SourceLine{"/src/k.cu", 12}));
    EXPECT_EQ(fake.calls("GetCubinCrc"), 2);
}

// Of each code once, however many instructions ask for their lines.
TEST_F(MachineCodeProgram, has_its_code_told_apart_once) {
    fake.machine_code["k"][0x20][load_metric] = 4;
    fake.source_lines = {{0x10, 12}, {0x20, 13}};
    for (const std::string& cubin : {std::string("\6 k"), std::string("\7 k")})
        attachment->instructions()->cubins().loaded(cubin.data(), cubin.size());
    launch("k");
    launch("k");
    ASSERT_THAT(trace().instructions, SizeIs(2));
    EXPECT_EQ(trace().instructions[1].source, (SourceLine{"/src/k.cu", 13}));
    EXPECT_EQ(fake.calls("GetCubinCrc"), 2);
}

TEST_F(MachineCodeProgram, has_no_lines_where_none_of_its_code_is_the_one_that_ran) {
    fake.source_lines = {{0x10, 12}};
    for (const std::string& cubin : {std::string("\5 k"), std::string("\6 k")})
        attachment->instructions()->cubins().loaded(cubin.data(), cubin.size());
    launch("k");
    launch("k");
    EXPECT_EQ(trace().instructions.at(0).source, SourceLine{});
}

}  // namespace
}  // namespace coalprof
