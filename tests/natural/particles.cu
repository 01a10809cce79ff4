// Particles: all pairs, cells and neighbour lists, structures of arrays and arrays of structures, grids that they write to.
#include "corpus.cuh"

__global__ void nbody(const float4* bodies, float3* forces, int n, float softening) {
    __shared__ float4 tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 me = bodies[i];
    float3 force = make_float3(0, 0, 0);
    for (int t = 0; t < n; t += 256) {
        tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float s = tile[j].w * inverse * inverse * inverse;
            force.x += dx * s;
            force.y += dy * s;
            force.z += dz * s;
        }
        __syncthreads();
    }
    forces[i] = force;
}

struct Particle {
    float3 position, velocity;
    float mass, charge, age;
};

__global__ void integrate_structures(Particle* particles, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = particles[i];
    p.velocity.z -= 9.81f * dt;
    p.position.x += p.velocity.x * dt;
    p.position.y += p.velocity.y * dt;
    p.position.z += p.velocity.z * dt;
    p.age += dt;
    particles[i] = p;
}

__global__ void integrate_fields(float* x, float* y, float* z, float* vx, float* vy, float* vz, const float* fx, const float* fy, const float* fz,
                                 const float* inverse_mass, int n, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = inverse_mass[i] * dt;
    float ux = vx[i] + fx[i] * s, uy = vy[i] + fy[i] * s, uz = vz[i] + fz[i] * s;
    vx[i] = ux;
    vy[i] = uy;
    vz[i] = uz;
    x[i] += ux * dt;
    y[i] += uy * dt;
    z[i] += uz * dt;
}

__device__ unsigned spread(unsigned v) {
    v &= 1023;
    v = (v | v << 16) & 0x030000ff;
    v = (v | v << 8) & 0x0300f00f;
    v = (v | v << 4) & 0x030c30c3;
    return (v | v << 2) & 0x09249249;
}

__global__ void morton_keys(const float* positions, unsigned* keys, unsigned* order, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = positions[3 * i] * 1023.0f, y = positions[3 * i + 1] * 1023.0f, z = positions[3 * i + 2] * 1023.0f;
    keys[i] = spread(x) << 2 | spread(y) << 1 | spread(z);
    order[i] = i;
}

__global__ void reorder_bodies(const float4* positions, const float4* velocities, const unsigned* order, float4* sorted_positions, float4* sorted_velocities,
                               int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned from = order[i];
    sorted_positions[i] = positions[from];
    sorted_velocities[i] = velocities[from];
}

// Particles are sorted by cell; cell c has those from begins[c] to begins[c + 1].
__global__ void cell_forces(const float4* positions, const int* cell_of, const int* begins, float4* forces, int n, int side, float radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = positions[i], force = make_float4(0, 0, 0, 0);
    int cell = cell_of[i], cx = cell % side, cy = cell / side % side, cz = cell / (side * side);
    for (int z = max(cz - 1, 0); z <= min(cz + 1, side - 1); z++)
        for (int y = max(cy - 1, 0); y <= min(cy + 1, side - 1); y++)
            for (int x = max(cx - 1, 0); x <= min(cx + 1, side - 1); x++) {
                int c = (z * side + y) * side + x;
                for (int j = begins[c]; j < begins[c + 1]; j++) {
                    float4 other = positions[j];
                    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
                    float push = fmaxf(radius - sqrtf(dx * dx + dy * dy + dz * dz), 0.0f);
                    force.x -= push * dx;
                    force.y -= push * dy;
                    force.z -= push * dz;
                }
            }
    forces[i] = force;
}

// Neighbours by columns: those of atom i lie n apart, so that lanes read side by side.
__global__ void lennard_jones(const float4* atoms, const int* neighbours, const int* counts, float4* forces, int n, float cutoff) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 me = atoms[i];
    float fx = 0, fy = 0, fz = 0, energy = 0;
    int count = counts[i];
    for (int k = 0; k < count; k++) {
        float4 other = atoms[neighbours[(size_t)k * n + i]];
        float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z;
        float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
        float s2 = 1.0f / r2, s6 = s2 * s2 * s2;
        float f = r2 < cutoff ? s6 * (48.0f * s6 - 24.0f) * s2 : 0.0f;
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
        energy += s6 * (s6 - 1.0f);
    }
    forces[i] = make_float4(fx, fy, fz, energy);
}

// Charge in a cell of a grid, shared among its four corners.
__global__ void deposit_charge(const float* x, const float* y, const float* charge, float* grid, int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float px = x[i], py = y[i], q = charge[i];
    int ix = (int)px, iy = (int)py;
    float fx = px - ix, fy = py - iy;
    float* cell = grid + iy * width + ix;
    atomicAdd(cell, q * (1 - fx) * (1 - fy));
    atomicAdd(cell + 1, q * fx * (1 - fy));
    atomicAdd(cell + width, q * (1 - fx) * fy);
    atomicAdd(cell + width + 1, q * fx * fy);
}

__global__ void gather_field(const float2* positions, const float2* field, float2* velocities, int n, int width, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 p = positions[i], v = velocities[i];
    int cell = (int)p.y * width + (int)p.x;
    float2 a = field[cell], b = field[cell + 1];
    float f = p.x - floorf(p.x);
    v.x += scale * ((1 - f) * a.x + f * b.x);
    v.y += scale * ((1 - f) * a.y + f * b.y);
    velocities[i] = v;
}

