#include "core/text/symbol.h"

#include <gtest/gtest.h>

#include <utility>

namespace coalprof {
namespace {

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

}  // namespace
}  // namespace coalprof
