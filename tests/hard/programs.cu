// Programs that are hard to count, for scripts/hard-programs: each is chosen by its name and says
// on standard output what came of it, which must not depend on whether it is counted.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

constexpr int threads = 256;
constexpr int blocks = 64;
[[maybe_unused]] constexpr int n = threads * blocks;

__global__ void scale(float* x, float by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i] * by + 1;
}

// Each number is a kernel of its own.
template <int which>
__global__ void one_of_many(float* x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += which;
}

__global__ void everyone_waits(float* x) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1;
    grid.sync();
    if (i < threads) x[i] += x[i + threads];
}

__global__ void waits_until(volatile int* flag, float* x) {
    while (*flag == 0) {
    }
    *x += 1;
}
__global__ void sets(volatile int* flag) { *flag = 1; }

__global__ void writes_to(float* x) { *x = 1; }
__global__ void traps() { asm("trap;"); }

#ifdef A_LIBRARY

extern "C" float value_of_library(float* x) {
    scale<<<blocks, threads>>>(x, 2);
    float value = -1;
    cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

#else

namespace {

class Array {
 public:
    Array() {
        cudaMalloc(&x_, n * sizeof(float));
        cudaMemset(x_, 0, n * sizeof(float));
        cudaDeviceSynchronize();  // streams of others do not wait for it
    }
    ~Array() { cudaFree(x_); }
    float* get() { return x_; }
    float first() {
        float value = -1;
        cudaMemcpy(&value, x_, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    }

 private:
    float* x_ = nullptr;
};

void say(const char* what, double value) {
    std::printf("%s %g %s\n", what, value, cudaGetErrorName(cudaGetLastError()));
    std::fflush(stdout);
}

void launch_some(const char* who = "launched") {
    Array x;
    for (int i = 0; i < 8; ++i) scale<<<blocks, threads>>>(x.get(), 1);
    say(who, x.first());
}

int exits_at_once() {
    launch_some();
    _exit(3);
}

int aborts() {
    launch_some();
    std::abort();
}

int kills_itself() {
    launch_some();
    raise(SIGKILL);
    return 0;
}

int segfaults() {
    launch_some();
    raise(SIGSEGV);
    return 0;
}

int throws() {
    launch_some();
    throw std::runtime_error("nobody catches it");
}

int ends_its_main_thread() {
    launch_some();
    std::thread([] {
        usleep(100000);
        launch_some("other thread");
        std::exit(6);
    }).detach();
    pthread_exit(nullptr);
}

int launches_at_exit() {
    std::atexit([] { launch_some("at exit"); });
    launch_some();
    return 2;
}

int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

int forks_before_cuda() {
    const pid_t child = fork();
    if (child == 0) {
        launch_some("child");
        std::exit(4);
    }
    const int status = wait_for(child);
    launch_some("parent");
    return WEXITSTATUS(status);
}

int forks_after_cuda() {
    launch_some("parent");
    for (int i = 0; i < 3; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            std::printf("child %d\n", i);
            i == 2 ? _exit(i) : std::exit(i);
        }
        std::printf("%d\n", WEXITSTATUS(wait_for(child)));
        std::fflush(stdout);
    }
    launch_some("parent again");
    return 0;
}

int spawns() {
    launch_some();
    char* words[] = {const_cast<char*>("echo"), const_cast<char*>("spawned"), nullptr};
    pid_t child = 0;
    posix_spawnp(&child, "echo", nullptr, nullptr, words, environ);
    wait_for(child);
    return std::system("exit 9") >> 8;
}

int reads_where_nothing_is() {
    launch_some();
    writes_to<<<1, 1>>>(reinterpret_cast<float*>(16));
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    launch_some("after it");
    return 5;
}

int traps_on_the_gpu() {
    traps<<<1, 1>>>();
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 5;
}

int launches_what_cannot_be() {
    Array x;
    for (int i = 0; i < 5; ++i) {
        scale<<<1, 4096>>>(x.get(), 1);
        say("too many threads", 0);
        scale<<<blocks, threads>>>(x.get(), 1);
    }
    say("others", x.first());
    return 0;
}

int contexts(int count) {
    for (int i = 0; i < count; ++i) {
        {
            Array x;
            scale<<<blocks, threads>>>(x.get(), 1);
            if (x.first() != 1) return 1;
        }
        cudaDeviceReset();
    }
    std::printf("%d contexts\n", count);
    return 0;
}
int a_few_contexts() { return contexts(20); }
int thousand_contexts() { return contexts(1000); }

int streams_of_priorities() {
    int least = 0;
    int greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    std::vector<Array> arrays(8);
    std::vector<cudaStream_t> streams(8);
    for (int i = 0; i < 8; ++i)
        cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking,
                                     i % 2 == 0 ? least : greatest);
    for (int turn = 0; turn < 20; ++turn)
        for (int i = 0; i < 8; ++i) scale<<<blocks, threads, 0, streams[i]>>>(arrays[i].get(), 1);
    cudaDeviceSynchronize();
    for (Array& array : arrays) say("stream", array.first());
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
    return 0;
}

int many_threads() {
    std::vector<std::thread> all;
    std::vector<float> values(64);
    for (int t = 0; t < 64; ++t)
        all.emplace_back([&values, t] {
            Array x;
            for (int i = 0; i < 50; ++i)
                scale<<<blocks, threads, 0, cudaStreamPerThread>>>(x.get(), 1);
            cudaStreamSynchronize(cudaStreamPerThread);
            values[t] = x.first();
        });
    for (std::thread& thread : all) thread.join();
    double sum = 0;
    for (const float value : values) sum += value;
    say("threads", sum);
    return 0;
}

void* launch_in_thread(void*) {
    launch_some("small stack");
    return nullptr;
}
int small_stacks() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    launch_some();
    for (int i = 0; i < 4; ++i) {
        pthread_t thread;
        pthread_create(&thread, &attributes, launch_in_thread, nullptr);
        pthread_join(thread, nullptr);
    }
    return 0;
}

