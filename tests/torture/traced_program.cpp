// Starts what the CUDA driver would start in a program, and goes on whatever comes of it.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main() {
    if (void* library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW))
        if (void* start = dlsym(library, "InitializeInjection"))
            reinterpret_cast<int (*)()>(start)();
    // Of the system itself: calls that are made to fail are the library's.
    constexpr char text[] = "theirs\n";
    syscall(SYS_write, STDOUT_FILENO, text, sizeof text - 1);
    return 7;
}
