// Finance, signals, strings, hash tables, random numbers, bits, bytes.
#include "corpus.cuh"

__device__ float normal_below(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * __expf(-0.5f * d * d) * k *
                 (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + 1.330274429f * k))));
    return d > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, int n, float rate, float volatility) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i] + 1, x = strike[i] + 1, t = years[i] + 0.1f, root = sqrtf(t);
    float d1 = (__logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;
    float discounted = x * __expf(-rate * t), c = s * normal_below(d1) - discounted * normal_below(d2);
    call[i] = c;
    put[i] = c - s + discounted;
}

// Every step of every path is kept: steps outside, then paths, as the pricer of Bermudan options reads them.
__global__ void simulate_paths(float* prices, int paths, int steps, float drift, float volatility) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    unsigned state = hash(p);
    float s = 100.0f;
    for (int t = 0; t < steps; t++) {
        state = state * 1664525u + 1013904223u;
        float u = (state >> 8) * 0x1p-24f;
        state = state * 1664525u + 1013904223u;
        float z = sqrtf(-2.0f * __logf(u + 1e-7f)) * __cosf(6.2831853f * (state >> 8) * 0x1p-24f);
        s *= __expf(drift + volatility * z);
        prices[(size_t)t * paths + p] = s;
    }
}

// Paths outside: each thread walks along its own.
__global__ void average_paths(const float* prices, float* averages, float* highest, int paths, int steps) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= paths) return;
    float sum = 0, most = 0;
    for (int t = 0; t < steps; t++) {
        float s = prices[p * steps + t];
        sum += s;
        most = fmaxf(most, s);
    }
    averages[p] = sum / steps;
    highest[p] = most;
}

__global__ void binomial_tree(const float* strikes, float* values, int steps, float up, float down, float discount) {
    extern __shared__ float node[];
    float strike = strikes[blockIdx.x] * 100 + 50;
    for (int i = threadIdx.x; i <= steps; i += blockDim.x) node[i] = fmaxf(strike - 100.0f * __powf(1.01f, 2 * i - steps), 0.0f);
    __syncthreads();
    for (int left = steps; left > 0; left--) {
        float next[2];
        int k = 0;
        for (int i = threadIdx.x; i < left; i += blockDim.x) next[k++ & 1] = discount * (up * node[i + 1] + down * node[i]);
        __syncthreads();
        k = 0;
        for (int i = threadIdx.x; i < left; i += blockDim.x) node[i] = next[k++ & 1];
        __syncthreads();
    }
    if (threadIdx.x == 0) values[blockIdx.x] = node[0];
}

// A step of a Fourier transform in place: pairs half a group apart.
__global__ void fft_step(float2* data, int half, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    int k = i & (half - 1), a = ((i - k) << 1) + k, b = a + half;
    float s, c;
    __sincosf(-3.14159265f * k / half, &s, &c);
    float2 u = data[a], v = data[b];
    float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    data[a] = make_float2(u.x + w.x, u.y + w.y);
    data[b] = make_float2(u.x - w.x, u.y - w.y);
}

// 1024 points in shared memory, from bits in reverse.
__global__ void fft_block(const float2* in, float2* out) {
    __shared__ float2 s[1024];
    const float2* mine = in + blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024; i += 256) s[__brev(i) >> 22] = mine[i];
    for (int half = 1; half < 1024; half *= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += 256) {
            int k = i & (half - 1), a = 2 * (i - k) + k, b = a + half;
            float sine, cosine;
            __sincosf(-3.14159265f * k / half, &sine, &cosine);
            float2 u = s[a], v = s[b];
            float2 w = make_float2(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
            s[a] = make_float2(u.x + w.x, u.y + w.y);
            s[b] = make_float2(u.x - w.x, u.y - w.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 256) out[blockIdx.x * 1024 + i] = s[i];
}

__global__ void fir_filter(const float* signal, const float* taps, float* out, int n, int count) {
    extern __shared__ float shared_taps[];
    for (int k = threadIdx.x; k < count; k += blockDim.x) shared_taps[k] = taps[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < count; k++) sum += shared_taps[k] * signal[i + k];
    out[i] = sum;
}

__constant__ char needle[8] = {'c', 'o', 'a', 'l', 'e', 's', 'c', 'e'};

__global__ void find_word(const char* text, int n, int* places, int* found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - 8) return;
    for (int k = 0; k < 8; k++)
        if (text[i + k] != needle[k]) return;
    places[atomicAdd(found, 1)] = i;
}

