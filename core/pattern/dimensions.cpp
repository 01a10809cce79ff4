#include "core/pattern/dimensions.h"

#include <fmt/core.h>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::array axes{'x', 'y', 'z'};

// One to three numbers with an 'x' between them, each from 1 to the most of its axis.
class DimensionsReader {
 public:
    DimensionsReader(std::string_view text, std::string_view option, const char* hint)
        : text_(text), option_(option), hint_(hint) {}

    Dimensions read(const std::array<std::uint64_t, 3>& most, const char* allowed) {
        Dimensions dimensions;
        const std::array into{&dimensions.x, &dimensions.y, &dimensions.z};
        std::size_t at = 0;
        for (std::size_t axis = 0;; ++axis) {
            const ReadNumber number = read_integer(text_.substr(at));
            if (number.status == NumberStatus::no_digits) throw error(at, "expected a number");
            if (number.status == NumberStatus::too_large || number.value == 0 ||
                number.value > most[axis])
                throw error(at, fmt::format("{} along {}, not {}",
                                            fmt::format(fmt::runtime(allowed), most[axis]),
                                            axes[axis], shown(text_.substr(at, number.length))));
            *into[axis] = number.value;
            at += number.length;
            if (at == text_.size()) return dimensions;
            if (axis + 1 == into.size() || text_[at] != 'x')
                throw error(at, axis + 1 == into.size() ? "there are three dimensions at most"
                                                        : "expected 'x' and the next dimension");
            ++at;
        }
    }
    UsageError error(std::size_t at, const std::string& sentence) const {
        return {fmt::format("{} {}: {}", option_, shown(text_), sentence), std::string(text_), at,
                hint_};
    }

 private:
    std::string_view text_;
    std::string_view option_;
    const char* hint_;
};

}  // namespace

std::string text_of(const Dimensions& dimensions) {
    const auto& [x, y, z] = dimensions;
    if (z != 1) return fmt::format("{}x{}x{}", x, y, z);
    return y != 1 ? fmt::format("{}x{}", x, y) : fmt::format("{}", x);
}

Dimensions parse_block(std::string_view text, std::string_view option) {
    DimensionsReader reader(text, option, "blocks look like 256, 32x8 or 8x8x4");
    const Dimensions block = reader.read(
        {most_block_threads, most_block_threads, most_block_layers}, "a block has 1 to {} threads");
    if (block.count() > most_block_threads)
        throw reader.error(0, fmt::format("a block has 1 to {} threads, and these are {}",
                                          most_block_threads, block.count()));
    return block;
}

Dimensions parse_grid(std::string_view text, std::string_view option) {
    return DimensionsReader(text, option, "grids look like 1024, 64x64 or 8x8x8")
        .read(most_grid_blocks, "a grid has 1 to {} blocks");
}

}  // namespace coalprof
