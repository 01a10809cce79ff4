// What scripts/random-kernels writes its kernels in: the same text is CUDA and, for a host's
// compiler, C++ that runs a block phase by phase, thread by thread. Either way each access says
// where it was: on a GPU in a buffer, on a host as the warp instructions that it makes.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using u8 = uint8_t;
using i8 = int8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
using f32 = float;
using f64 = double;

// A: read alone; W: written alone; B: 16 words of each thread; C: of atomics; S: shared memory.
constexpr u32 a_bytes = 1 << 16, w_bytes = 1 << 20, c_bytes = 1 << 12, s_words = 2048,
              own_words = 16;
enum : u32 { in_a, in_w, in_b, in_c, in_s };
enum : u32 { a_load, a_store, a_shared_load, a_shared_store, a_shared_atomic, an_atomic, a_reduce };

// The nth 8 bytes of A.
constexpr u64 content(u64 n) {
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    return n ^ n >> 27;
}

struct Thread {
    u32 x, y, z, bx, by, bz;
    u32 id, all;  // in the block, in the launch
    u32 v0, v1, v2, v3, junk;
    u32 records;
    u32 local[8];
};

struct Launch {
    const char* name;
    u32 grid[3], block[3];
    u32 threads() const { return block[0] * block[1] * block[2]; }
    u32 blocks() const { return grid[0] * grid[1] * grid[2]; }
};

// What a warp instruction is known by: its line, and the rounds of the loops around it.
// On a GPU lanes may come in parts: then by the lanes of theirs, too.
struct Site {
    u32 line, key, op, width, array, lanes;
    friend bool operator<(const Site& a, const Site& b) {
        return std::tie(a.line, a.key, a.lanes) < std::tie(b.line, b.key, b.lanes);
    }
};
using Offsets = std::array<u64, 32>;  // 1 + the offset of each lane that takes part
using Accesses = std::map<Site, Offsets>;

// "LINE OP WIDTH ARRAY OFFSET..." of each.
inline void print(FILE* file, const Accesses& accesses) {
    static const char* const names[] = {"load",          "store",  "shared_load", "shared_store",
                                        "shared_atomic", "atomic", "reduce"};
    for (const auto& [site, offsets] : accesses) {
        fprintf(file, "%u %s %u %u", site.line, names[site.op], site.width, site.array);
        for (const u64 one : offsets)
            one ? fprintf(file, " %llu", (unsigned long long)(one - 1)) : fprintf(file, " -");
        fputc('\n', file);
    }
}

#ifdef __CUDACC__
#define BOTH __host__ __device__
#define NOINLINE __device__ __noinline__
#define KERNEL(name)                                                                        \
    extern "C" __global__ void name(const u8* A, u8* W, u32* B, u8* C, ulonglong2* records, \
                                    u32 threads) {                                          \
        __shared__ alignas(16) u32 S[s_words];                                              \
        Thread s = this_thread();
#define KERNEL_END }
#define PHASE {
#define END }
#define EXIT return
#define BARRIER __syncthreads();
#define RECORD(op, width, array, base, key, pointer)                                          \
    records[u64{s.records++} * threads + s.all] = ulonglong2 {                                \
        u64(__LINE__) << 48 | u64(key) << 32 | u64((const u8*)(pointer) - (const u8*)(base)), \
            u64(op) << 48 | u64(width) << 40 | u64(array) << 32 | __activemask()              \
    }
#define SHFL_XOR(d, m, w) s.d = __shfl_xor_sync(~0u, s.d, m, w);
#define SHFL_UP(d, m, w) s.d = __shfl_up_sync(~0u, s.d, m, w);
#define SHFL_DOWN(d, m, w) s.d = __shfl_down_sync(~0u, s.d, m, w);
#define SHFL(d, e, w) s.d = __shfl_sync(~0u, s.d, s.e & 31, w);
#define BALLOT(d) s.d = s.d * 3 + __ballot_sync(~0u, s.d & 1);
#define ANY(d) s.d = s.d * 3 + __any_sync(~0u, (s.d & 31) == 3);
#define ALL(d) s.d = s.d * 3 + __all_sync(~0u, (s.d & 7) != 3);
#define MATCH(d) s.d = s.d * 3 + __match_any_sync(~0u, s.d & 3);
#define SUM(d) s.d = s.d * 3 + __reduce_add_sync(~0u, s.d);
#define MOST(d) s.d = s.d * 3 + __reduce_max_sync(~0u, s.d);

__device__ __forceinline__ Thread this_thread() {
    Thread s{threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z};
    s.id = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    s.all = block * blockDim.x * blockDim.y * blockDim.z + s.id;
    s.junk = s.records = 0;
    for (u32& one : s.local) one = 0;
    return s;
}
#else
#define BOTH
#define NOINLINE inline
#define KERNEL(name)                                                            \
    inline void name(Block& block, const u8* A, u8* W, u32* B, u8* C, u32* S) { \
        (void)A, (void)W, (void)B, (void)C, (void)S;
#define KERNEL_END }
#define PHASE block.each([&](Thread& s) {
#define END \
    });
