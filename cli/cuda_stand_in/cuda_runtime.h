// Stands in for the CUDA toolkit's headers where clang compiles a kernel without them: whole
// numbers are exact, results of mathematical functions are some value, and lists of names are
// macros.
// clang-format off
#pragma once
#include <__clang_cuda_builtin_vars.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__
#define COALPROF_ANY __host__ __device__ inline __attribute__((always_inline))
#ifdef COALPROF_HOST  // its launches are read
#define COALPROF_GPU COALPROF_ANY
#else
#define COALPROF_GPU __device__ inline __attribute__((always_inline))
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
#define INFINITY __builtin_inff()
#define CUDART_INF_F __builtin_inff()
#define CUDART_PI_F 3.141592654f
#define M_PI 3.14159265358979323846
#define FLT_MAX __FLT_MAX__
#define INT_MAX __INT_MAX__
#define NULL __null

// ---- vectors ----

// Members are copied one by one: clang would copy a structure in words of 8 bytes, nvcc moves it whole.
#define COALPROF_LIST(...) __VA_ARGS__
#define COALPROF_VECTOR(T, N, ALIGN, MEMBERS, PARAMETERS, VALUES, COPIES, SET)                          \
    struct __align__(ALIGN) N {                                                                         \
        T MEMBERS;                                                                                      \
        N() = default;                                                                                  \
        COALPROF_ANY constexpr N PARAMETERS : VALUES {}                                                 \
        COALPROF_ANY constexpr N(const N& v) : COPIES {}                                                \
        COALPROF_ANY N& operator=(const N& v) { SET; return *this; }                                    \
    };
#define COALPROF_VECTORS(T, N, A1, A2, A4)                                                              \
    COALPROF_VECTOR(T, N##2, A2, COALPROF_LIST(x, y), (T a, T b = {}), COALPROF_LIST(x(a), y(b)),       \
                    COALPROF_LIST(x(v.x), y(v.y)), COALPROF_LIST(x = v.x, y = v.y))                     \
    COALPROF_VECTOR(T, N##3, A1, COALPROF_LIST(x, y, z), (T a, T b = {}, T c = {}),                     \
                    COALPROF_LIST(x(a), y(b), z(c)), COALPROF_LIST(x(v.x), y(v.y), z(v.z)),             \
                    COALPROF_LIST(x = v.x, y = v.y, z = v.z))                                           \
    COALPROF_VECTOR(T, N##4, A4, COALPROF_LIST(x, y, z, w), (T a, T b = {}, T c = {}, T d = {}),        \
                    COALPROF_LIST(x(a), y(b), z(c), w(d)),                                              \
                    COALPROF_LIST(x(v.x), y(v.y), z(v.z), w(v.w)),                                      \
                    COALPROF_LIST(x = v.x, y = v.y, z = v.z, w = v.w))                                  \
    COALPROF_ANY N##2 make_##N##2(T x, T y) { return {x, y}; }                                          \
    COALPROF_ANY N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                                  \
    COALPROF_ANY N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
COALPROF_VECTORS(signed char, char, 1, 2, 4)
COALPROF_VECTORS(unsigned char, uchar, 1, 2, 4)
COALPROF_VECTORS(short, short, 2, 4, 8)
COALPROF_VECTORS(unsigned short, ushort, 2, 4, 8)
COALPROF_VECTORS(int, int, 4, 8, 16)
COALPROF_VECTORS(unsigned, uint, 4, 8, 16)
COALPROF_VECTORS(long, long, 8, 16, 16)
COALPROF_VECTORS(unsigned long, ulong, 8, 16, 16)
COALPROF_VECTORS(long long, longlong, 8, 16, 16)
COALPROF_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
COALPROF_VECTORS(float, float, 4, 8, 16)
COALPROF_VECTORS(double, double, 8, 16, 16)

struct dim3 {
    unsigned x, y, z;
    COALPROF_ANY dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    COALPROF_ANY dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    COALPROF_ANY operator uint3() const { return {x, y, z}; }
};

// ---- threads ----

