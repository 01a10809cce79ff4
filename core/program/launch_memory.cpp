#include "core/program/launch_memory.h"

#include <algorithm>

#include "core/text/error.h"

namespace coalprof {

void LaunchMemory::add(LaunchArray array) {
    const auto behind =
        std::ranges::upper_bound(arrays_, array.base, std::ranges::less(), &LaunchArray::base);
    arrays_.insert(behind, std::move(array));
}

const LaunchArray* LaunchMemory::find(std::uint64_t address) const {
    const auto behind =
        std::ranges::upper_bound(arrays_, address, std::ranges::less(), &LaunchArray::base);
    return behind == arrays_.begin() ? nullptr : &*(behind - 1);
}

std::uint64_t LaunchMemory::read(const LaunchArray* array, std::uint64_t address,
                                 std::uint32_t bytes) const {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) {
        std::uint8_t byte = 0;
        const auto page =
            written_.empty() ? written_.end() : written_.find((address + i) / page_bytes);
        if (page != written_.end() && page->second[(address + i) % page_bytes] != 0)
            byte = static_cast<std::uint8_t>(page->second[(address + i) % page_bytes]);
        else if (array && array->contents &&
                 (array->size_bytes == 0 || address + i - array->base < array->size_bytes))
            byte = array->contents->byte_at(address + i - array->base);
        value |= std::uint64_t{byte} << (8 * i);
    }
    return value;
}

void LaunchMemory::write(std::uint64_t address, std::uint64_t value, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
        auto& page = written_[(address + i) / page_bytes];
        if (page.empty()) {
            if (written_.size() > most_pages)
                throw UsageError(
                    "the kernel stores more than 256 MiB that decide where it goes on; a smaller "
                    "launch shows the same");
            page.resize(page_bytes);
        }
        page[(address + i) % page_bytes] =
            static_cast<std::uint16_t>(0x100 | static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

}  // namespace coalprof
