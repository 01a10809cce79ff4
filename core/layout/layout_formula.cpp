// The formula of a layout: it is evaluated at every position, and the shapes and strides of what
// comes out are written as divisions and remainders. So compositions need no algebra, and a swizzle
// that changes nothing leaves no trace.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "core/layout/layout.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

using Positions = std::vector<std::int64_t>;
using Kind = LayoutStage::Kind;

constexpr std::int64_t most_elements = 1 << 20;
constexpr std::int64_t most_accesses = 16;  // of a formula
constexpr std::int64_t most_threads = 1024;
constexpr std::uint64_t usual_vector_bytes = 16;

// The shapes and strides that give these values; none where there are none.
std::optional<LayoutStage> modes_of(const Positions& values) {
    LayoutStage found{.offset = values.front()};
    for (std::size_t step = 1, size = 1; step < values.size(); step *= size) {
        const std::size_t rest = values.size() / step;
        const std::int64_t stride = values[step] - values.front();
        for (size = 2; size < rest; ++size)
            if (values[size * step] - values[(size - 1) * step] != stride) break;
        if (rest % size != 0) return std::nullopt;
        found.modes.push_back({static_cast<std::int64_t>(size), stride, 0});
    }
    for (std::size_t k = 0; k < values.size(); ++k)
        if (found.at(static_cast<std::int64_t>(k)) != values[k]) return std::nullopt;
    return found;
}

class FormulaOfLayout {
 public:
    FormulaOfLayout(const Layout& layout, const LayoutUse& use)
        : layout_(layout), use_(use), size_(layout.stages.front().size()), threads_(size_) {
        const LayoutStage& inner = layout_.stages.front();
        if (size_ > most_elements)
            refuse(inner.begin, fmt::format("it has {} elements, and at most {} are evaluated",
                                            size_, most_elements));
        take_element_bits();
        unit_stage_ = layout_.stages.size();
        while (layout_.stages[unit_stage_ - 1].kind == Kind::swizzle) --unit_stage_;
        Positions all(static_cast<std::size_t>(size_));
        std::iota(all.begin(), all.end(), 0);
        offsets_ = values_of(all).back();
    }

    LayoutFormula written() {
        const bool has_values = layout_.has_values || use_.has_values;
        const std::vector<Positions> starts = has_values ? starts_of_values() : starts_of_all();
        std::vector<std::string> accesses;
        for (const Positions& positions : starts)
            accesses.push_back(fmt::format(
                "{}[{}]", use_.access, text_of(layout_.stages.size(), values_of(positions))));
        std::ranges::move(accesses, std::back_inserter(parts_));
        return {.text = fmt::format("{}", fmt::join(parts_, "; ")),
                .threads = starts.front().size(),
                .vector = static_cast<std::uint64_t>(vector_)};
    }

 private:
    [[noreturn]] void refuse(std::size_t at, std::string_view why,
                             const std::string& hint = {}) const {
        throw UsageError(fmt::format("layout: {}", why), layout_.text, at, hint);
    }

    void take_element_bits() {
        if (layout_.element_bits == 0) return;
        const std::uint32_t bits = 8 * use_.element_bytes;
        if (layout_.element_bits != bits)
            refuse(layout_.text.find("mem_ptr") - 1,
                   fmt::format("its elements have {} bits, and those of --type {}",
                               layout_.element_bits, bits));
        for (LayoutStage& stage : layout_.stages) {
            if (stage.kind != Kind::swizzle) continue;
            stage.base -= std::countr_zero(use_.element_bytes);
            if (stage.base < 0) refuse(stage.begin, "M of Sw<B,M,S> is less than an element here");
        }
    }

    // What each stage makes of these positions of the innermost; they themselves first. From
    // unit_stage_ on they count vectors.
    std::vector<Positions> values_of(const Positions& positions) const {
        std::vector<Positions> values{positions};
        for (std::size_t k = 0; k < layout_.stages.size(); ++k) {
            const LayoutStage& stage = layout_.stages[k];
            Positions made;
            for (const std::int64_t position : values.back()) {
                if (stage.kind == Kind::modes && position >= stage.size())
                    refuse(stage.begin, fmt::format("the layout here has {} elements, and the "
                                                    "one on its right takes number {} of them",
                                                    stage.size(), position));
                made.push_back(k + 1 == unit_stage_ ? stage.at(position) / vector_
                                                    : stage.at(position));
            }
            values.push_back(std::move(made));
        }
        return values;
    }

    // False where the outermost swizzles do not keep such vectors together; else they are the unit.
    bool takes_vector(std::int64_t vector) {
        const int bits = std::countr_zero(static_cast<std::uint64_t>(vector));
        for (std::size_t k = unit_stage_; k < layout_.stages.size(); ++k)
            if (layout_.stages[k].bits > 0 && layout_.stages[k].base < bits) return false;
        for (std::size_t k = unit_stage_; k < layout_.stages.size(); ++k)
            layout_.stages[k].base = std::max(layout_.stages[k].base - bits, 0);
        vector_ = vector;
        return true;
    }
    void take_vector(std::int64_t vector) {
        if (!takes_vector(vector))
            refuse(0, fmt::format("the swizzle moves fewer than {} elements together", vector),
                   "M of Sw<B,M,S> is the binary logarithm of how many; or a smaller --vector");
    }

