// Stencils and other sweeps over grids in one to three dimensions.
#include "corpus.cuh"

__global__ void heat2d(const float* t, float* next, int nx, int ny, float alpha) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int i = y * nx + x;
    next[i] = t[i] + alpha * (t[i - 1] + t[i + 1] + t[i - nx] + t[i + nx] - 4.0f * t[i]);
}

// A thread has a column of the grid and keeps what lies below and above in registers.
__global__ void heat3d_march(const float* t, float* next, int nx, int ny, int nz, float c) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    size_t plane = (size_t)nx * ny, i = plane + (size_t)y * nx + x;
    float below = t[i - plane], here = t[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = t[i + plane];
        next[i] = here + c * (t[i - 1] + t[i + 1] + t[i - nx] + t[i + nx] + below + above - 6.0f * here);
        below = here;
        here = above;
    }
}

__global__ void stencil27(const float* in, float* out, int n, float wc, float wf, float we, float wv) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    float sum = 0;
#pragma unroll
    for (int dz = -1; dz <= 1; dz++)
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++) {
                int far = abs(dx) + abs(dy) + abs(dz);
                float w = far == 0 ? wc : far == 1 ? wf : far == 2 ? we : wv;
                sum += w * in[((size_t)(z + dz) * n + y + dy) * n + x + dx];
            }
    out[((size_t)z * n + y) * n + x] = sum;
}

__global__ void seven_point(const double* in, double* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    int i = (z * n + y) * n + x;
    out[i] = 0.5 * in[i] + (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]) / 12.0;
}

__global__ void jacobi_tile(const double* u, const double* f, double* next, int n) {
    __shared__ double tile[10][34];
    int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int pitch = n + 2;
    tile[ty][tx] = u[y * pitch + x];
    if (threadIdx.x == 0) tile[ty][0] = u[y * pitch + x - 1];
    if (threadIdx.x == 31) tile[ty][33] = u[y * pitch + x + 1];
    if (threadIdx.y == 0) tile[0][tx] = u[(y - 1) * pitch + x];
    if (threadIdx.y == 7) tile[9][tx] = u[(y + 1) * pitch + x];
    __syncthreads();
    next[y * pitch + x] = 0.25 * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - f[y * pitch + x]);
}

__constant__ float wave[5] = {-2.8472f, 1.6f, -0.2f, 0.02540f, -0.00179f};

// Acoustic waves, eighth order in space, second in time.
__global__ void wave_radius4(const float* now, float* before, const float* speed, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 4, y = blockIdx.y * blockDim.y + threadIdx.y + 4;
    if (x >= nx - 4 || y >= ny - 4) return;
    size_t plane = (size_t)nx * ny;
    for (int z = 4; z < nz - 4; z++) {
        size_t i = z * plane + (size_t)y * nx + x;
        float laplacian = 3 * wave[0] * now[i];
#pragma unroll
        for (int r = 1; r <= 4; r++)
            laplacian += wave[r] * (now[i - r] + now[i + r] + now[i - r * nx] + now[i + r * nx] + now[i - r * plane] + now[i + r * plane]);
        before[i] = 2 * now[i] - before[i] + speed[i] * laplacian;
    }
}

__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

// Lattice Boltzmann in two dimensions: pulls, collides, writes; a field for each direction.
__global__ void lbm_pull(const float* f, float* g, int nx, int ny, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= nx) return;
    size_t cells = (size_t)nx * ny;
    float in[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int sx = (x - cx[k] + nx) % nx, sy = (y - cy[k] + ny) % ny;
        in[k] = f[k * cells + (size_t)sy * nx + sx];
        rho += in[k];
        ux += cx[k] * in[k];
        uy += cy[k] * in[k];
    }
    ux /= rho;
    uy /= rho;
    float square = 1.5f * (ux * ux + uy * uy);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float dot = 3.0f * (cx[k] * ux + cy[k] * uy);
        float equilibrium = weight[k] * rho * (1.0f + dot + 0.5f * dot * dot - square);
        g[k * cells + (size_t)y * nx + x] = in[k] + omega * (equilibrium - in[k]);
    }
}

