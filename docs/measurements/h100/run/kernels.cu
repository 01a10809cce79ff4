// Kernels of many kinds for the comparison with ncu.
#include <cuda_fp16.h>

#include <cstdio>
__global__ void saxpy(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 2 * x[i];
}
__global__ void matmul(float* c, const float* a, const float* b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; ++k) s += a[y * n + k] * b[k * n + x];
    c[y * n + x] = s;
}
__global__ void tiled(float* c, const float* a, const float* b, int n) {
    __shared__ float A[16][16], B[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        A[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        B[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) s += A[threadIdx.y][k] * B[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = s;
}
__global__ void stencil(float* o, const float* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x > 1 && x < n - 2) o[x] = i[x - 2] + i[x - 1] + i[x] + i[x + 1] + i[x + 2];
}
__global__ void stencil2(float* o, const float* i, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        o[y * n + x] = i[y * n + x] + i[y * n + x - 1] + i[y * n + x + 1] + i[(y - 1) * n + x] +
                       i[(y + 1) * n + x];
}
__global__ void gather(float* o, const float* i, const int* at, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[x] = i[at[x]];
}
__global__ void scatterk(float* o, const float* i, const int* at, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[at[x]] = i[x];
}
__global__ void histogram(int* h, const int* v, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) atomicAdd(&h[v[x] % 64], 1);
}
__global__ void halves(half* o, const half* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[x] = __hadd(i[x], i[x]);
}
__global__ void bytes(unsigned char* o, const unsigned char* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[x] = i[n - 1 - x];
}
__global__ void doubles(double* o, const double* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[x] = i[x * 2 % n];
}
__global__ void vec4(float4* o, const float4* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) {
        float4 v = i[x];
        v.x += 1;
        o[x] = v;
    }
}
__global__ void branchy(float* o, const float* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    if (x % 3 == 0)
        o[x] = i[x];
    else if (x % 3 == 1)
        o[x * 2 % n] = i[n - 1 - x];
    else
        o[x] = 1;
}
__global__ void loops(float* o, const float* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < threadIdx.x % 7; ++k) s += i[(x * 5 + k * 33) % n];
    if (x < n) o[x] = s;
}
__global__ void lists(int* o, const int* next, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    int a = x;
    for (int k = 0; k < 4; ++k) a = next[a];
    o[x] = a;
}
struct Big {
    float v[5];
};
__global__ void structs(Big* b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) {
        b[x].v[2] = b[x].v[0] + b[x].v[4];
    }
}
__global__ void column(float* o, const float* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    float s = 0;
    for (int k = 0; k < 64; ++k) s += i[(size_t)x * 64 + k];
    o[x] = s;
}
__global__ void gridstride(float* o, const float* i, int n) {
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < n; x += gridDim.x * blockDim.x)
        o[x] = i[x] * 2;
}
__global__ void conflict(float* o) {
    __shared__ float t[32][32];
    t[threadIdx.x][threadIdx.y] = threadIdx.x;
    __syncthreads();
    o[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = t[threadIdx.y][threadIdx.x];
}
__device__ __noinline__ void put(float* p, float v) { *p = v; }
__global__ void called(float* o, int n) {
    __shared__ float s[256];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    put(&s[threadIdx.x], x);
    if (x < n) put(&o[x], s[threadIdx.x ^ 1]);
}
template <typename T>
__global__ void fill(T* o, T v, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) o[x] = v;
}
__global__ void warpsum(float* o, const float* i, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x < n ? i[x] : 0;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(o, v);
}
int main() {
    int n = 100003;
    float *a, *b, *c;
    int *at, *h;
    cudaMalloc(&a, n * 80);
    cudaMalloc(&b, n * 80);
    cudaMalloc(&c, 1 << 24);
    cudaMalloc(&at, n * 4);
    cudaMalloc(&h, 4096);
    cudaMemset(a, 0, n * 80);
    cudaMemset(b, 0, n * 80);
    cudaMemset(h, 0, 4096);
    int* host = new int[n];
    for (int i = 0; i < n; ++i) host[i] = (int)((i * 7919ll) % n);
    cudaMemcpy(at, host, n * 4, cudaMemcpyHostToDevice);
    int g = (n + 255) / 256;
    saxpy<<<g, 256>>>(a, b, n);
    matmul<<<dim3(8, 16), dim3(32, 16)>>>(c, a, b, 256);
    tiled<<<dim3(16, 16), dim3(16, 16)>>>(c, a, b, 256);
    stencil<<<g, 256>>>(a, b, n);
    stencil2<<<dim3(8, 32), dim3(32, 8)>>>(a, b, 250);
    gather<<<g, 256>>>(a, b, at, n);
    scatterk<<<g, 256>>>(a, b, at, n);
    histogram<<<g, 256>>>(h, at, n);
    halves<<<g, 256>>>((half*)a, (half*)b, n);
    bytes<<<g, 256>>>((unsigned char*)a, (unsigned char*)b, n);
    doubles<<<g, 256>>>((double*)a, (double*)b, n);
    vec4<<<g, 256>>>((float4*)a, (float4*)b, n);
    branchy<<<g, 256>>>(a, b, n);
    loops<<<g, 256>>>(a, b, n);
    lists<<<g, 256>>>(h == 0 ? 0 : (int*)c, at, n);
    structs<<<g, 256>>>((Big*)a, n);
    column<<<1563, 64>>>(a, c, 50000);
    gridstride<<<200, 128>>>(a, b, n);
    conflict<<<64, dim3(32, 32)>>>(c);
    called<<<g, 256>>>(a, n);
    fill<<<g, 256>>>((double*)a, 2.0, n);
    fill<<<g, 256>>>((short*)a, (short)2, n);
    fill<<<g, 256>>>((char*)a, 'x', n);
    warpsum<<<g, 256>>>(c, b, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
