// Kernels that fill, sum, copy and scale 2^20 to 2^28 floats, for Nsight Compute. Results: stores.txt.
#include <cstdio>
#include <cstdlib>
extern "C" {
__global__ void fill_one(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 1.5f; }
__global__ void fill_four(float* out, const float* in, int n) {
    int i = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) out[i + k * 256] = 1.5f;
}
__global__ void fill_vec(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; ((float4*)out)[i] = make_float4(1, 2, 3, 4); }
__global__ void fill_stride(float* out, const float* in, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 1.5f; }
__global__ void copy_vec(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; ((float4*)out)[i] = ((const float4*)in)[i]; }
__global__ void copy_stride(float* out, const float* in, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i]; }
__global__ void copy_plain(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; }
__global__ void scale(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] *= 2.0f; }
__global__ void sum_vec(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float4 v = ((const float4*)in)[i]; if (v.x + v.y + v.z + v.w == 1e30f) out[0] = 1; }
__global__ void sum_stride(float* out, const float* in, int n) { float s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i]; if (s == 1e30f) out[0] = s; }
__global__ void sum_plain(float* out, const float* in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && in[i] == 1e30f) out[0] = 1; }
__global__ void flush(float* f, long n) {
    float s = 0;
    for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L) s += f[i];
    if (s == 1e30f) f[0] = s;
}
}
typedef void (*K)(float*, const float*, int);
int main() {
    float *a, *b, *f;
    cudaMalloc(&a, 4L << 28); cudaMalloc(&b, 4L << 28); cudaMalloc(&f, 256L << 20);
    cudaMemset(a, 0, 4L << 28); cudaMemset(f, 0, 256L << 20);
    struct { const char* name; K k; int per; } all[] = {{"fill_one", fill_one, 1}, {"fill_four", fill_four, 4}, {"fill_vec", fill_vec, 4}, {"fill_stride", fill_stride, 0},
        {"copy_vec", copy_vec, 4}, {"copy_stride", copy_stride, 0}, {"copy_plain", copy_plain, 1}, {"scale", scale, 1}, {"sum_vec", sum_vec, 4}, {"sum_stride", sum_stride, 0}, {"sum_plain", sum_plain, 1}};
    for (int r = 0; r < 3; r++)
        for (int p = 20; p <= 28; p += 2)
            for (auto& c : all) {
                int n = 1 << p;
                flush<<<1024, 256>>>(f, 64L << 20);
                c.k<<<c.per ? n / 256 / c.per : 1056, 256>>>(b, a, n);
            }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