COALPROF_GPU int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
COALPROF_GPU int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
COALPROF_GPU int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
COALPROF_GPU void __syncwarp(unsigned mask = ~0u) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }
COALPROF_GPU void __threadfence() { __nvvm_membar_gl(); }
COALPROF_GPU void __threadfence_block() { __nvvm_membar_cta(); }
COALPROF_GPU void __threadfence_system() { __nvvm_membar_sys(); }
COALPROF_GPU void __trap() { __builtin_trap(); }
COALPROF_GPU long long clock64() { return 0; }
COALPROF_GPU int clock() { return 0; }
COALPROF_GPU unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
COALPROF_GPU unsigned __ballot_sync(unsigned mask, int p) {
    unsigned all;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }"
                 : "=r"(all) : "r"(p), "r"(mask));
    return all;
}
COALPROF_GPU int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }
COALPROF_GPU int __all_sync(unsigned mask, int p) { return __ballot_sync(mask, !p) == 0; }

#define COALPROF_SHUFFLE(NAME, MODE, CLAMP)                                                             \
    template <class T> COALPROF_GPU T NAME(unsigned mask, T value, int lane, int width = 32) {          \
        int words[(sizeof(T) + 3) / 4] = {};                                                            \
        __builtin_memcpy(words, &value, sizeof(T));                                                     \
        for (int& word : words)                                                                         \
            asm volatile("shfl.sync." #MODE ".b32 %0, %0, %1, %2, %3;"                                  \
                         : "+r"(word) : "r"(lane), "r"(((32 - width) << 8) | CLAMP), "r"(mask));        \
        __builtin_memcpy(&value, words, sizeof(T));                                                     \
        return value;                                                                                   \
    }
COALPROF_SHUFFLE(__shfl_sync, idx, 31)
COALPROF_SHUFFLE(__shfl_down_sync, down, 31)
COALPROF_SHUFFLE(__shfl_up_sync, up, 0)
COALPROF_SHUFFLE(__shfl_xor_sync, bfly, 31)

// ---- memory ----

#define COALPROF_LOAD(NAME) template <class T> COALPROF_GPU T NAME(const T* p) { return *p; }
#define COALPROF_LOADS(X) X(__ldg) X(__ldca) X(__ldcg) X(__ldcs) X(__ldcv) X(__ldlu)
COALPROF_LOADS(COALPROF_LOAD)
#define COALPROF_STORE(NAME) template <class T, class V> COALPROF_GPU void NAME(T* p, V value) { *p = value; }
#define COALPROF_STORES(X) X(__stcs) X(__stcg) X(__stwb) X(__stwt)
COALPROF_STORES(COALPROF_STORE)

#define COALPROF_ATOMIC(NAME, T, CALL)                                                                  \
    COALPROF_GPU T NAME(T* p, T v) { return CALL; }                                                     \
    COALPROF_GPU T NAME##_block(T* p, T v) { return CALL; }                                             \
    COALPROF_GPU T NAME##_system(T* p, T v) { return CALL; }
#define COALPROF_ATOMICS(T)                                                                             \
    COALPROF_ATOMIC(atomicExch, T, __atomic_exchange_n(p, v, 0))                                        \
    COALPROF_ATOMIC(atomicAnd, T, __atomic_fetch_and(p, v, 0))                                          \
    COALPROF_ATOMIC(atomicOr, T, __atomic_fetch_or(p, v, 0))                                            \
    COALPROF_ATOMIC(atomicXor, T, __atomic_fetch_xor(p, v, 0))                                          \
    COALPROF_ATOMIC(atomicAdd, T, __atomic_fetch_add(p, v, 0))                                          \
    COALPROF_ATOMIC(atomicSub, T, __atomic_fetch_sub(p, v, 0))                                          \
    COALPROF_ATOMIC(atomicMin, T, __atomic_fetch_min(p, v, 0))                                          \
    COALPROF_ATOMIC(atomicMax, T, __atomic_fetch_max(p, v, 0))                                          \
    COALPROF_GPU T atomicCAS(T* p, T is, T v) {                                                         \
        __atomic_compare_exchange_n(p, &is, v, false, 0, 0);                                            \
        return is;                                                                                      \
    }
COALPROF_ATOMICS(int)
COALPROF_ATOMICS(unsigned)
COALPROF_ATOMICS(long long)
COALPROF_ATOMICS(unsigned long long)
COALPROF_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f(p, v))
#if __CUDA_ARCH__ >= 600
COALPROF_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d(p, v))
#endif
COALPROF_ATOMIC(atomicExch, float, __builtin_bit_cast(float, atomicExch((int*)p, __builtin_bit_cast(int, v))))
COALPROF_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui(p, v))
COALPROF_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui(p, v))