    // The positions of elements that begin a vector: each is a thread's, in the layout's order, as
    // after recast_layout() of CuTe.
    std::vector<Positions> starts_of_all() {
        const auto vector = static_cast<std::int64_t>(std::max<std::uint64_t>(use_.vector, 1));
        Positions starts;
        for (std::int64_t k = 0; k < size_; ++k)
            if (offset_at(k) % vector == 0) starts.push_back(k);
        Positions sorted = offsets_;
        std::ranges::sort(sorted);
        sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
        for (std::size_t k = 0; k < sorted.size(); ++k) {
            const std::size_t within = k % static_cast<std::size_t>(vector);
            const std::int64_t first = sorted[k - within];
            const bool is_last = k + 1 == sorted.size() && within + 1 != static_cast<std::size_t>(vector);
            if (first % vector != 0 || sorted[k] - first != static_cast<std::int64_t>(within) || is_last)
                refuse(0, fmt::format("its elements do not lie in vectors of {}, such as {} to {}",
                                      vector, first - first % vector,
                                      first - first % vector + vector - 1));
        }
        take_vector(vector);
        return {starts};
    }

    // The same by access: those of all threads for their first values, for the next, ...
    std::vector<Positions> starts_of_values() {
        const Positions shape = layout_.stages.front().shape();
        threads_ = shape.front();
        const std::size_t begin = layout_.stages.front().begin;
        if (shape.size() < 2)
            refuse(begin, "--tv needs two parts, ((threads),(values)), and the shape has one");
        if (threads_ > most_threads)
            refuse(begin, fmt::format("it has {} threads, and a block at most {}", threads_,
                                      most_threads));
        auto vector = static_cast<std::int64_t>(use_.vector);
        if (vector == 0) {
            vector = static_cast<std::int64_t>(
                std::bit_floor(std::max<std::uint64_t>(usual_vector_bytes / use_.element_bytes, 1)));
            while (!are_together(vector) || !takes_vector(vector)) vector /= 2;
        } else if (!are_together(vector)) {
            refuse(0, fmt::format("the values of a thread do not lie side by side in vectors of {}",
                                  vector));
        } else {
            take_vector(vector);
        }
        const std::int64_t accesses = size_ / threads_ / vector;
        if (accesses > most_accesses)
            refuse(begin, fmt::format("each thread makes {} accesses, and a formula has at most {}",
                                      accesses, most_accesses),
                   "a part of the tensor costs in proportion");
        std::vector<Positions> starts;
        for (std::int64_t access = 0; access < accesses; ++access) {
            starts.emplace_back(static_cast<std::size_t>(threads_));
            std::iota(starts.back().begin(), starts.back().end(), access * vector * threads_);
        }
        return starts;
    }
    bool are_together(std::int64_t vector) const {
        if (size_ / threads_ % vector != 0) return false;
        for (std::int64_t k = 0; k < size_; ++k) {
            const std::int64_t within = k / threads_ % vector;
            const std::int64_t first = offset_at(k - within * threads_);
            if (first % vector != 0 || offset_at(k) != first + within) return false;
        }
        return true;
    }
    std::int64_t offset_at(std::int64_t k) const { return offsets_[static_cast<std::size_t>(k)]; }

    // What the first k stages make of i; named parts go before it.
    std::string text_of(std::size_t k, const std::vector<Positions>& values) {
        if (const auto found = modes_of(values[k])) return found->text_of("i");
        if (k == 0) refuse(0, "its vectors follow each other by no shape and strides");
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
    std::int64_t size_;
    std::int64_t threads_;
    std::int64_t vector_ = 1;
    std::size_t unit_stage_ = 0;  // stages up to the last that is no swizzle
    Positions offsets_;           // of all positions
    std::vector<std::string> parts_;
};

}  // namespace

std::int64_t LayoutStage::at(std::int64_t position) const {
    if (kind == Kind::swizzle)
        return position ^ (position >> shift & ((1ll << bits) - 1) << base);
    std::int64_t value = offset + (kind == Kind::offset ? position : 0);
    for (const Mode& mode : modes) {
        value += position % mode.size * mode.stride;
        position /= mode.size;
    }
    return value;
}

std::string LayoutStage::text_of(std::string_view position) const {
    if (kind == Kind::swizzle)
        return fmt::format("{0} ^ ({0} >> {1} & {2})", position, shift, ((1ll << bits) - 1) << base);
    std::string text(kind == Kind::offset ? position : "");
    std::int64_t below = 1;
    for (const Mode& mode : modes) {
        if (mode.stride != 0) {
            text += mode.stride < 0 ? " - " : text.empty() ? "" : " + ";
            text += position;
            if (below > 1) text += fmt::format("/{}", below);
            if (&mode != &modes.back()) text += fmt::format("%{}", mode.size);
            if (std::abs(mode.stride) > 1) text += fmt::format("*{}", std::abs(mode.stride));
        }
        below *= mode.size;
    }
    if (text.empty()) return fmt::format("{}", offset);
    return offset == 0 ? text : fmt::format("{} + {}", text, offset);
}

LayoutFormula formula_of(const Layout& layout, const LayoutUse& use) {
    return FormulaOfLayout(layout, use).written();
}

}  // namespace coalprof
