// Linear algebra: products, transposes, factorizations and solves, large and batched.
#include "corpus.cuh"

__global__ void sgemm_naive(int m, int n, int k, float alpha, const float* a, const float* b, float beta, float* c) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

#define TILE 32
__global__ void sgemm_tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// 64 x 64 of C by a block of 256 threads, 4 x 4 by a thread.
__global__ void sgemm_registers(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][64 + 4], bs[16][64];
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    float sums[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        float4 va = *(const float4*)&a[(blockIdx.y * 64 + tid / 4) * n + k0 + tid % 4 * 4];
        as[tid % 4 * 4 + 0][tid / 4] = va.x;
        as[tid % 4 * 4 + 1][tid / 4] = va.y;
        as[tid % 4 * 4 + 2][tid / 4] = va.z;
        as[tid % 4 * 4 + 3][tid / 4] = va.w;
        *(float4*)&bs[tid / 16][tid % 16 * 4] = *(const float4*)&b[(k0 + tid / 16) * n + blockIdx.x * 64 + tid % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 x = *(const float4*)&as[k][ty * 4], y = *(const float4*)&bs[k][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sums[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *(float4*)&c[(blockIdx.y * 64 + ty * 4 + i) * n + blockIdx.x * 64 + tx * 4] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}

__global__ void dgemv(const double* a, const double* x, double* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    double sum = 0;
    for (int j = threadIdx.x; j < columns; j += 32) sum += a[(size_t)row * columns + j] * x[j];
    for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) y[row] = sum;
}

__global__ void sgemv_transposed(const float* a, const float* x, float* y, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int rows_each = rows / gridDim.y, begin = blockIdx.y * rows_each;
    if (j >= columns) return;
    float sum = 0;
    for (int i = begin; i < begin + rows_each; i++) sum += a[(size_t)i * columns + j] * x[i];
    atomicAdd(&y[j], sum);
}

__global__ void transpose_doubles(const double* in, double* out, int rows, int columns) {
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < columns) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_in_place(float* a, int n) {
    __shared__ float upper[16][17], lower[16][17];
    if (blockIdx.x < blockIdx.y) return;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int mx = blockIdx.y * 16 + threadIdx.x, my = blockIdx.x * 16 + threadIdx.y;
    upper[threadIdx.y][threadIdx.x] = a[(size_t)y * n + x];
    lower[threadIdx.y][threadIdx.x] = a[(size_t)my * n + mx];
    __syncthreads();
    a[(size_t)y * n + x] = lower[threadIdx.x][threadIdx.y];
    a[(size_t)my * n + mx] = upper[threadIdx.x][threadIdx.y];
}

// The axes of a tensor: (b, h, s, d) from (b, s, h, d).
__global__ void swap_heads(const __half* in, __half* out, int heads, int length, int width) {
    int d = threadIdx.x, h = blockIdx.x, s = blockIdx.y, b = blockIdx.z;
    out[(((size_t)b * heads + h) * length + s) * width + d] = in[(((size_t)b * length + s) * heads + h) * width + d];
}

// y = A x for many small A; 49 threads of a block of 196 have one.
__global__ void batched_7x7_shared(const float* a, const float* x, float* y, int count) {
    __shared__ float as[4][49], xs[4][7];
    int slot = threadIdx.x / 49, e = threadIdx.x % 49, m = blockIdx.x * 4 + slot;
    if (m < count) {
        as[slot][e] = a[(size_t)m * 49 + e];
        if (e < 7) xs[slot][e] = x[(size_t)m * 7 + e];
    }
    __syncthreads();
    if (m < count && e < 7) {
        float sum = 0;
        for (int j = 0; j < 7; j++) sum += as[slot][e * 7 + j] * xs[slot][j];
        y[(size_t)m * 7 + e] = sum;
    }
}

__global__ void invert_3x3(const float* in, float* out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float m[9];
    for (int k = 0; k < 9; k++) m[k] = in[i * 9 + k];
    float c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    float scale = 1.0f / (m[0] * c0 + m[1] * c1 + m[2] * c2 + 1e-6f);
    out[i * 9 + 0] = c0 * scale;
    out[i * 9 + 1] = (m[2] * m[7] - m[1] * m[8]) * scale;
    out[i * 9 + 2] = (m[1] * m[5] - m[2] * m[4]) * scale;
    out[i * 9 + 3] = c1 * scale;
    out[i * 9 + 4] = (m[0] * m[8] - m[2] * m[6]) * scale;
    out[i * 9 + 5] = (m[2] * m[3] - m[0] * m[5]) * scale;
    out[i * 9 + 6] = c2 * scale;
    out[i * 9 + 7] = (m[1] * m[6] - m[0] * m[7]) * scale;
    out[i * 9 + 8] = (m[0] * m[4] - m[1] * m[3]) * scale;
}

// L x = b for many right-hand sides, a thread for each; b is row-major.
__global__ void solve_lower(const float* l, float* b, int n, int sides) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= sides) return;
    for (int i = 0; i < n; i++) {
        float sum = b[(size_t)i * sides + j];
        for (int k = 0; k < i; k++) sum -= l[i * n + k] * b[(size_t)k * sides + j];
        b[(size_t)i * sides + j] = sum / l[i * n + i];
    }
}