// ---- whole numbers ----

COALPROF_ANY int __popc(unsigned v) { return __builtin_popcount(v); }
COALPROF_ANY int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
COALPROF_ANY int __clz(int v) { return v ? __builtin_clz(v) : 32; }
COALPROF_ANY int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
COALPROF_ANY int __ffs(int v) { return __builtin_ffs(v); }
COALPROF_ANY int __ffsll(long long v) { return __builtin_ffsll(v); }
COALPROF_ANY unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
COALPROF_ANY unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
COALPROF_ANY int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
COALPROF_ANY unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
COALPROF_ANY int __mulhi(int a, int b) { return int(((long long)a * b) >> 32); }
COALPROF_ANY unsigned __umulhi(unsigned a, unsigned b) { return unsigned(((unsigned long long)a * b) >> 32); }
#define COALPROF_LEAST(T)                                                                               \
    COALPROF_ANY T min(T a, T b) { return a < b ? a : b; }                                              \
    COALPROF_ANY T max(T a, T b) { return a < b ? b : a; }
#define COALPROF_NUMBERS(X) X(int) X(unsigned) X(long) X(unsigned long) X(long long) X(unsigned long long) X(float) X(double)
COALPROF_NUMBERS(COALPROF_LEAST)
COALPROF_ANY unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
COALPROF_ANY unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
COALPROF_ANY unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
COALPROF_ANY unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }
#define COALPROF_AS(NAME, FROM, TO) COALPROF_ANY TO NAME(FROM v) { return __builtin_bit_cast(TO, v); }
COALPROF_AS(__float_as_int, float, int)
COALPROF_AS(__float_as_uint, float, unsigned)
COALPROF_AS(__int_as_float, int, float)
COALPROF_AS(__uint_as_float, unsigned, float)
COALPROF_AS(__double_as_longlong, double, long long)
COALPROF_AS(__longlong_as_double, long long, double)
COALPROF_ANY int __float2int_rn(float v) { return int(__builtin_rintf(v)); }
COALPROF_ANY int __float2int_rd(float v) { return int(__builtin_floorf(v)); }
COALPROF_ANY int __float2int_rz(float v) { return int(v); }
COALPROF_ANY float __int2float_rn(int v) { return float(v); }

// ---- real numbers ----

