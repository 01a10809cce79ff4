// Which NVTX ranges are open, and how NVTX tells of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "cupti/attach/nvtx_ranges.h"
#include "cupti/attach/orders.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#endif

namespace coalprof {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr NvtxRanges::Domain plain = NvtxRanges::default_domain;

TEST(NvtxRanges, are_open_from_push_to_pop) {
    NvtxRanges ranges({"step"});
    EXPECT_EQ(ranges.push(plain, "epoch"), 0);
    EXPECT_FALSE(ranges.is_inside());
    EXPECT_EQ(ranges.push(plain, "step"), 1);
    EXPECT_EQ(ranges.push(plain, "forward"), 2);
    EXPECT_TRUE(ranges.is_inside());
    EXPECT_EQ(ranges.pop(plain), 2);
    EXPECT_TRUE(ranges.is_inside());
    EXPECT_EQ(ranges.pop(plain), 1);
    EXPECT_FALSE(ranges.is_inside());
    EXPECT_EQ(ranges.pop(plain), 0);
}

TEST(NvtxRanges, of_equal_names_are_open_until_the_outer_one_is_popped) {
    NvtxRanges ranges({"step"});
    ranges.push(plain, "step");
    ranges.push(plain, "step");
    ranges.pop(plain);
    EXPECT_TRUE(ranges.is_inside());
    ranges.pop(plain);
    EXPECT_FALSE(ranges.is_inside());
}

TEST(NvtxRanges, popped_too_often_change_nothing) {
    NvtxRanges ranges({"step"});
    EXPECT_LT(ranges.pop(plain), 0);
    EXPECT_FALSE(ranges.is_inside());
    EXPECT_EQ(ranges.push(plain, "step"), 0);
    EXPECT_TRUE(ranges.is_inside());
    ranges.pop(plain);
    EXPECT_LT(ranges.pop(plain), 0);
}

TEST(NvtxRanges, of_each_domain_are_popped_by_themselves) {
    NvtxRanges ranges({"step"});
    const NvtxRanges::Domain own = ranges.new_domain();
    EXPECT_NE(own, ranges.new_domain());
    EXPECT_EQ(ranges.push(own, "step"), 0);
    EXPECT_EQ(ranges.push(plain, "other"), 0);
    EXPECT_EQ(ranges.push(own, "inner"), 1);
    EXPECT_EQ(ranges.pop(plain), 0);  // not the last that was pushed
    EXPECT_TRUE(ranges.is_inside());
    EXPECT_EQ(ranges.pop(own), 1);
    EXPECT_EQ(ranges.pop(own), 0);
    EXPECT_FALSE(ranges.is_inside());
}

TEST(NvtxRanges, that_were_pushed_are_their_threads_own_and_those_started_are_everyones) {
    NvtxRanges ranges({"step"});
    bool saw_pushed = true;
    bool saw_started = false;
    ranges.push(plain, "step");
    std::thread([&] { saw_pushed = ranges.is_inside(); }).join();
    ranges.pop(plain);
    const std::uint64_t range = ranges.start("step");
    std::thread([&] {
        saw_started = ranges.is_inside();
        ranges.end(range);  // another thread may
    }).join();
    EXPECT_FALSE(saw_pushed);
    EXPECT_TRUE(saw_started);
    EXPECT_FALSE(ranges.is_inside());
}

TEST(NvtxRanges, that_overlap_end_one_by_one) {
    NvtxRanges ranges({"a", "b"});
    const std::uint64_t a = ranges.start("a");
    const std::uint64_t other = ranges.start("other");
    const std::uint64_t b = ranges.start("b");
    EXPECT_NE(a, b);
    ranges.end(a);
    ranges.end(a);  // twice is once
    ranges.end(other);
    EXPECT_TRUE(ranges.is_inside());
    ranges.end(b);
    EXPECT_FALSE(ranges.is_inside());
}

TEST(NvtxRanges, beyond_a_great_depth_are_passed_over) {
    NvtxRanges ranges({"step"});
    constexpr int depth = 1500;  // more than are kept
    for (int i = 0; i < depth; ++i) ranges.push(plain, "recursion");
    ranges.push(plain, "step");
    EXPECT_FALSE(ranges.is_inside());
    for (int i = 0; i < depth + 1; ++i) EXPECT_GE(ranges.pop(plain), 0);
    EXPECT_LT(ranges.pop(plain), 0);
}

TEST(NvtxRanges, are_named_once_and_the_wanted_ones_always) {
    NvtxRanges ranges({"step"});
    for (int i = 0; i < 100; ++i) {
        ranges.end(ranges.start("iteration " + std::to_string(i)));
        ranges.end(ranges.start("iteration 0"));
    }
    const std::vector<std::string> names = ranges.new_names();
    EXPECT_LT(names.size(), 20u);
    EXPECT_THAT(names, Contains("iteration 0").Times(1));
    ranges.end(ranges.start("step"));
    EXPECT_THAT(ranges.new_names(), ElementsAre("step"));
    ranges.end(ranges.start("step"));
    EXPECT_THAT(ranges.new_names(), IsEmpty());
}

TEST(NvtxRanges, go_on_in_a_child_that_was_forked) {
    NvtxRanges ranges({"step"});
    ranges.push(plain, "step");
    std::atomic<bool> is_done{false};
    std::thread other([&] {
        while (!is_done) ranges.end(ranges.start("step"));
    });
    ranges.lock();
    const pid_t child = ::fork();
    ranges.unlock();
    if (child == 0) {
        const bool was_inside = ranges.is_inside();
        ranges.end(ranges.start("step"));
        ::_exit(was_inside && ranges.pop(plain) == 0 ? 7 : 1);
    }
    is_done = true;
    other.join();
    ranges.pop(plain);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(LaunchChoice, takes_launches_inside_of_ranges_alone) {
    const TracedKernel kernel{.name = "a", .grid = {1, 1, 1}, .block = {32, 1, 1}};
    NvtxRanges ranges({"step"});
    LaunchChoice choice(1, std::nullopt, &ranges);
    EXPECT_FALSE(choice.takes(kernel));
    EXPECT_THAT(choice.launches(), IsEmpty());
    ranges.push(plain, "step");
    EXPECT_TRUE(choice.takes(kernel));  // the first in the range
    choice.count(kernel);
    EXPECT_FALSE(choice.takes(kernel));
    ranges.pop(plain);
    EXPECT_FALSE(choice.takes(kernel));
    EXPECT_EQ(choice.launches().at(kernel), 2u);
    EXPECT_EQ(choice.total(), 4u);
}

TEST(AttachOrders, come_through_the_environment_as_they_were_given) {
    const AttachOrders given{.folder = "/tmp/x",
                             .first_of_each = 3,
                             .kernel = "gemm",
                             .pass = RunPass::use,
                             .ranges = {"a step", "b,c"},
                             .left_out = {"_Z5waitsPi"},
                             .tells_of_code = true};
    for (const auto& [name, value] : variables_of(given)) ::setenv(name.c_str(), value.c_str(), 1);
    const auto taken = orders_of_environment();
    for (const auto& [name, value] : variables_of(given)) ::unsetenv(name.c_str());
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->folder, given.folder);
    EXPECT_EQ(taken->first_of_each, 3u);
    EXPECT_EQ(taken->kernel, "gemm");
    EXPECT_EQ(taken->pass, RunPass::use);
    EXPECT_EQ(taken->ranges, given.ranges);
    EXPECT_EQ(taken->left_out, given.left_out);
    EXPECT_TRUE(taken->tells_of_code);
}

#ifdef NVTX_NO_IMPL

// --- what NVTX calls -----------------------------------------------------------------------------

// The tables of a program, as NVTX lays them out.
template <unsigned count>
struct NvtxModule {
    std::array<NvtxFunctionPointer, count> functions{};
    std::array<NvtxFunctionPointer*, count> places{};
    NvtxModule(const NvtxModule&) = delete;
    NvtxModule() {
        for (unsigned i = 1; i < count; ++i) places[i] = &functions[i];  // none has number 0
    }
};
NvtxModule<NVTX_CBID_CORE_SIZE> core;
NvtxModule<NVTX_CBID_CORE2_SIZE> core2;
unsigned core2_size = NVTX_CBID_CORE2_SIZE;

int NVTX_API table_of_module(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
    if (module == NVTX_CB_MODULE_CORE) {
        *table = core.places.data();
        *size = NVTX_CBID_CORE_SIZE;
        return 1;
    }
    *table = core2.places.data();
    *size = core2_size;
    return module == NVTX_CB_MODULE_CORE2 ? 1 : 0;
}

const void* tables(std::uint32_t number) {
    static const NvtxExportTableCallbacks callbacks{sizeof callbacks, table_of_module};
    return number == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

template <typename Function>
Function in_core(NvtxCallbackIdCore number) {
    return reinterpret_cast<Function>(core.functions[number]);
}
template <typename Function>
Function in_core2(NvtxCallbackIdCore2 number) {
    return reinterpret_cast<Function>(core2.functions[number]);
}

class NvtxHooks : public ::testing::Test {
 protected:
    NvtxHooks() {
        core.functions = {};
        core2.functions = {};
        core2_size = NVTX_CBID_CORE2_SIZE;
    }
    static NvtxRanges& ranges() {  // as long as the program
        static NvtxRanges* const all = new NvtxRanges({"step", "Schr\u00f6dinger \U0001F600"});
        return *all;
    }
    static nvtxEventAttributes_t event(std::int32_t type) {
        nvtxEventAttributes_t attributes{};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.messageType = type;
        return attributes;
    }
};

TEST_F(NvtxHooks, tell_of_ranges_by_whichever_function_they_are_opened) {
    ASSERT_TRUE(install_nvtx_hooks(tables, ranges()));
    const auto push = in_core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA);
    const auto push_wide = in_core<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW);
    const auto push_event = in_core<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx);
    const auto pop = in_core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
    EXPECT_EQ(push("step"), 0);
    EXPECT_TRUE(ranges().is_inside());
    EXPECT_EQ(pop(), 0);
    EXPECT_FALSE(ranges().is_inside());

    EXPECT_EQ(push(nullptr), 0);
    EXPECT_EQ(push_wide(L"Schr\u00f6dinger \U0001F600"), 1);
    EXPECT_TRUE(ranges().is_inside());
    pop();
    nvtxEventAttributes_t named = event(NVTX_MESSAGE_TYPE_ASCII);
    named.message.ascii = "step";
    EXPECT_EQ(push_event(&named), 1);
    EXPECT_TRUE(ranges().is_inside());
    pop();
    EXPECT_EQ(push_event(nullptr), 1);
    EXPECT_FALSE(ranges().is_inside());
    pop();
    pop();
    EXPECT_LT(pop(), 0);
}

