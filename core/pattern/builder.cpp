#include "core/pattern/builder.h"

#include <fmt/core.h>

#include <array>

#include "core/text/error.h"

namespace coalprof {

void refuse_overflow(const char* what) {
    throw UsageError(fmt::format(
        "{} would be larger than 2^64 bytes; choose a smaller --size or parameter", what));
}

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, const char* what) {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) refuse_overflow(what);
    return product;
}

std::uint64_t element_count(const Plan& plan) {
    const std::uint64_t count = plan.shape.size_bytes / bytes_of(plan.type);
    if (count == 0)
        throw UsageError(fmt::format("--size {}: smaller than one {} of {} bytes",
                                     size_as_typed(plan.shape), name_of(plan.type),
                                     bytes_of(plan.type)));
    return count;
}

std::uint64_t elements_in(const Plan& plan, std::uint64_t bytes, std::string_view what) {
    const std::uint32_t width = bytes_of(plan.type);
    if (bytes < width)
        throw UsageError(fmt::format("{} of {} bytes holds no {} element, which has {}", what,
                                     bytes, name_of(plan.type), width),
                         fmt::format("choose a multiple of {}, or --type u8", width));
    if (bytes % width != 0)
        throw UsageError(
            fmt::format("{} of {} bytes does not hold whole {} elements: choose a multiple of {}",
                        what, bytes, name_of(plan.type), width));
    return bytes / width;
}

const OpParts& parts_of(Op op) {
    using enum AccessKind;
    static const std::array<OpParts, option_words<Op>.size()> parts{{{{load}},
                                                                     {{store}},
                                                                     {{load, store}},
                                                                     {{load}, false, true},
                                                                     {{load}, true, true},
                                                                     {{atomic}},
                                                                     {{reduce}}}};
    return parts[static_cast<std::size_t>(op)];
}

}  // namespace coalprof
