// Bank conflicts of shared memory, each beside its remedy: a word of padding, or another order.
//   nvcc -O3 -lineinfo -o conflicts conflicts.cu && coalprof run --lines -- ./conflicts
#include <cstdio>
#include <cstdlib>

constexpr int side = 4096;  // of a matrix

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "conflicts: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

// Rows of 32 words: a column of the tile lies in one bank.
__global__ void transpose_conflicts(float* out, const float* in) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][x] = in[(blockIdx.y * 32 + y) * side + blockIdx.x * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * side + blockIdx.y * 32 + x] = tile[x][y];
}

__global__ void transpose_padded(float* out, const float* in) {
    __shared__ float tile[32][33];
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][x] = in[(blockIdx.y * 32 + y) * side + blockIdx.x * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * side + blockIdx.y * 32 + x] = tile[x][y];
}

// A thread for each row of a tile: sums of eight places around, which are read again and again.
__global__ void smooth_conflicts(float* out, const float* in) {
    __shared__ float tile[32][32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int y = warp; y < 32; y += 8) tile[y][lane] = in[blockIdx.x * 1024 + y * 32 + lane];
    __syncthreads();
    float sum = 0;
    for (int shift = 0; shift < 8; ++shift)
        for (int x = warp; x < 32; x += 8) sum += tile[lane][(x + shift) % 32];
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void smooth_padded(float* out, const float* in) {
    __shared__ float tile[32][33];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int y = warp; y < 32; y += 8) tile[y][lane] = in[blockIdx.x * 1024 + y * 32 + lane];
    __syncthreads();
    float sum = 0;
    for (int shift = 0; shift < 8; ++shift)
        for (int x = warp; x < 32; x += 8) sum += tile[lane][(x + shift) % 32];
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Sums of pairs, of pairs of pairs, ...: the words that a warp takes lie ever further apart.
__global__ void sum_pairs(float* out, const float* in) {
    __shared__ float part[1024];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int apart = 1; apart < 1024; apart *= 2) {
        const int at = 2 * apart * t;
        if (at < 1024) part[at] += part[at + apart];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void sum_halves(float* out, const float* in) {
    __shared__ float part[1024];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

int main() {
    constexpr std::size_t bytes = sizeof(float) * side * side;
    float* a = nullptr;
    float* b = nullptr;
    check(cudaMalloc(&a, bytes));
    check(cudaMalloc(&b, bytes));
    check(cudaMemset(a, 0, bytes));
    const dim3 tiles(side / 32, side / 32);
    const dim3 threads(32, 8);
    constexpr int blocks = side * side / 1024;
    for (int repeat = 0; repeat < 10; ++repeat) {
        transpose_conflicts<<<tiles, threads>>>(b, a);
        transpose_padded<<<tiles, threads>>>(b, a);
        smooth_conflicts<<<blocks, 256>>>(b, a);
        smooth_padded<<<blocks, 256>>>(b, a);
        sum_pairs<<<blocks, 1024>>>(b, a);
        sum_halves<<<blocks, 1024>>>(b, a);
    }
    check(cudaDeviceSynchronize());
    check(cudaGetLastError());
    std::printf("done\n");
    return 0;
}
