// How long one load of device memory takes while other blocks load and store at a rate: a thread
// follows a chain of lines in random order. Results: busy_memory.txt.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include <numeric>
#include <random>
__device__ volatile int stop;
__device__ double rate[2];
__global__ void work(const int* chain, int steps, float4* a, long n, int readers, int writers, int pause, long long* took, int of_l2) {
    if (blockIdx.x == 0) {
        if (threadIdx.x) return;
        long long w = clock64();
        while (clock64() - w < 60000) ;
        int at = 0;
        for (int i = 0; i < 200; i++) at = __ldcg(chain + at);
                long long s = clock64();
        for (int i = 0; i < steps; i++) at = __ldcg(chain + at);
        long long e = clock64();
        took[0] = e - s; took[3] = at;
        stop = 1;
        return;
    }
    const int role = (int)((blockIdx.x - 1) % (readers + writers + (readers + writers == 0)));
    if (readers + writers == 0) return;
    const bool reads = role < readers;
    const long threads = (long)(gridDim.x - 1) * blockDim.x;
    long i = (long)(blockIdx.x - 1) * blockDim.x + threadIdx.x;
    float s = 0;
    unsigned count = 0;
    const long long begin = clock64();
    while (true) {
        if (reads) { float4 v = __ldcg(a + (of_l2 ? i & 0x3ffff : i)); s += v.x; } else a[i] = make_float4(1, 2, 3, 4);
        i += threads; if (i >= n) i -= n;
        ++count;
        if (pause) { long long c = clock64(); while (clock64() - c < pause) ; }
        if ((count & 15) == 0 && stop) break;
    }
    if ((threadIdx.x & 31) == 0) atomicAdd(&rate[reads ? 0 : 1], count * 512.0 / (clock64() - begin));
    if (s == 1e30f) a[0].x = s;
}
int main() {
    const long lines = 4 << 20;  // 512 MiB
    std::vector<int> order(lines), next(lines * 32);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 g(1);
    std::shuffle(order.begin() + 1, order.end(), g);
    for (long k = 0; k < lines; k++) next[order[k] * 32L] = order[(k + 1) % lines] * 32;
    int* chain; float4* a; long long* took;
    const long n = 2L << 30 >> 4;
    cudaMalloc(&chain, lines * 128); cudaMalloc(&a, 2L << 30); cudaMallocManaged(&took, 64);
    cudaMemcpy(chain, next.data(), lines * 128, cudaMemcpyHostToDevice);
    cudaMemset(a, 0, 2L << 30);
    printf("readers writers pause  latency cycles   read write GB/s\n");
    int shares[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {3, 1, 0}, {1, 3, 0}, {1, 0, 1}, {1, 1, 1}};
    for (auto& sh : shares)
        for (int pause : {0, 100, 200, 400, 600, 800, 1200, 1600, 2400, 3600, 6000, 12000}) {
            if (sh[0] + sh[1] == 0 && pause) continue;
            int zero = 0; double none[2] = {0, 0}, r[2]; cudaMemcpyToSymbol(stop, &zero, 4); cudaMemcpyToSymbol(rate, none, 16);
            const int steps = 1000;
            work<<<132 * 8, 256>>>(chain, steps, a, n, sh[0], sh[1], pause, took, sh[2]);
            cudaError_t e = cudaDeviceSynchronize();
            if (e) { printf("%s\n", cudaGetErrorString(e)); return 1; }
            cudaMemcpyFromSymbol(r, rate, 16);
            printf("%d%s %d %6d  %8.0f   %6.0f %6.0f\n", sh[0], sh[2] ? " of L2" : "", sh[1], pause, (double)took[0] / steps, r[0] * 1.98, r[1] * 1.98);
        }
}
