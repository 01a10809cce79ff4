#include "core/runtime/remove_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coalprof {
namespace {

// readdir() takes memory, which a signal handler must not; so the system is asked itself. An entry:
// two numbers of 64 bits, its length in 16 bits, its kind in 8, its name.
constexpr std::size_t length_offset = 16;
constexpr std::size_t name_offset = 19;
constexpr int deepest = 16;
constexpr int most_rounds = 100;  // somebody may put in files all the while

void empty_folder(int folder, int depth) noexcept;

// Whether it has gone.
bool remove_entry(int folder, const char* name, int depth) noexcept {
    if (::unlinkat(folder, name, 0) == 0) return true;
    if (errno != EISDIR || depth == deepest) return false;
    const int inner = ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) {
        empty_folder(inner, depth + 1);
        ::close(inner);
    }
    return ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void empty_folder(int folder, int depth) noexcept {
    alignas(std::uint64_t) std::array<char, 2048> entries;
    // Which entries come behind those that have gone is not said: read again until none goes.
    bool has_removed = true;
    for (int round = 0; has_removed && round < most_rounds; ++round) {
        has_removed = false;
        ::lseek(folder, 0, SEEK_SET);
        long bytes = 0;
        while ((bytes = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0)
            for (std::size_t at = 0; at < static_cast<std::size_t>(bytes);) {
                std::uint16_t length = 0;
                std::memcpy(&length, &entries[at + length_offset], sizeof length);
                const std::string_view name = &entries[at + name_offset];
                at += length;
                if (name != "." && name != "..")
                    has_removed = remove_entry(folder, name.data(), depth) || has_removed;
            }
    }
}

}  // namespace

void remove_folder(const char* path) noexcept { remove_entry(AT_FDCWD, path, 0); }

}  // namespace coalprof
