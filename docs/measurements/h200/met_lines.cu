// Loads and stores at random places of few lines: docs/measurements/h200/met_lines.txt.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

enum Op { load, load_past_l1, store, update, update_past_l1, load_and_store_elsewhere };
constexpr const char* names[] = {"load", "load past L1", "store", "update", "update past L1", "load, store elsewhere"};

__device__ uint32_t mixed(uint32_t i) {
    i ^= i >> 16;
    i *= 0x7feb352du;
    i ^= i >> 15;
    i *= 0x846ca68bu;
    return i ^ i >> 16;
}

template <int op>
__global__ void access(uint32_t* a, uint32_t* b, uint32_t mask, uint32_t rounds) {
    for (uint32_t round = 0; round < rounds; ++round) {
        const uint32_t i = (round * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        const uint32_t j = mixed(i) & mask;
        uint32_t value = i;
        if (op == load || op == update) value = a[j];
        if (op == load_past_l1 || op >= update_past_l1) value = __ldcg(a + j);
        if (op == load || op == load_past_l1) {
            if (value == 77) b[i & mask] = value;
        } else {
            (op == load_and_store_elsewhere ? b : a)[j] = value + 1;
        }
    }
}

template <int op>
void measure(uint32_t* a, uint32_t* b, uint32_t lines, uint32_t grid, uint32_t block, uint32_t rounds) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 1e9f;
    for (int i = 0; i < 3; ++i) {
        cudaMemset(a, 0, 128 << 20);
        cudaEventRecord(begin);
        access<op><<<grid, block>>>(a, b, lines * 32 - 1, rounds);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        best = ms < best ? ms : best;
    }
    const double warps = double(grid) * block / 32 * rounds;
    printf("%-22s lines %6u  us %9.2f  ns of a warp on one of 132 %8.2f\n", names[op], lines, best * 1e3, best * 1e6 * 132 / warps);
}

int main(int count, char** words) {
    uint32_t *a, *b;
    cudaMalloc(&a, 128 << 20);
    cudaMalloc(&b, 128 << 20);
    const auto number = [&](int i, uint32_t other) { return count > i ? uint32_t(atoi(words[i])) : other; };
    const uint32_t grid = number(3, 16384), block = number(4, 256), rounds = number(5, 1);
    for (uint32_t lines = number(2, 1); lines <= number(2, 262144); lines *= 2)
        for (uint32_t op = number(1, 0); op <= number(1, 5); ++op) {
            if (op == load) measure<load>(a, b, lines, grid, block, rounds);
            if (op == load_past_l1) measure<load_past_l1>(a, b, lines, grid, block, rounds);
            if (op == store) measure<store>(a, b, lines, grid, block, rounds);
            if (op == update) measure<update>(a, b, lines, grid, block, rounds);
            if (op == update_past_l1) measure<update_past_l1>(a, b, lines, grid, block, rounds);
            if (op == load_and_store_elsewhere) measure<load_and_store_elsewhere>(a, b, lines, grid, block, rounds);
        }
}
