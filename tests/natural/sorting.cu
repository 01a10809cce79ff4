// Sorting, scanning, compaction, reduction, search.
#include "corpus.cuh"

// Sorts 1024 keys of a block.
__global__ void bitonic_block(unsigned* keys) {
    __shared__ unsigned s[1024];
    unsigned* mine = keys + blockIdx.x * 1024;
    s[threadIdx.x] = mine[threadIdx.x];
    s[threadIdx.x + 512] = mine[threadIdx.x + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), high = low + stride;
            bool up = (low & size) == 0;
            unsigned a = s[low], b = s[high];
            if ((a > b) == up) {
                s[low] = b;
                s[high] = a;
            }
        }
    __syncthreads();
    mine[threadIdx.x] = s[threadIdx.x];
    mine[threadIdx.x + 512] = s[threadIdx.x + 512];
}

__global__ void bitonic_step(float* values, int distance, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ distance;
    if (partner <= i || i >= n) return;
    float a = values[i], b = values[partner];
    bool up = (i & size) == 0;
    values[i] = up ? fminf(a, b) : fmaxf(a, b);
    values[partner] = up ? fmaxf(a, b) : fminf(a, b);
}

// Counts of a digit of four bits, a block for 4096 keys; digit-major, for the scan that follows.
__global__ void radix_histogram(const unsigned* keys, unsigned* counts, int shift, int n) {
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        int i = blockIdx.x * 4096 + k * 256 + threadIdx.x;
        if (i < n) atomicAdd(&bins[keys[i] >> shift & 15], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Each warp's keys in their order: a match gives a lane its rank among equal digits.
__global__ void radix_scatter(const unsigned* keys, const unsigned* offsets, unsigned* sorted, int shift) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned key = keys[warp * 32 + lane], digit = key >> shift & 15;
    unsigned peers = __match_any_sync(~0u, digit);
    unsigned rank = __popc(peers & ((1u << lane) - 1));
    sorted[offsets[warp * 16 + digit] + rank] = key;
}

// Blelloch's scan of 512 numbers by 256 threads.
__global__ void scan_block(const int* in, int* out, int* sums) {
    __shared__ int t[512];
    int tid = threadIdx.x, base = blockIdx.x * 512;
    t[2 * tid] = in[base + 2 * tid];
    t[2 * tid + 1] = in[base + 2 * tid + 1];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) t[offset * (2 * tid + 2) - 1] += t[offset * (2 * tid + 1) - 1];
        offset *= 2;
    }
    __syncthreads();
    if (tid == 0) {
        sums[blockIdx.x] = t[511];
        t[511] = 0;
    }
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            int v = t[a];
            t[a] = t[b];
            t[b] += v;
        }
    }
    __syncthreads();
    out[base + 2 * tid] = t[2 * tid];
    out[base + 2 * tid + 1] = t[2 * tid + 1];
}

__global__ void add_offsets(int* values, const int* offsets, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += offsets[i / 512];
}

// Four numbers by a thread, warps by shuffles.
__global__ void scan_shuffles(const int4* in, int4* out, int* sums) {
    __shared__ int of_warps[8];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int4 v = in[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int sum = v.w;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    int before = sum - v.w;
    for (int w = 0; w < warp; w++) before += of_warps[w];
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
    if (threadIdx.x == 255) sums[blockIdx.x] = before + v.w;
}

__global__ void compact(const int* in, int* out, const int* block_offsets, int n, int threshold) {
    __shared__ int of_warps[8];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = i < n ? in[i] : 0;
    bool kept = i < n && value > threshold;
    unsigned mask = __ballot_sync(~0u, kept);
    if (lane == 0) of_warps[warp] = __popc(mask);
    __syncthreads();
    int at = block_offsets[blockIdx.x] + __popc(mask & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++) at += of_warps[w];
    if (kept) out[at] = value;
}

// The first of the well-known series: neighbours take part, in shared memory, with conflicts.
__global__ void reduce_interleaved(const int* in, int* out) {
    __shared__ int s[256];
    s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int i = 2 * step * threadIdx.x;
        if (i < 256) s[i] += s[i + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

template <int threads>
__global__ void reduce_doubles(const double* in, double* out, size_t n) {
    __shared__ double partial[threads / 32];
    double sum = 0;
    for (size_t i = blockIdx.x * (size_t)threads + threadIdx.x; i < n; i += (size_t)gridDim.x * threads) sum += in[i];
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < threads / 32; w++) sum += partial[w];
        out[blockIdx.x] = sum;
    }
}

__global__ void reduce_pieces(const float4* in, float* out, int each) {
    float4 sum = make_float4(0, 0, 0, 0);
    const float4* mine = in + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int k = 0; k < each; k++) {
        float4 v = mine[k];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    atomicAdd(out + threadIdx.x % 32, sum.x + sum.y + sum.z + sum.w);
}

__global__ void lower_bound(const int* sorted, int n, const int* wanted, int* places, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int key = wanted[i], low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    places[i] = low;
}

// Runs of equal keys: adds up each by atomics, one for a run that ends in the warp.
__global__ void sum_by_key(const int* keys, const float* values, float* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int key = i < n ? keys[i] : -1;
    float sum = i < n ? values[i] : 0.0f;
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(~0u, sum, step);
        int other_key = __shfl_up_sync(~0u, key, step);
        if (lane >= step && other_key == key) sum += other;
    }
    int next = __shfl_down_sync(~0u, key, 1);
    if (key >= 0 && (lane == 31 || next != key)) atomicAdd(&sums[key], sum);
}