__global__ void hash_insert(const unsigned* keys, const unsigned* values, unsigned* slots, unsigned* stored, int n, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], slot = hash(key) & mask;
    while (true) {
        unsigned old = atomicCAS(&slots[slot], 0u, key);
        if (old == 0 || old == key) break;
        slot = (slot + 1) & mask;
    }
    stored[slot] = values[i];
}

// Keys that are hashes themselves.
__global__ void hash_lookup(const unsigned* wanted, const uint2* slots, unsigned* results, int n, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = wanted[i], slot = key & mask, result = 0xffffffffu;
    while (true) {
        uint2 entry = slots[slot];
        if (entry.x == key) result = entry.y;
        if (entry.x == key || entry.x == 0) break;
        slot = (slot + 1) & mask;
    }
    results[i] = result;
}

__constant__ unsigned short companded[256] = {0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120};

__global__ void expand_samples(const unsigned char* in, unsigned short* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = companded[in[i]];
}

// Walker's alias method.
__global__ void draw_from_table(const float* keep, const int* alias, int* drawn, int columns, int n, unsigned seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned column = hash(i ^ seed) % columns;
    drawn[i] = unit(i + seed) < keep[column] ? column : alias[column];
}

__global__ void hamming(const ulonglong2* codes, const ulonglong2* queries, unsigned char* distances, int count, int queries_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    ulonglong2 code = codes[i];
    for (int q = 0; q < queries_count; q++) {
        ulonglong2 query = queries[q];
        distances[(size_t)q * count + i] = __popcll(code.x ^ query.x) + __popcll(code.y ^ query.y);
    }
}

// 32 x 32 bits turned over by a warp.
__global__ void transpose_bits(const unsigned* in, unsigned* out, int words) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp * 32 >= words) return;
    unsigned row = in[warp * 32 + lane], mine = 0;
    for (int bit = 0; bit < 32; bit++) {
        unsigned column = __ballot_sync(~0u, row >> bit & 1);
        if (lane == bit) mine = column;
    }
    out[warp * 32 + lane] = mine;
}

__global__ void bloom_query(const unsigned long long* keys, const unsigned* bits, unsigned char* maybe, int n, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned a = hash((unsigned)keys[i]), b = hash((unsigned)(keys[i] >> 32)) | 1;
    bool present = true;
    for (int k = 0; k < 4 && present; k++) {
        unsigned bit = (a + k * b) & mask;
        present = bits[bit / 32] >> (bit % 32) & 1;
    }
    maybe[i] = present;
}

// A diagonal of the matrix of local alignments; the three last are kept.
__global__ void align_diagonal(const char* a, const char* b, const int* two_before, const int* before, int* now, int diagonal, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i >= length || i >= diagonal) return;
    int match = a[i] == b[diagonal - i] ? 2 : -1;
    int score = max(two_before[i - 1] + match, max(before[i - 1], before[i]) - 1);
    now[i] = max(score, 0);
}

__global__ void checksum_records(const unsigned char* records, unsigned* sums, const unsigned* crc_table, int size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned crc = ~0u;
    for (int k = 0; k < size; k++) crc = crc >> 8 ^ crc_table[(crc ^ records[(size_t)i * size + k]) & 255];
    sums[i] = ~crc;
}

__global__ void base64(const unsigned char* in, uchar4* out, const unsigned char* alphabet, int triples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= triples) return;
    unsigned bits = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    out[i] = make_uchar4(alphabet[bits >> 18], alphabet[bits >> 12 & 63], alphabet[bits >> 6 & 63], alphabet[bits & 63]);
}

