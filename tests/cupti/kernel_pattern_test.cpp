#include "core/program/kernel_pattern.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "core/text/error.h"
#include "cupti/attach/orders.h"

namespace coalprof {
namespace {

// Kernels of templates have names like it.
const std::string long_name = "void f<" + std::string(50'000, 'x') + ">(float*)";

void on_a_stack_of(std::size_t bytes, std::function<void()> work) {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, bytes);
    pthread_t thread{};
    const auto run = [](void* given) -> void* {
        (*static_cast<std::function<void()>*>(given))();
        return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, &attributes, run, &work), 0);
    ::pthread_join(thread, nullptr);
    ::pthread_attr_destroy(&attributes);
}

// A launch comes from a thread of the program, however small its stack is.
TEST(KernelPattern, takes_little_of_the_stack_however_long_a_name_is) {
    on_a_stack_of(128 * 1024, [] {
        EXPECT_EQ(KernelPattern("^(?!.*NAME)").is_found_in(long_name), true);
        EXPECT_EQ(KernelPattern("^(?!.*float)").is_found_in(long_name), false);
        EXPECT_EQ(KernelPattern("(x|y)*>").is_found_in(long_name), true);
        std::string nested = "a";
        for (int i = 0; i < 50; ++i) nested = "(" + nested + "|b)*";
        EXPECT_EQ(KernelPattern(nested).is_found_in("b"), true);
    });
}

TEST(KernelPattern, gives_up_a_search_that_takes_too_many_steps) {
    EXPECT_EQ(KernelPattern("(x+)+y").is_found_in(long_name + " y"), std::nullopt);
    EXPECT_EQ(KernelPattern("(x+)+y").is_found_in("copy xy"), true);
}

TEST(KernelPattern, takes_any_bytes_for_a_name) {
    EXPECT_EQ(KernelPattern("^.*scale$").is_found_in("\xff\xfe scale"), true);
    EXPECT_EQ(KernelPattern("h\xc3\xa9").is_found_in("h\xc3\xa9llo"), true);
}

TEST(KernelPattern, is_refused_with_the_place_of_its_fault) {
    EXPECT_FALSE(fault_of_pattern("gemm.*f32"));
    EXPECT_FALSE(fault_of_pattern(""));
    EXPECT_EQ(fault_of_pattern("gemm(").value().at, 5u);
    EXPECT_EQ(fault_of_pattern("a**").value().at, 2u);
    for (const std::string& text : {std::string("gemm["), "(*UTF)a" + std::string("\xff"),
                                    std::string(10'000, '(') + std::string(10'000, ')')}) {
        EXPECT_TRUE(fault_of_pattern(text));
        EXPECT_THROW(KernelPattern{text}, Error);
    }
}

TEST(LaunchChoice, leaves_out_a_kernel_whose_name_takes_too_many_steps_and_says_so_once) {
    std::vector<std::string> problems;
    LaunchChoice choice(1, "(x+)+y", nullptr,
                        [&](const std::string& sentence) { problems.push_back(sentence); });
    const TracedKernel kernel{
        .name = std::string(100, 'x') + " y", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    EXPECT_FALSE(choice.takes(kernel));
    EXPECT_FALSE(choice.takes(kernel));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find(kernel.name), std::string::npos);
}

}  // namespace
}  // namespace coalprof
