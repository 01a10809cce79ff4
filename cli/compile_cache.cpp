#include "cli/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <utility>

#include "core/text/byte_source.h"
#include "core/text/error.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;  // all entries together
constexpr std::size_t most_entry_bytes = std::size_t{32} << 20;
constexpr std::string_view suffix = ".compiled";

// FNV-1a of 128 bits (Fowler, Noll, Vo; RFC 9923): contents are the user's own, and none is made to
// collide.
std::string hash_of(std::string_view bytes) {
    __extension__ using Wide = unsigned __int128;
    constexpr Wide prime = (Wide{1} << 88) + 0x13b;
    Wide hash = (Wide{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    return fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(hash >> 64),
                       static_cast<std::uint64_t>(hash));
}

bool is_own(const struct stat& file) {
    return file.st_uid == ::geteuid() && (file.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Empty: there is no folder that only this user can write.
std::string own_folder(const std::string& typed) {
    const char* cache = ::getenv("XDG_CACHE_HOME");
    const char* home = ::getenv("HOME");
    std::string folder = typed;
    if (folder.empty() && cache && *cache == '/') folder = std::string(cache) + "/coalprof";
    if (folder.empty() && home && *home == '/') folder = std::string(home) + "/.cache/coalprof";
    if (folder.empty() || folder == "none") return {};
    ::mkdir(fs::path(folder).parent_path().c_str(), S_IRWXU);
    ::mkdir(folder.c_str(), S_IRWXU);
    struct stat found {};
    const bool is_usable =
        ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && is_own(found);
    return is_usable ? folder : std::string();
}

std::optional<std::string> bytes_of(const std::string& path) {
    try {
        return read_whole(*open_own_bytes(path), most_entry_bytes);
    } catch (const Error&) {
        return std::nullopt;
    }
}

// Each as its size, a line's end, and its bytes.
std::string packed(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& one : texts) all += fmt::format("{}\n{}", one.size(), one);
    return all;
}
std::optional<std::vector<std::string>> unpacked(std::string_view bytes) {
    std::vector<std::string> texts;
    while (!bytes.empty()) {
        std::size_t size = 0;
        const std::size_t end = bytes.find('\n');
        if (end == bytes.npos) return std::nullopt;
        const auto read = std::from_chars(bytes.data(), bytes.data() + end, size);
        if (read.ptr != bytes.data() + end || size > bytes.size() - end - 1) return std::nullopt;
        texts.emplace_back(bytes.substr(end + 1, size));
        bytes.remove_prefix(end + 1 + size);
    }
    return texts;
}

}  // namespace

CompileCache::CompileCache(const std::string& cache_dir, std::string_view key)
    : folder_(own_folder(cache_dir)) {
    path_ = fmt::format("{}/{}{}", folder_, hash_of(key), suffix);
}

std::optional<CompileCache::Entry> CompileCache::find() const {
    struct stat found {};
    if (folder_.empty() || ::lstat(path_.c_str(), &found) != 0 || !S_ISREG(found.st_mode) ||
        !is_own(found))
        return std::nullopt;
    const std::optional<std::string> bytes = bytes_of(path_);
    const auto texts = bytes ? unpacked(*bytes) : std::nullopt;
    std::size_t files = 0;
    if (!texts || texts->empty()) return std::nullopt;
    const std::string& count = texts->front();
    std::from_chars(count.data(), count.data() + count.size(), files);
    if (files > (texts->size() - 1) / 2) return std::nullopt;
    Entry entry;
    for (std::size_t i = 0; i < files; ++i) {
        const std::string& file = (*texts)[1 + 2 * i];
        const std::optional<std::string> content = bytes_of(file);
        if (!content || hash_of(*content) != (*texts)[2 + 2 * i]) return std::nullopt;
        entry.files.push_back(file);
    }
    entry.values.assign(texts->begin() + 1 + 2 * static_cast<std::ptrdiff_t>(files), texts->end());
    ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);  // the oldest are removed
    return entry;
}

void CompileCache::keep(const Entry& entry) const {
    if (folder_.empty()) return;
    std::vector<std::string> texts{std::to_string(entry.files.size())};
    for (const std::string& file : entry.files) {
        const std::optional<std::string> content = bytes_of(file);
        if (!content) return;
        texts.push_back(file);
        texts.push_back(hash_of(*content));
    }
    std::ranges::copy(entry.values, std::back_inserter(texts));
    const std::string bytes = packed(texts);
    if (bytes.size() > most_entry_bytes) return;
    try {
        OutputFile file(path_);
        file.write(bytes);
        file.commit();
    } catch (const Error&) {
        return;  // the result does not need it
    }
    remove_oldest();
}

void CompileCache::remove_oldest() const {
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    std::uintmax_t bytes = 0;
    std::error_code ignored;
    const fs::directory_iterator end;
    for (fs::directory_iterator at(folder_, ignored); at != end; at.increment(ignored)) {
        std::error_code failed;  // another call may have removed it
        const std::uintmax_t size = at->file_size(failed);
        if (failed || at->path().extension() != suffix) continue;
        bytes += size;
        entries.emplace_back(at->last_write_time(ignored), at->path());
    }
    std::ranges::sort(entries);
    for (const auto& [time, path] : entries) {
        if (bytes <= most_bytes) return;
        std::error_code failed;
        const std::uintmax_t size = fs::file_size(path, failed);
        if (!failed && fs::remove(path, failed)) bytes -= size;
    }
}

}  // namespace coalprof