struct Generator {
    unsigned s[5], counter;
};

__global__ void next_numbers(Generator* states, float* out, int each) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Generator g = states[i];
    for (int k = 0; k < each; k++) {
        unsigned t = g.s[4] ^ g.s[4] >> 2;
        g.s[4] = g.s[3];
        g.s[3] = g.s[2];
        g.s[2] = g.s[1];
        g.s[1] = g.s[0];
        g.s[0] ^= g.s[0] << 4 ^ t ^ t << 1;
        g.counter += 362437;
        out[i * each + k] = (g.s[0] + g.counter) * 0x1p-32f;
    }
    states[i] = g;
}

__global__ void mandelbrot(unsigned char* iterations, int width, int height, float step) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float x0 = -2.0f + px * step, y0 = -1.0f + py * step, x = 0, y = 0;
    int k = 0;
    while (k < 100 && x * x + y * y < 4.0f) {
        float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
        k++;
    }
    iterations[py * width + px] = k;
}

struct Ray {
    float3 origin, direction;
};

// Along a ray through a grid of density, a camera for all.
__global__ void march_rays(const float* density, float* image, int n, int width, Ray camera, float step) {
    int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y;
    float dx = camera.direction.x + (px - width / 2) * 0.0005f, dy = camera.direction.y + (py - width / 2) * 0.0005f, dz = camera.direction.z;
    float x = camera.origin.x, y = camera.origin.y, z = camera.origin.z, light = 1;
    for (int k = 0; k < 200; k++) {
        x += dx * step;
        y += dy * step;
        z += dz * step;
        int ix = (int)x, iy = (int)y, iz = (int)z;
        if (ix < 0 || iy < 0 || iz < 0 || ix >= n || iy >= n || iz >= n) continue;
        light *= 1.0f - 0.01f * density[((size_t)iz * n + iy) * n + ix];
    }
    image[py * width + px] = light;
}

struct Order {
    int customer, day;
    double price;
    float discount, tax;
    int quantity, flags;
};

// A column of a table of records, where a predicate on another holds.
__global__ void sum_revenue(const Order* orders, int n, int from, int to, double* revenue) {
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (orders[i].day >= from && orders[i].day < to) sum += orders[i].price * (1 - orders[i].discount);
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(revenue, sum);
}

