// What kernels need of PyTorch's headers, where those are not there: accessors of contiguous
// tensors, float for the types of AT_DISPATCH, and as much of the host's part as launches take.
#ifndef COALPROF_TORCH
#define COALPROF_TORCH
#include <stddef.h>
#include <stdint.h>
#define C10_WARP_SIZE 32
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_1 __launch_bounds__
#define C10_LAUNCH_BOUNDS_2 __launch_bounds__
#define C10_CUDA_CHECK(...) (void)(__VA_ARGS__)
#define C10_CUDA_KERNEL_LAUNCH_CHECK()
#define AT_CUDA_CHECK(...) (void)(__VA_ARGS__)
#define AT_ASSERTM(...) (void)0
#define AT_ERROR(...) (void)0
#define TORCH_CHECK(...) (void)0
#define TORCH_INTERNAL_ASSERT(...) (void)0
#define PYBIND11_MODULE(...) static void coalprof_module(c10::Any m)
#define CUDA_KERNEL_LOOP(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define gpuAtomicAdd atomicAdd
// clang-format off
#define COALPROF_DISPATCH(...) [&] { using scalar_t = float; return (__VA_ARGS__)(); }()
// clang-format on
#define AT_DISPATCH_FLOATING_TYPES(t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(a, t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(a, t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(a, b, t, name, ...) COALPROF_DISPATCH(__VA_ARGS__)
namespace c10 {
using Half = __half;
using BFloat16 = __nv_bfloat16;
template <typename T, bool device>
using acc_type = decltype(T() + 0.0f);
template <typename T>
using opmath_type = decltype(T() + 0.0f);
template <typename T>
struct DefaultPtrTraits {};
template <typename T>
struct RestrictPtrTraits {};
template <typename T, size_t N, typename I>
struct TensorAccessor {
    C10_HOST_DEVICE decltype(auto) operator[](I i) const {
        if constexpr (N > 1) {
            for (size_t k = 1; k < N; ++k) i *= sizes_[k];
            return TensorAccessor<T, N - 1, I>{data_ + i, sizes_ + 1};
        } else {
            return (data_[i]);
        }
    }
    C10_HOST_DEVICE I size(int at) const { return sizes_[at]; }
    C10_HOST_DEVICE T* data() const { return data_; }
    T* data_;
    const I* sizes_;
};
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits,
          typename I = int64_t>
struct PackedTensorAccessor {
    C10_HOST_DEVICE decltype(auto) operator[](I i) const {
        return TensorAccessor<T, N, I>{data_, sizes_}[i];
    }
    C10_HOST_DEVICE I size(int at) const { return sizes_[at]; }
    C10_HOST_DEVICE T* data() const { return data_; }
    T* data_;
    I sizes_[N], strides_[N];
};
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = PackedTensorAccessor<T, N, P, int32_t>;
template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = PackedTensorAccessor<T, N, P, int64_t>;
enum class ScalarType { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16 };
constexpr ScalarType kByte{}, kInt{}, kLong{}, kHalf{}, kFloat{}, kDouble{}, kBool{}, kBFloat16{},
    kFloat16{}, kFloat32{}, kInt32{}, kInt64{}, kUInt8{}, kInt8{};
struct Any {
    template <typename... T>
    Any(const T&...) {}
    template <typename... T>
    Any def(T...) const;
    Any dtype(Any = {}) const, device(Any = {}) const;
    template <typename S>
    friend S& operator<<(S& out, const Any&);
    friend bool operator==(const Any&, ScalarType);
};
struct Tensor {
    template <typename T = float>
    T* data_ptr() const;
    template <typename T = float>
    T* data() const;
    template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, P> packed_accessor32() const;
    template <typename T, size_t N, template <typename> class P = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, P> packed_accessor64() const;
    int64_t numel() const, size(int64_t) const, stride(int64_t) const, dim() const;
    bool is_cuda() const, is_contiguous() const, defined() const;
    ScalarType scalar_type() const, dtype() const;
    Any device() const, sizes() const, options() const;
    Tensor contiguous() const, clone() const;
};
using Sizes = std::initializer_list<int64_t>;
Tensor empty(Sizes, Any = {}), zeros(Sizes, Any = {}), full(Sizes, Any, Any = {});
Tensor empty_like(Tensor, Any = {}), zeros_like(Tensor, Any = {});
namespace cuda {
struct CUDAGuard {
    CUDAGuard(Any);
};
cudaStream_t getCurrentCUDAStream(int = 0);
}  // namespace cuda
}  // namespace c10
namespace at {
using namespace c10;
}
namespace torch {
using namespace c10;
}
#endif
