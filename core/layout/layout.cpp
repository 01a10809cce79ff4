// Reads layouts.
#include "core/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t largest_number = 1ll << 31;  // no position of a stage overflows
constexpr std::size_t most_stages = 8;
constexpr std::size_t most_depth = 16;

// More than the largest number where it is more.
std::int64_t product(const Numbers& numbers) {
    return std::accumulate(
        numbers.begin(), numbers.end(), std::int64_t{1},
        [](std::int64_t a, std::int64_t b) { return std::min(a * b, largest_number + 1); });
}

class LayoutReader {
 public:
    explicit LayoutReader(std::string_view text) : text_(text) { layout_.text = text; }

    Layout read() {
        do {
            if (layout_.stages.size() == most_stages) refuse(at_, "at most 8 are composed");
            if (layout_.has_values) refuse(at_, "Triton's is the last of a composition");
            take_stage();
        } while (take("o "));
        if (next() != '\0') refuse(at_, "expected ' o ' and another layout, or the end");
        std::ranges::reverse(layout_.stages);
        if (layout_.has_values) add_blocked();
        if (layout_.stages.empty() || layout_.stages.front().modes.empty())
            refuse(text_.size(), "expected ' o ' and a layout with shape and strides");
        return std::move(layout_);
    }

 private:
    [[noreturn]] void refuse(std::size_t at, std::string_view why) const {
        throw UsageError(fmt::format("layout: {}", why), layout_.text, at,
                         "for example '(8,4):(4,1)', 'Sw<3,3,3> o (64,64):(64,1)', "
                         "'#ttg.blocked<{sizePerThread = [1, 8], ...}>'");
    }
    char next() {
        at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size());
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(std::string_view word) {
        next();
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    void expect(std::string_view word) {
        if (!take(word)) refuse(at_, fmt::format("expected '{}'", word));
    }
    // 8, or _8 as CuTe prints what is known at compile time.
    std::int64_t number(std::string_view what, std::int64_t most = largest_number) {
        take("_");
        const ReadNumber number = read_integer(text_.substr(at_));
        if (number.status == NumberStatus::no_digits) refuse(at_, fmt::format("expected {}", what));
        if (number.status != NumberStatus::ok || number.value > static_cast<std::uint64_t>(most))
            refuse(at_, fmt::format("{} is at most {}", what, most));
        at_ += number.length;
        return static_cast<std::int64_t>(number.value);
    }

    // How the numbers are nested, "(nn(n))"; each is the size of a mode.
    std::string take_tuple(std::vector<LayoutStage::Mode>& modes, std::string_view what,
                           std::size_t depth = 0, std::size_t part = 0) {
        if (depth > most_depth) refuse(at_, "tuples are nested at most 16 deep");
        if (!take("(")) {
            modes.push_back({number(what), 0, part});
            return "n";
        }
        std::string nesting = "(";
        do nesting += take_tuple(modes, what, depth + 1, depth == 0 ? part++ : part);
        while (take(","));
        expect(")");
        return nesting + ")";
    }

    void take_stage() {
        next();
        LayoutStage stage{.begin = at_};
        if (take("Swizzle<") || take("Sw<") || take("S<")) {
            take_swizzle(stage);
        } else if (take("smem_ptr[") || take("gmem_ptr[")) {
            return take_pointer();
        } else if (const std::string_view name = word(); !name.empty()) {
            return take_blocked(name);
        } else {
            take_modes(stage);
        }
        layout_.stages.push_back(std::move(stage));
    }

    // smem_ptr[16b](unset): swizzles before it are of bytes. Source: cute/pointer_flagged.hpp of
    // CUTLASS, as_position_independent_swizzle_layout.
    void take_pointer() {
        layout_.element_bits = number("the bits of an element");
        expect("b](");
        at_ = std::min(text_.find(')', at_), text_.size());
        expect(")");
        for (LayoutStage& stage : layout_.stages) {
            stage.base -= std::countr_zero(static_cast<std::uint64_t>(layout_.element_bits)) - 3;
            if (stage.base < 0) refuse(stage.begin, "M of Sw<B,M,S> is less than an element");
        }
    }

    void take_swizzle(LayoutStage& stage) {
        constexpr std::int64_t most_bits = 30;
        stage.bits = static_cast<int>(number("B of Sw<B,M,S>", most_bits));
        expect(",");
        stage.base = static_cast<int>(number("M of Sw<B,M,S>", most_bits));
        expect(",");
        stage.shift = static_cast<int>(number("S of Sw<B,M,S>", most_bits));
        expect(">");
        if (stage.shift < stage.bits) refuse(stage.begin, "S of Sw<B,M,S> is at least B");
    }

    void take_modes(LayoutStage& stage) {
        const std::string nesting = take_tuple(stage.modes, "a size");
        if (nesting == "n" && !take(":")) {
            stage.offset = stage.modes.front().size;
            return stage.modes.clear();
        }
        if (nesting != "n") expect(":");
        next();
        const std::size_t begin = at_;
        std::vector<LayoutStage::Mode> strides;
        if (take_tuple(strides, "a stride") != nesting)
            refuse(begin, "the strides are not nested as the shape is");
        for (std::size_t k = 0; k < strides.size(); ++k) stage.modes[k].stride = strides[k].size;
        Numbers sizes;
        for (const LayoutStage::Mode& mode : stage.modes) sizes.push_back(mode.size);
        if (const std::int64_t size = product(sizes); size < 1 || size > largest_number)
            refuse(stage.begin, fmt::format("a shape has 1 to {} elements", largest_number));
    }

    // #blocked, ttg.blocked, size_per_thread
    std::string_view word() {
        next();
        const std::string_view rest = text_.substr(at_);
        if (rest.empty() ||
            ((ascii_lower(rest[0]) < 'a' || ascii_lower(rest[0]) > 'z') && rest[0] != '#'))
            return {};
        const std::string_view word = rest.substr(0, rest.find_first_of(" =<([{,"));
        at_ += word.size();
        return word;
    }

    // #blocked = #ttg.blocked<{sizePerThread = [1, 8], ...}>; BlockedLayout([1, 8], ...) of Gluon.
    void take_blocked(std::string_view name) {
        const std::size_t begin = at_ - name.size();
        if (name.starts_with('#') && take("=")) name = word();
        if (!name.ends_with("blocked") && !name.ends_with("BlockedLayout"))
            refuse(begin, "expected a layout of CuTe, #ttg.blocked<{...}> or BlockedLayout(...)");
        const bool is_of_compiler = take("<{");
        if (!is_of_compiler) expect("(");
        for (std::size_t k = 0; k == 0 || take(","); ++k) take_list(k);
        expect(is_of_compiler ? "}>" : ")");
        Numbers sorted = lists_[3], dimensions(sorted.size());
        std::ranges::sort(sorted);
        std::iota(dimensions.begin(), dimensions.end(), 0);
        for (const Numbers& list : lists_)
            if (list.empty() || list.size() != sorted.size() || sorted != dimensions)
                refuse(begin,
                       "sizePerThread, threadsPerWarp, warpsPerCTA and order have a number "
                       "for each dimension, and order each dimension once");
        if (const std::int64_t lanes = product(lists_[1]); lanes != 32)
            refuse(begin, fmt::format("threadsPerWarp makes {} threads; a warp has 32", lanes));
        layout_.has_values = true;
    }

    void take_list(std::size_t k) {
        constexpr std::array<std::string_view, 4> words{"sizeperthread", "threadsperwarp",
                                                        "warpspercta", "order"};
        std::string name;
        for (const char c : word())
            if (c != '_') name += ascii_lower(c);
        if (!name.empty()) {
            k = static_cast<std::size_t>(std::ranges::find(words, name) - words.begin());
            expect("=");
        }
        Numbers numbers;
        expect("[");
        do numbers.push_back(number("a number"));
        while (take(","));
        expect("]");
        const bool is_of_cluster = name.starts_with("cta");
        if (is_of_cluster ? name != "ctaorder" && product(numbers) != 1 : k >= lists_.size())
            refuse(at_,
                   "expected sizePerThread, threadsPerWarp, warpsPerCTA and order, of one CTA");
        if (!is_of_cluster) lists_[k] = std::move(numbers);
    }

    // As a thread-value layout of the tensor on its left; without one of a tensor that it fills
    // once and that lies in its order.
    void add_blocked() {
        const auto& [sizes, lanes, warps, order] = lists_;
        const std::size_t rank = order.size();
        Numbers step(rank), tile(rank), tiles(rank);
        Numbers first(rank, 1);  // the position of a dimension's second element
        if (product({product(sizes), product(lanes), product(warps)}) > largest_number)
            refuse(0, "its tile has too many elements");
        LayoutStage memory, threads;
        memory.modes.resize(rank);
        std::int64_t stride = 1;
        for (const std::int64_t dimension : order) {
            const auto d = static_cast<std::size_t>(dimension);
            step[d] = sizes[d] * lanes[d];
            tile[d] = step[d] * warps[d];
            memory.modes[d] = {tile[d], stride, d};
            stride *= tile[d];
        }
        std::vector<LayoutStage>& stages = layout_.stages;
        if (stages.empty() || stages.front().modes.empty()) stages.insert(stages.begin(), memory);
        const Numbers shape = stages.front().shape();
        for (std::size_t d = 0; d < rank; ++d) {
            if (shape.size() != rank || tile[d] == 0 || shape[d] % tile[d] != 0)
                refuse(stages.front().begin,
                       fmt::format("the tensor, ({}), is no multiple of Triton's tile, ({})",
                                   fmt::join(shape, ","), fmt::join(tile, ",")));
            tiles[d] = shape[d] / tile[d];
            if (d > 0) first[d] = first[d - 1] * shape[d - 1];
        }
        const auto add = [&](const Numbers& counts, const Numbers& apart, std::size_t part) {
            for (const std::int64_t dimension : order) {
                const auto d = static_cast<std::size_t>(dimension);
                threads.modes.push_back({counts[d], apart[d] * first[d], part});
            }
        };
        add(lanes, sizes, 0), add(warps, step, 0);
        add(sizes, Numbers(rank, 1), 1), add(tiles, tile, 1);
        stages.insert(stages.begin(), std::move(threads));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Layout layout_;
    std::array<Numbers, 4> lists_;  // of a layout of Triton: sizes, lanes, warps and order
};

}  // namespace

Layout read_layout(std::string_view text) {
    constexpr std::size_t most_characters = 4096;
    if (text.size() > most_characters) throw UsageError("layout: it has more than 4096 characters");
    return LayoutReader(text).read();
}

}  // namespace coalprof