void add_others(Table& table) {
    const auto noise = [](size_t i) { return hash(unsigned(i)); };
    table.add(KERNEL(black_scholes), {62500, 256}, any<float>(16000000), any<float>(16000000), any<float>(16000000), any<float>(16000000), any<float>(16000000), 16000000,
              .02f, .3f);
    table.add(KERNEL(simulate_paths), {2048, 256}, any<float>(524288 * 252), 524288, 252, 1e-4f, .01f);
    table.add(KERNEL(average_paths), {512, 256}, any<float>(131072 * 252), any<float>(131072), any<float>(131072), 131072, 252);
    table.add(KERNEL(binomial_tree), {1024, 256, 513 * 4}, any<float>(1024), any<float>(1024), 511, .5f, .49f, .9999f);
    table.add(KERNEL(fft_step), {65536, 256}, any<float2>(32 * Mi), 65536, 16 * Mi);
    table.add_as("fft_step_short", KERNEL(fft_step), {65536, 256}, any<float2>(32 * Mi), 4, 16 * Mi);
    table.add(KERNEL(fft_block), {8192, 256}, any<float2>(8 * Mi), any<float2>(8 * Mi));
    table.add(KERNEL(fir_filter), {16384, 256, 128 * 4}, any<float>(4 * Mi + 128), any<float>(128), any<float>(4 * Mi), 4 * Mi, 128);
    table.add(KERNEL(find_word), {262144, 256}, formula<char>(64 * Mi, [](size_t i) {
                  if (i % 65536 < 8) return "coalesce"[i % 65536];
                  return "etaoin shrdlucmf"[hash(unsigned(i)) % 16];
              }), 64 * Mi, any<int>(65536), zeros<int>(1));
    constexpr unsigned slots = 8 * Mi;
    const auto key_of = [](size_t i) { return unsigned(i) * 2654435761u | 1u; };
    table.add(KERNEL(hash_insert), {16384, 256}, formula<unsigned>(4 * Mi, key_of), any<unsigned>(4 * Mi), zeros<unsigned>(slots), any<unsigned>(slots), 4 * Mi, slots - 1);
    // Every other slot holds a key; a quarter of those wanted collide with one and are not there.
    const auto key_in = [=](size_t slot) { return (noise(slot) & ~(slots - 1)) | unsigned(slot); };
    table.add(KERNEL(hash_lookup), {16384, 256}, formula<unsigned>(4 * Mi, [=](size_t i) {
                  return key_in(noise(i + 7) % slots) ^ (noise(i) % 4 == 0 ? 1u << 31 : 0u);
              }), formula<uint2>(slots, [=](size_t slot) {
                  return make_uint2(noise(slot) & 1u ? key_in(slot) : 0u, unsigned(slot));
              }), any<unsigned>(4 * Mi), 4 * Mi, slots - 1);
    table.add(KERNEL(expand_samples), {65536, 256}, formula<unsigned char>(16 * Mi, [=](size_t i) { return noise(i) % 256; }), any<unsigned short>(16 * Mi), 16 * Mi);
    table.add(KERNEL(draw_from_table), {32768, 256}, formula<float>(Mi, [](size_t c) { return unit(unsigned(c)); }), any<int>(Mi), any<int>(8 * Mi), Mi, 8 * Mi, 99u);
    table.add(KERNEL(hamming), {4096, 256}, any<unsigned>(4 * Mi), any<unsigned>(4 * 64), any<unsigned char>(64 * Mi), Mi, 64);
    table.add(KERNEL(transpose_bits), {16384, 256}, any<unsigned>(4 * Mi), any<unsigned>(4 * Mi), 4 * Mi);
    table.add(KERNEL(bloom_query), {16384, 256}, formula<unsigned long long>(4 * Mi, [=](size_t i) { return (unsigned long long)noise(i) << 32 | noise(i + 5 * Mi); }),
              formula<unsigned>(8 * Mi, [=](size_t i) { return noise(i) | noise(i + 8 * Mi); }), any<unsigned char>(4 * Mi), 4 * Mi, 256 * Mi - 1);
    table.add(KERNEL(align_diagonal), {1024, 256}, any<char>(262145), any<char>(524288), any<int>(262145), any<int>(262145), any<int>(262145), 300000, 262144);
    table.add(KERNEL(checksum_records), {2048, 128}, formula<unsigned char>(100 * 262144, [=](size_t i) { return noise(i) % 256; }), any<unsigned>(262144),
              formula<unsigned>(256, noise), 100, 262144);
    table.add(KERNEL(base64), {65536, 256}, formula<unsigned char>(48 * Mi, [=](size_t i) { return noise(i) % 256; }), any<unsigned>(16 * Mi), any<unsigned char>(64), 16 * Mi);
    table.add(KERNEL(next_numbers), {2048, 128}, any<unsigned>(6 * 262144), any<float>(8 * 262144), 8);
    table.add(KERNEL(mandelbrot), {{128, 256}, {32, 8}}, any<unsigned char>(4096 * 2048), 4096, 2048, 0.0008f);
    table.add(KERNEL(march_rays), {{64, 64}, {16, 16}}, any<float>(256 * 256 * 256), any<float>(1024 * 1024), 256, 1024,
              Ray{{128.f, 128.f, -40.f}, {.05f, -.1f, 1.f}}, 1.5f);
    table.add(KERNEL(sum_revenue), {1056, 256}, formula<unsigned>(8 * 10000000, [=](size_t word) {
                  return word % 8 == 1 ? noise(word / 8 / 1000) % 2500 : 0;  // a few hundred days, some thousand orders each
              }), 10000000, 100, 1100, zeros<double>(1));
}
