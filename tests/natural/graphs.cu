// Graphs in rows of neighbours or lists of edges.
#include "corpus.cuh"

__global__ void bfs_level(const int* begins, const int* neighbours, int* level, int now, int n, int* changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != now) return;
    for (int e = begins[v]; e < begins[v + 1]; e++) {
        int u = neighbours[e];
        if (level[u] < 0) {
            level[u] = now + 1;
            *changed = 1;
        }
    }
}

__global__ void bfs_frontier(const int* begins, const int* neighbours, const int* frontier, int size, int* visited, int* next, int* next_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    int v = frontier[i];
    for (int e = begins[v]; e < begins[v + 1]; e++) {
        int u = neighbours[e];
        if (atomicExch(&visited[u], 1) == 0) next[atomicAdd(next_size, 1)] = u;
    }
}

__global__ void pagerank_pull(const int* begins, const int* sources, const float* rank, const float* inverse_degree, float* next, int n, float damping) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0;
    for (int e = begins[v]; e < begins[v + 1]; e++) {
        int u = sources[e];
        sum += rank[u] * inverse_degree[u];
    }
    next[v] = (1 - damping) / n + damping * sum;
}

__global__ void pagerank_push(const int* begins, const int* targets, const float* rank, float* next, int n) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= n) return;
    int begin = begins[warp], end = begins[warp + 1];
    float share = rank[warp] / max(end - begin, 1);
    for (int e = begin + lane; e < end; e += 32) atomicAdd(&next[targets[e]], share);
}

__global__ void hook_components(const int2* edges, int* parent, int count) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int2 edge = edges[e];
    int a = parent[edge.x], b = parent[edge.y];
    if (a < b) atomicMin(&parent[b], a);
    if (b < a) atomicMin(&parent[a], b);
}

__global__ void shortcut_components(const int* parent, int* next, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int p = parent[v], q = parent[p];
    while (p != q) {
        p = q;
        q = parent[p];
    }
    next[v] = p;
}

// Neighbours are sorted: a merge for each edge counts those that both ends have.
__global__ void count_triangles(const int* begins, const int* neighbours, const int2* edges, int count, unsigned long long* total) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned found = 0;
    if (e < count) {
        int2 edge = edges[e];
        int i = begins[edge.x], j = begins[edge.y], i_end = begins[edge.x + 1], j_end = begins[edge.y + 1];
        while (i < i_end && j < j_end) {
            int a = neighbours[i], b = neighbours[j];
            found += a == b;
            i += a <= b;
            j += b <= a;
        }
    }
    for (int step = 16; step; step /= 2) found += __shfl_down_sync(~0u, found, step);
    if (threadIdx.x % 32 == 0 && found) atomicAdd(total, (unsigned long long)found);
}

__global__ void count_degrees(const int* sources, const int* targets, int* out_degree, int* in_degree, int count) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    atomicAdd(&out_degree[sources[e]], 1);
    atomicAdd(&in_degree[targets[e]], 1);
}

struct Edge {
    int from, to;
    float weight;
};

__global__ void relax_edges(const Edge* edges, const int* distance, int* next, int count) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    Edge edge = edges[e];
    int d = distance[edge.from];
    if (d < 1000000) atomicMin(&next[edge.to], d + 1 + (int)edge.weight);
}

// Colours with a random priority: a vertex that beats its uncoloured neighbours takes the colour.
__global__ void colour_vertices(const int* begins, const int* neighbours, const unsigned char* coloured, unsigned char* colour, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || coloured[v]) return;
    unsigned mine = v * 2654435761u;
    for (int e = begins[v]; e < begins[v + 1]; e++) {
        int u = neighbours[e];
        if (!coloured[u] && u * 2654435761u > mine) return;
    }
    colour[v] = 1;
}

// Mean of the neighbours' features, a block for a vertex, a thread for each feature.
__global__ void mean_of_neighbours(const int* begins, const int* neighbours, const float* features, float* out, int width) {
    int v = blockIdx.x, begin = begins[v], end = begins[v + 1];
    float sum = 0;
    for (int e = begin; e < end; e++) sum += features[(size_t)neighbours[e] * width + threadIdx.x];
    out[(size_t)v * width + threadIdx.x] = end > begin ? sum / (end - begin) : 0.0f;
}

