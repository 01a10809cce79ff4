// The open ones among the wanted NVTX ranges: pushed by the calling thread and not popped yet, or
// started by any thread and not ended. Independent of NVTX's own types. There is one in a process,
// and any thread may call it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

class NvtxRanges {
 public:
    using Domain = std::uint32_t;
    static constexpr Domain default_domain = 0;
    explicit NvtxRanges(std::vector<std::string> wanted) : wanted_(std::move(wanted)) {}
    NvtxRanges(const NvtxRanges&) = delete;
    NvtxRanges& operator=(const NvtxRanges&) = delete;

    // Both return the range's level among this thread's open ones in the domain, from 0 on;
    // negative: none to pop.
    int push(Domain domain, std::string_view name);
    int pop(Domain domain);
    // Returns the id that ends it.
    std::uint64_t start(std::string_view name);
    void end(std::uint64_t range);

    Domain new_domain() { return ++last_domain_; }
    // Valid as long as this.
    const std::string& keep(std::string_view name);

    // True if the calling thread is in a wanted range.
    bool is_inside() const;
    // Names of ranges that have come since this was last called: of the wanted ones all, of others
    // the first few. Each is returned once.
    std::vector<std::string> new_names();

    // Call fork() between these two, and unlock() in its child as well: another thread could be in
    // the middle of a change.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

 private:
    bool notes(std::string_view name);

    std::vector<std::string> wanted_;
    std::mutex mutex_;
    std::set<std::string, std::less<>> seen_;
    std::vector<std::string> untold_;
    std::atomic<bool> has_seen_enough_{false};
    std::deque<std::string> kept_;
    std::set<std::uint64_t> started_;  // wanted ranges that have begun
    std::atomic<std::size_t> open_{0};
    std::atomic<std::uint64_t> last_range_{0};
    std::atomic<Domain> last_domain_{default_domain};
};

// Reads a program's NVTX ranges: by the functions that NVTX 3 lets a tool put into its tables (its
// nvtxTypes.h), which each library and program brings along.

// NVTX's NvtxGetExportTableFunc_t: a table by its number.
using NvtxTables = const void* (*)(std::uint32_t);

// True if it was built with NVTX's headers; without them no range is ever seen.
bool knows_nvtx();

// From now on `ranges`, which must live as long as the program, gets them. False: these are no
// tables that we know.
bool install_nvtx_hooks(NvtxTables tables, NvtxRanges& ranges);

}  // namespace coalprof