int never_uses_cuda() {
    std::printf("no CUDA\n");
    return 5;
}

// CUDA's own descriptors stay: without them no program goes on.
int closes_descriptors() {
    for (int fd = 3; fd < 256; ++fd) close(fd);
    launch_some();
    DIR* folder = opendir("/proc/self/fd");
    std::vector<int> files;
    while (const dirent* entry = readdir(folder)) {
        struct stat what;
        const int fd = std::atoi(entry->d_name);
        if (fd > 2 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode)) files.push_back(fd);
    }
    closedir(folder);
    for (const int fd : files) close(fd);
    char name[] = "/tmp/hard-program-XXXXXX";
    std::vector<int> own;  // take the numbers of those that were closed
    for (int i = 0; i < 8; ++i) {
        std::strcpy(name, "/tmp/hard-program-XXXXXX");
        own.push_back(mkstemp(name));
        unlink(name);
    }
    for (int i = 0; i < 4; ++i) {
        launch_some("after it");
        usleep(300000);
    }
    for (const int fd : own) {
        struct stat what;
        fstat(fd, &what);
        std::printf("%ld bytes of its own file\n", static_cast<long>(what.st_size));
    }
    return 0;
}

int changes_directory() {
    if (chdir("/") != 0) return 1;
    launch_some();
    return 0;
}

int execs_without_environment() {
    clearenv();
    execl("/proc/self/exe", "hard", "launches", static_cast<char*>(nullptr));
    return 1;
}

int execs_after_cuda() {
    launch_some();
    execl("/proc/self/exe", "hard", "launches", static_cast<char*>(nullptr));
    return 1;
}

int launches() {
    launch_some();
    return 0;
}

int daemonises() {
    if (fork() != 0) _exit(0);
    setsid();
    if (fork() != 0) _exit(0);
    if (chdir("/") != 0) return 1;
    usleep(200000);
    launch_some("daemon");
    return 8;
}

int graphs() {
    Array x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 5; ++i) scale<<<blocks, threads, 0, stream>>>(x.get(), 1);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, graph, 0);
    for (int i = 0; i < 10; ++i) cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    say("graphs", x.first());
    // Another thread launches while one is recorded.
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    scale<<<blocks, threads, 0, stream>>>(x.get(), 1);
    std::thread([] { launch_some("beside a capture"); }).join();
    cudaStreamEndCapture(stream, &graph);
    say("graphs", x.first());
    return 0;
}

int cooperative() {
    Array x;
    float* memory = x.get();
    void* arguments[] = {&memory};
    for (int i = 0; i < 3; ++i)
        cudaLaunchCooperativeKernel(reinterpret_cast<void*>(everyone_waits), blocks, threads,
                                    arguments);
    say("cooperative", x.first());
    return 0;
}

// A kernel that is not loaded yet could not be launched beside one that waits for it.
template <typename... Kernels>
void load(Kernels... kernels) {
    cudaFuncAttributes attributes;
    (cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels)), ...);
}

// In memory of the host that the GPU sees.
class HostFlag {
 public:
    HostFlag() { cudaHostAlloc(&flag_, sizeof *flag_, cudaHostAllocMapped); }
    ~HostFlag() { cudaFreeHost(flag_); }
    void set(int value) { *static_cast<volatile int*>(flag_) = value; }
    int* on_gpu() {
        int* seen = nullptr;
        cudaHostGetDevicePointer(&seen, flag_, 0);
        return seen;
    }

