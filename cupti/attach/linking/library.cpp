// The library that is loaded before a program's own (LD_PRELOAD) to intercept NVIDIA's linker,
// nvJitLink, which the driver knows nothing of: PTX that a program gives it to link is rewritten.
// Programs find these functions instead of nvJitLink's, by the names that its header gives them for
// each release of CUDA, and cuda.bindings, by which Numba and cuda.core link, by the plain names,
// which it searches in all libraries first (12.0 to 13.3, 2026-11).
//
// Code that is optimized when it is linked (LTO, Numba's default) is no PTX. It is linked three
// times: as the program wants it, as PTX, and from that PTX rewritten, which the program gets; if
// any of this fails, it gets the first.
//
// It is loaded into every process that the program starts: it uses the C library alone, and does
// nothing until the library that counts asks it to.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cupti/attach/linking/hook.h"

namespace {

// As in nvJitLink.h.
constexpr int success = 0;
constexpr int internal_error = 6;
enum Kind : int { ptx = 2, lto_code = 3, fat_binary = 4, any = 10 };

std::atomic<coalprof::LinkerInput> replacement{nullptr};

// `release`: "_13_0"; empty: the plain name. Calls the function of that name in NVIDIA's library,
// which is loaded.
template <typename... Arguments>
int call_linker(const char* release, const char* function, Arguments... arguments) {
    char name[64];
    std::snprintf(name, sizeof name, "%snvJitLink%s%s", *release ? "__" : "", function, release);
    for (const char* library : {"libnvJitLink.so.13", "libnvJitLink.so.12"}) {
        void* loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
        if (!loaded) continue;
        const auto found = reinterpret_cast<int (*)(Arguments...)>(::dlsym(loaded, name));
        ::dlclose(loaded);
        if (found) return found(arguments...);
    }
    return internal_error;
}

struct Input {
    int kind;
    const void* data;
    std::size_t bytes;
    const char* name;
};

int add(const char* release, void* link, const Input& input) {
    return call_linker(release, "AddData", link, input.kind, input.data, input.bytes, input.name);
}

// Adds rewritten code; false: nothing was added.
bool add_counting(const char* release, void* link, const Input& input) {
    const bool may_hold_ptx = input.kind == ptx || input.kind == fat_binary || input.kind == any;
    const coalprof::LinkerInput ask = replacement.load();
    if (!may_hold_ptx || !ask || !input.data) return false;
    std::size_t bytes = 0;
    const void* counting = ask(input.data, input.bytes, &bytes);
    return counting && add(release, link, {ptx, counting, bytes, input.name}) == success;
}

// An optimizing link, and the two additional ones.
struct Link {
    void* theirs;
    void* to_ptx;
    void* counting;
    bool is_complete;
    Link* next;
};
Link* links = nullptr;
pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
    Locked() { ::pthread_mutex_lock(&links_lock); }
    ~Locked() { ::pthread_mutex_unlock(&links_lock); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
};

Link* link_of(void* theirs) {
    const Locked locked;
    Link* link = links;
    while (link && link->theirs != theirs) link = link->next;
    return link;
}

void forget(const char* release, void* theirs) {
    Link* link = nullptr;
    {
        const Locked locked;
        Link** at = &links;
        while (*at && (*at)->theirs != theirs) at = &(*at)->next;
        link = *at;
        if (link) *at = link->next;
    }
    if (!link) return;
    call_linker(release, "Destroy", &link->to_ptx);
    call_linker(release, "Destroy", &link->counting);
    std::free(link);
}

bool begins_with(const char* text, const char* beginning) {
    return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

// Options allowed without optimization; others would be refused.
bool is_for_any_link(const char* option) {
    for (const char* known : {"-arch", "-maxrregcount", "-g", "-lineinfo", "-Xptxas"})
        if (begins_with(option, known)) return true;
    return false;
}

bool is_optimized(std::uint32_t count, const char* const* options) {
    bool optimizes = false;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (begins_with(options[i], "-ptx")) return false;  // the program wants no machine code
        optimizes =
            optimizes || begins_with(options[i], "-lto") || begins_with(options[i], "-dlto");
    }
    return optimizes;
}

bool create_beside(const char* release, Link& link, std::uint32_t count,
                   const char* const* options) {
    constexpr std::uint32_t most_options = 64;
    if (count + 2 > most_options) return false;
    const char* to_ptx[most_options];
    const char* counting[most_options];
    std::uint32_t of_counting = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        to_ptx[i] = options[i];
        if (is_for_any_link(options[i])) counting[of_counting++] = options[i];
    }
    to_ptx[count] = "-ptx";
    to_ptx[count + 1] = "-lineinfo";
    const char* const* const of_ptx = to_ptx;
    const char* const* const of_code = counting;
    if (call_linker(release, "Create", &link.to_ptx, count + 2, of_ptx) != success) return false;
    if (call_linker(release, "Create", &link.counting, of_counting, of_code) == success)
        return true;
    call_linker(release, "Destroy", &link.to_ptx);
    return false;
}

int create(const char* release, void** theirs, std::uint32_t count, const char* const* options) {
    const int result = call_linker(release, "Create", theirs, count, options);
    if (result != success || !replacement.load() || !is_optimized(count, options)) return result;
    auto* link = static_cast<Link*>(std::calloc(1, sizeof(Link)));
    if (!link) return result;
    link->theirs = *theirs;
    if (!create_beside(release, *link, count, options)) {
        std::free(link);
        return result;
    }
    const Locked locked;
    link->next = links;
    links = link;
    return result;
}

