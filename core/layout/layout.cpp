// A layout is evaluated at every position, and the shapes and strides of what comes out are written
// as divisions and remainders. So compositions need no algebra, and a swizzle that changes nothing
// leaves no trace.
#include "core/layout/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/units.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t largest_number = 1ll << 31, most_swizzled_bits = 30;  // nothing overflows
constexpr std::size_t most_characters = 4096;
constexpr std::size_t most_stages = 8, most_depth = 16, most_modes = 64, most_elements = 1 << 20;
constexpr std::size_t most_accesses = 16, most_threads = 1024;  // of a formula, of a block

// A function from positions to positions; the outermost gives offsets in elements. With modes it is
// a sum of strides, with bits Sw<bits, base, shift>: bits [base, base + bits) of a position are
// xored with those `shift` above (cute/swizzle.hpp of CUTLASS); else `offset` is added.
struct LayoutStage {
    struct Mode {
        std::int64_t size, stride;
        std::size_t part = 0;  // of the shape, counted on its top level
    };

    std::size_t begin = 0;  // in the text
    std::string typed = {};
    std::vector<Mode> modes = {};  // nested ones are flat, the fastest first
    std::int64_t offset = 0;       // to modes as well
    int bits = 0, base = 0, shift = 0;

    std::int64_t at(std::int64_t position) const {
        if (bits > 0) return position ^ (position >> shift & ((1ll << bits) - 1) << base);
        std::int64_t value = offset + (modes.empty() ? position : 0);
        for (const Mode& mode : modes) {
            value += position % mode.size * mode.stride;
            position /= mode.size;
        }
        return value;
    }
    // The same as a formula.
    std::string text_of(std::string_view position) const {
        if (bits > 0)
            return fmt::format("{0} ^ ({0} >> {1} & {2})", position, shift,
                               ((1ll << bits) - 1) << base);
        std::vector<std::string> terms;
        if (modes.empty()) terms.emplace_back(position);
        std::int64_t below = 1;
        for (const Mode& mode : modes) {
            std::string term(position);
            if (below > 1) term += fmt::format("/{}", below);
            if (&mode != &modes.back()) term += fmt::format("%{}", mode.size);
            if (mode.stride != 1) term += fmt::format("*{}", mode.stride);
            if (mode.stride != 0) terms.push_back(std::move(term));
            below *= mode.size;
        }
        if (offset != 0 || terms.empty()) terms.push_back(std::to_string(offset));
        return fmt::format("{}", fmt::join(terms, " + "));
    }
    // Of modes, by part.
    Numbers shape() const {
        Numbers shape;
        for (const Mode& mode : modes) {
            if (mode.part == shape.size()) shape.push_back(1);
            shape.back() *= mode.size;
        }
        return shape;
    }
};

