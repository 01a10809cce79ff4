// Streams of loads and stores within regions of 4 KiB to 1 GiB, 1 GiB in all. Results: stores.txt.
#include <cstdio>
#include <algorithm>
#include <vector>
__global__ void fill(float4* out, long n, long mask) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) out[i & mask] = make_float4(1, 2, 3, 4);
}
__global__ void fill_words(float* out, long n, long mask) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) out[i & mask] = 1;
}
__global__ void load(float4* out, long n, long mask) {
    float s = 0;
#pragma unroll 4
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) { float4 v = __ldcg(out + (i & mask)); s += v.x + v.y + v.z + v.w; }
    if (s == 1e30f) out[0].x = s;
}
__global__ void load_words(float* out, long n, long mask) {
    float s = 0;
#pragma unroll 8
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) s += __ldcg(out + (i & mask));
    if (s == 1e30f) out[0] = s;
}
__global__ void both(float4* out, long n, long mask) {  // loads half, stores half
    float s = 0;
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n / 2; i += (long)gridDim.x * blockDim.x) {
        float4 v = __ldcg(out + (i & (mask >> 1)));
        out[(i & (mask >> 1)) + (mask + 1) / 2] = v;
    }
    if (s == 1e30f) out[0].x = s;
}
__global__ void flush(float* f, long n) {
    float s = 0;
    for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L) s += f[i];
    if (s == 1e30f) f[0] = s;
}
template <class F> float us(F f, float* fl) {
    cudaEvent_t s, e; cudaEventCreate(&s); cudaEventCreate(&e);
    std::vector<float> v;
    for (int r = 0; r < 5; r++) {
        flush<<<1024, 256>>>(fl, 64L << 20);
        cudaEventRecord(s); f(); cudaEventRecord(e); cudaEventSynchronize(e);
        float ms; cudaEventElapsedTime(&ms, s, e); v.push_back(ms * 1000);
    }
    std::sort(v.begin(), v.end());
    return v[2];
}
int main() {
    float *a, *f;
    cudaMalloc(&a, 1L << 30); cudaMalloc(&f, 256L << 20);
    cudaMemset(a, 0, 1L << 30); cudaMemset(f, 0, 256L << 20);
    printf("%10s %8s %8s %8s %8s %8s   GB/s\n", "KiB", "fill16", "fill4", "load16", "load4", "both16");
    for (long kib = 4; kib <= 1 << 20; kib *= 2) {
        long all = 1L << 30, n4 = all / 4, n16 = all / 16, m4 = kib * 256 - 1, m16 = kib * 64 - 1;
        float t[5] = {us([&] { fill<<<1056, 256>>>((float4*)a, n16, m16); }, f), us([&] { fill_words<<<1056, 256>>>(a, n4, m4); }, f), us([&] { load<<<1056, 256>>>((float4*)a, n16, m16); }, f), us([&] { load_words<<<1056, 256>>>(a, n4, m4); }, f), us([&] { both<<<1056, 256>>>((float4*)a, n16, m16); }, f)};
        printf("%10ld", kib);
        for (float x : t) printf(" %8.0f", all / x / 1e3);
        printf("\n");
    }
    // the first pass over a region that L2 does not have, the second over what it has
    printf("one pass, us: KiB, fill16 cold, fill16 after loads, fill16 after stores, load16 cold, load16 warm\n");
    for (long kib = 1024; kib <= 1 << 15; kib *= 2) {
        long n = kib * 64, m = n - 1;
        auto once = [&](int before, int what) {
            cudaEvent_t s, e; cudaEventCreate(&s); cudaEventCreate(&e);
            std::vector<float> v;
            for (int r = 0; r < 9; r++) {
                flush<<<1024, 256>>>(f, 64L << 20);
                if (before == 1) load<<<1056, 256>>>((float4*)a, n, m);
                if (before == 2) fill<<<1056, 256>>>((float4*)a, n, m);
                cudaEventRecord(s);
                if (what) load<<<1056, 256>>>((float4*)a, n, m); else fill<<<1056, 256>>>((float4*)a, n, m);
                cudaEventRecord(e); cudaEventSynchronize(e);
                float ms; cudaEventElapsedTime(&ms, s, e); v.push_back(ms * 1000);
            }
            std::sort(v.begin(), v.end());
            return v[4];
        };
        printf("%8ld %8.1f %8.1f %8.1f %8.1f %8.1f\n", kib, once(0, 0), once(1, 0), once(2, 0), once(0, 1), once(1, 1));
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