// Tridiagonal systems by Thomas; a system's rows lie side by side, as they come from a solver on lines.
__global__ void tridiagonal(const float* lower, const float* diagonal, const float* upper, float* rhs, float* scratch, int n, int systems) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) return;
    size_t base = (size_t)s * n;
    float d = diagonal[base] + 2.0f;
    float c = upper[base] / d, r = rhs[base] / d;
    scratch[base] = c;
    rhs[base] = r;
    for (int i = 1; i < n; i++) {
        float scale = 1.0f / (diagonal[base + i] + 2.0f - lower[base + i] * c);
        c = upper[base + i] * scale;
        r = (rhs[base + i] - lower[base + i] * r) * scale;
        scratch[base + i] = c;
        rhs[base + i] = r;
    }
    for (int i = n - 2; i >= 0; i--) {
        r = rhs[base + i] - scratch[base + i] * r;
        rhs[base + i] = r;
    }
}

// The factor of each of many 32 x 32 matrices, in shared memory; a warp has one.
__global__ void cholesky_panel(float* a) {
    __shared__ float tile[32][33];
    float* mine = a + (size_t)blockIdx.x * 1024;
    int lane = threadIdx.x;
    for (int row = 0; row < 32; row++) tile[row][lane] = mine[row * 32 + lane];
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        float pivot = rsqrtf(fabsf(tile[k][k]) + 1.0f);
        if (lane >= k) tile[lane][k] *= pivot;
        __syncwarp();
        for (int j = k + 1; j < 32; j++)
            if (lane >= j) tile[lane][j] -= tile[lane][k] * tile[j][k];
        __syncwarp();
    }
    for (int row = 0; row < 32; row++)
        if (lane <= row) mine[row * 32 + lane] = tile[row][lane];
}

__global__ void haxpy2(int n, __half2 alpha, const __half2* x, __half2* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma2(alpha, x[i], y[i]);
}

__global__ void dot_float4(const float4* x, const float4* y, float* result, int n) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float4 a = x[i], b = y[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(result, sums[0]);
}

__global__ void syrk_lower(const float* a, float* c, int n, int k) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (col > row) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * a[col * k + i];
    c[row * n + col] = sum;
}

__global__ void rank_one(double* a, const double* x, const double* y, double alpha, int rows, int columns) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y;
    if (j < columns) a[(size_t)i * columns + j] += alpha * x[i] * y[j];
}

// A column of each of two, as Jacobi's method for singular values does; stored by columns.
__global__ void rotate_column_pairs(float* a, const int* order, int rows, float c, float s) {
    float* p = a + (size_t)order[2 * blockIdx.x] * rows;
    float* q = a + (size_t)order[2 * blockIdx.x + 1] * rows;
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        float u = p[i], v = q[i];
        p[i] = c * u - s * v;
        q[i] = s * u + c * v;
    }
}

// 5 x 5 blocks of doubles, one thread each, kept as blocks side by side: the inner loop of a block solver.
__global__ void lu_5x5(double* blocks, int count) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= count) return;
    double m[5][5];
#pragma unroll
    for (int k = 0; k < 25; k++) m[k / 5][k % 5] = blocks[(size_t)b * 25 + k];
