// Asynchronous copies to shared memory: 4 and 16 bytes a lane, lanes side by side and apart;
// through L1 (ca) and past it (cg).
#include <cuda_pipeline.h>

#include <cstdio>
template <int step>
__global__ void async4_ca(float* out, const float* in) {
    __shared__ float tile[256];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
    const float* from = in + (blockIdx.x * 256 + threadIdx.x) * step;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
template <int step>
__global__ void async16_ca(float4* out, const float4* in) {
    __shared__ float4 tile[256];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
    const float4* from = in + (blockIdx.x * 256 + threadIdx.x) * step;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
template <int step>
__global__ void async16_cg(float4* out, const float4* in) {
    __shared__ float4 tile[256];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
    const float4* from = in + (blockIdx.x * 256 + threadIdx.x) * step;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
    asm volatile("cp.async.wait_all;");
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
int main() {
    float4 *in, *out;
    cudaMalloc(&in, 64 << 20);
    cudaMalloc(&out, 64 << 20);
    cudaMemset(in, 0, 64 << 20);
    async4_ca<1><<<256, 256>>>((float*)out, (float*)in);
    async4_ca<3><<<256, 256>>>((float*)out, (float*)in);
    async16_ca<1><<<256, 256>>>(out, in);
    async16_ca<2><<<256, 256>>>(out, in);
    async16_cg<1><<<256, 256>>>(out, in);
    async16_cg<2><<<256, 256>>>(out, in);
    async16_cg<3><<<256, 256>>>(out, in);
    std::printf("%d\n", int(cudaDeviceSynchronize()));
}