// The same with nine numbers of a cell side by side, pushed to the neighbours.
__global__ void lbm_push_cells(const float* f, float* g, int nx, int ny) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float* cell = f + 9 * (y * nx + x);
    float rho = 0;
    for (int k = 0; k < 9; k++) rho += cell[k];
    for (int k = 0; k < 9; k++) {
        int tx = (x + cx[k] + nx) & (nx - 1), ty = (y + cy[k] + ny) & (ny - 1);
        g[9 * (ty * nx + tx) + k] = 0.9f * cell[k] + 0.1f * weight[k] * rho;
    }
}

// Four steps of a line in shared memory before it is written: overlapping pieces.
__global__ void heat1d_time_tiled(const float* in, float* out, int n) {
    __shared__ float line[2][512];
    int i = blockIdx.x * (512 - 8) + threadIdx.x - 4;
    line[0][threadIdx.x] = in[min(max(i, 0), n - 1)];
    __syncthreads();
    int from = 0;
    for (int step = 0; step < 4; step++, from ^= 1) {
        int left = max((int)threadIdx.x - 1, 0), right = min((int)threadIdx.x + 1, 511);
        line[from ^ 1][threadIdx.x] = 0.25f * (line[from][left] + 2 * line[from][threadIdx.x] + line[from][right]);
        __syncthreads();
    }
    if (threadIdx.x >= 4 && threadIdx.x < 508 && i < n) out[i] = line[0][threadIdx.x];
}

// Faces of a block of a distributed grid: x has a stride, z does not.
__global__ void pack_face_x(const double* field, double* face, int nx, int ny, int nz, int at) {
    int y = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < ny && z < nz) face[z * ny + y] = field[((size_t)z * ny + y) * nx + at];
}

__global__ void unpack_face_y(double* field, const double* face, int nx, int ny, int nz, int at) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && z < nz) field[((size_t)z * ny + at) * nx + x] = face[z * nx + x];
}

__global__ void red_black(float* u, const float* rhs, int n, int colour) {
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + ((y + colour) & 1);
    if (x >= n - 1 || y >= n - 1) return;
    int i = y * n + x;
    u[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] - rhs[i]);
}

__global__ void life(const unsigned char* cells, unsigned char* next, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int xl = (x + n - 1) % n, xr = (x + 1) % n, yu = (y + n - 1) % n * n, yd = (y + 1) % n * n;
    int alive = cells[yu + xl] + cells[yu + x] + cells[yu + xr] + cells[y * n + xl] + cells[y * n + xr] + cells[yd + xl] + cells[yd + x] + cells[yd + xr];
    next[y * n + x] = alive == 3 || (alive == 2 && cells[y * n + x]);
}

// Traces a particle back along the wind and takes what was there.
__global__ void advect(const float* quantity, const float2* wind, float* out, int n, float dt) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float2 w = wind[y * n + x];
    float px = fminf(fmaxf(x - dt * w.x, 0.0f), n - 1.001f), py = fminf(fmaxf(y - dt * w.y, 0.0f), n - 1.001f);
    int ix = (int)px, iy = (int)py;
    float fx = px - ix, fy = py - iy;
    const float* q = quantity + iy * n + ix;
    out[y * n + x] = (1 - fy) * ((1 - fx) * q[0] + fx * q[1]) + fy * ((1 - fx) * q[n] + fx * q[n + 1]);
}

__global__ void divergence(const float* u, const float* v, const float* w, float* d, int nx, int ny, int nz, float scale) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)nx * ny * nz) return;
    int x = i % nx, y = i / nx % ny, z = i / ((size_t)nx * ny);
    size_t iu = ((size_t)z * ny + y) * (nx + 1) + x, iv = ((size_t)z * (ny + 1) + y) * nx + x;
    d[i] = scale * (u[iu + 1] - u[iu] + v[iv + nx] - v[iv] + w[i + (size_t)nx * ny] - w[i]);
}

