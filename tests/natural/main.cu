// The program of the corpus:
//   natural --list                     every launch as a line of JSON, with the arguments of `coalprof kernel`
//   natural --write NAME               the contents that those arguments name, as files of this folder
//   natural --launch UNSEEN PROFILED   everything on the GPU, each so many times; the profiler sees the second number's launches
#include <cuda_profiler_api.h>

#include "corpus.cuh"

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "natural: %s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}

__global__ void fill_any(unsigned* words, std::size_t count, Numbers numbers) {
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x) {
        const unsigned bits = hash(unsigned(i));
        if (numbers == Numbers::bits) words[i] = bits;
        if (numbers == Numbers::f32) words[i] = __float_as_uint((bits >> 8) * 0x1p-24f);
        if (numbers == Numbers::f16) words[i] = (bits & 0x03ff03ffu) + 0x34003400u;         // in [1/4, 1/2)
        if (numbers == Numbers::f64) words[i] = i % 2 ? 0x3fe00000u + (bits >> 12) : bits;  // in [1/2, 1)
    }
}

__global__ void read_all(const uint4* words, std::size_t count, unsigned* sum) {
    unsigned mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
        mine += words[i].x ^ words[i].y ^ words[i].z ^ words[i].w;
    if (mine == 1) *sum = mine;  // never in an array of zeros, but the compiler keeps the loads
}

class Buffer {
 public:
    explicit Buffer(const Argument& argument) : argument_(argument) {
        CHECK(cudaMalloc(&memory_, (argument.bytes + 3) / 4 * 4));
        if (argument.contents == Contents::formula) {
            pristine_.resize(argument.bytes);
            argument.fill(pristine_.data());
        }
        if (argument.contents == Contents::any)
            fill_any<<<4096, 256>>>(static_cast<unsigned*>(memory_), (argument.bytes + 3) / 4, argument.numbers);
        CHECK(cudaGetLastError());
        set();
    }
    Buffer(const Buffer&) = delete;
    Buffer(Buffer&& other) noexcept
        : argument_(other.argument_), memory_(std::exchange(other.memory_, nullptr)), pristine_(std::move(other.pristine_)) {}
    ~Buffer() { cudaFree(memory_); }
    void set() {
        if (argument_.contents == Contents::zeros) CHECK(cudaMemset(memory_, 0, argument_.bytes));
        if (argument_.contents == Contents::formula) CHECK(cudaMemcpy(memory_, pristine_.data(), argument_.bytes, cudaMemcpyHostToDevice));
    }
    void set_again() {
        if (argument_.contents == Contents::zeros || argument_.is_set_again) set();
    }
    void* address_of_pointer() { return &memory_; }

 private:
    const Argument& argument_;
    void* memory_ = nullptr;
    std::vector<char> pristine_;
};

// Leaves clean lines of its own in L2, as coalprof does before a cold launch.
static void flush_l2() {
    constexpr std::size_t bytes = 512 * Mi;
    static uint4* words = nullptr;
    if (!words) {
        CHECK(cudaMalloc(&words, bytes));
        CHECK(cudaMemset(words, 0, bytes));
    }
    read_all<<<2112, 256>>>(words, bytes / sizeof(uint4), reinterpret_cast<unsigned*>(words));
}

static void launch_all(const Table& table, int unseen, int profiled) {
    for (const Launch& launch : table.launches) {
        if (launch.shape.shared_bytes > 48 * Ki)
            CHECK(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(launch.shape.shared_bytes)));
        std::vector<Buffer> buffers;
        buffers.reserve(launch.arguments.size());
        std::vector<void*> parameters;
        for (const Argument& argument : launch.arguments) {
            if (argument.contents == Contents::number) {
                parameters.push_back(const_cast<unsigned char*>(argument.value.data()));
            } else {
                buffers.emplace_back(argument);
                parameters.push_back(buffers.back().address_of_pointer());
            }
        }
        for (int round = 0; round < unseen + profiled; ++round) {
            for (Buffer& buffer : buffers) buffer.set_again();
            flush_l2();
            CHECK(cudaDeviceSynchronize());
            if (round >= unseen) CHECK(cudaProfilerStart());
            check(cudaLaunchKernel(launch.function, launch.shape.grid, launch.shape.block, parameters.data(), launch.shape.shared_bytes, 0),
                  launch.name.c_str());
            check(cudaDeviceSynchronize(), launch.name.c_str());
            if (round >= unseen) CHECK(cudaProfilerStop());
        }
    }
}

static std::string file_of(const Launch& launch, std::size_t argument) { return launch.name + "." + std::to_string(argument) + ".bin"; }

static std::string spelled(const Launch& launch, std::size_t number) {
    const Argument& argument = launch.arguments[number];
    std::string text = std::to_string(number) + "=";
    if (argument.contents == Contents::number) return text + (argument.element.empty() ? "@" + file_of(launch, number) : argument.element);
    text += argument.element + "[" + std::to_string(argument.count) + "]";
    if (argument.contents == Contents::zeros) text += "=0";
    if (argument.contents == Contents::formula) text += "=@" + file_of(launch, number);
    return text;
}

static std::string spelled(dim3 size) {
    return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

static void list(const Table& table) {
    for (const Launch& launch : table.launches) {
        std::printf("{\"name\": \"%s\", \"kernel\": \"%s\", \"grid\": \"%s\", \"block\": \"%s\", \"shared\": %u, \"arguments\": [",
                    launch.name.c_str(), launch.kernel.c_str(), spelled(launch.shape.grid).c_str(), spelled(launch.shape.block).c_str(),
                    launch.shape.shared_bytes);
        for (std::size_t i = 0; i < launch.arguments.size(); ++i)
            std::printf("%s\"%s\"", i ? ", " : "", spelled(launch, i).c_str());
        std::puts("]}");
    }
}

static void write_contents(const Launch& launch) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const Argument& argument = launch.arguments[i];
        std::vector<unsigned char> bytes = argument.value;
        if (argument.contents == Contents::formula) {
            bytes.resize(argument.bytes);
            argument.fill(bytes.data());
        } else if (argument.contents != Contents::number || !argument.element.empty()) {
            continue;
        }
        std::FILE* file = std::fopen(file_of(launch, i).c_str(), "wb");
        if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0) {
            std::perror(file_of(launch, i).c_str());
            std::exit(1);
        }
    }
}

int main(int count, char** words) {
    Table table;
    add_images(table);
    add_linear(table);
    add_stencils(table);
    add_particles(table);
    add_graphs(table);
    add_learning(table);
    add_sparse(table);
    add_sorting(table);
    add_others(table);
    const std::string verb = count > 1 ? words[1] : "";
    if (verb == "--list" && count == 2) {
        list(table);
    } else if (verb == "--write" && count == 3) {
        for (const Launch& launch : table.launches)
            if (launch.name == words[2]) write_contents(launch);
    } else if (verb == "--launch" && count == 4) {
        launch_all(table, std::atoi(words[2]), std::atoi(words[3]));
    } else {
        std::fputs("natural --list | --write NAME | --launch UNSEEN PROFILED\n", stderr);
        return 2;
    }
}
