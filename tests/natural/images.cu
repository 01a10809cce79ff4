// Images: bytes and floats in two dimensions, filters, histograms, changes of colour and size.
#include "corpus.cuh"

__device__ int clamp_to(int value, int size) { return min(max(value, 0), size - 1); }

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int above = max(y - 1, 0) * width, here = y * width, below = min(y + 1, height - 1) * width;
    int gx = in[above + right] + 2 * in[here + right] + in[below + right] - in[above + left] - 2 * in[here + left] - in[below + left];
    int gy = in[below + left] + 2 * in[below + x] + in[below + right] - in[above + left] - 2 * in[above + x] - in[above + right];
    out[here + x] = min(255, abs(gx) + abs(gy));
}

#define RADIUS 8
__constant__ float gauss[2 * RADIUS + 1] = {.005f, .011f, .02f, .033f, .05f, .067f, .083f, .095f, .1f,
                                            .095f, .083f, .067f, .05f, .033f, .02f, .011f, .005f};

__global__ void gauss_rows(const float* in, float* out, int width) {
    __shared__ float row[256 + 2 * RADIUS];
    const float* line = in + (size_t)blockIdx.y * width;
    int x = blockIdx.x * 256 + threadIdx.x;
    row[threadIdx.x + RADIUS] = line[x];
    if (threadIdx.x < RADIUS) {
        row[threadIdx.x] = x >= RADIUS ? line[x - RADIUS] : 0.0f;
        row[threadIdx.x + 256 + RADIUS] = x + 256 < width ? line[x + 256] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++) sum += gauss[k] * row[threadIdx.x + k];
    out[(size_t)blockIdx.y * width + x] = sum;
}

__global__ void gauss_columns(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int row = y + k;
        if (row >= 0 && row < height) sum += gauss[k + RADIUS] * in[(size_t)row * width + x];
    }
    out[(size_t)y * width + x] = sum;
}

__global__ void bilateral(const float* in, float* out, int width, int height, float sigma_space, float sigma_range) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float centre = in[y * width + x], sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            float value = in[clamp_to(y + dy, height) * width + clamp_to(x + dx, width)];
            float difference = value - centre;
            float weight = __expf(-(dx * dx + dy * dy) * sigma_space - difference * difference * sigma_range);
            sum += weight * value;
            weights += weight;
        }
    out[y * width + x] = sum / weights;
}

__global__ void resize_bilinear(const uchar4* in, int in_width, int in_height, uchar4* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float fx = (x + 0.5f) * in_width / width - 0.5f, fy = (y + 0.5f) * in_height / height - 0.5f;
    int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
    float wx = fx - x0, wy = fy - y0;
    int xa = clamp_to(x0, in_width), xb = clamp_to(x0 + 1, in_width), ya = clamp_to(y0, in_height), yb = clamp_to(y0 + 1, in_height);
    uchar4 a = in[ya * in_width + xa], b = in[ya * in_width + xb], c = in[yb * in_width + xa], d = in[yb * in_width + xb];
    uchar4 mixed;
    mixed.x = (1 - wy) * ((1 - wx) * a.x + wx * b.x) + wy * ((1 - wx) * c.x + wx * d.x);
    mixed.y = (1 - wy) * ((1 - wx) * a.y + wx * b.y) + wy * ((1 - wx) * c.y + wx * d.y);
    mixed.z = (1 - wy) * ((1 - wx) * a.z + wx * b.z) + wy * ((1 - wx) * c.z + wx * d.z);
    mixed.w = 255;
    out[y * width + x] = mixed;
}