void add_sorting(Table& table) {
    const auto noise = [](size_t i) { return hash(unsigned(i)); };
    const auto small = [](size_t i) { return int(hash(unsigned(i)) % 100); };
    table.add(KERNEL(bitonic_block), {4096, 512}, changed<unsigned>(4 * Mi, noise));
    table.add(KERNEL(bitonic_step), {131072, 256}, any<float>(32 * Mi), 4096, 16384, 32 * Mi);
    table.add(KERNEL(radix_histogram), {8192, 256}, formula<unsigned>(32 * Mi, noise), any<unsigned>(16 * 8192), 8, 32 * Mi);
    // Digits of a warp's keys are 2 each of 16: key i has the digit 5 i mod 16, so that a formula gives the offsets.
    table.add(KERNEL(radix_scatter), {65536, 128}, formula<unsigned>(8 * Mi, [](size_t i) { return (hash(unsigned(i)) & ~15u) | (5 * unsigned(i) & 15); }),
              formula<unsigned>(4 * Mi, [](size_t at) { return unsigned(at % 16 * (8 * Mi / 16) + at / 16 * 2); }), any<unsigned>(8 * Mi), 0);
    table.add(KERNEL(scan_block), {65536, 256}, any<int>(32 * Mi), any<int>(32 * Mi), any<int>(65536));
    table.add(KERNEL(add_offsets), {131072, 256}, any<int>(32 * Mi), any<int>(65536), 32 * Mi);
    table.add(KERNEL(scan_shuffles), {4096, 256}, any<int>(4 * Mi), any<int>(4 * Mi), any<int>(4096));
    // Every third number is kept: 86 of a block's 256 at most.
    table.add(KERNEL(compact), {131072, 256}, formula<int>(32 * Mi, [](size_t i) { return i % 256 % 3 == hash(unsigned(i / 256)) % 3 ? 7 : 1; }), any<int>(32 * Mi),
              formula<int>(131072, [](size_t block) { return int(86 * block); }), 32 * Mi, 3);
    table.add(KERNEL(reduce_interleaved), {65536, 256}, any<int>(16 * Mi), any<int>(65536));
    table.add_as("reduce_doubles", KERNEL(reduce_doubles<512>), {528, 512}, any<double>(128 * Mi), any<double>(528), 128 * Mi);
    table.add(KERNEL(reduce_pieces), {512, 256}, any<float4>(131072 * 32), zeros<float>(32), 32);
    table.add(KERNEL(lower_bound), {4096, 256}, formula<int>(16 * Mi, [](size_t i) { return int(2 * i); }), 16 * Mi,
              formula<int>(Mi, [](size_t i) { return int(hash(unsigned(i)) % (32 * Mi)); }), any<int>(Mi), Mi);
    table.add(KERNEL(sum_by_key), {65536, 256}, formula<int>(16 * Mi, [](size_t i) { return int(i / 7); }), any<float>(16 * Mi), zeros<float>(16 * Mi / 7 + 1), 16 * Mi);
    table.add_as("sum_by_key_small", KERNEL(sum_by_key), {1024, 256}, formula<int>(262144, [=](size_t i) { return int(i / 256 * 100) + small(i / 16); }),
                 any<float>(262144), zeros<float>(102400 + 100), 262144);
}