// Inputs to optimize come into the second link as PTX; objects and libraries by their machine code.
bool add_beside(const char* release, const Link& link, const Input& input) {
    const bool may_be_optimized = input.kind == lto_code || input.kind == any;
    if (may_be_optimized && add(release, link.to_ptx, input) != success) return false;
    return input.kind == lto_code || add_counting(release, link.counting, input) ||
           add(release, link.counting, input) == success;
}

int add_data(const char* release, void* theirs, const Input& input) {
    if (const Link* link = link_of(theirs)) {
        if (!add_beside(release, *link, input)) forget(release, theirs);
        return add(release, theirs, input);
    }
    if (add_counting(release, theirs, input)) return success;
    return add(release, theirs, input);
}

struct FileBytes {
    explicit FileBytes(const char* path) {
        std::FILE* file = path ? std::fopen(path, "rbe") : nullptr;
        struct stat status {};
        if (file && ::fstat(::fileno(file), &status) == 0 && status.st_size > 0)
            data = std::malloc(size = static_cast<std::size_t>(status.st_size));
        if (data && std::fread(data, 1, size, file) != size) {
            std::free(data);
            data = nullptr;
        }
        if (file) std::fclose(file);
    }
    ~FileBytes() { std::free(data); }
    FileBytes(const FileBytes&) = delete;
    FileBytes& operator=(const FileBytes&) = delete;

    void* data = nullptr;
    std::size_t size = 0;
};

int add_file(const char* release, void* theirs, int kind, const char* path) {
    if (replacement.load()) {
        const FileBytes bytes(path);
        const Input input{kind, bytes.data, bytes.size, path};
        if (const Link* link = link_of(theirs)) {
            if (!bytes.data || !add_beside(release, *link, input)) forget(release, theirs);
        } else if (add_counting(release, theirs, input)) {
            return success;
        }
    }
    return call_linker(release, "AddFile", theirs, kind, path);
}

// The second link, of the first one's PTX.
bool complete_beside(const char* release, Link& link) {
    std::size_t size = 0;
    if (call_linker(release, "Complete", link.to_ptx) != success ||
        call_linker(release, "GetLinkedPtxSize", link.to_ptx, &size) != success || size == 0)
        return false;
    auto* text = static_cast<char*>(std::calloc(1, size + 1));
    const bool is_added = text &&
                          call_linker(release, "GetLinkedPtx", link.to_ptx, text) == success &&
                          add_counting(release, link.counting, {ptx, text, size, "coalprof"});
    std::free(text);
    return is_added && call_linker(release, "Complete", link.counting) == success;
}

int complete(const char* release, void* theirs) {
    const int result = call_linker(release, "Complete", theirs);
    Link* link = link_of(theirs);
    if (!link) return result;
    link->is_complete = result == success && complete_beside(release, *link);
    if (!link->is_complete) forget(release, theirs);
    return result;
}

// The link whose code the program gets.
void* code_of(void* theirs) {
    const Link* link = link_of(theirs);
    return link && link->is_complete ? link->counting : theirs;
}

}  // namespace

#define COALPROF_SEEN extern "C" __attribute__((visibility("default")))

COALPROF_SEEN void coalprof_take_linker_input(coalprof::LinkerInput ask) { replacement = ask; }

#define COALPROF_STANDS_BEFORE(prefix, release, text)                                             \
    COALPROF_SEEN int prefix##nvJitLinkCreate##release(void** link, std::uint32_t count,          \
                                                       const char* const* options) {              \
        return create(text, link, count, options);                                                \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkDestroy##release(void** link) {                            \
        if (link) forget(text, *link);                                                            \
        return call_linker(text, "Destroy", link);                                                \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkAddData##release(void* link, int kind, const void* data,   \
                                                        std::size_t bytes, const char* name) {    \
        return add_data(text, link, {kind, data, bytes, name});                                   \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkAddFile##release(void* link, int kind, const char* path) { \
        return add_file(text, link, kind, path);                                                  \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkComplete##release(void* link) {                            \
        return complete(text, link);                                                              \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkGetLinkedCubinSize##release(void* link,                    \
                                                                   std::size_t* bytes) {          \
        return call_linker(text, "GetLinkedCubinSize", code_of(link), bytes);                     \
    }                                                                                             \
    COALPROF_SEEN int prefix##nvJitLinkGetLinkedCubin##release(void* link, void* cubin) {         \
        return call_linker(text, "GetLinkedCubin", code_of(link), cubin);                         \
    }
#define COALPROF_STANDS_BEFORE_RELEASE(release) COALPROF_STANDS_BEFORE(__, release, #release)
#define COALPROF_STANDS_BEFORE_RELEASES(major)   \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_0) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_1) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_2) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_3) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_4) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_5) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_6) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_7) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_8) \
    COALPROF_STANDS_BEFORE_RELEASE(_##major##_9)

COALPROF_STANDS_BEFORE(, , "")
COALPROF_STANDS_BEFORE_RELEASES(12)
COALPROF_STANDS_BEFORE_RELEASES(13)