__global__ void bounds(const float* x, const float* y, const float* z, float* lowest, float* highest, int n) {
    __shared__ float low[3][8], high[3][8];
    float least[3] = {1e30f, 1e30f, 1e30f}, most[3] = {-1e30f, -1e30f, -1e30f};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float p[3] = {x[i], y[i], z[i]};
        for (int k = 0; k < 3; k++) {
            least[k] = fminf(least[k], p[k]);
            most[k] = fmaxf(most[k], p[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        for (int step = 16; step; step >>= 1) {
            least[k] = fminf(least[k], __shfl_xor_sync(~0u, least[k], step));
            most[k] = fmaxf(most[k], __shfl_xor_sync(~0u, most[k], step));
        }
        if (threadIdx.x % 32 == 0) {
            low[k][threadIdx.x / 32] = least[k];
            high[k][threadIdx.x / 32] = most[k];
        }
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        float a = low[threadIdx.x][0], b = high[threadIdx.x][0];
        for (int w = 1; w < 8; w++) {
            a = fminf(a, low[threadIdx.x][w]);
            b = fmaxf(b, high[threadIdx.x][w]);
        }
        lowest[blockIdx.x * 3 + threadIdx.x] = a;
        highest[blockIdx.x * 3 + threadIdx.x] = b;
    }
}

// Cloth: a mass hangs on its four neighbours.
__global__ void cloth(const float4* points, const float4* old, float4* next, int width, int height, float stiffness) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    float4 p = points[i], q = old[i];
    float3 f = make_float3(0, -9.8f, 0);
    const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
    for (int k = 0; k < 4; k++) {
        int ox = x + dx[k], oy = y + dy[k];
        if (ox < 0 || oy < 0 || ox >= width || oy >= height) continue;
        float4 o = points[oy * width + ox];
        float3 d = make_float3(o.x - p.x, o.y - p.y, o.z - p.z);
        float stretch = stiffness * (1.0f - 0.01f * rsqrtf(d.x * d.x + d.y * d.y + d.z * d.z + 1e-9f));
        f.x += stretch * d.x;
        f.y += stretch * d.y;
        f.z += stretch * d.z;
    }
    next[i] = make_float4(2 * p.x - q.x + 1e-4f * f.x, 2 * p.y - q.y + 1e-4f * f.y, 2 * p.z - q.z + 1e-4f * f.z, p.w);
}

void add_particles(Table& table) {
    constexpr int side = 48, cells = side * side * side, atoms = 4 * cells;
    const auto begin = [](size_t c) { return int(4 * c + (c && c < cells ? hash(unsigned(c)) % 5 : 0)); };  // 0 to 8 a cell
    table.add(KERNEL(nbody), {128, 256}, any<float4>(32768), any<float>(3 * 32768), 32768, .01f);
    table.add(KERNEL(integrate_structures), {31250, 256}, any<float>(9 * 8000000), 8000000, .001f);
    const Argument field = any<float>(8 * Mi);
    table.add(KERNEL(integrate_fields), {32768, 256}, field, field, field, field, field, field, field, field, field, field, 8 * Mi, .001f);
    table.add(KERNEL(morton_keys), {39063, 256}, any<float>(30000000), any<unsigned>(10000000), any<unsigned>(10000000), 10000000);
    table.add(KERNEL(reorder_bodies), {16384, 256}, any<float4>(4 * Mi), any<float4>(4 * Mi),
              formula<unsigned>(4 * Mi, [](size_t i) { return unsigned(i * 2654435761u) % unsigned(4 * Mi); }), any<float4>(4 * Mi), any<float4>(4 * Mi), 4 * Mi);
    table.add(KERNEL(cell_forces), {(atoms + 127) / 128, 128}, any<float4>(atoms), formula<int>(atoms, [=](size_t i) {
                  int c = int(i / 4);  // the cell whose particles hold i: this one or one before
                  while (begin(c) > int(i)) c--;
                  while (begin(c + 1) <= int(i)) c++;
                  return c;
              }), formula<int>(cells + 1, begin), any<float4>(atoms), atoms, side, .1f);
    table.add(KERNEL(lennard_jones), {1024, 128}, any<float4>(131072), formula<int>(48 * 131072, [](size_t i) {
                  const unsigned atom = unsigned(i) % 131072, k = unsigned(i) / 131072;
                  return int((atom + (k % 4) * 1024 + hash(atom * 48 + k) % 64 + 131072 - 2048) % 131072);  // sorted in space
              }), formula<int>(131072, [](size_t i) { return int(32 + hash(unsigned(i)) % 17); }), any<float4>(131072), 131072, 1.f);
    table.add(KERNEL(deposit_charge), {16384, 256}, formula<float>(4 * Mi, [](size_t i) { return unit(unsigned(i)) * 1022; }),
              formula<float>(4 * Mi, [](size_t i) { return float(i / 4096) * (1022.f / 1024); }), any<float>(4 * Mi), zeros<float>(Mi), 4 * Mi, 1024);
    table.add(KERNEL(gather_field), {32768, 128}, formula<float2>(4 * Mi, [](size_t i) {
                  return make_float2(unit(2 * unsigned(i)) * 2046, unit(2 * unsigned(i) + 1) * 2046);
              }), any<float2>(4 * Mi), any<float2>(4 * Mi), 4 * Mi, 2048, .1f);
    table.add(KERNEL(bounds), {264, 256}, any<float>(20000000), any<float>(20000000), any<float>(20000000), any<float>(3 * 264), any<float>(3 * 264), 20000000);
    table.add(KERNEL(cloth), {{32, 64}, {32, 16}}, any<float4>(Mi), any<float4>(Mi), any<float4>(Mi), 1024, 1024, 50.f);
}