// A frame of a video decoder: a plane of luma, below it chroma of half the size, interleaved.
__global__ void nv12_to_rgb(const unsigned char* frame, int pitch, unsigned char* rgb, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float luma = 1.164f * (frame[y * pitch + x] - 16);
    const unsigned char* chroma = frame + (size_t)pitch * height + (y / 2) * pitch + (x & ~1);
    float u = chroma[0] - 128.0f, v = chroma[1] - 128.0f;
    unsigned char* pixel = rgb + 3 * ((size_t)y * width + x);
    pixel[0] = (unsigned char)fminf(fmaxf(luma + 1.596f * v, 0.0f), 255.0f);
    pixel[1] = (unsigned char)fminf(fmaxf(luma - 0.391f * u - 0.813f * v, 0.0f), 255.0f);
    pixel[2] = (unsigned char)fminf(fmaxf(luma + 2.018f * u, 0.0f), 255.0f);
}

__global__ void histogram_of_pixels(const uchar4* pixels, int count, unsigned* histogram) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        uchar4 p = pixels[i];
        unsigned luma = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
        atomicAdd(&bins[luma], 1u);
    }
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

__global__ void integral_rows(const unsigned char* in, unsigned* out, int width) {
    __shared__ unsigned sums[1024];
    unsigned carried = 0;
    for (int begin = 0; begin < width; begin += 1024) {
        int x = begin + threadIdx.x;
        sums[threadIdx.x] = x < width ? in[(size_t)blockIdx.x * width + x] : 0;
        __syncthreads();
        for (int step = 1; step < 1024; step *= 2) {
            unsigned other = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += other;
            __syncthreads();
        }
        if (x < width) out[(size_t)blockIdx.x * width + x] = carried + sums[threadIdx.x];
        carried += sums[1023];
        __syncthreads();
    }
}

__global__ void integral_columns(unsigned* sums, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    unsigned sum = 0;
    for (int y = 0; y < height; y++) {
        sum += sums[(size_t)y * width + x];
        sums[(size_t)y * width + x] = sum;
    }
}

__device__ void order(unsigned char& a, unsigned char& b) {
    unsigned char small = min(a, b);
    b = max(a, b);
    a = small;
}

__global__ void median3x3(const unsigned char* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    unsigned char v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
#pragma unroll
    for (int i = 0; i < 5; i++)
#pragma unroll
        for (int j = 8; j > i; j--) order(v[j - 1], v[j]);
    out[y * width + x] = v[4];
}

__global__ void rotate(const float* in, float* out, int size, float cosine, float sine) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float cx = x - size * 0.5f, cy = y - size * 0.5f;
    int sx = (int)rintf(cosine * cx - sine * cy + size * 0.5f), sy = (int)rintf(sine * cx + cosine * cy + size * 0.5f);
    float value = 0;
    if (sx >= 0 && sx < size && sy >= 0 && sy < size) value = in[(size_t)sy * size + sx];
    out[(size_t)y * size + x] = value;
}

// A window that slides along the row; one thread has the whole row.
__global__ void box_blur_rows(const float* in, float* out, int width, int height, int radius) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height) return;
    const float* row = in + (size_t)y * width;
    float sum = 0, scale = 1.0f / (2 * radius + 1);
    for (int x = 0; x < radius; x++) sum += row[x];
    for (int x = 0; x < width; x++) {
        if (x + radius < width) sum += row[x + radius];
        out[(size_t)y * width + x] = sum * scale;
        if (x - radius >= 0) sum -= row[x - radius];
    }
}

__global__ void alpha_blend(const uchar4* over, const uchar4* under, uchar4* out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uchar4 a = over[i], b = under[i];
    int alpha = a.w, rest = 255 - alpha;
    out[i] = make_uchar4((a.x * alpha + b.x * rest) / 255, (a.y * alpha + b.y * rest) / 255, (a.z * alpha + b.z * rest) / 255, 255);
}

__global__ void erode(const unsigned char* in, unsigned char* out, int width, int height) {
    __shared__ unsigned char tile[16 + 6][32 + 6];
    int x0 = blockIdx.x * 32 - 3, y0 = blockIdx.y * 16 - 3;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 22 * 38; i += 512) {
        int ty = i / 38, tx = i % 38;
        tile[ty][tx] = in[clamp_to(y0 + ty, height) * width + clamp_to(x0 + tx, width)];
    }
    __syncthreads();
    unsigned char least = 255;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++) least = min(least, tile[threadIdx.y + dy][threadIdx.x + dx]);
    out[(y0 + 3 + threadIdx.y) * width + x0 + 3 + threadIdx.x] = least;
}

