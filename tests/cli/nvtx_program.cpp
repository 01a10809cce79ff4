// Marks ranges as programs do, and prints what NVTX answers; `cuda` among the arguments starts what
// the CUDA driver would start, in the order given:  nvtx_program ranges cuda ranges
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void start_cuda() {
    void* library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    if (!library) _exit(3);
    reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
}

void mark_ranges() {
    const int outer = nvtxRangePushA("outer");
    const int inner = nvtxRangePushA("inner");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        nvtxRangeEnd(nvtxRangeStartA("of the child"));
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    printf("%d %d", outer, inner);
    printf(" %d", nvtxRangePop());
    printf(" %d\n", nvtxRangePop());
}

}  // namespace

int main(int count, char** words) {
    for (int i = 1; i < count; ++i) strcmp(words[i], "cuda") == 0 ? start_cuda() : mark_ranges();
}
