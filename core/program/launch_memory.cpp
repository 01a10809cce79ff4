#include "core/program/launch_memory.h"

#include <algorithm>

#include "core/text/error.h"

namespace coalprof {

void LaunchMemory::add(LaunchArray array) {
    array.begin = array.base - (array.is_alone ? array_distance / 2 : 0);
    const auto behind =
        std::ranges::upper_bound(arrays_, array.begin, std::ranges::less(), &LaunchArray::begin);
    arrays_.insert(behind, std::move(array));
    for (std::size_t i = 0; i + 1 < arrays_.size(); ++i) arrays_[i].end = arrays_[i + 1].begin;
}

const LaunchArray* LaunchMemory::find(std::uint64_t address) const {
    const auto behind =
        std::ranges::upper_bound(arrays_, address, std::ranges::less(), &LaunchArray::begin);
    return behind == arrays_.begin() ? nullptr : &*(behind - 1);
}

UnsaidArrays LaunchMemory::bit_of(const LaunchArray* array) const {
    if (!array || array->contents) return 0;
    return UnsaidArrays{1} << std::min<std::ptrdiff_t>(array - arrays_.data(), 62);
}

std::vector<std::string> LaunchMemory::names_of(UnsaidArrays unsaid) const {
    std::vector<std::string> names;
    for (const LaunchArray& array : arrays_)
        if ((unsaid & bit_of(&array)) != 0) names.push_back(array.name);
    return names;
}

std::uint64_t LaunchMemory::read(const LaunchArray* array, std::uint64_t address,
                                 std::uint32_t bytes, UnsaidArrays& unsaid) const {
    std::uint64_t value = 0;
    if (array && array->contents && address - array->base < limit_of(*array))
        value = array->contents->number_at(address - array->base, bytes);
    std::uint32_t written = 0;
    for (std::uint32_t i = 0; !written_.empty() && i < bytes;) {
        const auto page = written_.find((address + i) / page_bytes);
        std::size_t at = (address + i) % page_bytes;
        const std::size_t end = std::min<std::size_t>(page_bytes, at + bytes - i);
        if (page == written_.end()) i += static_cast<std::uint32_t>(end - at);
        for (; page != written_.end() && at < end; ++at, ++i) {
            if (!page->second->is_written[at]) continue;
            ++written;
            if (i >= sizeof value) continue;
            value &= ~(std::uint64_t{0xFF} << (8 * i));
            value |= std::uint64_t{page->second->bytes[at]} << (8 * i);
            if (!page->second->unsaid.empty()) unsaid |= page->second->unsaid[at / 8];
        }
    }
    if (written < bytes) unsaid |= bit_of(array);
    return value;
}

std::uint64_t LaunchMemory::limit_of(const LaunchArray& array) {
    return array.size_bytes == 0 ? ~std::uint64_t{0} : array.size_bytes;
}

void LaunchMemory::write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes,
                         UnsaidArrays unsaid) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
        std::unique_ptr<Page>& page = written_[(address + i) / page_bytes];
        if (!page) {
            if (written_.size() > most_pages)
                throw UsageError(
                    "the kernel stores more than 256 MiB that decide where it goes on; a smaller "
                    "launch shows the same");
            page = std::make_unique<Page>();
        }
        page->bytes[(address + i) % page_bytes] =
            i < sizeof value ? static_cast<std::uint8_t>(value >> (8 * i)) : std::uint8_t{0};
        page->is_written.set((address + i) % page_bytes);
        if (unsaid != 0 && page->unsaid.empty()) page->unsaid.resize(page_bytes / 8);
        if (!page->unsaid.empty()) page->unsaid[(address + i) % page_bytes / 8] = unsaid;
    }
}

}  // namespace coalprof