#define COALPROF_EXACT(NAME)                                                                            \
    COALPROF_GPU float NAME##f(float v) { return __builtin_##NAME##f(v); }                              \
    COALPROF_GPU double NAME(double v) { return __builtin_##NAME(v); }                                  \
    COALPROF_GPU float NAME(float v) { return __builtin_##NAME##f(v); }
#define COALPROF_EXACTS(X) X(floor) X(ceil) X(trunc) X(rint) X(sqrt) X(fabs)
COALPROF_EXACTS(COALPROF_EXACT)
#define COALPROF_ABS(T) COALPROF_GPU T abs(T v) { return v < 0 ? -v : v; }
#define COALPROF_SIGNED(X) X(int) X(long) X(long long) X(float) X(double)
COALPROF_SIGNED(COALPROF_ABS)
COALPROF_GPU float roundf(float v) { return truncf(v + (v < 0 ? -0.5f : 0.5f)); }
COALPROF_GPU double round(double v) { return trunc(v + (v < 0 ? -0.5 : 0.5)); }
COALPROF_GPU float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
COALPROF_GPU double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
COALPROF_GPU float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
COALPROF_GPU float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
COALPROF_GPU float coalprof_some(float v) {
    float result;
    asm("sin.approx.f32 %0, %1;" : "=f"(result) : "f"(v));
    return result;
}
#define COALPROF_OF_TWO(NAME, VALUE)                                                                    \
    COALPROF_GPU float NAME##f(float a, float b) { return VALUE; }                                      \
    COALPROF_GPU double NAME(double a, double b) { return VALUE; }                                      \
    COALPROF_GPU float NAME(float a, float b) { return VALUE; }
COALPROF_OF_TWO(fmin, a < b ? a : b)
COALPROF_OF_TWO(fmax, a < b ? b : a)
#define COALPROF_SOME_OF_TWO(NAME) COALPROF_OF_TWO(NAME, coalprof_some(float(a + b)))
#define COALPROF_OPERATIONS(X) X(pow) X(fmod) X(hypot) X(atan2) X(copysign)
COALPROF_OPERATIONS(COALPROF_SOME_OF_TWO)
#define COALPROF_SOME(NAME)                                                                             \
    COALPROF_GPU float NAME##f(float v) { return coalprof_some(v); }                                    \
    COALPROF_GPU double NAME(double v) { return coalprof_some(float(v)); }                              \
    COALPROF_GPU float NAME(float v) { return coalprof_some(v); }
#define COALPROF_FUNCTIONS(X) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(exp) X(exp2) \
    X(expm1) X(log) X(log2) X(log10) X(log1p) X(erf) X(erfc) X(cbrt) X(rsqrt) X(normcdf) X(__exp) X(__log) X(__sin) X(__cos)
COALPROF_FUNCTIONS(COALPROF_SOME)
COALPROF_GPU float __powf(float a, float b) { return coalprof_some(a + b); }
COALPROF_GPU float __fdividef(float a, float b) { return a / b; }
COALPROF_GPU float __frcp_rn(float v) { return 1 / v; }
COALPROF_GPU float __fsqrt_rn(float v) { return sqrtf(v); }
COALPROF_GPU float __saturatef(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }
COALPROF_GPU void sincosf(float v, float* s, float* c) { *s = coalprof_some(v), *c = coalprof_some(v + 1); }
#if __has_include(<bits/stl_algobase.h>)  // whose constexpr functions run on a GPU too
#include <bits/stl_algobase.h>
#else
namespace std {
template <class T> COALPROF_ANY const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> COALPROF_ANY const T& max(const T& a, const T& b) { return a < b ? b : a; }
}  // namespace std
#endif

#ifdef COALPROF_HOST  // headers of the library are empty, and functions' parameters name its types
namespace std {
#define COALPROF_TYPES(A, B, C, D, E) \
    template <class...> class A;      \
    template <class...> class B;      \
    template <class...> class C;      \
    template <class...> class D;      \
    template <class...> class E;
COALPROF_TYPES(vector, map, set, unordered_map, unordered_set)
COALPROF_TYPES(pair, tuple, function, optional, list)
COALPROF_TYPES(unique_ptr, shared_ptr, complex, deque, initializer_list)
template <class T, auto> class array;
class string;
}  // namespace std
#endif

// ---- half precision: computed as float ----

#define COALPROF_HALF(N, N2)                                                                            \
    struct __align__(2) N {                                                                             \
        unsigned short bits;                                                                            \
        N() = default;                                                                                  \
        template <class T> COALPROF_ANY N(T v) : bits((unsigned short)(__builtin_bit_cast(unsigned, float(v)) >> 16)) {} \
        COALPROF_ANY operator float() const { return __builtin_bit_cast(float, unsigned(bits) << 16); } \
    };                                                                                                  \
    struct __align__(4) N2 {                                                                            \
        N x, y;                                                                                         \
        N2() = default;                                                                                 \
        COALPROF_ANY N2(N a, N b) : x(a), y(b) {}                                                       \
        COALPROF_ANY explicit N2(float v) : x(v), y(v) {}                                               \
    };                                                                                                  \
    COALPROF_ANY N2 operator+(N2 a, N2 b) { return {N(float(a.x) + float(b.x)), N(float(a.y) + float(b.y))}; } \
    COALPROF_ANY N2 operator*(N2 a, N2 b) { return {N(float(a.x) * float(b.x)), N(float(a.y) * float(b.y))}; } \
    COALPROF_ANY N2 __hadd2(N2 a, N2 b) { return a + b; }                                               \
    COALPROF_ANY N2 __hmul2(N2 a, N2 b) { return a * b; }                                               \
    COALPROF_ANY N2 __hfma2(N2 a, N2 b, N2 c) { return a * b + c; }                                     \
    COALPROF_ANY N __hadd(N a, N b) { return N(float(a) + float(b)); }                                  \
    COALPROF_ANY N __hsub(N a, N b) { return N(float(a) - float(b)); }                                  \
    COALPROF_ANY N __hmul(N a, N b) { return N(float(a) * float(b)); }                                  \
    COALPROF_ANY N __hfma(N a, N b, N c) { return N(float(a) * float(b) + float(c)); }
COALPROF_HALF(__half, __half2)
COALPROF_HALF(__nv_bfloat16, __nv_bfloat162)
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
COALPROF_ANY float __half2float(__half v) { return v; }
COALPROF_ANY __half __float2half(float v) { return v; }
COALPROF_ANY __half __float2half_rn(float v) { return v; }
COALPROF_ANY __half2 __half2half2(__half v) { return {v, v}; }
COALPROF_ANY __half2 __float2half2_rn(float v) { return __half2(v); }
COALPROF_ANY __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
COALPROF_ANY __half2 __halves2half2(__half a, __half b) { return {a, b}; }
COALPROF_ANY float2 __half22float2(__half2 v) { return {v.x, v.y}; }
COALPROF_ANY __half __low2half(__half2 v) { return v.x; }
COALPROF_ANY __half __high2half(__half2 v) { return v.y; }
COALPROF_ANY float __bfloat162float(__nv_bfloat16 v) { return v; }
COALPROF_ANY __nv_bfloat16 __float2bfloat16(float v) { return v; }

// ---- what host code calls ----

typedef int cudaError_t;
typedef struct CoalprofStream* cudaStream_t;
typedef struct CoalprofEvent* cudaEvent_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaSuccess = 0 };
#define COALPROF_CALL(NAME) template <class... T> cudaError_t NAME(T&&...);
#define COALPROF_CALLS(X)                                                                                       \
    X(cudaMalloc) X(cudaMallocManaged) X(cudaMallocHost) X(cudaHostAlloc) X(cudaFree) X(cudaFreeHost) X(cudaMemcpy) \
    X(cudaMemcpyAsync) X(cudaMemcpyToSymbol) X(cudaMemcpyFromSymbol) X(cudaMemset) X(cudaMemsetAsync)           \
    X(cudaDeviceSynchronize) X(cudaThreadSynchronize) X(cudaDeviceReset) X(cudaSetDevice) X(cudaGetDevice)      \
    X(cudaGetLastError) X(cudaPeekAtLastError) X(cudaEventCreate) X(cudaEventRecord) X(cudaEventSynchronize)    \
    X(cudaEventElapsedTime) X(cudaEventDestroy) X(cudaStreamCreate) X(cudaStreamSynchronize) X(cudaStreamDestroy)
COALPROF_CALLS(COALPROF_CALL)
const char* cudaGetErrorString(cudaError_t);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);