// From the fine grid of a multigrid solver to the coarse one.
__global__ void restrict_full(const float* fine, float* coarse, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x >= n || y >= n) return;
    int m = 2 * n;
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += fine[((size_t)(2 * z + (k >> 2)) * m + 2 * y + (k >> 1 & 1)) * m + 2 * x + (k & 1)];
    coarse[((size_t)z * n + y) * n + x] = 0.125f * sum;
}

void add_stencils(Table& table) {
    table.add(KERNEL(heat2d), {{256, 1024}, {32, 8}}, any<float>(64 * Mi), any<float>(64 * Mi), 8192, 8192, .1f);
    table.add(KERNEL(heat3d_march), {{16, 64}, {32, 8}}, any<float>(512 * 512 * 256), any<float>(512 * 512 * 256), 512, 512, 256, .1f);
    table.add(KERNEL(stencil27), {{8, 64, 64}, {32, 4, 4}}, any<float>(256 * 256 * 256), any<float>(256 * 256 * 256), 256, .5f, .05f, .01f, .005f);
    table.add(KERNEL(seven_point), {{24, 48, 96}, {16, 8, 4}}, any<double>(384 * 384 * 384), any<double>(384 * 384 * 384), 384);
    table.add(KERNEL(jacobi_tile), {{128, 512}, {32, 8}}, any<double>(4098 * 4098), any<double>(4098 * 4098), any<double>(4098 * 4098), 4096);
    table.add(KERNEL(wave_radius4), {{16, 48}, {32, 8}}, any<float>(512 * 384 * 200), any<float>(512 * 384 * 200), any<float>(512 * 384 * 200), 512, 384,
              200);
    table.add(KERNEL(lbm_pull), {{20, 2500}, 128}, any<float>(9 * 2500 * 2500), any<float>(9 * 2500 * 2500), 2500, 2500, 1.7f);
    table.add(KERNEL(lbm_push_cells), {{64, 512}, {32, 4}}, any<float>(9 * 2048 * 2048), any<float>(9 * 2048 * 2048), 2048, 2048);
    table.add(KERNEL(heat1d_time_tiled), {66577, 512}, any<float>(32 * Mi), any<float>(32 * Mi), 32 * Mi);
    table.add(KERNEL(pack_face_x), {{4, 64}, {64, 4}}, any<double>(256 * 256 * 256), any<double>(256 * 256), 256, 256, 256, 254);
    table.add(KERNEL(unpack_face_y), {{2, 64}, {128, 4}}, any<double>(256 * 256 * 256), any<double>(256 * 256), 256, 256, 256, 0);
    table.add(KERNEL(red_black), {{64, 512}, {32, 8}}, any<float>(4096 * 4096), any<float>(4096 * 4096), 4096, 1);
    table.add(KERNEL(life), {{64, 256}, {32, 8}}, formula<unsigned char>(4 * Mi, [](size_t i) { return hash(unsigned(i)) & 1; }),
              any<unsigned char>(4 * Mi), 2048);
    table.add(KERNEL(advect), {{128, 128}, {16, 16}}, any<float>(4 * Mi), formula<float2>(4 * Mi, [](size_t i) {
                  const float x = float(i % 2048) - 1024, y = float(i / 2048) - 1024;  // a vortex
                  return make_float2(-y / 64, x / 64);
              }), any<float>(4 * Mi), 2048, 1.5f);
    table.add(KERNEL(divergence), {65025, 256}, any<float>(256 * 255 * 256), any<float>(255 * 256 * 256), any<float>(255 * 255 * 257), any<float>(255 * 255 * 256),
              255, 255, 256, .5f);
    table.add(KERNEL(restrict_full), {{6, 24, 192}, {32, 8}}, any<float>(384 * 384 * 384), any<float>(192 * 192 * 192), 192);
}
