#include "cupti/attach/nvtx_ranges.h"

#include <algorithm>
#include <array>
#include <utility>

namespace coalprof {
namespace {

constexpr std::size_t most_other_names = 16;

// The ranges that one thread has pushed, in all domains. Without a destructor: a thread may pop in
// its last destructor.
struct Pushed {
    static constexpr std::size_t most = 1024;  // deeper wanted ranges are not seen
    struct Range {
        NvtxRanges::Domain domain;
        bool is_wanted;
    };
    std::array<Range, most> ranges;
    std::size_t count;
    std::size_t beyond;
    std::size_t wanted;

    int level_in(NvtxRanges::Domain domain) const {
        return static_cast<int>(
            std::count_if(ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(count),
                          [&](const Range& range) { return range.domain == domain; }));
    }
};
thread_local constinit Pushed pushed{};

}  // namespace

// Returns true if it is wanted.
bool NvtxRanges::notes(std::string_view name) {
    const bool is_wanted = std::ranges::find(wanted_, name) != wanted_.end();
    if (has_seen_enough_ && !is_wanted) return false;
    const std::lock_guard lock(mutex_);
    if (seen_.contains(name)) return is_wanted;
    seen_.emplace(name);
    untold_.emplace_back(name);
    has_seen_enough_ = seen_.size() >= most_other_names + wanted_.size();
    return is_wanted;
}

int NvtxRanges::push(Domain domain, std::string_view name) {
    const int level = pushed.level_in(domain);
    const bool is_wanted = notes(name);
    if (pushed.count == Pushed::most) {
        ++pushed.beyond;
        return level;
    }
    pushed.ranges[pushed.count++] = {.domain = domain, .is_wanted = is_wanted};
    if (is_wanted) ++pushed.wanted;
    return level;
}

int NvtxRanges::pop(Domain domain) {
    if (pushed.beyond > 0) {
        --pushed.beyond;
        return pushed.level_in(domain);
    }
    // Domains may be left in any order.
    for (std::size_t i = pushed.count; i-- > 0;) {
        if (pushed.ranges[i].domain != domain) continue;
        if (pushed.ranges[i].is_wanted) --pushed.wanted;
        const auto place = pushed.ranges.begin() + static_cast<std::ptrdiff_t>(i);
        std::move(place + 1, pushed.ranges.begin() + static_cast<std::ptrdiff_t>(pushed.count),
                  place);
        --pushed.count;
        return pushed.level_in(domain);
    }
    return -1;
}

std::uint64_t NvtxRanges::start(std::string_view name) {
    const std::uint64_t range = ++last_range_;
    if (!notes(name)) return range;
    const std::lock_guard lock(mutex_);
    started_.insert(range);
    open_ = started_.size();
    return range;
}

void NvtxRanges::end(std::uint64_t range) {
    if (open_ == 0) return;
    const std::lock_guard lock(mutex_);
    started_.erase(range);
    open_ = started_.size();
}

const std::string& NvtxRanges::keep(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return kept_.emplace_back(name);
}

bool NvtxRanges::is_inside() const { return pushed.wanted > 0 || open_ > 0; }

std::vector<std::string> NvtxRanges::new_names() {
    const std::lock_guard lock(mutex_);
    return std::exchange(untold_, {});
}

}  // namespace coalprof
