// What a scheduler issues, how long results take, and barriers: cycles and instructions a cycle.
// Results: issue.txt.
#include <cstdio>

#define CHAIN(name, T, op)                                                           \
    __global__ void name(long long* took, T* out, T start) {                         \
        T x = start;                                                                 \
        const long long begin = clock64();                                           \
        _Pragma("unroll") for (int i = 0; i < 64; i++) { op; }                       \
        const long long end = clock64();                                             \
        if (threadIdx.x == 0) *took = end - begin;                                   \
        out[threadIdx.x] = x;                                                        \
    }
CHAIN(inverse_root, float, asm volatile("rsqrt.approx.ftz.f32 %0,%0;" : "+f"(x)))
CHAIN(exponential, float, asm volatile("ex2.approx.ftz.f32 %0,%0;" : "+f"(x)))
CHAIN(reversed_bits, unsigned, asm volatile("brev.b32 %0,%0;" : "+r"(x)))

// Sixteen registers, 2048 instructions of one kind.
#define TIMED(name, type, op)                                                                            \
    __global__ void name(long long* took, type* out, type start) {                                       \
        type r[16];                                                                                      \
        for (int i = 0; i < 16; i++) r[i] = start + i;                                                   \
        __syncthreads();                                                                                 \
        const long long begin = clock64();                                                               \
        _Pragma("unroll 1") for (int k = 0; k < 16; k++) {                                               \
            _Pragma("unroll") for (int i = 0; i < 128; i++) {                                            \
                [[maybe_unused]] type &d = r[i % 16], a = r[(i + 5) % 16], b = r[(i + 9) % 16];                           \
                op;                                                                                      \
            }                                                                                            \
        }                                                                                                \
        type sum = 0;                                                                                    \
        for (int i = 0; i < 16; i++) sum += r[i];                                                        \
        out[threadIdx.x] = sum;                                                                          \
        __syncthreads();                                                                                 \
        if (threadIdx.x == 0 && blockIdx.x == 0) *took = clock64() - begin;                              \
    }
TIMED(sums_of_two, float, asm volatile("add.f32 %0,%1,%0;" : "+f"(d) : "f"(a)))
TIMED(sums_of_three, float, asm volatile("fma.rn.f32 %0,%1,%2,%0;" : "+f"(d) : "f"(a), "f"(b)))
TIMED(minima, int, asm volatile("min.s32 %0,%1,%0;" : "+r"(d) : "r"(a)))
TIMED(products, int, asm volatile("mad.lo.s32 %0,%1,%2,%0;" : "+r"(d) : "r"(a), "r"(b)))

__global__ void barriers(long long* took, int* out) {
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < 256; i++) __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0) *took = clock64() - begin;
}
__global__ void scan_steps(long long* took, int* out) {
    __shared__ volatile int s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < 256; i++) {
        const int other = threadIdx.x >= 1 ? s[threadIdx.x - 1] : 0;
        __syncthreads();
        s[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) *took = clock64() - begin;
    out[threadIdx.x] = s[threadIdx.x];
}

int main() {
    long long* took;
    void* out;
    cudaMallocManaged(&took, 8);
    cudaMalloc(&out, 4096);
#define SHOW_CHAIN(name, T)                                                      \
    for (int i = 0; i < 2; i++) name<<<1, 32>>>(took, (T*)out, (T)1);            \
    cudaDeviceSynchronize();                                                     \
    printf("%-14s %5.1f cycles until the next\n", #name, *took / 64.0);
    SHOW_CHAIN(inverse_root, float)
    SHOW_CHAIN(exponential, float)
    SHOW_CHAIN(reversed_bits, unsigned)
#define SHOW_TIMED(name, T)                                                                     \
    for (int i = 0; i < 2; i++) name<<<132, 1024>>>(took, (T*)out, (T)3);                       \
    cudaDeviceSynchronize();                                                                    \
    printf("%-14s %5.2f a cycle of a scheduler, 8 warps\n", #name, 8 * 2048.0 / *took);
    SHOW_TIMED(sums_of_two, float)
    SHOW_TIMED(sums_of_three, float)
    SHOW_TIMED(minima, int)
    SHOW_TIMED(products, int)
#define SHOW_BLOCKS(name)                                                                           \
    for (int blocks : {1, 2}) {                                                                     \
        printf("%-14s %d blocks, cycles with 1, 2, 4, ... 32 warps:", #name, blocks);               \
        for (int warps = 1; warps <= 32; warps *= 2) {                                              \
            for (int i = 0; i < 2; i++) name<<<132 * blocks, 32 * warps>>>(took, (int*)out);        \
            cudaDeviceSynchronize();                                                                \
            printf(" %.1f", *took / 256.0);                                                         \
        }                                                                                           \
        printf("\n");                                                                               \
    }
    SHOW_BLOCKS(barriers)
    SHOW_BLOCKS(scan_steps)
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
