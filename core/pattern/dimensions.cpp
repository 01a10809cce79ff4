#include "core/pattern/dimensions.h"

#include <fmt/core.h>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::array axes{'x', 'y', 'z'};

// One to three numbers with an 'x' between them, each from 1 to the limit of its axis.
class DimensionsReader {
 public:
    explicit DimensionsReader(const OptionText& value) : value_(value) {}

    Dimensions read(const std::array<std::uint64_t, 3>& most, const char* allowed) {
        const std::string_view text = value_.text;
        Dimensions dimensions;
        const std::array into{&dimensions.x, &dimensions.y, &dimensions.z};
        std::size_t at = 0;
        for (std::size_t axis = 0;; ++axis) {
            const ReadNumber number = read_integer(text.substr(at));
            if (number.status == NumberStatus::no_digits) value_.refuse(at, "expected a number");
            if (number.status == NumberStatus::too_large || number.value == 0 ||
                number.value > most[axis])
                value_.refuse(at, fmt::format("{} along {}, not {}",
                                              fmt::format(fmt::runtime(allowed), most[axis]),
                                              axes[axis], shown(text.substr(at, number.length))));
            *into[axis] = number.value;
            at += number.length;
            if (at == text.size()) return dimensions;
            if (text[at] == '/')
                value_.refuse(at, "expected 'x' and the next dimension",
                              fmt::format("of so many threads: {} {}/block", value_.option,
                                          text.substr(0, at)));
            if (axis + 1 == into.size() || text[at] != 'x')
                value_.refuse(at, axis + 1 == into.size() ? "there are three dimensions at most"
                                                          : "expected 'x' and the next dimension");
            dimensions.is_shape = true;
            ++at;
        }
    }

 private:
    const OptionText& value_;
};

}  // namespace

std::string text_of(const Dimensions& shape) {
    if (shape.z != 1) return fmt::format("{}x{}x{}", shape.x, shape.y, shape.z);
    return shape.y != 1 ? fmt::format("{}x{}", shape.x, shape.y) : fmt::format("{}", shape.x);
}

Dimensions parse_block(std::string_view text, std::string_view option) {
    const OptionText value{option, text,
                           "blocks look like 256, 32x8 or 8x8x4; the grid says how many"};
    const Dimensions block = DimensionsReader(value).read(
        {most_block_threads, most_block_threads, most_block_layers}, "a block has 1 to {} threads");
    if (block.count() > most_block_threads)
        value.refuse(0, fmt::format("a block has 1 to {} threads, and these are {}",
                                    most_block_threads, block.count()));
    return block;
}

Dimensions GridSize::blocks_of(const Dimensions& block) const {
    if (!counts_threads) return size;
    Dimensions grid = size;
    grid.x = (size.x + block.x - 1) / block.x;
    grid.y = (size.y + block.y - 1) / block.y;
    grid.z = (size.z + block.z - 1) / block.z;
    return grid;
}

GridSize parse_grid(std::string_view text, std::string_view option) {
    constexpr std::string_view by_block = "/block";
    const bool counts_threads = text.ends_with(by_block);
    if (counts_threads) text.remove_suffix(by_block.size());
    const OptionText value{option, text,
                           "grids look like 1024, 64x64 or 8x8x8, or as threads 8192x8192/block"};
    return {DimensionsReader(value).read(most_grid_blocks, "a grid has 1 to {} blocks"),
            counts_threads};
}

}  // namespace coalprof
