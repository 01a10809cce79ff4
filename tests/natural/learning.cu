// Machine learning: norms, softmax, attention, embeddings, convolutions, optimizers, quantisation.
#include "corpus.cuh"

__device__ float sum_of_block(float value) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 16; offset; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    __syncthreads();
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    for (int offset = 16; offset; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    return value;
}

__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* y, int width, float epsilon) {
    const float* row = x + (size_t)blockIdx.x * width;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    float mean = sum_of_block(sum) / width;
    float variance = sum_of_block(squares) / width - mean * mean;
    float scale = rsqrtf(variance + epsilon);
    for (int i = threadIdx.x; i < width; i += blockDim.x) y[(size_t)blockIdx.x * width + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
}

__global__ void rms_norm(const __half2* x, const __half2* weight, __half2* y, int rows, int half_width) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float squares = 0;
    for (int i = lane; i < half_width; i += 32) {
        float2 v = __half22float2(x[(size_t)row * half_width + i]);
        squares += v.x * v.x + v.y * v.y;
    }
    for (int offset = 16; offset; offset /= 2) squares += __shfl_xor_sync(~0u, squares, offset);
    __half2 scale = __float2half2_rn(rsqrtf(squares / (2 * half_width) + 1e-5f));
    for (int i = lane; i < half_width; i += 32)
        y[(size_t)row * half_width + i] = __hmul2(__hmul2(x[(size_t)row * half_width + i], scale), weight[i]);
}

__global__ void softmax_rows(const float* x, float* y, int width) {
    __shared__ float shared[256];
    const float* row = x + (size_t)blockIdx.x * width;
    float most = -INFINITY;
    for (int i = threadIdx.x; i < width; i += 256) most = fmaxf(most, row[i]);
    shared[threadIdx.x] = most;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    most = shared[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += 256) sum += __expf(row[i] - most);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] += shared[threadIdx.x + s];
        __syncthreads();
    }
    float scale = 1.0f / shared[0];
    for (int i = threadIdx.x; i < width; i += 256) y[(size_t)blockIdx.x * width + i] = __expf(row[i] - most) * scale;
}

// A thread for a row: what one writes first.
__global__ void softmax_thread(const float* x, float* y, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < width; i++) most = fmaxf(most, x[r * width + i]);
    for (int i = 0; i < width; i++) sum += expf(x[r * width + i] - most);
    for (int i = 0; i < width; i++) y[r * width + i] = expf(x[r * width + i] - most) / sum;
}

// Scores of one query against every key that comes before it; heads are 64 wide.
__global__ void attention_scores(const float* q, const float* k, float* scores, int length, float scale) {
    __shared__ float qs[16][65], ks[16][65];
    int head = blockIdx.z, tx = threadIdx.x, ty = threadIdx.y;
    if (blockIdx.x > blockIdx.y) return;
    const float* qh = q + ((size_t)head * length + blockIdx.y * 16) * 64;
    const float* kh = k + ((size_t)head * length + blockIdx.x * 16) * 64;
    for (int d = tx; d < 64; d += 16) {
        qs[ty][d] = qh[ty * 64 + d];
        ks[ty][d] = kh[ty * 64 + d];
    }
    __syncthreads();
    float sum = 0;
    for (int d = 0; d < 64; d++) sum += qs[ty][d] * ks[tx][d];
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    scores[((size_t)head * length + row) * length + col] = col <= row ? sum * scale : -1e9f;
}

// A token's keys lie in pages of 16 tokens; a warp has a token of one sequence.
__global__ void paged_scores(const float* query, const float* pages, const int* page_table, const int* lengths, float* scores, int most_pages) {
    int sequence = blockIdx.y, token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (token >= lengths[sequence]) return;
    int page = page_table[sequence * most_pages + token / 16];
    const float4* key = (const float4*)(pages + ((size_t)page * 16 + token % 16) * 128);
    const float4* q = (const float4*)(query + sequence * 128);
    float4 a = key[lane], b = q[lane];
    float sum = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    if (lane == 0) scores[sequence * most_pages * 16 + token] = sum;
}