struct Layout {
    std::string text;
    std::vector<LayoutStage> stages = {};  // the innermost, which has modes, first
    bool has_values = false;
    std::int64_t element_bits = 0;  // smem_ptr[16b]; 0: not said
};

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
        if (text_.size() > most_characters) refuse(0, "at most 4096 characters are read");
        do {
            if (layout_.stages.size() == most_stages) refuse(at_, "at most 8 are composed");
            if (layout_.has_values) refuse(at_, "Triton's is the last of a composition");
            take_stage();
        } while (take("o "));
        skip_blanks();
        if (at_ < text_.size()) refuse(at_, "expected ' o ' and another layout, or the end");
        std::ranges::reverse(layout_.stages);
        if (layout_.has_values) add_blocked();
        if (layout_.stages.empty() || layout_.stages.front().modes.empty())
            refuse(text_.size(), "expected ' o ' and a layout with shape and strides");
        return std::move(layout_);
    }

 private:
    [[noreturn]] void refuse(std::size_t at, std::string_view why,
                             const std::string& hint = {}) const {
        throw UsageError(fmt::format("layout: {}", why), layout_.text, at,
                         hint.empty() ? "for example '(8,4):(4,1)', 'Sw<3,3,3> o (64,64):(64,1)', "
                                        "'#ttg.blocked<{sizePerThread = [1, 8], ...}>'"
                                      : hint);
    }
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\n", at_), text_.size()); }
    bool take(std::string_view word) {
        skip_blanks();
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
        if (depth > most_depth || modes.size() == most_modes)
            refuse(at_, "at most 64 numbers are a tuple, nested at most 16 deep");
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
        skip_blanks();
        LayoutStage stage{.begin = at_};
        if (take("Swizzle<") || take("Sw<") || take("S<")) {
            for (int* part : {&stage.bits, &stage.base, &stage.shift}) {
                *part = static_cast<int>(number("a number of Sw<B,M,S>", most_swizzled_bits));
                expect(part == &stage.shift ? ">" : ",");
            }
            if (stage.shift < stage.bits) refuse(stage.begin, "S of Sw<B,M,S> is at least B");
        } else if (take("smem_ptr[")) {
            // Swizzles before it are of bytes. Source: as_position_independent_swizzle_layout in
            // cute/pointer_flagged.hpp of CUTLASS.
            layout_.element_bits = number("the bits of an element");
            expect("b](unset)");
            for (LayoutStage& one : layout_.stages) {
                one.base -= std::countr_zero(static_cast<std::uint64_t>(layout_.element_bits)) - 3;
                if (one.base < 0) refuse(one.begin, "M of Sw<B,M,S> is less than an element");
            }
            return;
        } else if (const std::string_view name = word(); !name.empty()) {
            return take_blocked(name);
        } else {
            take_modes(stage);
        }
        stage.typed = text_.substr(stage.begin, at_ - stage.begin);
        layout_.stages.push_back(std::move(stage));
    }

    // The layout as typed, but with strides that count the elements of this shape, the last of its
    // sizes fastest.
    std::string with_own_strides(const LayoutStage& stage, std::size_t colon) const {
        Numbers strides{1};
        for (std::size_t k = stage.modes.size() - 1; k > 0; --k)
            strides.insert(strides.begin(), product({strides.front(), stage.modes[k].size}));
        std::string typed;
        std::size_t used = 0;
        for (std::size_t at = stage.begin; at < colon; ++at) {
            if (!is_digit(text_[at]))
                typed += text_[at];
            else if (at == stage.begin || !is_digit(text_[at - 1]))
                typed += std::to_string(strides[used++]);
        }
        return fmt::format("{}:{}{}", text_.substr(0, colon), typed, text_.substr(at_));
    }

    void take_modes(LayoutStage& stage) {
        const std::string nesting = take_tuple(stage.modes, "a size");
        if (nesting == "n" && !take(":")) {
            stage.offset = stage.modes.front().size;
            return stage.modes.clear();
        }
        if (nesting != "n") expect(":");
        const std::size_t colon = at_ - 1;
        std::vector<LayoutStage::Mode> strides;
        if (take_tuple(strides, "a stride") != nesting)
            refuse(colon + 1,
                   stage.modes.size() == strides.size()
                       ? "the strides are not nested as the sizes are"
                       : fmt::format("{} and {}, and each size has its stride",
                                     counted(stage.modes.size(), "size"),
                                     counted(strides.size(), "stride")),
                   fmt::format("for example '{}'", with_own_strides(stage, colon)));
        std::int64_t size = 1;
        for (std::size_t k = 0; k < strides.size(); ++k) {
            stage.modes[k].stride = strides[k].size;
            size = std::min(size * stage.modes[k].size, largest_number + 1);
        }
        if (size < 1 || size > largest_number)
            refuse(stage.begin, fmt::format("a shape has 1 to {} elements", largest_number));
    }

    // #blocked1, ttg.blocked, size_per_thread; empty before numbers and tuples.
    std::string_view word() {
        skip_blanks();
        const std::string_view rest = text_.substr(at_);
        const bool is_word = rest.find_first_of("()[],:_0123456789") != 0;
        const std::string_view word = rest.substr(0, is_word ? rest.find_first_of(" =<([{,") : 0);
        at_ += word.size();
        return word;
    }

    // #blocked = #ttg.blocked<{sizePerThread = [1, 8], ...}>; BlockedLayout([1, 8], ...) of Gluon.
    void take_blocked(std::string_view name) {
        const std::size_t begin = at_ - name.size();
        if (name.starts_with('#') && take("=")) name = word();
        if (!name.ends_with("blocked") && !name.ends_with("BlockedLayout"))
            refuse(begin, "expected a layout of CuTe, #ttg.blocked<{...}> or BlockedLayout(...)");
        if (!take("<{")) expect("(");
        for (std::size_t k = 0; k == 0 || take(","); ++k) take_list(k);
        if (!take("}>")) expect(")");
        Numbers dimensions(lists_[3].size());
        std::iota(dimensions.begin(), dimensions.end(), 0);
        bool is_whole = !dimensions.empty() && dimensions.size() <= most_depth;
        for (const Numbers& list : lists_) is_whole &= list.size() == dimensions.size();
        if (!is_whole || !std::ranges::is_permutation(lists_[3], dimensions))
            refuse(begin,
                   "sizePerThread, threadsPerWarp, warpsPerCTA and order have a number for "
                   "each dimension, and order each dimension once");
        if (product(lists_[1]) != 32) refuse_lanes(begin);
        layout_.has_values = true;
    }

    [[noreturn]] void refuse_lanes(std::size_t begin) const {
        const Numbers& lanes = lists_[1];
        std::vector<std::string> whole;
        for (std::size_t d = 0; d < lanes.size(); ++d) {
            Numbers one = lanes;
            one[d] = 1;
            const std::int64_t others = product(one);
            if (others == 0 || 32 % others != 0) continue;
            one[d] = 32 / others;
            whole.push_back(fmt::format("[{}]", fmt::join(one, ",")));
        }
        refuse(begin,
               fmt::format("threadsPerWarp [{}] makes {} lanes, and a warp has 32",
                           fmt::join(lanes, ","), product(lanes)),
               whole.empty() ? "its numbers times each other are 32"
                             : fmt::format("{} makes 32", fmt::join(whole, " or ")));
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
        expect("[");
        Numbers numbers;
        do numbers.push_back(number("a number"));
        while (take(","));
        expect("]");
        if (k < lists_.size()) lists_[k] = std::move(numbers);  // not CTAOrder and the like
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

std::size_t size_of(const LayoutStage& stage) {
    std::size_t size = 1;
    for (const std::int64_t part : stage.shape()) size *= static_cast<std::size_t>(part);
    return size;
}

// The shapes and strides that give these values; none where there are none.
std::optional<LayoutStage> modes_of(const Numbers& values) {
    LayoutStage found{.offset = values.front()};
    for (std::size_t step = 1, size = 1; step < values.size(); step *= size) {
        const std::size_t rest = values.size() / step;
        const std::int64_t stride = values[step] - values.front();
        for (size = 2; size < rest; ++size)
            if (values[size * step] - values[(size - 1) * step] != stride) break;
        if (rest % size != 0) return std::nullopt;
        found.modes.push_back({static_cast<std::int64_t>(size), stride});
    }
    for (std::size_t k = 0; k < values.size(); ++k)
        if (found.at(static_cast<std::int64_t>(k)) != values[k]) return std::nullopt;
    return found;
}

class FormulaOfLayout {
 public:
    FormulaOfLayout(Layout layout, const LayoutUse& use) : layout_(std::move(layout)), use_(use) {
        layout_.has_values |= use.has_values;
        const Numbers shape = layout_.stages.front().shape();
        const std::size_t size = size_of(layout_.stages.front());
        if (layout_.has_values) threads_ = static_cast<std::size_t>(shape.front());
        require(size <= most_elements,
                fmt::format("at most {} elements are evaluated", most_elements));
        require(
            !layout_.has_values || (shape.size() > 1 && threads_ <= most_threads),
            fmt::format("--tv needs ((threads),(values)), of at most {} threads", most_threads));
        require(layout_.element_bits == 0 || layout_.element_bits == 8 * use_.element_bytes,
                fmt::format("elements have {} bits, not those of --type", layout_.element_bits));
        unit_stage_ = layout_.stages.size();
        while (layout_.stages[unit_stage_ - 1].bits > 0) --unit_stage_;
        Numbers all(size);
        std::iota(all.begin(), all.end(), 0);
        offsets_ = values_of(all).back();
    }

    LayoutFormula written() {
        std::vector<std::string> accesses;
        const std::vector<Numbers> starts = all_starts();
        for (const Numbers& positions : starts)
            accesses.push_back(fmt::format("{}[{}]", use_.access,
                                           text_of(layout_.stages.size(), values_of(positions))));
        std::ranges::move(accesses, std::back_inserter(parts_));
        return {.text = fmt::format("{}", fmt::join(parts_, "; ")),
                .threads = starts.front().size(),
                .vector = static_cast<std::uint64_t>(vector_),
                .has_values = layout_.has_values};
    }

 private:
    void require(bool holds, std::string_view why) const {
        if (!holds) throw UsageError(fmt::format("layout {}: {}", shown(layout_.text), why));
    }

    // What each stage makes of these positions of the innermost; they themselves first. From
    // unit_stage_ on they count vectors.
    std::vector<Numbers> values_of(const Numbers& positions) const {
        std::vector<Numbers> values{positions};
        for (const LayoutStage& stage : layout_.stages) {
            Numbers made = values.back();
            const auto most = static_cast<std::size_t>(*std::ranges::max_element(made));
            if (const std::size_t size = size_of(stage); !stage.modes.empty() && most >= size)
                throw UsageError(
                    fmt::format("layout {}: '{}' has the elements 0 to {}, and what is right of it "
                                "asks for its element {}",
                                shown(layout_.text), shown(stage.typed), size - 1, most),
                    fmt::format("give it {} elements or more, or what is right of it values of at "
                                "most {}",
                                most + 1, size - 1));
            const std::int64_t unit = values.size() == unit_stage_ ? vector_ : 1;
            for (std::int64_t& value : made) value = stage.at(value) / unit;
            values.push_back(std::move(made));
        }
        return values;
    }

    // Where the accesses of all threads begin, access by access. A thread takes `vector_` elements
    // that lie side by side: of its values, or where it has none of all elements; then the threads
    // follow each other in the layout's order, as after recast_layout() of CuTe.
    std::vector<Numbers> all_starts() {
        const std::uint32_t usual = layout_.has_values ? std::max(16 / use_.element_bytes, 1u) : 1;
        for (std::uint64_t vector = use_.vector > 0 ? use_.vector : usual;; vector /= 2) {
            std::vector<Numbers> starts = starts_of(vector);
            require(starts.size() <= most_accesses,
                    fmt::format("{} accesses a thread, of at most {} in a formula: take a part",
                                starts.size(), most_accesses));
            if (!starts.empty() && !starts.front().empty() && takes_vector(vector)) return starts;
            require(use_.vector == 0,
                    fmt::format("not all elements are in vectors of {} side by side", vector));
        }
    }
    // None where elements are in no vector, or threads differ in how many they have.
    std::vector<Numbers> starts_of(std::uint64_t vector) const {
        if (!layout_.has_values) return {starts_among(0, vector)};
        std::vector<Numbers> starts(starts_among(0, vector).size());
        for (std::size_t thread = 0; thread < threads_; ++thread) {
            const Numbers own = starts_among(thread, vector);
            if (own.size() != starts.size()) return {};
            for (std::size_t k = 0; k < own.size(); ++k) starts[k].push_back(own[k]);
        }
        return starts;
    }
    Numbers starts_among(std::size_t thread, std::uint64_t vector) const {
        Numbers starts;
        std::vector<std::uint64_t> sorted;
        for (std::size_t k = thread; k < offsets_.size(); k += threads_) {
            sorted.push_back(static_cast<std::uint64_t>(offsets_[k]));
            if (sorted.back() % vector == 0) starts.push_back(static_cast<std::int64_t>(k));
        }
        std::ranges::sort(sorted);
        sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
        bool are_whole = sorted.size() % vector == 0;
        for (std::size_t k = 0; k < sorted.size() && are_whole; ++k)
            are_whole = sorted[k] % vector == k % vector &&
                        sorted[k] / vector == sorted[k - k % vector] / vector;
        return are_whole ? starts : Numbers();
    }

    // False where the outermost swizzles do not keep such vectors together; else they are the unit.
    bool takes_vector(std::uint64_t vector) {
        const int bits = std::countr_zero(vector);
        const std::span outermost = std::span(layout_.stages).subspan(unit_stage_);
        for (const LayoutStage& stage : outermost)
            if (stage.base < bits) return false;
        for (LayoutStage& stage : outermost) stage.base -= bits;
        vector_ = static_cast<std::int64_t>(vector);
        return true;
    }

    // What the first k stages make of i; named parts go before it.
    std::string text_of(std::size_t k, const std::vector<Numbers>& values) {
        if (const auto found = modes_of(values[k])) return found->text_of("i");
        require(k > 0, "its vectors follow each other by no shape and strides");
        std::string inner = text_of(k - 1, values);
        if (inner != "i") {
            parts_.push_back(fmt::format("p{} = {}", parts_.size(), inner));
            inner = fmt::format("p{}", parts_.size() - 1);
        }
        const std::string text = layout_.stages[k - 1].text_of(inner);
        return k == unit_stage_ && vector_ > 1 ? fmt::format("({}) / {}", text, vector_) : text;
    }

    Layout layout_;
    const LayoutUse& use_;
    std::size_t threads_ = 1;  // 1 also where they have no values
    std::int64_t vector_ = 1;
    std::size_t unit_stage_ = 0;  // stages up to the last that is no swizzle
    Numbers offsets_;             // of all positions
    std::vector<std::string> parts_;
};

}  // namespace

LayoutFormula formula_of_layout(std::string_view text, const LayoutUse& use) {
    return FormulaOfLayout(LayoutReader(text).read(), use).written();
}

}  // namespace coalprof