TEST_F(NvtxHooks, tell_of_ranges_that_are_started_and_ended) {
    ASSERT_TRUE(install_nvtx_hooks(tables, ranges()));
    const auto start = in_core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA);
    const auto end = in_core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd);
    const nvtxRangeId_t range = start("step");
    EXPECT_TRUE(ranges().is_inside());
    end(range);
    EXPECT_FALSE(ranges().is_inside());
}

TEST_F(NvtxHooks, tell_of_domains_and_of_names_that_are_registered) {
    ASSERT_TRUE(install_nvtx_hooks(tables, ranges()));
    const auto create = in_core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA);
    const auto name =
        in_core2<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA);
    const auto push =
        in_core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
    const auto pop = in_core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
    const auto start =
        in_core2<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
    const auto end = in_core2<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
    const nvtxDomainHandle_t domain = create("mine");
    nvtxEventAttributes_t named = event(NVTX_MESSAGE_TYPE_REGISTERED);
    named.message.registered = name(domain, "step");
    EXPECT_EQ(push(domain, &named), 0);
    EXPECT_LT(pop(create("another")), 0);
    EXPECT_TRUE(ranges().is_inside());
    EXPECT_EQ(pop(domain), 0);
    EXPECT_FALSE(ranges().is_inside());
    const nvtxRangeId_t range = start(domain, &named);
    EXPECT_TRUE(ranges().is_inside());
    end(domain, range);
    EXPECT_FALSE(ranges().is_inside());
    // Registered before we came: its handle is NVTX's own for none.
    named.message.registered = nullptr;
    EXPECT_EQ(push(domain, &named), 0);
    EXPECT_FALSE(ranges().is_inside());
    pop(domain);
}