 private:
    int* flag_ = nullptr;
};

int a_kernel_waits_for_the_host() {
    Array x;
    HostFlag flag;
    launch_some("before");
    for (int i = 0; i < 3; ++i) {
        flag.set(0);
        waits_until<<<1, 1>>>(flag.on_gpu(), x.get());
        flag.set(1);
        cudaDeviceSynchronize();
    }
    say("was told by the host", x.first());
    launch_some("after");
    return 0;
}

int a_kernel_waits_for_another() {
    Array x;
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaStream_t one;
    cudaStream_t other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    launch_some("before");
    load(waits_until, sets);
    for (int i = 0; i < 3; ++i) {
        cudaMemset(flag, 0, sizeof *flag);
        cudaDeviceSynchronize();
        waits_until<<<1, 1, 0, one>>>(flag, x.get());
        sets<<<1, 1, 0, other>>>(flag);
        cudaDeviceSynchronize();
    }
    say("was told by a kernel", x.first());
    launch_some("after");
    return 0;
}

// As servers have it: one kernel for all the time, and others beside it.
int a_kernel_stays() {
    Array x;
    Array y;
    HostFlag flag;
    flag.set(0);
    cudaStream_t one;
    cudaStream_t other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    load(waits_until, scale);
    waits_until<<<1, 1, 0, one>>>(flag.on_gpu(), x.get());
    for (int i = 0; i < 20; ++i) {
        for (int j = 0; j < 20; ++j) scale<<<blocks, threads, 0, other>>>(y.get(), 1);
        cudaStreamSynchronize(other);
        usleep(50000);  // so long that counts are fetched
    }
    flag.set(1);
    cudaStreamSynchronize(one);
    say("stayed", x.first());
    say("beside it", y.first());
    return 0;
}

int unloads_libraries() {
    const char* path = std::getenv("HARD_LIBRARY");
    if (!path) return 1;
    Array x;
    float value = 0;
    for (int i = 0; i < 5; ++i) {
        void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) return 1;
        value = reinterpret_cast<float (*)(float*)>(dlsym(library, "value_of_library"))(x.get());
        dlclose(library);
    }
    say("libraries", value);
    return 0;
}

template <int... which>
void launch_all(float* x, std::integer_sequence<int, which...>) {
    (one_of_many<which><<<blocks, threads>>>(x), ...);
}
int many_kernels() {
    Array x;
    launch_all(x.get(), std::make_integer_sequence<int, 300>());
    say("kernels", x.first());
    return 0;
}

int is_interrupted_by_a_timer() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    for (int i = 0; i < 50; ++i) launch_some();
    return 0;
}

int has_few_descriptors() {
    launch_some();
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    launch_some("without descriptors");
    return 0;
}

struct Named {
    const char* name;
    int (*run)();
};
#define PROGRAM(name) \
    { #name, name }
constexpr Named programs[] = {PROGRAM(launches),
                              PROGRAM(exits_at_once),
                              PROGRAM(aborts),
                              PROGRAM(kills_itself),
                              PROGRAM(segfaults),
                              PROGRAM(throws),
                              PROGRAM(ends_its_main_thread),
                              PROGRAM(launches_at_exit),
                              PROGRAM(forks_before_cuda),
                              PROGRAM(forks_after_cuda),
                              PROGRAM(spawns),
                              PROGRAM(reads_where_nothing_is),
                              PROGRAM(traps_on_the_gpu),
                              PROGRAM(launches_what_cannot_be),
                              PROGRAM(a_few_contexts),
                              PROGRAM(thousand_contexts),
                              PROGRAM(streams_of_priorities),
                              PROGRAM(many_threads),
                              PROGRAM(small_stacks),
                              PROGRAM(never_uses_cuda),
                              PROGRAM(closes_descriptors),
                              PROGRAM(has_few_descriptors),
                              PROGRAM(changes_directory),
                              PROGRAM(execs_without_environment),
                              PROGRAM(execs_after_cuda),
                              PROGRAM(daemonises),
                              PROGRAM(graphs),
                              PROGRAM(cooperative),
                              PROGRAM(a_kernel_waits_for_the_host),
                              PROGRAM(a_kernel_waits_for_another),
                              PROGRAM(a_kernel_stays),
                              PROGRAM(unloads_libraries),
                              PROGRAM(many_kernels),
                              PROGRAM(is_interrupted_by_a_timer)};

}  // namespace

// Without a name: all names, one a line.
int main(int count, char** words) {
    for (const Named& program : programs) {
        if (count < 2) std::puts(program.name);
        if (count == 2 && std::strcmp(words[1], program.name) == 0) return program.run();
    }
    return count < 2 ? 0 : 99;
}

#endif