#pragma unroll
    for (int k = 0; k < 5; k++)
#pragma unroll
        for (int i = k + 1; i < 5; i++) {
            m[i][k] /= m[k][k] + 4.0;
#pragma unroll
            for (int j = k + 1; j < 5; j++) m[i][j] -= m[i][k] * m[k][j];
        }
#pragma unroll
    for (int k = 0; k < 25; k++) blocks[(size_t)b * 25 + k] = m[k / 5][k % 5];
}

__global__ void scale_complex_columns(float2* a, const float2* factors, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    float2 v = a[(size_t)i * columns + j], f = factors[j];
    a[(size_t)i * columns + j] = make_float2(v.x * f.x - v.y * f.y, v.x * f.y + v.y * f.x);
}

void add_linear(Table& table) {
    table.add(KERNEL(sgemm_naive), {{63, 126}, {16, 8}}, 1000, 1000, 1000, 1.5f, any<float>(1000 * 1000), any<float>(1000 * 1000), .5f,
              any<float>(1000 * 1000));
    table.add(KERNEL(sgemm_tiled), {{64, 64}, {32, 32}}, any<float>(4 * Mi), any<float>(4 * Mi), any<float>(4 * Mi), 2048);
    table.add(KERNEL(sgemm_registers), {{48, 48}, 256}, any<float>(3072 * 3072), any<float>(3072 * 3072), any<float>(3072 * 3072), 3072);
    table.add(KERNEL(dgemv), {2048, {32, 4}}, any<double>(64 * Mi), any<double>(8192), any<double>(8192), 8192, 8192);
    table.add(KERNEL(sgemv_transposed), {{48, 16}, 128}, any<float>(16384 * 6144), any<float>(16384), zeros<float>(6144), 16384, 6144);
    table.add(KERNEL(transpose_doubles), {{157, 188}, {32, 8}}, any<double>(6000 * 5000), any<double>(6000 * 5000), 6000, 5000);
    table.add(KERNEL(transpose_in_place), {{256, 256}, {16, 16}}, any<float>(16 * Mi), 4096);
    table.add(KERNEL(swap_heads), {{16, 2048, 8}, 64}, any<__half>(16 * Mi), any<__half>(16 * Mi), 16, 2048, 64);
    table.add(KERNEL(batched_7x7_shared), {250000, 196}, any<float>(49000000), any<float>(7000000), any<float>(7000000), 1000000);
    table.add(KERNEL(invert_3x3), {15625, 128}, any<float>(18000000), any<float>(18000000), 2000000);
    table.add(KERNEL(solve_lower), {64, 128}, any<float>(96 * 96), any<float>(96 * 8192), 96, 8192);
    table.add(KERNEL(tridiagonal), {128, 128}, any<float>(8 * Mi), any<float>(8 * Mi), any<float>(8 * Mi), any<float>(8 * Mi), any<float>(8 * Mi), 512,
              16384);
    table.add(KERNEL(cholesky_panel), {8192, 32}, any<float>(8 * Mi));
    table.add(KERNEL(haxpy2), {524288, 256}, 128 * Mi, __half2{}, any<__half2>(128 * Mi), any<__half2>(128 * Mi));
    table.add(KERNEL(dot_float4), {1056, 256}, any<float4>(32 * Mi), any<float4>(32 * Mi), zeros<float>(1), 32 * Mi);
    table.add(KERNEL(syrk_lower), {{64, 64}, {16, 16}}, any<float>(1024 * 256), any<float>(1024 * 1024), 1024, 256);
    table.add(KERNEL(rank_one), {{24, 6000}, 256}, any<double>(6000 * 6000), any<double>(6000), any<double>(6000), .25, 6000, 6000);
    table.add(KERNEL(rotate_column_pairs), {1024, 256}, any<float>(2048 * 10000),
              formula<int>(2048, [](size_t i) { return int((i * 811 + 5) % 2048); }), 10000, .8f, .6f);
    table.add(KERNEL(lu_5x5), {7813, 64}, any<double>(500000 * 25), 500000);
    table.add(KERNEL(scale_complex_columns), {{128, 256}, {16, 16}}, any<float2>(2048 * 4096), any<float2>(4096), 2048, 4096);
}