__global__ void rotary(float* x, const float* cosines, const float* sines, int heads, int width) {
    int token = blockIdx.x, half = width / 2;
    for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
        int head = i / half, d = i % half;
        float* pair = x + ((size_t)token * heads + head) * width;
        float c = cosines[token * half + d], s = sines[token * half + d];
        float a = pair[d], b = pair[d + half];
        pair[d] = a * c - b * s;
        pair[d + half] = a * s + b * c;
    }
}

__global__ void im2col(const float* image, float* columns, int channels, int height, int width) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)channels * height * width) return;
    int x = i % width, y = i / width % height, c = i / ((size_t)width * height);
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++) {
            int sx = x + kx - 1, sy = y + ky - 1;
            bool inside = sx >= 0 && sy >= 0 && sx < width && sy < height;
            columns[((size_t)(c * 9 + ky * 3 + kx) * height + y) * width + x] = inside ? image[((size_t)c * height + sy) * width + sx] : 0.0f;
        }
}

__global__ void embedding(const int* tokens, const __half* table, const __half* positions, __half* out, int length, int width) {
    int t = blockIdx.x, id = tokens[t];
    for (int d = threadIdx.x; d < width; d += blockDim.x)
        out[(size_t)t * width + d] = __hadd(table[(size_t)id * width + d], positions[(t % length) * width + d]);
}

__global__ void embedding_backward(const int* tokens, const float* gradient, float* table_gradient, int width) {
    int t = blockIdx.x;
    for (int d = threadIdx.x; d < width; d += blockDim.x) atomicAdd(&table_gradient[(size_t)tokens[t] * width + d], gradient[(size_t)t * width + d]);
}

__global__ void bias_relu_nhwc(float* x, const float* bias, int n, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = fmaxf(x[i] + bias[i % channels], 0.0f);
}

__global__ void bias_nchw(const float* x, const float* bias, float* y, int channels, int pixels) {
    int c = blockIdx.y, b = blockIdx.z;
    size_t base = ((size_t)b * channels + c) * pixels;
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < pixels; p += gridDim.x * blockDim.x) y[base + p] = x[base + p] + bias[c];
}

__global__ void dropout(const float* x, float* y, unsigned char* mask, int n, unsigned seed, float keep) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bool kept = unit(i ^ seed) < keep;
    mask[i] = kept;
    y[i] = kept ? x[i] / keep : 0.0f;
}

// A scale for each row, eight rows by a block.
__global__ void quantise_rows(const float* x, signed char* q, float* scales, int width) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    const float4* in = (const float4*)(x + (size_t)row * width);
    float most = 0;
    for (int i = threadIdx.x; i < width / 4; i += 32) {
        float4 v = in[i];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
    }
    for (int offset = 16; offset; offset /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
    float scale = most / 127.0f, inverse = 1.0f / (scale + 1e-12f);
    if (threadIdx.x == 0) scales[row] = scale;
    for (int i = threadIdx.x; i < width / 4; i += 32) {
        float4 v = in[i];
        ((char4*)(q + (size_t)row * width))[i] = make_char4(rintf(v.x * inverse), rintf(v.y * inverse), rintf(v.z * inverse), rintf(v.w * inverse));
    }
}

__global__ void adamw(float* weights, const float* gradients, float* m, float* v, int n, float rate, float b1, float b2, float decay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = gradients[i];
    float mi = m[i] = b1 * m[i] + (1 - b1) * g;
    float vi = v[i] = b2 * v[i] + (1 - b2) * g * g;
    weights[i] -= rate * (mi / (sqrtf(vi) + 1e-8f) + decay * weights[i]);
}

