// A thread has a row; loads that ptxas moves before stores of the round before, or may not.
// hoisted.txt beside this file has what an H200 does with them.
#include <algorithm>
#include <cstdio>
#include <vector>
#define ROW                                                                    \
    const size_t base = size_t(blockIdx.x * blockDim.x + threadIdx.x) * width; \
    float x = 0;                                                               \
    (void)a;                                                                   \
    (void)b;                                                                   \
    (void)c;                                                                   \
    (void)d;                                                                   \
    (void)e;
#define ORDER asm volatile("" ::: "memory")
#define K(name, body)                                                                          \
    __global__ void name(float* a, float* b, float* c, float* d, float* e, int width, int n) { \
        ROW for (int i = 0; i < n; i++){body} a[base] = x;                                     \
    }
K(both_free, x = x * 0.5f + b[base + i]; a[base + i] = x;)
K(both, x = x * 0.5f + b[base + i]; a[base + i] = x; ORDER;)
K(in_place, x = x * 0.5f + a[base + i]; a[base + i] = x; ORDER;)
K(two_one, x = x * 0.5f + a[base + i] + b[base + i]; a[base + i] = x; ORDER;)
K(two_two, x = x * 0.5f + a[base + i] + b[base + i]; a[base + i] = x; b[base + i] = x; ORDER;)
K(four_one, x = x * 0.5f + a[base + i] + b[base + i] + c[base + i] + d[base + i]; e[base + i] = x;
  ORDER;)
K(four_two, x = x * 0.5f + a[base + i] + b[base + i] + c[base + i] + d[base + i]; a[base + i] = x;
  e[base + i] = x; ORDER;)
K(four_two_free, x = x * 0.5f + a[base + i] + b[base + i] + c[base + i] + d[base + i];
  a[base + i] = x; e[base + i] = x;)
K(four_none, x = x * 0.5f + a[base + i] + b[base + i] + c[base + i] + d[base + i]; ORDER;)
K(none_two, x = x * 0.5f + i; a[base + i] = x; e[base + i] = x; ORDER;)
K(divided, x = 1.0f / (x * 0.5f + a[base + i] + b[base + i] + c[base + i] + d[base + i] + 2.f);
  a[base + i] = x; e[base + i] = x; ORDER;)
K(back_two, x = x * 0.5f + a[base + n - 1 - i] - e[base + n - 1 - i]; a[base + n - 1 - i] = x;
  ORDER;)
int main() {
    float *p[5], *f;
    const size_t words = size_t(1) << 26;
    for (auto& q : p) {
        cudaMalloc(&q, words * 4);
        cudaMemset(q, 0, words * 4);
    }
    cudaMalloc(&f, 512 << 20);
    cudaEvent_t s, e;
    cudaEventCreate(&s);
    cudaEventCreate(&e);
    using F = void (*)(float*, float*, float*, float*, float*, int, int);
#define N(k) \
    { #k, k }
    const struct {
        const char* name;
        F f;
    } fs[] = {N(both_free), N(both),          N(in_place),  N(two_one),  N(two_two), N(four_one),
              N(four_two),  N(four_two_free), N(four_none), N(none_two), N(divided), N(back_two)};
    const int configs[][3] = {{128, 128, 512}, {32, 128, 512},  {1, 128, 512},
                              {128, 32, 512},  {128, 128, 513}, {128, 128, 3840}};
    const int n = 512;
    for (auto& k : fs) {
        printf("%-14s", k.name);
        for (auto& c : configs) {
            std::vector<float> t;
            for (int r = 0; r < 3; r++) {
                cudaMemset(f, 0, 512 << 20);
                cudaEventRecord(s);
                k.f<<<c[0], c[1]>>>(p[0], p[1], p[2], p[3], p[4], c[2], n);
                cudaEventRecord(e);
                cudaEventSynchronize(e);
                float ms;
                cudaEventElapsedTime(&ms, s, e);
                t.push_back(ms);
            }
            std::sort(t.begin(), t.end());
            printf(" %8.1f", t[1] * 1e3);
        }
        printf("\n");
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
