// Sparse matrices in their formats.
#include "corpus.cuh"

__global__ void csr_thread(int rows, const int* begins, const int* columns, const double* values, const double* x, double* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int j = begins[row]; j < begins[row + 1]; j++) sum += values[j] * x[columns[j]];
    y[row] = sum;
}

// Eight lanes for a row.
__global__ void csr_lanes(int rows, const int* begins, const int* columns, const float* values, const float* x, float* y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0;
    if (row < rows)
        for (int j = begins[row] + lane; j < begins[row + 1]; j += 8) sum += values[j] * x[columns[j]];
    for (int step = 4; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step, 8);
    if (row < rows && lane == 0) y[row] = sum;
}

__global__ void ell(int rows, int width, const int* columns, const float* values, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0) sum += values[k * rows + row] * x[column];
    }
    y[row] = sum;
}

__global__ void coo(int count, const int* rows, const int* columns, const float* values, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) atomicAdd(&y[rows[i]], values[i] * x[columns[i]]);
}

// Blocks of 4 x 4; a thread has one of a block's rows.
__global__ void block_rows(int block_rows, const int* begins, const int* columns, const float* values, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 4, r = i % 4;
    if (row >= block_rows) return;
    float sum = 0;
    for (int b = begins[row]; b < begins[row + 1]; b++) {
        float4 a = *(const float4*)&values[(size_t)b * 16 + r * 4], v = *(const float4*)&x[columns[b] * 4];
        sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
    }
    y[i] = sum;
}

// Times a dense matrix of 32 columns: a warp for a row, a lane for a column.
__global__ void csr_times_dense(int rows, const int* begins, const int* columns, const float* values, const float* dense, float* out) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0;
    for (int j = begins[row]; j < begins[row + 1]; j++) sum += values[j] * dense[columns[j] * 32 + threadIdx.x];
    out[row * 32 + threadIdx.x] = sum;
}

// Slices of 32 rows, each as wide as its longest.
__global__ void sliced_ell(int rows, const int* slice_begins, const int* columns, const double* values, const double* x, double* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, slice = row / 32, lane = row % 32;
    if (row >= rows) return;
    double sum = 0;
    for (int at = slice_begins[slice] + lane; at < slice_begins[slice + 1]; at += 32) sum += values[at] * x[columns[at]];
    y[row] = sum;
}

__global__ void diagonals(int n, int count, const int* offsets, const float* values, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int d = 0; d < count; d++) {
        int column = row + offsets[d];
        if (column >= 0 && column < n) sum += values[(size_t)d * n + row] * x[column];
    }
    y[row] = sum;
}

// The product of two dense factors where the sparse matrix has entries: four of them by a warp.
__global__ void sampled_product(const int* rows, const int* columns, const float4* a, const float4* b, float* out, int count) {
    int entry = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    if (entry >= count) return;
    float4 u = a[rows[entry] * 8 + lane], v = b[columns[entry] * 8 + lane];
    float sum = u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    for (int step = 4; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) out[entry] = sum;
}

__global__ void csr_to_dense(const int* begins, const int* columns, const float* values, float* dense, int width) {
    int row = blockIdx.x;
    for (int j = begins[row] + threadIdx.x; j < begins[row + 1]; j += blockDim.x) dense[(size_t)row * width + columns[j]] = values[j];
}

// One step of Gauss-Seidel over the rows of a colour.
__global__ void smooth_rows(const int* rows_of_colour, int count, const int* begins, const int* columns, const float* values, const float* rhs, float* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int row = rows_of_colour[i];
    float sum = rhs[row], diagonal = 1;
    for (int j = begins[row]; j < begins[row + 1]; j++) {
        int column = columns[j];
        if (column == row) diagonal = values[j];
        else sum -= values[j] * x[column];
    }
    x[row] = sum / diagonal;
}

