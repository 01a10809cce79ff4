// Reads layouts.
#include "core/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t largest_number = 1ll << 31;  // no position of a stage overflows
constexpr std::size_t most_stages = 8;
constexpr std::size_t most_depth = 16;
constexpr int most_swizzled_bits = 40;

// One above the largest number where it is more.
std::int64_t product(const Numbers& numbers) {
    std::int64_t all = 1;
    for (const std::int64_t number : numbers) {
        if (number > 0 && all > largest_number / number) return largest_number + 1;
        all *= number;
    }
    return all;
}

constexpr std::array<std::string_view, 4> blocked_words{"sizeperthread", "threadsperwarp",
                                                        "warpspercta", "order"};
std::string letters_of(std::string_view typed) {  // size_per_thread of Python, sizePerThread
    std::string letters;
    for (const char c : typed)
        if (c != '_') letters += ascii_lower(c);
    return letters;
}

class LayoutReader {
 public:
    explicit LayoutReader(std::string_view text) : text_(text) { layout_.text = text; }

    Layout read() {
        do {
            if (layout_.stages.size() == most_stages || !lists_[0].empty())
                refuse(at_, lists_[0].empty() ? "at most 8 layouts are composed"
                                              : "a layout of Triton is the last of a composition");
            take_stage();
        } while (take("o "));
        if (next() != '\0') refuse(at_, "expected ' o ' and another layout, or the end");
        std::ranges::reverse(layout_.stages);
        if (!lists_[0].empty()) add_blocked();
        if (layout_.stages.empty() || layout_.stages.front().kind != LayoutStage::Kind::modes)
            refuse(text_.size(), "expected ' o ' and a layout with shape and strides");
        return std::move(layout_);
    }

 private:
    struct Tuple {
        Numbers numbers;
        std::vector<std::size_t> parts;
        std::string nesting;  // "(nn(n))"
    };