__global__ void gelu4(const float4* x, float4* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    v.x /= 1.0f + __expf(-1.702f * v.x);
    v.y /= 1.0f + __expf(-1.702f * v.y);
    v.z /= 1.0f + __expf(-1.702f * v.z);
    v.w /= 1.0f + __expf(-1.702f * v.w);
    y[i] = v;
}

__global__ void max_pool(const float* x, float* y, unsigned char* argmax, int height, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int ox = i % (width / 2), oy = i / (width / 2) % (height / 2), plane = i / (width / 2 * (height / 2));
    const float* window = x + ((size_t)plane * height + 2 * oy) * width + 2 * ox;
    float best = window[0];
    int at = 0;
    for (int k = 1; k < 4; k++) {
        float value = window[k / 2 * width + k % 2];
        if (value > best) {
            best = value;
            at = k;
        }
    }
    y[i] = best;
    argmax[i] = at;
}

__global__ void cross_entropy(const float* logits, const int* labels, float* loss, int classes) {
    const float* row = logits + (size_t)blockIdx.x * classes;
    float sum = 0;
    for (int i = threadIdx.x; i < classes; i += blockDim.x) sum += __expf(row[i]);
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) loss[blockIdx.x] = __logf(sum) - row[labels[blockIdx.x]];
}

__global__ void depthwise_nhwc(const float* x, const float* filter, float* y, int height, int width, int channels) {
    int c = threadIdx.x, ox = blockIdx.x, oy = blockIdx.y, b = blockIdx.z;
    float sum = 0;
    for (int ky = 0; ky < 3; ky++) {
        int iy = oy + ky - 1;
        if (iy < 0 || iy >= height) continue;
        for (int kx = 0; kx < 3; kx++) {
            int ix = ox + kx - 1;
            if (ix < 0 || ix >= width) continue;
            sum += x[(((size_t)b * height + iy) * width + ix) * channels + c] * filter[(ky * 3 + kx) * channels + c];
        }
    }
    y[(((size_t)b * height + oy) * width + ox) * channels + c] = sum;
}

// A block for a channel, over all images.
__global__ void batch_norm_sums(const float* x, float* means, float* variances, int batch, int channels, int pixels) {
    int c = blockIdx.x;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < batch * pixels; i += blockDim.x) {
        float v = x[((size_t)(i / pixels) * channels + c) * pixels + i % pixels];
        sum += v;
        squares += v * v;
    }
    sum = sum_of_block(sum);
    squares = sum_of_block(squares);
    if (threadIdx.x == 0) {
        means[c] = sum / (batch * pixels);
        variances[c] = squares / (batch * pixels) - means[c] * means[c];
    }
}

__global__ void row_argmax(const float* scores, int* winners, int rows, int width) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float best = -1e30f;
    int at = 0;
    for (int i = threadIdx.x; i < width; i += 32) {
        float s = scores[(size_t)row * width + i];
        if (s > best) {
            best = s;
            at = i;
        }
    }
    for (int offset = 16; offset; offset /= 2) {
        float other = __shfl_down_sync(~0u, best, offset);
        int from = __shfl_down_sync(~0u, at, offset);
        if (other > best) {
            best = other;
            at = from;
        }
    }
    if (threadIdx.x == 0) winners[row] = at;
}