void add_sparse(Table& table) {
    constexpr int n = 1 << 20;
    // Finite elements: 8 to 24 entries a row, in bands.
    const auto begin = [](size_t row) { return int(16 * row + (row && row < n ? hash(unsigned(row)) % 9 : 0)); };
    const auto banded = [](size_t j) {
        const int row = int(j / 16), k = int(hash(unsigned(j)) % 16);
        return (row + (k / 4 - 2) * 1024 + k % 4 - 1 + n) % n;
    };
    const auto anywhere = [](size_t j) { return int(hash(unsigned(j)) % n); };
    const Argument begins = formula<int>(n + 1, begin), columns = formula<int>(16 * n, banded), scattered = formula<int>(16 * n, anywhere);
    table.add(KERNEL(csr_thread), {n / 256, 256}, n, begins, columns, any<double>(16 * n), any<double>(n), any<double>(n));
    table.add(KERNEL(csr_lanes), {n / 32, 256}, n, begins, columns, any<float>(16 * n), any<float>(n), any<float>(n));
    table.add_as("csr_lanes_scattered", KERNEL(csr_lanes), {n / 32, 256}, n, begins, scattered, any<float>(16 * n), any<float>(n), any<float>(n));
    table.add(KERNEL(ell), {n / 128, 128}, n, 16, formula<int>(16 * n, [=](size_t at) {
                  const size_t row = at % n, k = at / n;
                  return hash(unsigned(at)) % 5 ? banded(row * 16 + k) : -1;
              }), any<float>(16 * n), any<float>(n), any<float>(n));
    table.add(KERNEL(coo), {16 * n / 256, 256}, 16 * n, formula<int>(16 * n, [](size_t i) { return int(i / 16); }), columns, any<float>(16 * n), any<float>(n),
              zeros<float>(n));
    table.add(KERNEL(block_rows), {65536 * 4 / 128, 128}, 65536, formula<int>(65537, [](size_t row) { return int(12 * row); }),
              formula<int>(12 * 65536, [](size_t b) { return int((b / 12 + (hash(unsigned(b)) % 25) * 32 + 65536 - 400) % 65536); }), any<float>(12 * 16 * 65536),
              any<float>(4 * 65536), any<float>(4 * 65536));
    table.add(KERNEL(csr_times_dense), {65536 / 8, {32, 8}}, 65536, formula<int>(65537, begin),
              formula<int>(16 * 65536 + 16, [](size_t j) { return int(hash(unsigned(j)) % 65536); }), any<float>(16 * 65536 + 16), any<float>(32 * 65536),
              any<float>(32 * 65536));
    const auto slice = [](size_t s) { return int(32 * (16 * s + (s && s < n / 32 ? hash(unsigned(s)) % 9 : 0))); };
    table.add(KERNEL(sliced_ell), {n / 256, 256}, n, formula<int>(n / 32 + 1, slice), formula<int>(16 * n, [=](size_t at) {
                  return banded((at / 512 * 32 + at % 32) * 16 + at / 32 % 16);
              }), any<double>(16 * n), any<double>(n), any<double>(n));
    table.add(KERNEL(diagonals), {4 * n / 256, 256}, 4 * n, 9, formula<int>(9, [](size_t d) { return int((int(d) / 3 - 1) * 2048 + int(d) % 3 - 1); }),
              any<float>(size_t{36} * n), any<float>(4 * n), any<float>(4 * n));
    table.add(KERNEL(sampled_product), {2 * Mi / 32, 256}, formula<int>(2 * Mi, [](size_t e) { return int(e / 32); }),
              formula<int>(2 * Mi, [](size_t e) { return int(hash(unsigned(e)) % 65536); }), any<float4>(8 * 65536), any<float4>(8 * 65536), any<float>(2 * Mi),
              2 * Mi);
    table.add(KERNEL(csr_to_dense), {8192, 64}, formula<int>(8193, [](size_t row) { return int(128 * row); }),
              formula<int>(128 * 8192, [](size_t j) { return int(j % 128 * 64 + hash(unsigned(j)) % 64); }), any<float>(128 * 8192), zeros<float>(8192 * 8192), 8192);
    table.add(KERNEL(smooth_rows), {n / 4 / 128, 128}, formula<int>(n / 4, [](size_t i) { return int(4 * i + 1); }), n / 4, begins, columns, any<float>(16 * n),
              any<float>(n), any<float>(n));
}
