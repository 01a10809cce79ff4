// Faults, each beside its remedy.
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Vec {
    float x, y, z;
};
struct Eight {
    float a, b, c, d, e, f, g, h;
};
__global__ void csr_scalar(int rows, const int* row_ptr, const int* col, const float* val,
                           const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int j = row_ptr[row]; j < row_ptr[row + 1]; ++j) sum += val[j] * x[col[j]];
        y[row] = sum;
    }
}
__global__ void csr_vector(int rows, const int* row_ptr, const int* col, const float* val,
                           const float* x, float* y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0;
        for (int j = row_ptr[row] + lane; j < row_ptr[row + 1]; j += 32) sum += val[j] * x[col[j]];
        for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
        if (lane == 0) y[row] = sum;
    }
}
__global__ void vec3_faulty(Vec* out, const Vec* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Vec v = in[i];
        v.x *= 2;
        v.y *= 2;
        v.z *= 2;
        out[i] = v;
    }
}
__global__ void vec3_mended(float* ox, float* oy, float* oz, const float* x, const float* y,
                            const float* z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        ox[i] = x[i] * 2;
        oy[i] = y[i] * 2;
        oz[i] = z[i] * 2;
    }
}
__global__ void vec3_read_faulty(float* out, const Vec* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i].x + in[i].y + in[i].z;
}
__global__ void vec3_read_mended(float* out, const float* x, const float* y, const float* z,
                                 int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i] + z[i];
}
__global__ void member_faulty(float* out, const Eight* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i].c;
}
__global__ void member_mended(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
__global__ void transpose_faulty(float* out, const float* in, int side) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[x * side + y] = in[y * side + x];
}
__global__ void transpose_mended(float* out, const float* in, int side) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * side + x] = in[y * side + x];
}
__global__ void product_faulty(float* c, const float* a, const float* b, int n) {
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[col * n + k];
    c[row * n + col] = sum;
}
__global__ void product_mended(float* c, const float* a, const float* b, int n) {
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}
__global__ void offset_faulty(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 1];
}
__global__ void sums_faulty(float* sums, const float* in, int side) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int x = 0; x < side; ++x) sum += in[row * side + x];
    sums[row] = sum;
}
__global__ void sums_mended(float* sums, const float* in, int side) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int x = 0; x < side; ++x) sum += in[x * side + row];
    sums[row] = sum;
}
__global__ void gray_faulty(unsigned char* out, const unsigned char* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (in[3 * i] + in[3 * i + 1] + in[3 * i + 2]) / 3;
}
__global__ void gray_mended(unsigned char* out, const unsigned char* r, const unsigned char* g,
                            const unsigned char* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (r[i] + g[i] + b[i]) / 3;
}
__global__ void batch_faulty(float* out, const float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float trace = 0;
    for (int k = 0; k < 49; ++k) trace += a[i * 49 + k];
    out[i] = trace;
}
__global__ void batch_mended(float* out, const float* a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float trace = 0;
    for (int k = 0; k < 49; ++k) trace += a[k * n + i];
    out[i] = trace;
}
__global__ void stride_faulty(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[2 * i];
}
#ifndef NO_MAIN
__global__ void sweep_cache(const float4* in, float* out, size_t n) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x;
    if (sum == 1.5f) *out = sum;
}
float *a, *b;
float4* big;
void flush() { sweep_cache<<<1024, 256>>>(big, b, size_t(512) << 16); }
#define RUN(...)                  \
    for (int r = 0; r < 3; ++r) { \
        flush();                  \
        __VA_ARGS__;              \
    }
int main() {
    size_t bytes = size_t(1) << 30;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&big, size_t(512) << 20);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cudaMemset(big, 0, size_t(512) << 20);
    for (int rows : {262144, 1048576})
        for (int random : {0, 1}) {
            std::vector<int> ptr(rows + 1), col(rows * 27);
            for (int i = 0; i <= rows; ++i) ptr[i] = 27 * i;
            unsigned long long s = 1;
            for (int i = 0; i < rows; ++i)
                for (int k = 0; k < 27; ++k) {
                    s = s * 6364136223846793005ull + 1442695040888963407ull;
                    int o = (k % 3 - 1) + 64 * (k / 3 % 3 - 1) + 4096 * (k / 9 - 1), c = i + o;
                    col[i * 27 + k] = random      ? int((s >> 33) % rows)
                                      : c < 0     ? 0
                                      : c >= rows ? rows - 1
                                                  : c;
                }
            int *p, *c;
            cudaMalloc(&p, 4 * ptr.size());
            cudaMalloc(&c, 4 * col.size());
            cudaMemcpy(p, ptr.data(), 4 * ptr.size(), cudaMemcpyHostToDevice);
            cudaMemcpy(c, col.data(), 4 * col.size(), cudaMemcpyHostToDevice);
            RUN((csr_scalar<<<rows / 256, 256>>>(rows, p, c, a, b, b + rows)));
            RUN((csr_vector<<<rows / 8, 256>>>(rows, p, c, a, b, b + rows)));
        }
    for (int n : {16 << 20, 1 << 20}) {
        RUN((vec3_faulty<<<n / 256, 256>>>((Vec*)b, (Vec*)a, n)));
        RUN((vec3_mended<<<n / 256, 256>>>(b, b + n, b + 2 * n, a, a + n, a + 2 * n, n)));
        RUN((vec3_read_faulty<<<n / 256, 256>>>(b, (Vec*)a, n)));
        RUN((vec3_read_mended<<<n / 256, 256>>>(b, a, a + n, a + 2 * n, n)));
        RUN((member_faulty<<<n / 256, 256>>>(b, (Eight*)a, n)));
        RUN((member_mended<<<n / 256, 256>>>(b, a, n)));
        RUN((offset_faulty<<<n / 256, 256>>>(b, a, n)));
        RUN((gray_faulty<<<n / 256, 256>>>((unsigned char*)b, (unsigned char*)a, n)));
        RUN((gray_mended<<<n / 256, 256>>>((unsigned char*)b, (unsigned char*)a,
                                           (unsigned char*)a + n, (unsigned char*)a + 2 * n, n)));
        RUN((stride_faulty<<<n / 256, 256>>>(b, a, n)));
    }
    for (int side : {4096, 1024}) {
        RUN((transpose_faulty<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(b, a, side)));
        RUN((transpose_mended<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(b, a, side)));
        RUN((sums_faulty<<<side / 64, 64>>>(b, a, side)));
        RUN((sums_mended<<<side / 64, 64>>>(b, a, side)));
    }
    for (int n : {1024, 512}) {
        RUN((product_faulty<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(b, a, a + n * n, n)));
        RUN((product_mended<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(b, a, a + n * n, n)));
    }
    for (int n : {2 << 20, 64 << 10}) {
        RUN((batch_faulty<<<n / 256, 256>>>(b, a, n)));
        RUN((batch_mended<<<n / 256, 256>>>(b, a, n)));
    }
    cudaError_t e = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
#endif