#define EXIT return
#define BARRIER
#define RECORD(op, width, array, base, key, pointer)           \
    block.record(s, {__LINE__, u32(key), op, width, array, 0}, \
                 u64((const u8*)(pointer) - (const u8*)(base)))
#define SHFL_XOR(d, m, w) \
    block.exchange(&Thread::d, w, [](u32 lane, u32, u32) { return lane ^ m; });
#define SHFL_UP(d, m, w)          \
    block.exchange(&Thread::d, w, \
                   [](u32 lane, u32 first, u32) { return lane < first + m ? lane : lane - m; });
#define SHFL_DOWN(d, m, w)        \
    block.exchange(&Thread::d, w, \
                   [](u32 lane, u32, u32 end) { return lane + m < end ? lane + m : lane; });
#define SHFL(d, e, w)                                                                           \
    block.warps([&](Thread* warp) {                                                             \
        u32 old[32];                                                                            \
        for (u32 i = 0; i < 32; ++i) old[i] = warp[i].d;                                        \
        for (u32 i = 0; i < 32; ++i) warp[i].d = old[(i & ~(w - 1u)) | (warp[i].e & (w - 1u))]; \
    });
#define EACH_WARP(d, first, join, last)                                  \
    block.warps([&](Thread* warp) {                                      \
        u32 all = first;                                                 \
        for (u32 i = 0; i < 32; ++i) all = join;                         \
        for (u32 i = 0; i < 32; ++i) warp[i].d = warp[i].d * 3 + (last); \
    });
#define BALLOT(d) EACH_WARP(d, 0, all | (warp[i].d & 1) << i, all)
#define ANY(d) EACH_WARP(d, 0, all | ((warp[i].d & 31) == 3), all)
#define ALL(d) EACH_WARP(d, 1, all&((warp[i].d & 7) != 3), all)
#define SUM(d) EACH_WARP(d, 0, all + warp[i].d, all)
#define MOST(d) EACH_WARP(d, 0, std::max(all, warp[i].d), all)
#define MATCH(d)                                                                    \
    block.warps([&](Thread* warp) {                                                 \
        u32 of[4] = {};                                                             \
        for (u32 i = 0; i < 32; ++i) of[warp[i].d & 3] |= 1u << i;                  \
        for (u32 i = 0; i < 32; ++i) warp[i].d = warp[i].d * 3 + of[warp[i].d & 3]; \
    });

struct Block {
    std::vector<Thread> threads;
    std::vector<Accesses> accesses;  // of each warp
    template <typename Work>
    void each(Work work) {
        for (Thread& s : threads) work(s);
    }
    template <typename Work>
    void warps(Work work) {
        for (size_t i = 0; i < threads.size(); i += 32) work(&threads[i]);
    }
    template <typename From>
    void exchange(u32 Thread::*d, u32 width, From from) {
        warps([&](Thread* warp) {
            u32 old[32];
            for (u32 i = 0; i < 32; ++i) old[i] = warp[i].*d;
            for (u32 i = 0; i < 32; ++i)
                warp[i].*d = old[from(i, i & ~(width - 1), (i & ~(width - 1)) + width)];
        });
    }
    void record(Thread& s, const Site& site, u64 offset) {
        accesses[s.id / 32][site][s.id % 32] = offset + 1;
        ++s.records;
    }
};

