// Small numbers for lines: a hash table without an allocation for each entry. std::unordered_map
// took half of the time of a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace coalprof {

class LineTable {
 public:
    LineTable() : entries_(64, {empty, 0}) {}
    // Null: not found.
    std::uint32_t* find(std::uint64_t line) {
        return const_cast<std::uint32_t*>(std::as_const(*this).find(line));
    }
    const std::uint32_t* find(std::uint64_t line) const {
        std::size_t at = place_of(line);
        for (; entries_[at].first != empty; at = next(at))
            if (entries_[at].first == line) return &entries_[at].second;
        return nullptr;
    }
    void insert(std::uint64_t line, std::uint32_t value) {
        if (2 * ++size_ > entries_.size()) grow();
        std::size_t at = place_of(line);
        while (entries_[at].first != empty) at = next(at);
        entries_[at] = {line, value};
    }
    void erase(std::uint64_t line) {
        std::size_t hole = place_of(line);
        for (; entries_[hole].first != line; hole = next(hole))
            if (entries_[hole].first == empty) return;
        --size_;
        // Entries that were displaced by it move up.
        for (std::size_t at = next(hole); entries_[at].first != empty; at = next(at)) {
            const std::size_t wanted = place_of(entries_[at].first);
            const bool stays =
                hole < at ? wanted > hole && wanted <= at : wanted > hole || wanted <= at;
            if (stays) continue;
            entries_[hole] = entries_[at];
            hole = at;
        }
        entries_[hole].first = empty;
    }

 private:
    static constexpr std::uint64_t empty = ~std::uint64_t{0};
    using Entry = std::pair<std::uint64_t, std::uint32_t>;
    std::size_t place_of(std::uint64_t line) const {
        return static_cast<std::size_t>((line ^ line >> 23) * 0x9E37'79B9'7F4A'7C15ull >> 20) &
               (entries_.size() - 1);
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
    void grow() {
        std::vector<Entry> before(2 * entries_.size(), {empty, 0});
        before.swap(entries_);
        for (const Entry& one : before) {
            if (one.first == empty) continue;
            std::size_t at = place_of(one.first);
            while (entries_[at].first != empty) at = next(at);
            entries_[at] = one;
        }
    }
    std::vector<Entry> entries_;
    std::size_t size_ = 0;
};

}  // namespace coalprof