__global__ void tone_curve(const unsigned short* in, unsigned char* out, const unsigned char* curve, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = curve[in[i] & 4095];
}

// RGGB of a sensor, the four places of a cell by one thread.
__global__ void debayer(const unsigned short* raw, float* red, float* green, float* blue, int width) {
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    float r = raw[y * width + x], g0 = raw[y * width + x + 1], g1 = raw[(y + 1) * width + x], b = raw[(y + 1) * width + x + 1];
    int to = (y / 2) * (width / 2) + x / 2;
    red[to] = r * (1.0f / 1023);
    green[to] = (g0 + g1) * (0.5f / 1023);
    blue[to] = b * (1.0f / 1023);
}

void add_images(Table& table) {
    const auto noise = [](size_t i) { return hash(unsigned(i)); };
    table.add(KERNEL(sobel), {{256, 1024}, {32, 8}}, any<unsigned char>(8192 * 8192), any<unsigned char>(8192 * 8192), 8192, 8192);
    table.add(KERNEL(gauss_rows), {{32, 8192}, 256}, any<float>(64 * Mi), any<float>(64 * Mi), 8192);
    table.add(KERNEL(gauss_columns), {{256, 1024}, {32, 8}}, any<float>(64 * Mi), any<float>(64 * Mi), 8192, 8192);
    table.add(KERNEL(bilateral), {{64, 128}, {16, 8}}, any<float>(Mi), any<float>(Mi), 1024, 1024, .1f, 8.f);
    table.add(KERNEL(resize_bilinear), {{120, 270}, {32, 8}}, any<uchar4>(7680 * 4320), 7680, 4320, any<uchar4>(3840 * 2160), 3840, 2160);
    table.add(KERNEL(nv12_to_rgb), {{240, 135}, {32, 32}}, any<unsigned char>(8192 * 4320 * 3 / 2), 8192, any<unsigned char>(7680 * 4320 * 3), 7680, 4320);
    table.add(KERNEL(histogram_of_pixels), {528, 256}, formula<unsigned>(16 * Mi, noise), 16 * Mi, zeros<unsigned>(256));
    table.add(KERNEL(integral_rows), {4320, 1024}, any<unsigned char>(7680 * 4320), any<unsigned>(7680 * 4320), 7680);
    table.add(KERNEL(integral_columns), {60, 128}, any<unsigned>(7680 * 4320), 7680, 4320);
    table.add(KERNEL(median3x3), {{60, 270}, {32, 4}}, any<unsigned char>(1920 * 1080), any<unsigned char>(1920 * 1080), 1920, 1080);
    table.add(KERNEL(rotate), {{512, 512}, {16, 16}}, any<float>(64 * Mi), any<float>(64 * Mi), 8192, .8660254f, .5f);
    table.add(KERNEL(box_blur_rows), {34, 64}, any<float>(3840 * 2160), any<float>(3840 * 2160), 3840, 2160, 6);
    table.add(KERNEL(alpha_blend), {262144, 256}, any<uchar4>(64 * Mi), any<uchar4>(64 * Mi), any<uchar4>(64 * Mi), 64 * Mi);
    table.add(KERNEL(erode), {{64, 128}, {32, 16}}, any<unsigned char>(4 * Mi), any<unsigned char>(4 * Mi), 2048, 2048);
    table.add(KERNEL(tone_curve), {65536, 512}, formula<unsigned short>(32 * Mi, noise), any<unsigned char>(32 * Mi), any<unsigned char>(4096), 32 * Mi);
    table.add(KERNEL(debayer), {{120, 135}, {16, 8}}, any<unsigned short>(3840 * 2160), any<float>(1920 * 1080), any<float>(1920 * 1080),
              any<float>(1920 * 1080), 3840);
}
