// In which order the warps of a launch load or store, as %clock says, and on which multiprocessor.
// Run as
//
//   ncu --csv --page raw --clock-control none --cache-control none -k regex:'one|four|two|storing'
//     --metrics lts__t_requests_srcunit_tex_op_read.sum,lts__t_requests_srcunit_tex_op_write.sum
//     ./joins_order ORDER
//
// ORDER: of each second launch the warps of four multiprocessors: warp of the grid, %clock before
// its first and its last access, %clock at its end, multiprocessor.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>
struct P {
    const float* a;
    const float* b;
    float* out;
    uint4* rec;
    unsigned long long n, off, m;
};
#define CLK(t) asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory")
#define LD(x, p) asm volatile("ld.global.f32 %0,[%1];" : "=f"(x) : "l"(p) : "memory")
__device__ __forceinline__ void done(const P& p, unsigned t0, unsigned t1, float x,
                                     unsigned long long i) {
    if (x == 12345.f) *p.out = x;
    unsigned sm, t2;
    CLK(t2);
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x % 32 == 0) p.rec[i / 32] = make_uint4(t0, t1, sm, t2);
}
__global__ void one(P p) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned t0;
    float x;
    CLK(t0);
    LD(x, p.a + (i * p.m + p.off));
    done(p, t0, t0, x, i);
}
__global__ void four(P p) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    unsigned t0, t1;
    float x, y, z, w;
    CLK(t0);
    LD(x, p.a + (i * p.m + p.off));
    LD(y, p.a + ((i + blockDim.x) * p.m + p.off));
    LD(z, p.a + ((i + 2 * blockDim.x) * p.m + p.off));
    LD(w, p.a + ((i + 3 * blockDim.x) * p.m + p.off));
    CLK(t1);
    done(p, t0, t1, x + y + z + w, (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x);
}
__global__ void two(P p) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned t0, t1;
    float x, y;
    CLK(t0);
    LD(x, p.a + (i * p.m + p.off));
    LD(y, p.b + (i * p.m + p.off));
    CLK(t1);
    done(p, t0, t1, x + y, i);
}
__global__ void storing(P p) {
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned t0;
    CLK(t0);
    float* q = (float*)p.a + (i * p.m + p.off);
    asm volatile("st.global.f32 [%0],%1;" ::"l"(q), "f"(1.f) : "memory");
    done(p, t0, t0, 0.f, i);
}
__global__ void flush_kernel(const float4* b, float* out, unsigned long long n) {
    float s = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (unsigned long long)gridDim.x * blockDim.x)
        s += b[i].x;
    if (s == 1234.5f) *out = s;
}
int main(int argc, char** argv) {
    P p;
    float* out;
    float *a, *b;
    uint4* rec;
    cudaMalloc(&a, 64u << 20);
    cudaMalloc(&b, 64u << 20);
    cudaMemset(a, 0, 64u << 20);
    cudaMemset(b, 0, 64u << 20);
    cudaMalloc(&out, 4096);
    cudaMalloc(&rec, 16u << 20);
    float4* fl;
    cudaMalloc(&fl, 256u << 20);
    cudaMemset(fl, 0, 256u << 20);
    p.a = a;
    p.b = b;
    p.out = out;
    p.rec = rec;
    p.off = 13;
    p.m = 1;
    FILE* g = fopen(argv[1], "w");
    void (*ks[])(P) = {one, four, two, storing};
    const char* names[] = {"one", "four", "two", "storing"};
    std::vector<uint4> h;
    for (int k = 0; k < 4; ++k)
        for (int warm = 0; warm < 2; ++warm)
            for (unsigned block : {64u, 128u, 256u, 512u, 1024u})
                for (unsigned grid : {16u, 64u, 132u, 264u, 528u, 1056u, 2112u}) {
                    if (grid > 132u * (2048 / block) || (k > 1 && grid != 64 && grid != 264))
                        continue;
                    p.n = (unsigned long long)grid * block;
                    ks[k]<<<grid, block>>>(p);
                    if (!warm) flush_kernel<<<528, 512>>>(fl, out, (256u << 20) / 16);
                    ks[k]<<<grid, block>>>(p);
                    cudaDeviceSynchronize();
                    h.resize(p.n / 32);
                    cudaMemcpy(h.data(), rec, h.size() * 16, cudaMemcpyDeviceToHost);
                    std::map<unsigned, int> sms;
                    for (auto& x : h) sms[x.z]++;
                    std::vector<unsigned> keep;
                    for (auto& s : sms) {
                        if (keep.size() < 4) keep.push_back(s.first);
                    }
                    fprintf(g, "L %s %s %u %u\n", names[k], warm ? "warm" : "cold", block, grid);
                    for (unsigned w = 0; w < h.size(); ++w)
                        if (std::find(keep.begin(), keep.end(), h[w].z) != keep.end())
                            fprintf(g, "%u %u %u %u %u\n", w, h[w].x, h[w].y, h[w].w, h[w].z);
                }
    fclose(g);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
