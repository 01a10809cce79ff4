// Warps that load or store at chosen times: which of their requests for a line join on the way to
// L2. Run as
//
//   ncu --csv --page raw --clock-control none --cache-control none --metrics
//     lts__t_requests_srcunit_tex_op_read.sum,lts__t_requests_srcunit_tex_op_write.sum
//     ./joins_at_times PLANS TIMES
//
// PLANS: a launch a line: kind (0 load, 1 store: 32 bytes a warp and access; 10, 11: 64 bytes at
// each of the first two places by one instruction), blocks, warps, rounds; then for each warp how
// many pairs of multiplications it waits, and up to four places in bytes, -1 for none. TIMES: for
// each warp the mean of %clock behind warp 0's, ~ its deviation.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Plan {
    int kind, W, rounds;
    short nop[32];
    int off[32][4];
};
#define N2                                                         \
    asm volatile("mad.lo.u32 %0,%0,%2,%3; mad.lo.u32 %1,%1,%2,%3;" \
                 : "+r"(x), "+r"(y)                                \
                 : "r"(m), "r"(c));
#define N1a asm volatile("mad.lo.u32 %0,%0,%1,%2;" : "+r"(x) : "r"(m), "r"(c));
#define N1b asm volatile("mad.lo.u32 %0,%0,%1,%2;" : "+r"(y) : "r"(m), "r"(c));
#define C2(k)    \
    case k: N1a; \
    case (k)-1:  \
        N1b;
#define C8(k) C2(k) C2((k)-2) C2((k)-4) C2((k)-6)
#define C32(k) C8(k) C8((k)-8) C8((k)-16) C8((k)-24)
__global__ void m2(char* base, Plan p, unsigned* out, int* rec, unsigned m, unsigned c) {
    __shared__ unsigned tim[32];
    const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int d = p.nop[w];
    const int o0 = p.off[w][0], o1 = p.off[w][1], o2 = p.off[w][2], o3 = p.off[w][3];
    char* mine = base + (size_t)blockIdx.x * (16u << 20);
    unsigned sum = 0, x = threadIdx.x, y = x;
    int acc = 0, acc2 = 0;
    for (int r = 0; r < p.rounds; ++r) {
        char* a = mine + (size_t)r * 32768;
        unsigned* q0 = (unsigned*)(a + (p.kind >= 10 ? (lane < 16 ? o0 : o1) + (lane % 16) * 4
                                                     : o0 + (lane % 8) * 4));
        unsigned* q1 = (unsigned*)(a + o1 + (lane % 8) * 4);
        unsigned* q2 = (unsigned*)(a + o2 + (lane % 8) * 4);
        unsigned* q3 = (unsigned*)(a + o3 + (lane % 8) * 4);
        unsigned t, v0 = 0, v1 = 0, v2 = 0, v3 = 0;
        __syncthreads();
        switch (d) { C32(96) C32(64) C32(32) default : break; }
        asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
        if (p.kind == 0) {
            asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v0) : "l"(q0));
            if (o1 >= 0) {
                asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v1) : "l"(q1));
                if (o2 >= 0) {
                    asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v2) : "l"(q2));
                    if (o3 >= 0) asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v3) : "l"(q3));
                }
            }
        } else if (p.kind == 1) {
            asm volatile("st.global.u32 [%1],%0;" ::"r"(lane), "l"(q0));
            if (o1 >= 0) {
                asm volatile("st.global.u32 [%1],%0;" ::"r"(lane), "l"(q1));
                if (o2 >= 0) {
                    asm volatile("st.global.u32 [%1],%0;" ::"r"(lane), "l"(q2));
                    if (o3 >= 0) asm volatile("st.global.u32 [%1],%0;" ::"r"(lane), "l"(q3));
                }
            }
        } else if (p.kind == 10)
            asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v0) : "l"(q0));
        else
            asm volatile("st.global.u32 [%1],%0;" ::"r"(lane), "l"(q0));
        if (lane == 0) tim[w] = t;
        sum += v0 + v1 + v2 + v3;
        if (sum == 0x12345) out[1] = x + y;
        __syncthreads();
        const int rel = (int)(tim[w] - tim[0]);
        acc += rel;
        acc2 += rel * rel;
        for (int k = 0; k < 20; ++k) {
            N2 N2 N2 N2
        }
    }
    if (lane == 0 && blockIdx.x == 0) {
        rec[2 * w] = acc;
        rec[2 * w + 1] = acc2;
    }
    if (x + y == 77) out[0] = sum;
}
int main(int argc, char** argv) {
    char* base;
    unsigned* out;
    int* rec;
    const size_t N = (size_t)132 * (16u << 20) + (64u << 20);
    cudaMalloc(&base, N);
    cudaMemset(base, 1, N);
    cudaMalloc(&out, 1 << 16);
    cudaMalloc(&rec, 4096);
    FILE* f = fopen(argv[1], "r");
    static char line[16384];
    int n = 0;
    FILE* g = fopen(argv[2], "w");
    while (fgets(line, sizeof line, f)) {
        Plan p;
        memset(&p, 0, sizeof p);
        int blocks;
        char* s = line;
        p.kind = strtol(s, &s, 10);
        blocks = strtol(s, &s, 10);
        p.W = strtol(s, &s, 10);
        p.rounds = strtol(s, &s, 10);
        for (int k = 0; k < p.W; ++k) {
            p.nop[k] = strtol(s, &s, 10);
            for (int j = 0; j < 4; ++j) p.off[k][j] = strtol(s, &s, 10);
        }
        m2<<<blocks, p.W * 32>>>(base, p, out, rec, 3, 7);
        int h[64];
        cudaMemcpy(h, rec, sizeof h, cudaMemcpyDeviceToHost);
        cudaError_t e = cudaGetLastError();
        if (e) {
            printf("%s\n", cudaGetErrorString(e));
            return 1;
        }
        for (int k = 0; k < p.W; ++k) {
            double mu = (double)h[2 * k] / p.rounds,
                   var = (double)h[2 * k + 1] / p.rounds - mu * mu;
            fprintf(g, "%.1f~%.1f ", mu, var > 0 ? __builtin_sqrt(var) : 0.);
        }
        fprintf(g, "\n");
        ++n;
    }
    fclose(g);
    printf("%d configs\n", n);
}
