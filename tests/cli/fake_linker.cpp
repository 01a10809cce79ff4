// Stands in for NVIDIA's linker, libnvJitLink.so.13, for tests/cli/linking_test.py: it tells what
// it was asked for, and what it links are the texts that it was given. Bad options, PTX that says
// "bad" and unresolved names are refused.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Link {
    std::vector<std::string> options;
    std::string text;
    bool has(const std::string& option) const {
        for (const std::string& one : options)
            if (one == option) return true;
        return false;
    }
};
std::string told;
int alive = 0;

int create(Link** link, std::uint32_t count, const char* const* options) {
    *link = new Link{.options = {options, options + count}, .text = {}};
    ++alive;
    for (const std::string& option : (*link)->options) {
        told += option + ' ';
        const bool is_of_lto = option == "-ptx" || option.starts_with("-ftz");
        if (is_of_lto && !(*link)->has("-lto")) return 3;
    }
    told += '|';
    return 0;
}

int add(Link* link, int kind, const void* data, std::size_t bytes) {
    const std::string text(static_cast<const char*>(data),
                           ::strnlen(static_cast<const char*>(data), bytes));
    if (text.find("bad") != text.npos) return 4;
    if (kind == 3 && !link->has("-lto")) return 3;
    link->text += text + ';';
    return 0;
}

std::string result_of(const Link& link, bool as_ptx) {
    return (as_ptx ? "PTX of " : link.has("-lto") ? "optimized " : "linked ") + link.text;
}

int size(const Link* link, std::size_t* bytes, bool as_ptx) {
    *bytes = result_of(*link, as_ptx).size() + 1;
    return 0;
}

int get(const Link* link, void* to, bool as_ptx) {
    const std::string text = result_of(*link, as_ptx);
    std::memcpy(to, text.c_str(), text.size() + 1);
    return 0;
}

}  // namespace

#define SEEN extern "C" __attribute__((visibility("default")))
SEEN const char* fake_linker_told() { return told.c_str(); }
SEEN int fake_linker_alive() { return alive; }
#define LINKER(prefix, release)                                                             \
    SEEN int prefix##nvJitLinkCreate##release(Link** link, std::uint32_t count,             \
                                              const char* const* options) {                 \
        return create(link, count, options);                                                \
    }                                                                                       \
    SEEN int prefix##nvJitLinkDestroy##release(Link** link) {                               \
        delete *link;                                                                       \
        --alive;                                                                            \
        return 0;                                                                           \
    }                                                                                       \
    SEEN int prefix##nvJitLinkAddData##release(Link* link, int kind, const void* data,      \
                                               std::size_t bytes, const char*) {            \
        return add(link, kind, data, bytes);                                                \
    }                                                                                       \
    SEEN int prefix##nvJitLinkAddFile##release(Link* link, int, const char* path) {         \
        return add(link, 0, path, std::strlen(path));                                       \
    }                                                                                       \
    SEEN int prefix##nvJitLinkComplete##release(Link* link) {                               \
        return link->text.find("unresolved") == std::string::npos ? 0 : 6;                  \
    }                                                                                       \
    SEEN int prefix##nvJitLinkGetLinkedCubinSize##release(Link* link, std::size_t* bytes) { \
        return size(link, bytes, false);                                                    \
    }                                                                                       \
    SEEN int prefix##nvJitLinkGetLinkedCubin##release(Link* link, void* code) {             \
        return get(link, code, false);                                                      \
    }                                                                                       \
    SEEN int prefix##nvJitLinkGetLinkedPtxSize##release(Link* link, std::size_t* bytes) {   \
        return size(link, bytes, true);                                                     \
    }                                                                                       \
    SEEN int prefix##nvJitLinkGetLinkedPtx##release(Link* link, char* text) {               \
        return get(link, text, true);                                                       \
    }
LINKER(, )
LINKER(__, _13_0)