TEST_F(NvtxHooks, know_a_name_that_was_registered_in_wide_characters) {
    ASSERT_TRUE(install_nvtx_hooks(tables, ranges()));
    const auto name =
        in_core2<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW);
    const auto push =
        in_core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
    nvtxEventAttributes_t named = event(NVTX_MESSAGE_TYPE_REGISTERED);
    named.message.registered = name(nullptr, L"step");
    EXPECT_EQ(push(nullptr, &named), 0);
    EXPECT_TRUE(ranges().is_inside());
}

TEST_F(NvtxHooks, leave_alone_what_they_do_not_know) {
    EXPECT_FALSE(install_nvtx_hooks(nullptr, ranges()));
    EXPECT_FALSE(
        install_nvtx_hooks([](std::uint32_t) -> const void* { return nullptr; }, ranges()));
    core2_size = 3;  // an NVTX of fewer functions
    EXPECT_TRUE(install_nvtx_hooks(tables, ranges()));
    EXPECT_NE(core2.functions[NVTX_CBID_CORE2_DomainRangeStartEx], nullptr);
    EXPECT_EQ(core2.functions[NVTX_CBID_CORE2_DomainRangePushEx], nullptr);
    EXPECT_EQ(core.functions[NVTX_CBID_CORE_MarkA], nullptr);
}

#endif

}  // namespace
}  // namespace coalprof
