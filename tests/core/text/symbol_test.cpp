#include "core/text/symbol.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/text/name_list.h"

namespace coalprof {
namespace {

// f<A<int, int>>, whose argument is put into A<., .> so many times: twice as long each time.
std::string doubled(int times) {
    constexpr const char* digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string symbol = "_Z1f1AIiiE";
    for (int i = 0; i < times; ++i) {
        const std::string before = std::string("S") + digits[i] + '_';  // S_ is A
        symbol.append("S_I").append(before).append(before).append("E");
    }
    return symbol;
}

TEST(Demangled, is_the_symbol_where_it_stands_for_too_much) {
    // A<int, int> has 11 bytes: 2^4 of them are below 64 KiB, 2^30 are 11 GiB.
    EXPECT_TRUE(demangled(doubled(4)).starts_with("f(A<int, int>, A<A<int, int>, A<int, int> >"));
    EXPECT_EQ(demangled(doubled(30)), doubled(30));
}

TEST(Demangled, is_the_name_where_that_is_no_symbol) {
    for (const char* name : {"a", "main", "_Z", "_Zxx", "triton_kernel_0d1"})
        EXPECT_EQ(demangled(name), name);
}

TEST(ShortKernelName, keeps_what_tells_instances_apart) {
    for (const auto& [symbol, name] : {
             std::pair{"_Z5scalePf", "scale"},
             {"void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, "
              "float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, "
              "3ul> >(int, std::array<char*, 3ul>)",
              "vectorized_elementwise_kernel<4, MulFunctor<float>>"},
             {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
              "copy_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)"
              "#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
              "elementwise_kernel<128, 2, gpu_kernel_impl<copy_cuda>>"},
             {"void (anonymous namespace)::softmax<float, 8, false>(float*, float const*)",
              "softmax<float, 8, false>"},
             {"__main__::transpose_naive[abi:v1][abi:cw51cXTLSUwv1s](Array<float, 2, C, mutable, "
              "aligned>, Array<float, 2, C, mutable, aligned>)",
              "transpose_naive(float32[:, :], ...)"},
             {"Box<int>::apply(unsigned int)", "Box<int>::apply"},
             {"(CUDA graph)", "(CUDA graph)"},
             {"triton_kernel_0d1", "triton_kernel_0d1"},
         })
        EXPECT_EQ(short_kernel_name(symbol), name);
}

// Arguments of templates, and types, have brackets and commas of their own.
TEST(ParameterTypes, are_those_of_the_last_parentheses) {
    const auto types = [](const char* symbol) { return joined(parameter_types(symbol), " | "); };
    EXPECT_EQ(types("_Z5scaleIfLi4EEvPT_i"), "float* | int");
    EXPECT_EQ(types("void f<(int)4>(std::array<char*, 3ul>, void (*)(int, int))"),
              "std::array<char*, 3ul> | void (*)(int, int)");
    EXPECT_EQ(types("_Z5emptyv"), "");
    EXPECT_EQ(types("triton_kernel_0d1"), "");
}

TEST(LongKernelName, ends_before_the_parameters) {
    EXPECT_EQ(long_kernel_name("void scale<float, (int)4>(float*, int)"), "scale<float, (int)4>");
    EXPECT_EQ(long_kernel_name("triton_kernel_0d1"), "triton_kernel_0d1");
}

}  // namespace
}  // namespace coalprof