// ---- cooperative groups: a block and tiles of its warps ----

namespace cooperative_groups {
struct thread_block {
    COALPROF_GPU unsigned thread_rank() const { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    COALPROF_GPU unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    COALPROF_GPU unsigned num_threads() const { return size(); }
    COALPROF_GPU dim3 thread_index() const { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
    COALPROF_GPU dim3 group_index() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
    COALPROF_GPU dim3 group_dim() const { return {blockDim.x, blockDim.y, blockDim.z}; }
    COALPROF_GPU void sync() const { __syncthreads(); }
};
template <unsigned N, class Parent = void> struct thread_block_tile {
    COALPROF_GPU unsigned thread_rank() const { return thread_block().thread_rank() % N; }
    COALPROF_GPU unsigned meta_group_rank() const { return thread_block().thread_rank() / N; }
    COALPROF_GPU unsigned meta_group_size() const { return (thread_block().size() + N - 1) / N; }
    COALPROF_GPU static unsigned size() { return N; }
    COALPROF_GPU static unsigned num_threads() { return N; }
    COALPROF_GPU void sync() const { __syncwarp(); }
    template <class T> COALPROF_GPU T shfl(T v, int lane) const { return __shfl_sync(~0u, v, lane, N); }
    template <class T> COALPROF_GPU T shfl_down(T v, int by) const { return __shfl_down_sync(~0u, v, by, N); }
    template <class T> COALPROF_GPU T shfl_up(T v, int by) const { return __shfl_up_sync(~0u, v, by, N); }
    template <class T> COALPROF_GPU T shfl_xor(T v, int by) const { return __shfl_xor_sync(~0u, v, by, N); }
};
COALPROF_GPU thread_block this_thread_block() { return {}; }
template <unsigned N, class G> COALPROF_GPU thread_block_tile<N> tiled_partition(const G&) { return {}; }
template <class G> COALPROF_GPU void sync(const G& group) { group.sync(); }
}  // namespace cooperative_groups
