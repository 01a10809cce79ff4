// The library that is loaded before a program's own (LD_PRELOAD) to stand before NVIDIA's linker,
// nvJitLink, which the driver knows nothing of: what a program gives it to link is rewritten where
// it is PTX. Programs find these functions in place of nvJitLink's, by the names that its header
// gives them for each release of CUDA, and cuda.bindings, by which Numba and cuda.core link, by the
// plain names, for which it looks among all libraries first (12.0 to 13.1, 2026-11). Everything
// else goes where it would.
//
// It goes into every process that the program starts: it uses the C library alone, and does nothing
// until the library that counts asks it to.
#include <dlfcn.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "cupti/attach/linking/hook.h"

#define COALPROF_SEEN extern "C" __attribute__((visibility("default")))

namespace {

// As in nvJitLink.h.
constexpr int success = 0;
constexpr int internal_error = 6;
constexpr int ptx_kind = 2;
constexpr int fat_binary_kind = 4;
constexpr int any_kind = 10;

using AddData = int (*)(void* link, int kind, const void* data, std::size_t bytes,
                        const char* name);
using AddFile = int (*)(void* link, int kind, const char* path);

std::atomic<coalprof::LinkerInput> replacement{nullptr};

// The program has loaded one: it has made a link by it.
void* function_of_linker(const char* name) {
    for (const char* library : {"libnvJitLink.so.13", "libnvJitLink.so.12"})
        if (void* loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            void* function = ::dlsym(loaded, name);
            ::dlclose(loaded);
            if (function) return function;
        }
    return nullptr;
}

bool may_hold_ptx(int kind) {
    return kind == ptx_kind || kind == fat_binary_kind || kind == any_kind;
}

// Whether it was added with counting in it.
bool add_counting(AddData add, void* link, const void* data, std::size_t bytes, const char* name) {
    const coalprof::LinkerInput ask = replacement.load();
    std::size_t new_bytes = 0;
    const void* ptx = ask && data ? ask(data, bytes, &new_bytes) : nullptr;
    return ptx && add(link, ptx_kind, ptx, new_bytes, name) == success;
}

int add_data(const char* function, void* link, int kind, const void* data, std::size_t bytes,
             const char* name) {
    const auto add = reinterpret_cast<AddData>(function_of_linker(function));
    if (!add) return internal_error;
    if (may_hold_ptx(kind) && add_counting(add, link, data, bytes, name)) return success;
    return add(link, kind, data, bytes, name);
}

bool add_file_counting(const char* data_function, void* link, const char* path) {
    const auto add = reinterpret_cast<AddData>(function_of_linker(data_function));
    std::FILE* file = add && path ? std::fopen(path, "rbe") : nullptr;
    if (!file) return false;
    struct stat status {};
    const bool has_size = ::fstat(::fileno(file), &status) == 0 && status.st_size > 0;
    const std::size_t bytes = has_size ? static_cast<std::size_t>(status.st_size) : 0;
    void* data = has_size ? std::malloc(bytes) : nullptr;
    const bool is_added = data && std::fread(data, 1, bytes, file) == bytes &&
                          add_counting(add, link, data, bytes, path);
    std::free(data);
    std::fclose(file);
    return is_added;
}

int add_file(const char* function, const char* data_function, void* link, int kind,
             const char* path) {
    const auto add = reinterpret_cast<AddFile>(function_of_linker(function));
    if (!add) return internal_error;
    if (may_hold_ptx(kind) && replacement.load() && add_file_counting(data_function, link, path))
        return success;
    return add(link, kind, path);
}

}  // namespace

COALPROF_SEEN void coalprof_take_linker_input(coalprof::LinkerInput ask) { replacement = ask; }

#define COALPROF_STANDS_BEFORE(data_function, file_function)                                      \
    COALPROF_SEEN int data_function(void* link, int kind, const void* data, std::size_t bytes,    \
                                    const char* name) {                                           \
        return add_data(#data_function, link, kind, data, bytes, name);                           \
    }                                                                                             \
    COALPROF_SEEN int file_function(void* link, int kind, const char* path) {                     \
        return add_file(#file_function, #data_function, link, kind, path);                        \
    }
#define COALPROF_STANDS_BEFORE_RELEASE(release) \
    COALPROF_STANDS_BEFORE(__nvJitLinkAddData_##release, __nvJitLinkAddFile_##release)
#define COALPROF_STANDS_BEFORE_RELEASES(major)  \
    COALPROF_STANDS_BEFORE_RELEASE(major##_0)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_1)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_2)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_3)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_4)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_5)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_6)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_7)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_8)   \
    COALPROF_STANDS_BEFORE_RELEASE(major##_9)

COALPROF_STANDS_BEFORE(nvJitLinkAddData, nvJitLinkAddFile)
COALPROF_STANDS_BEFORE_RELEASES(12)
COALPROF_STANDS_BEFORE_RELEASES(13)
