// Four ways to waste memory traffic, each beside its remedy: something to try `coalprof run` on.
//   nvcc -O3 -lineinfo -o faults faults.cu && coalprof run --first 2 --counters memory -- ./faults
#include <cstdio>
#include <cstdlib>

constexpr int side = 4096;  // of a matrix
constexpr int count = side * side;

void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "faults: %s\n", cudaGetErrorString(error));
    std::exit(1);
}

// Reads rows and writes columns: each lane of a warp writes a sector of its own.
__global__ void transpose_naive(float* out, const float* in) {
    const int x = blockIdx.x * 32 + threadIdx.x;
    for (int y = blockIdx.y * 32 + threadIdx.y; y < blockIdx.y * 32 + 32; y += 8)
        out[x * side + y] = in[y * side + x];
}

// By way of shared memory both are rows.
__global__ void transpose_tiled(float* out, const float* in) {
    __shared__ float tile[32][33];
    const int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        tile[y][x] = in[(blockIdx.y * 32 + y) * side + blockIdx.x * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * side + blockIdx.y * 32 + x] = tile[x][y];
}

struct Particle {
    float x, y, z;
};

__global__ void scale_structs(Particle* particles, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) particles[i].x *= 2;
}

__global__ void scale_array(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

// A thread for each row: neighbours read a row's length apart.
__global__ void sum_rows_by_thread(float* sums, const float* in) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int x = 0; x < side; ++x) sum += in[row * side + x];
    sums[row] = sum;
}

// A warp for each row: neighbours read next to each other.
__global__ void sum_rows_by_warp(float* sums, const float* in) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int x = threadIdx.x % 32; x < side; x += 32) sum += in[row * side + x];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xFFFFFFFF, sum, distance);
    if (threadIdx.x % 32 == 0) sums[row] = sum;
}

// A copy from one element behind the start of a line.
__global__ void copy(float* out, const float* in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

int main() {
    float* a = nullptr;
    float* b = nullptr;
    check(cudaMalloc(&a, (3ull * count + 32) * sizeof(float)));
    check(cudaMalloc(&b, (3ull * count + 32) * sizeof(float)));
    check(cudaMemset(a, 0, (3ull * count + 32) * sizeof(float)));
    const dim3 tiles(side / 32, side / 32);
    const dim3 threads(32, 8);
    for (int repeat = 0; repeat < 10; ++repeat) {
        transpose_naive<<<tiles, threads>>>(b, a);
        transpose_tiled<<<tiles, threads>>>(b, a);
        scale_structs<<<count / 256, 256>>>(reinterpret_cast<Particle*>(a), count);
        scale_array<<<count / 256, 256>>>(a, count);
        sum_rows_by_thread<<<side / 256, 256>>>(b, a);
        sum_rows_by_warp<<<side / 8, 256>>>(b, a);
        copy<<<count / 256, 256>>>(b, a + 1, count);
        copy<<<count / 128, 128>>>(b, a, count);
    }
    check(cudaDeviceSynchronize());
    check(cudaGetLastError());
    std::printf("done\n");
    return 0;
}
