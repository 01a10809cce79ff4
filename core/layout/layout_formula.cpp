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

constexpr std::size_t most_elements = 1 << 20;
constexpr std::size_t most_accesses = 16;  // of a formula
constexpr std::size_t most_threads = 1024;
constexpr std::uint32_t usual_vector_bytes = 16;

std::size_t size_of(const LayoutStage& stage) {
    std::size_t size = 1;
    for (const std::int64_t part : stage.shape()) size *= static_cast<std::size_t>(part);
    return size;
}

// The shapes and strides that give these values; none where there are none.
std::optional<LayoutStage> modes_of(const Positions& values) {
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
    FormulaOfLayout(const Layout& layout, std::uint32_t element_bytes)
        : layout_(layout), width_(element_bytes) {
        const Positions shape = layout.stages.front().shape();
        const std::size_t size = size_of(layout.stages.front());
        if (size > most_elements)
            refuse(fmt::format("at most {} elements are evaluated", most_elements));
        threads_ = layout_.has_values ? static_cast<std::size_t>(shape.front()) : 0;
        if (layout_.has_values && (shape.size() < 2 || threads_ > most_threads))
            refuse(fmt::format("--tv needs ((threads),(values)), of at most {} threads",
                               most_threads));
        if (layout_.element_bits != 0 && layout_.element_bits != 8 * width_)
            refuse(fmt::format("elements of {} bits, and those of --type have {}",
                               layout_.element_bits, 8 * width_));
        unit_stage_ = layout_.stages.size();
        while (layout_.stages[unit_stage_ - 1].bits > 0) --unit_stage_;
        Positions all(size);
        std::iota(all.begin(), all.end(), 0);
        offsets_ = values_of(all).back();
    }

    LayoutFormula written(std::string_view access, std::uint64_t vector) {
        std::vector<std::string> accesses;
        const std::vector<Positions> starts = all_starts(vector);
        for (const Positions& positions : starts)
            accesses.push_back(fmt::format("{}[{}]", access,
                                           text_of(layout_.stages.size(), values_of(positions))));
        std::ranges::move(accesses, std::back_inserter(parts_));
        return {.text = fmt::format("{}", fmt::join(parts_, "; ")),
                .threads = starts.front().size(),
                .vector = static_cast<std::uint64_t>(vector_)};
    }

 private:
    [[noreturn]] void refuse(std::string_view why) const {
        throw UsageError(fmt::format("layout {}: {}", layout_.text, why));
    }

    // What each stage makes of these positions of the innermost; they themselves first. From
    // unit_stage_ on they count vectors.
    std::vector<Positions> values_of(const Positions& positions) const {
        std::vector<Positions> values{positions};
        for (const LayoutStage& stage : layout_.stages) {
            Positions made = values.back();
            const auto most = static_cast<std::size_t>(*std::ranges::max_element(made));
            if (!stage.modes.empty() && most >= size_of(stage))
                refuse(fmt::format("one of its layouts has {} elements, and the next takes its {}",
                                   size_of(stage), most));
            const std::int64_t unit = values.size() == unit_stage_ ? vector_ : 1;
            for (std::int64_t& value : made) value = stage.at(value) / unit;
            values.push_back(std::move(made));
        }
        return values;
    }

    // Where the accesses of all threads begin, access by access. A thread takes `vector_` elements
    // that lie side by side: of its values, or where it has none of all elements; then the threads
    // follow each other in the layout's order, as after recast_layout() of CuTe.
    std::vector<Positions> all_starts(std::uint64_t asked) {
        const std::uint32_t usual = layout_.has_values ? usual_vector_bytes / width_ : 1;
        for (std::uint64_t vector = asked > 0 ? asked : std::max(usual, 1u);; vector /= 2) {
            std::vector<Positions> starts = starts_of(vector);
            const bool has_all = !starts.empty() && !starts.front().empty();
            if (has_all && starts.size() <= most_accesses && takes_vector(vector)) return starts;
            if (starts.size() > most_accesses)
                refuse(fmt::format("each thread makes {} accesses, and a formula has at most {}",
                                   starts.size(), most_accesses));
            if (asked > 0)
                refuse(fmt::format("not all elements are in vectors of {} side by side", vector));
        }
    }
    // None where elements are in no vector, or threads differ in how many they have.
    std::vector<Positions> starts_of(std::uint64_t vector) const {
        if (!layout_.has_values) return {starts_among(0, 1, vector)};
        std::vector<Positions> starts(starts_among(0, threads_, vector).size());
        for (std::size_t thread = 0; thread < threads_; ++thread) {
            const Positions own = starts_among(thread, threads_, vector);
            if (own.size() != starts.size()) return {};
            for (std::size_t k = 0; k < own.size(); ++k) starts[k].push_back(own[k]);
        }
        return starts;
    }
    // Of every `step`-th position.
    Positions starts_among(std::size_t begin, std::size_t step, std::uint64_t vector) const {
        Positions starts, sorted;
        for (std::size_t k = begin; k < offsets_.size(); k += step) {
            sorted.push_back(offsets_[k]);
            if (offsets_[k] % vector == 0) starts.push_back(static_cast<std::int64_t>(k));
        }
        std::ranges::sort(sorted);
        sorted.erase(std::ranges::unique(sorted).begin(), sorted.end());
        bool are_whole = sorted.size() % vector == 0;
        for (std::size_t k = 0; k < sorted.size() && are_whole; ++k)
            are_whole = sorted[k] % vector == k % vector &&
                        sorted[k] / vector == sorted[k - k % vector] / vector;
        return are_whole ? starts : Positions();
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
    std::string text_of(std::size_t k, const std::vector<Positions>& values) {
        if (const auto found = modes_of(values[k])) return found->text_of("i");
        if (k == 0) refuse("its vectors follow each other by no shape and strides");
        std::string inner = text_of(k - 1, values);
        if (inner != "i") {
            parts_.push_back(fmt::format("p{} = {}", parts_.size(), inner));
            inner = fmt::format("p{}", parts_.size() - 1);
        }
        const std::string text = layout_.stages[k - 1].text_of(inner);
        return k == unit_stage_ && vector_ > 1 ? fmt::format("({}) / {}", text, vector_) : text;
    }

    Layout layout_;
    std::uint32_t width_;      // bytes of an element
    std::size_t threads_ = 0;  // that have values
    std::int64_t vector_ = 1;
    std::size_t unit_stage_ = 0;  // stages up to the last that is no swizzle
    Positions offsets_;           // of all positions
    std::vector<std::string> parts_;
};

}  // namespace

std::int64_t LayoutStage::at(std::int64_t position) const {
    if (bits > 0) return position ^ (position >> shift & ((1ll << bits) - 1) << base);
    std::int64_t value = offset + (modes.empty() ? position : 0);
    for (const Mode& mode : modes) {
        value += position % mode.size * mode.stride;
        position /= mode.size;
    }
    return value;
}

std::string LayoutStage::text_of(std::string_view position) const {
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

std::vector<std::int64_t> LayoutStage::shape() const {
    Positions shape;
    for (const Mode& mode : modes) {
        if (mode.part == shape.size()) shape.push_back(1);
        shape.back() *= mode.size;
    }
    return shape;
}

LayoutFormula formula_of(const Layout& layout, std::string_view access, std::uint32_t element_bytes,
                         std::uint64_t vector) {
    return FormulaOfLayout(layout, element_bytes).written(access, vector);
}

}  // namespace coalprof