    [[noreturn]] void refuse(std::size_t at, std::string_view why) const {
        throw UsageError(fmt::format("layout: {}", why), std::string(text_), at,
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
    std::int64_t number(std::string_view what) {
        take("_");
        const ReadNumber number = read_integer(text_.substr(at_));
        if (number.status == NumberStatus::no_digits) refuse(at_, fmt::format("expected {}", what));
        if (number.status != NumberStatus::ok || number.value > largest_number)
            refuse(at_, fmt::format("{} is at most {}", what, largest_number));
        at_ += number.length;
        return static_cast<std::int64_t>(number.value);
    }

    void take_tuple(Tuple& tuple, std::string_view what, std::size_t depth, std::size_t part) {
        if (depth > most_depth) refuse(at_, "tuples are nested at most 16 deep");
        if (!take("(")) {
            tuple.numbers.push_back(number(what));
            tuple.parts.push_back(part);
            tuple.nesting += 'n';
            return;
        }
        tuple.nesting += '(';
        do {
            take_tuple(tuple, what, depth + 1, part);
            if (depth == 0) ++part;
        } while (take(","));
        expect(")");
        tuple.nesting += ')';
    }

    void take_stage() {
        const char first = next();
        LayoutStage stage{.begin = at_};
        if (take("Swizzle<") || take("Sw<") || take("S<")) {
            take_swizzle(stage);
        } else if (take("smem_ptr[") || take("gmem_ptr[")) {
            layout_.element_bits = number("the bits of an element");
            expect("b](");
            at_ = std::min(text_.find(')', at_), text_.size());
            return expect(")");
        } else if (first == '#' || (ascii_lower(first) >= 'a' && ascii_lower(first) <= 'z')) {
            return take_blocked();
        } else {
            take_modes(stage);
        }
        layout_.stages.push_back(std::move(stage));
    }

    void take_swizzle(LayoutStage& stage) {
        stage.kind = LayoutStage::Kind::swizzle;
        const auto bits = [&](std::string_view what) {
            return static_cast<int>(std::min<std::int64_t>(number(what), most_swizzled_bits + 1));
        };
        stage.bits = bits("B of Sw<B,M,S>");
        expect(",");
        stage.base = bits("M of Sw<B,M,S>");
        expect(",");
        stage.shift = bits("S of Sw<B,M,S>");
        expect(">");
        if (stage.shift < stage.bits || stage.bits + stage.base + stage.shift > most_swizzled_bits)
            refuse(stage.begin, "S of Sw<B,M,S> is at least B, and their sum at most 40");
    }

    void take_modes(LayoutStage& stage) {
        Tuple shape, strides;
        take_tuple(shape, "a size", 0, 0);
        if (!take(":")) {
            if (shape.nesting != "n") refuse(at_, "expected ':' and the strides of this shape");
            stage.kind = LayoutStage::Kind::offset;
            stage.offset = shape.numbers.front();
            return;
        }
        next();
        const std::size_t begin = at_;
        take_tuple(strides, "a stride", 0, 0);
        if (strides.nesting != shape.nesting)
            refuse(begin, "the strides are not nested as the shape is");
        if (const std::int64_t size = product(shape.numbers); size < 1 || size > largest_number)
            refuse(stage.begin, fmt::format("a shape has 1 to {} elements", largest_number));
        for (std::size_t k = 0; k < shape.numbers.size(); ++k)
            stage.modes.push_back({shape.numbers[k], strides.numbers[k], shape.parts[k]});
    }

    std::string_view word() {
        next();
        const std::string_view rest = text_.substr(at_);
        const std::string_view word = rest.substr(0, rest.find_first_of(" =<([{,"));
        at_ += word.size();
        return word;
    }

    // #blocked = #ttg.blocked<{sizePerThread = [1, 8], ...}>, and BlockedLayout([1, 8], ...) of
    // Gluon.
    void take_blocked() {
        const std::size_t begin = at_;
        std::string_view name = word();
        if (name.starts_with('#') && take("=")) next(), name = word();
        const bool is_of_compiler = name.starts_with('#') && name.ends_with("blocked");
        if (!is_of_compiler && !name.ends_with("BlockedLayout"))
            refuse(begin, "expected a layout of CuTe, #ttg.blocked<{...}> or BlockedLayout(...)");
        expect(is_of_compiler ? "<{" : "(");
        for (std::size_t k = 0; k == 0 || take(","); ++k) take_list(k);
        expect(is_of_compiler ? "}>" : ")");
        const std::size_t rank = lists_[3].size();
        std::vector<bool> ordered(rank);
        for (const Numbers& list : lists_)
            if (rank == 0 || list.size() != rank || product(list) > largest_number)
                refuse(begin, "sizePerThread, threadsPerWarp, warpsPerCTA and order have one "
                              "number for each dimension");
        for (const std::int64_t d : lists_[3])
            if (d < static_cast<std::int64_t>(rank)) ordered[static_cast<std::size_t>(d)] = true;
        if (std::ranges::count(ordered, false) > 0)
            refuse(begin, fmt::format("order has each dimension from 0 to {} once", rank - 1));
        if (const std::int64_t lanes = product(lists_[1]); lanes != 32)
            refuse(begin, fmt::format("threadsPerWarp makes {} threads; a warp has 32", lanes));
    }

    void take_list(std::size_t k) {
        next();
        const std::size_t begin = at_;
        const std::string_view name = word();
        if (!name.empty()) {
            expect("=");
            const auto known = std::ranges::find(blocked_words, letters_of(name));
            k = static_cast<std::size_t>(known - blocked_words.begin());
        }
        const bool is_of_cluster = name.starts_with("CTA");
        if (k >= lists_.size() && !is_of_cluster)
            refuse(begin, "expected sizePerThread, threadsPerWarp, warpsPerCTA or order");
        Numbers numbers;
        expect("[");
        do numbers.push_back(number("a number"));
        while (take(","));
        expect("]");
        if (!is_of_cluster)
            lists_[k] = std::move(numbers);
        else if (name != "CTAOrder" && product(numbers) != 1)
            refuse(begin, "only layouts of one CTA are known");
    }

    // As a thread-value layout of the tensor on its left; without one of a tensor that it fills
    // once and that lies in its order.
    void add_blocked() {
        const auto& [sizes, lanes, warps, order] = lists_;
        const std::size_t rank = order.size();
        Numbers step(rank), tile(rank);
        for (std::size_t d = 0; d < rank; ++d)
            tile[d] = (step[d] = std::min(sizes[d], largest_number) * lanes[d]) * warps[d];
        std::vector<LayoutStage>& stages = layout_.stages;
        if (stages.empty() || stages.front().kind != LayoutStage::Kind::modes) {
            LayoutStage memory;
            for (std::size_t d = 0; d < rank; ++d) memory.modes.push_back({tile[d], 1, d});
            std::int64_t stride = 1;
            if (product(tile) > largest_number) refuse(0, "its tile has too many elements");
            for (const std::int64_t d : order) {
                memory.modes[static_cast<std::size_t>(d)].stride = stride;
                stride *= tile[static_cast<std::size_t>(d)];
            }
            stages.insert(stages.begin(), memory);
        }
        const Numbers shape = stages.front().shape();
        Numbers first(rank, 1), tiles(rank);  // the position of a dimension's second element
        for (std::size_t d = 0; d < rank; ++d) {
            if (shape.size() != rank || tile[d] == 0 || shape[d] % tile[d] != 0)
                refuse(stages.front().begin,
                       fmt::format("the tensor, ({}), is no multiple of Triton's tile, ({})",
                                   fmt::join(shape, ","), fmt::join(tile, ",")));
            tiles[d] = shape[d] / tile[d];
            if (d > 0) first[d] = first[d - 1] * shape[d - 1];
        }
        LayoutStage stage;
        const auto add = [&](const Numbers& count, const Numbers& apart, std::size_t part) {
            for (const std::int64_t dimension : order) {
                const auto d = static_cast<std::size_t>(dimension);
                stage.modes.push_back({count[d], apart[d] * first[d], part});
            }
        };
        add(lanes, sizes, 0), add(warps, step, 0);
        add(sizes, Numbers(rank, 1), 1), add(tiles, tile, 1);
        stages.insert(stages.begin(), std::move(stage));
        layout_.has_values = true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Layout layout_;
    std::array<Numbers, 4> lists_;  // of a layout of Triton, as blocked_words
};

}  // namespace

std::int64_t LayoutStage::size() const {
    std::int64_t size = 1;
    for (const Mode& mode : modes) size *= mode.size;
    return size;
}

std::vector<std::int64_t> LayoutStage::shape() const {
    Numbers shape;
    for (const Mode& mode : modes) {
        if (mode.part == shape.size()) shape.push_back(1);
        shape.back() *= mode.size;
    }
    return shape;
}

Layout read_layout(std::string_view text) {
    constexpr std::size_t most_characters = 4096;
    if (text.size() > most_characters)
        throw UsageError("layout: it has more than 4096 characters");
    return LayoutReader(text).read();
}

}  // namespace coalprof