inline u32 __popc(u32 x) { return u32(__builtin_popcount(x)); }
inline u32 __popcll(u64 x) { return u32(__builtin_popcountll(x)); }
inline u32 __clz(u32 x) { return x ? u32(__builtin_clz(x)) : 32; }
inline u32 __clzll(u64 x) { return x ? u32(__builtin_clzll(x)) : 64; }
inline u32 __ffs(u32 x) { return u32(__builtin_ffs(int(x))); }
inline u32 __brev(u32 x) {
    u32 y = 0;
    for (u32 i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
    return y;
}
inline u32 __umulhi(u32 x, u32 y) { return u32(u64{x} * y >> 32); }
inline u32 __umul24(u32 x, u32 y) { return (x & 0xFFFFFF) * (y & 0xFFFFFF); }
inline u32 __usad(u32 x, u32 y, u32 z) { return (x > y ? x - y : y - x) + z; }
inline u32 __uhadd(u32 x, u32 y) { return u32((u64{x} + y) >> 1); }
inline u32 __funnelshift_l(u32 low, u32 high, u32 by) {
    return u32((u64{high} << 32 | low) << (by & 31) >> 32);
}
inline u32 __funnelshift_r(u32 low, u32 high, u32 by) {
    return u32((u64{high} << 32 | low) >> (by & 31));
}
inline u32 __byte_perm(u32 x, u32 y, u32 which) {
    const u64 both = u64{y} << 32 | x;
    u32 made = 0;
    for (u32 i = 0; i < 4; ++i) made |= u32(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
    return made;
}
inline u32 __dp4a(u32 x, u32 y, u32 z) {
    for (u32 i = 0; i < 32; i += 8) z += (x >> i & 255) * (y >> i & 255);
    return z;
}
inline u32 __float_as_uint(f32 x) {
    u32 y;
    memcpy(&y, &x, 4);
    return y;
}
inline f32 __saturatef(f32 x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
template <typename T>
T atomicAdd(T* p, T x) {
    const T old = *p;
    *p = T(old + x);
    return old;
}
inline u32 atomicMax(u32* p, u32 x) {
    const u32 old = *p;
    *p = std::max(old, x);
    return old;
}
inline u32 atomicMin(u32* p, u32 x) {
    const u32 old = *p;
    *p = std::min(old, x);
    return old;
}
inline u32 atomicXor(u32* p, u32 x) { return (*p ^= x) ^ x; }
inline u32 atomicExch(u32* p, u32 x) {
    std::swap(*p, x);
    return x;
}
inline u32 atomicCAS(u32* p, u32 expected, u32 x) {
    const u32 old = *p;
    if (old == expected) *p = x;
    return old;
}
using std::max;
using std::min;
struct uint2 {
    u32 x, y;
};
struct alignas(16) uint4 {
    u32 x, y, z, w;
};
struct alignas(16) double2 {
    f64 x, y;
};
struct ushort4 {
    u16 x, y, z, w;
};
#endif

template <typename T>
BOTH u32 fold(const T& x) {
    return u32(x);
}
template <>
BOTH inline u32 fold(const u64& x) {
    return u32(x ^ x >> 32);
}
// Bits, for no conversion of numbers that are anything.
template <>
BOTH inline u32 fold(const f32& x) {
    u32 y;
    memcpy(&y, &x, 4);
    return y;
}
template <>
BOTH inline u32 fold(const f64& x) {
    u64 y;
    memcpy(&y, &x, 8);
    return u32(y ^ y >> 32);
}
template <>
BOTH inline u32 fold(const uint2& x) {
    return x.x + 5 * x.y;
}
template <>
BOTH inline u32 fold(const uint4& x) {
    return x.x + 5 * x.y + 7 * x.z + 9 * x.w;
}
template <>
BOTH inline u32 fold(const double2& x) {
    u64 y[2];
    memcpy(y, &x, 16);
    return u32(y[0] ^ y[0] >> 32) + 5 * u32(y[1] ^ y[1] >> 32);
}
template <>
BOTH inline u32 fold(const ushort4& x) {
    return x.x + 5u * x.y + 7u * x.z + 9u * x.w;
}

template <typename T>
BOTH T made(u32 x) {
    return T(x);
}
template <>
BOTH inline uint2 made(u32 x) {
    return {x, x + 1};
}
template <>
BOTH inline uint4 made(u32 x) {
    return {x, x + 1, x + 2, x + 3};
}
template <>
BOTH inline double2 made(u32 x) {
    return {f64(x), 2};
}
template <>
BOTH inline ushort4 made(u32 x) {
    return {u16(x), 1, 2, 3};
}

NOINLINE u32 mixed(u32 x, u32 y) {
    while (y > 3) {
        x = x * 5 + (y & 1);
        y /= 3;
    }
    return x;
}

// Whole in a line each: PTX says the line of an access.
#define LOAD(T, d, i, key)                                      \
    {                                                           \
        const T* p = (const T*)A + (i) % (a_bytes / sizeof(T)); \
        RECORD(a_load, sizeof(T), in_a, A, key, p);             \
        const T t = *p;                                         \
        d = d * 3 + fold(t);                                    \
    }
#define STORE(T, i, x, key)                          \
    {                                                \
        T* p = (T*)W + (i) % (w_bytes / sizeof(T));  \
        RECORD(a_store, sizeof(T), in_w, W, key, p); \
        *p = made<T>(x);                             \
    }
#define OWN_LOAD(d, i, key)                               \
    {                                                     \
        u32* p = B + s.all * own_words + (i) % own_words; \
        RECORD(a_load, 4, in_b, B, key, p);               \
        d = d * 3 + *p;                                   \
    }
#define OWN_STORE(i, x, key)                              \
    {                                                     \
        u32* p = B + s.all * own_words + (i) % own_words; \
        RECORD(a_store, 4, in_b, B, key, p);              \
        *p = (x);                                         \
    }
#define SHARED_LOAD(T, d, i, key)                                   \
    {                                                               \
        const T* p = (const T*)S + (i) % (4 * s_words / sizeof(T)); \
        RECORD(a_shared_load, sizeof(T), in_s, S, key, p);          \
        const T t = *p;                                             \
        d = d * 3 + fold(t);                                        \
    }
#define SHARED_STORE(i, x, key)                     \
    {                                               \
        u32* p = S + (i);                           \
        RECORD(a_shared_store, 4, in_s, S, key, p); \
        *p = (x);                                   \
    }
#define SHARED_ADD(i, x, key)                        \
    {                                                \
        u32* p = S + (i);                            \
        RECORD(a_shared_atomic, 4, in_s, S, key, p); \
        atomicAdd(p, u32(x));                        \
    }
#define ATOMIC(f, T, i, x, key)                        \
    {                                                  \
        T* p = (T*)C + (i) % (c_bytes / sizeof(T));    \
        RECORD(an_atomic, sizeof(T), in_c, C, key, p); \
        s.junk ^= fold(f(p, T(x)));                    \
    }
#define REDUCE(f, T, i, x, key)                       \
    {                                                 \
        T* p = (T*)C + (i) % (c_bytes / sizeof(T));   \
        RECORD(a_reduce, sizeof(T), in_c, C, key, p); \
        f(p, T(x));                                   \
    }
#define SWAP(i, x, y, key)                      \
    {                                           \
        u32* p = (u32*)C + (i) % (c_bytes / 4); \
        RECORD(an_atomic, 4, in_c, C, key, p);  \
        s.junk ^= atomicCAS(p, x, y);           \
    }

#ifdef __CUDACC__
template <typename Kernel>
void run(const Launch& launch, Kernel kernel, const char* folder, u32 most_records) {
    const u64 threads = u64{launch.blocks()} * launch.threads();
    std::vector<u64> a(a_bytes / 8);
    for (u64 i = 0; i < a.size(); ++i) a[i] = content(i);
    u8 *A, *W, *B, *C;
    ulonglong2* records;
    const u64 bytes = threads * most_records * sizeof *records;
    cudaMalloc(&A, a_bytes), cudaMalloc(&W, w_bytes), cudaMalloc(&C, c_bytes);
    cudaMalloc(&B, threads * own_words * 4), cudaMalloc(&records, bytes);
    cudaMemcpy(A, a.data(), a_bytes, cudaMemcpyHostToDevice);
    cudaMemset(B, 0, threads * own_words * 4), cudaMemset(C, 0, c_bytes),
        cudaMemset(records, 0, bytes);
    const auto size = [](const u32* by) { return dim3(by[0], by[1], by[2]); };
    kernel<<<size(launch.grid), size(launch.block)>>>(A, W, (u32*)B, C, records, u32(threads));
    std::vector<std::vector<ulonglong2>> all;  // the nth of each thread
    do {
        all.emplace_back(threads);
        if (cudaMemcpy(all.back().data(), records + (all.size() - 1) * threads,
                       threads * sizeof *records, cudaMemcpyDeviceToHost) != cudaSuccess)
            printf("%s: %s\n", launch.name, cudaGetErrorString(cudaGetLastError()));
    } while (all.size() < most_records &&
             std::any_of(all.back().begin(), all.back().end(),
                         [](const ulonglong2& one) { return one.x != 0; }));
    cudaFree(A), cudaFree(W), cudaFree(B), cudaFree(C), cudaFree(records);
    FILE* file = fopen((std::string(folder) + "/" + launch.name + ".gpu").c_str(), "w");
    for (u64 block = 0; block < launch.blocks(); ++block)
        for (u32 first = 0; first < launch.threads(); first += 32) {
            Accesses accesses;
            for (u32 id = first; id < std::min(first + 32, launch.threads()); ++id)
                for (const auto& row : all) {
                    const ulonglong2& one = row[block * launch.threads() + id];
                    if (one.x == 0) break;
                    const Site site{u32(one.x >> 48),       u32(one.x >> 32 & 0xFFFF),
                                    u32(one.y >> 48),       u32(one.y >> 40 & 255),
                                    u32(one.y >> 32 & 255), u32(one.y)};
                    accesses[site][id % 32] = u32(one.x) + u64{1};
                }
            print(file, accesses);
        }
    fclose(file);
}
#else
template <typename Kernel>
void run(const Launch& launch, Kernel kernel, const char* folder, u32 most_records) {
    std::vector<u64> a(a_bytes / 8), w(w_bytes / 8), c(c_bytes / 8);
    for (u64 i = 0; i < a.size(); ++i) a[i] = content(i);
    std::vector<u32> b(u64{launch.blocks()} * launch.threads() * own_words);
    FILE* file = fopen((std::string(folder) + "/" + launch.name + ".expected").c_str(), "w");
    for (u32 at = 0; at < launch.blocks(); ++at) {
        Block block;
        for (u32 id = 0; id < launch.threads(); ++id) {
            const u32 *t = launch.block, *g = launch.grid;
            block.threads.push_back({.x = id % t[0],
                                     .y = id / t[0] % t[1],
                                     .z = id / t[0] / t[1],
                                     .bx = at % g[0],
                                     .by = at / g[0] % g[1],
                                     .bz = at / g[0] / g[1],
                                     .id = id,
                                     .all = at * launch.threads() + id});
        }
        block.accesses.resize((launch.threads() + 31) / 32);
        alignas(16) u32 shared[s_words] = {};
        kernel(block, (const u8*)a.data(), (u8*)w.data(), b.data(), (u8*)c.data(), shared);
        for (const Accesses& one : block.accesses) print(file, one);
        for (const Thread& one : block.threads)
            if (one.records >= most_records) printf("%s: %u records\n", launch.name, one.records);
    }
    fclose(file);
}
#endif
