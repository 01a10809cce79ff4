// Stores of whole warps to few lines: how long launches of more and more warps take. few_lines.txt
#include <cstdio>

__device__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

// mode 0: each lane at random; 1: a warp's lanes side by side in one line; 2: all lanes one word;
// 3: like 1, all warps of a block the same line.
template <int per>
__global__ void store(float* a, unsigned places, int mode) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < per; ++k) {
        const unsigned of_lane = mix(t * per + k), of_warp = mix(t / 32 * per + k);
        const unsigned i = mode == 0   ? of_lane
                           : mode == 1 ? threadIdx.x % 32 + of_warp
                           : mode == 2 ? of_warp
                                       : mix(blockIdx.x) * 32 + threadIdx.x % 32;
        a[i & (places - 1)] = 0;
    }
}

template <int per>
void measure(float* a, cudaEvent_t begin, cudaEvent_t end) {
    for (const int block : {128, 256, 512, 1024})
        for (const unsigned lines : {1u, 4u, 16u})
            for (int mode = 0; mode < 4; ++mode) {
                printf("%d %5d %5u %4d ", per, block, lines, mode);
                for (int stores = 32768; stores <= 2097152; stores *= 4) {
                    float best = 1e9, took = 0;
                    for (int i = 0; i < 5; ++i) {
                        cudaEventRecord(begin);
                        store<per><<<stores / per * 32 / block, block>>>(a, lines * 32, mode);
                        cudaEventRecord(end);
                        cudaEventSynchronize(end);
                        cudaEventElapsedTime(&took, begin, end);
                        best = took < best ? took : best;
                    }
                    printf(" %7.1f", best * 1e3);
                }
                printf("\n");
            }
}

int main() {
    float* a = nullptr;
    cudaEvent_t begin, end;
    cudaMalloc(&a, 1 << 20);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    measure<1>(a, begin, end);
    measure<8>(a, begin, end);
}
