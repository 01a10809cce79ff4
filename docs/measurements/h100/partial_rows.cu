// Sectors of device memory, each touched once: how many a second, by the number of rows of 256
// bytes that are touched before the next sector of the same row. Built with nvcc -O3 -arch=sm_90.
#include <algorithm>
#include <cstdint>
#include <cstdio>
__device__ uint64_t place(uint64_t k, uint64_t d, uint64_t rows, bool mix) {
    uint64_t g = k / (8 * d), r = k % (8 * d), s = r / d, row = g * d + r % d;
    if (mix) row = (row * 0x9E3779B1ull) & (rows - 1);
    return row * 256 + s * 32;
}
template <int V>
__global__ void k(char* base, uint64_t d, uint64_t rows, bool mix, float* sink) {
    uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (V == 0) *(float*)(base + place(t, d, rows, mix)) = t;  // partial store
    if (V == 1)
        *(float4*)(base + place(t / 2, d, rows, mix) + t % 2 * 16) =
            float4{1, 2, 3, (float)t};  // whole sector
    if (V == 2) {
        float v = __ldcg((float*)(base + place(t, d, rows, mix)));
        if (v == 12345.f) *sink = v;
    }
    if (V == 3) {
        float* p = (float*)(base + place(t, d, rows, mix));
        *p = __ldcg(p) + 1;
    }  // read and written
    if (V == 4) {
        atomicAdd((unsigned*)(base + place(t, d, rows, mix)), 1u);
    }
}
int main() {
    const uint64_t bytes = 256u << 20, rows = bytes / 256, n = rows * 8;
    char* d;
    cudaMalloc(&d, bytes);
    cudaMemset(d, 0, bytes);
    char* other;
    cudaMalloc(&other, 128 << 20);
    float* sink;
    cudaMalloc(&sink, 4);
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    const char* names[] = {"store 4 of 32", "store 32", "load", "load, store", "atomic"};
    for (int mix = 0; mix < 2; mix++)
        for (int v = 0; v < 5; v++) {
            printf("%-14s mix %d:", names[v], mix);
            for (uint64_t dist : {1ull, 8ull, 32ull, 256ull, 1024ull, 4096ull, 16384ull, 65536ull,
                                  262144ull, 1048576ull}) {
                float best = 1e9;
                for (int rep = 0; rep < 3; rep++) {
                    cudaMemsetAsync(other, rep, 128 << 20);
                    cudaEventRecord(a);
                    unsigned grid = n / 256;
                    switch (v) {
                        case 0: k<0><<<grid, 256>>>(d, dist, rows, mix, sink); break;
                        case 1: k<1><<<grid * 2, 256>>>(d, dist, rows, mix, sink); break;
                        case 2: k<2><<<grid, 256>>>(d, dist, rows, mix, sink); break;
                        case 3: k<3><<<grid, 256>>>(d, dist, rows, mix, sink); break;
                        case 4: k<4><<<grid, 256>>>(d, dist, rows, mix, sink); break;
                    }
                    cudaEventRecord(b);
                    cudaEventSynchronize(b);
                    float ms;
                    cudaEventElapsedTime(&ms, a, b);
                    best = std::min(best, ms);
                }
                printf(" %llu:%.2e", (unsigned long long)dist, n / (best * 1e-3));
            }
            printf("\n");
        }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