void add_graphs(Table& table) {
    constexpr int n = 1 << 20;
    // 4 to 12 neighbours, and 192 more where the number divides by 64.
    const auto begin = [](size_t v) { return int(8 * v + (v && v < n ? hash(unsigned(v)) % 5 : 0) + 192 * ((v + 63) / 64)); };
    const int edges = begin(n);
    // Half of them close by, half anywhere, and those rather to small numbers.
    const auto neighbour = [](size_t e) {
        const unsigned drawn = hash(unsigned(e)), around = unsigned(e / 11) + drawn % 512;
        return int(drawn >> 31 ? around % n : unsigned(unit(drawn) * unit(drawn) * n));
    };
    const Argument begins = formula<int>(n + 1, begin), neighbours = formula<int>(edges, neighbour);
    const auto vertex = [](unsigned seed) { return [seed](size_t e) { return int(hash(unsigned(e) + seed) % n); }; };
    table.add(KERNEL(bfs_level), {n / 256, 256}, begins, neighbours, changed<int>(n, [](size_t v) { return hash(unsigned(v)) % 4 == 0 ? 3 : -1; }), 3, n,
              zeros<int>(1));
    table.add(KERNEL(bfs_frontier), {128, 256}, begins, neighbours, formula<int>(32768, [](size_t i) { return int(i * 31 + 7) % n; }), 32768, zeros<int>(n),
              any<int>(n), zeros<int>(1));
    table.add(KERNEL(pagerank_pull), {n / 128, 128}, begins, neighbours, any<float>(n), any<float>(n), any<float>(n), n, .85f);
    table.add(KERNEL(pagerank_push), {n / 8, 256}, begins, neighbours, any<float>(n), zeros<float>(n), n);
    table.add(KERNEL(hook_components), {8 * Mi / 256, 256}, formula<int>(16 * Mi, vertex(1)), changed<int>(n, [](size_t v) { return int(v); }), 8 * Mi);
    table.add(KERNEL(shortcut_components), {4 * Mi / 256, 256}, formula<int>(4 * Mi, [](size_t v) {
                  return int(v % 8 == 0 ? v - v % 4096 : v - v % 8);  // a tree of two storeys
              }), any<int>(4 * Mi), 4 * Mi);
    table.add(KERNEL(count_triangles), {1024, 256}, formula<int>(65537, [](size_t v) { return int(16 * v); }),
              formula<int>(16 * 65536, [](size_t e) { return int(e / 16 + (e % 16) * (1 + hash(unsigned(e / 16)) % 60)) % 65536; }),
              formula<int2>(262144, [](size_t e) {
                  const int v = int(e / 4);
                  return make_int2(v, int((v + 1 + hash(unsigned(e)) % 100) % 65536));
              }), 262144, zeros<unsigned long long>(1));
    table.add(KERNEL(count_degrees), {16 * Mi / 512, 512}, formula<int>(16 * Mi, [](size_t e) { return int(e / 16); }), formula<int>(16 * Mi, vertex(3)),
              zeros<int>(n), zeros<int>(n), 16 * Mi);
    table.add(KERNEL(relax_edges), {8 * Mi / 256, 256}, formula<int>(24 * Mi, [](size_t word) {
                  return word % 3 == 2 ? 0x40000000 : int(hash(unsigned(word)) % n);  // the weight is 2.0
              }), formula<int>(n, [](size_t v) { return hash(unsigned(v)) % 2 ? 1 << 30 : int(hash(unsigned(v)) % 1000); }),
              changed<int>(n, [](size_t) { return 1 << 30; }), 8 * Mi);
    table.add(KERNEL(colour_vertices), {n / 256, 256}, begins, neighbours, formula<unsigned char>(n, [](size_t v) { return hash(unsigned(v)) % 3 == 0; }),
              any<unsigned char>(n), n);
    table.add(KERNEL(mean_of_neighbours), {131072, 64}, begins, neighbours, any<float>(size_t{n} * 64), any<float>(131072 * 64), 64);
}