void add_learning(Table& table) {
    table.add(KERNEL(layer_norm), {16384, 256}, any<float>(16384 * 1024), any<float>(1024), any<float>(1024), any<float>(16384 * 1024), 1024, 1e-5f);
    table.add(KERNEL(rms_norm), {8192, 128}, any<__half2>(32768 * 2048), any<__half2>(2048), any<__half2>(32768 * 2048), 32768, 2048);
    table.add(KERNEL(softmax_rows), {1024, 256}, any<float>(1024 * 50257), any<float>(1024 * 50257), 50257);
    table.add(KERNEL(softmax_thread), {128, 128}, any<float>(16384 * 100), any<float>(16384 * 100), 16384, 100);
    table.add(KERNEL(attention_scores), {{128, 128, 12}, {16, 16}}, any<float>(12 * 2048 * 64), any<float>(12 * 2048 * 64), any<float>(12 * 2048 * 2048), 2048,
              .125f);
    table.add(KERNEL(paged_scores), {{256, 64}, 256}, any<float>(64 * 128), any<float>(8192 * 16 * 128),
              formula<int>(64 * 128, [](size_t i) { return int(i * 2731 % 8192); }), formula<int>(64, [](size_t s) { return int(200 + hash(unsigned(s)) % 1848); }),
              any<float>(64 * 2048), 128);
    table.add(KERNEL(rotary), {8192, 256}, any<float>(8192 * 32 * 128), any<float>(8192 * 64), any<float>(8192 * 64), 32, 128);
    table.add(KERNEL(im2col), {12544, 256}, any<float>(64 * 224 * 224), any<float>(9 * 64 * 224 * 224), 64, 224, 224);
    const Argument tokens = formula<int>(32768, [](size_t t) { return int(unit(unsigned(t)) * unit(unsigned(t) + 77777) * 32000); });
    table.add(KERNEL(embedding), {32768, 256}, tokens, any<__half>(32000 * 1024), any<__half>(2048 * 1024), any<__half>(32768 * 1024), 2048, 1024);
    table.add(KERNEL(embedding_backward), {32768, 128}, tokens, any<float>(32768 * 256), zeros<float>(32000 * 256), 256);
    table.add(KERNEL(bias_relu_nhwc), {150528, 256}, any<float>(64 * 56 * 56 * 192), any<float>(192), 64 * 56 * 56 * 192, 192);
    table.add(KERNEL(bias_nchw), {{4, 256, 32}, 128}, any<float>(32 * 256 * 784), any<float>(256), any<float>(32 * 256 * 784), 256, 784);
    table.add(KERNEL(dropout), {131072, 256}, any<float>(32 * Mi), any<float>(32 * Mi), any<unsigned char>(32 * Mi), 32 * Mi, 12345u, .9f);
    table.add(KERNEL(quantise_rows), {2048, {32, 8}}, any<float>(16384 * 4096), any<signed char>(16384 * 4096), any<float>(16384), 4096);
    table.add(KERNEL(adamw), {125000, 256}, any<float>(32000000), any<float>(32000000), any<float>(32000000), any<float>(32000000), 32000000, 1e-3f, .9f, .999f, .01f);
    table.add_as("adamw_small", KERNEL(adamw), {1024, 256}, any<float>(262144), any<float>(262144), any<float>(262144), any<float>(262144), 262144, 1e-3f, .9f, .999f,
                 .01f);
    table.add(KERNEL(gelu4), {16384, 512}, any<float4>(8 * Mi), any<float4>(8 * Mi), 8 * Mi);
    table.add(KERNEL(max_pool), {50176, 256}, any<float>(64 * 64 * 112 * 112), any<float>(64 * 64 * 56 * 56), any<unsigned char>(64 * 64 * 56 * 56), 112, 112,
              64 * 64 * 56 * 56);
    table.add(KERNEL(cross_entropy), {4096, 256}, any<float>(4096 * 32000), formula<int>(4096, [](size_t r) { return int(hash(unsigned(r)) % 32000); }),
              any<float>(4096), 32000);
    table.add(KERNEL(depthwise_nhwc), {{56, 56, 16}, 144}, any<float>(16 * 56 * 56 * 144), any<float>(9 * 144), any<float>(16 * 56 * 56 * 144), 56, 56, 144);
    table.add(KERNEL(batch_norm_sums), {256, 256}, any<float>(32 * 256 * 784), any<float>(256), any<float>(256), 32, 256, 784);
    table.add(KERNEL(row_argmax), {512, {32, 4}}, any<float>(2048 * 1000), any<int>(2048), 2048, 1000);
}
