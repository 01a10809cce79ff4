#include "kernels/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "kernels/source/values.h"

namespace coalprof {
namespace {

using Element = std::array<Word, 4>;  // words; a narrow element uses the first ones

void put_number(std::uint64_t number, Element& words) {
    words[0] = static_cast<Word>(number);
    words[1] = static_cast<Word>(number >> 32);
}

// A template for each content and width, so that comparing millions of elements is a plain loop.
template <unsigned bytes>
Element marked_element(std::uint64_t element, Word seed, bool touched) {
    Element words{};
    for (unsigned w = 0; w < words_of(bytes); ++w)
        words[w] = touched ? touched_word(bytes, element, w, seed)
                           : untouched_word(bytes, element, w, seed);
    return words;
}

std::uint64_t element_of(const Formula& formula, std::uint64_t index) {
    std::uint64_t element = 0;
    formula->evaluate(index, 1, &element);
    return element;
}

// The expected content of a marked array: where it was stored to, its mark or its origin's content.
template <unsigned bytes>
Element left_element(const std::optional<Origin>& origin, const ArrayState& state,
                     std::uint64_t element, bool stored) {
    if (!stored || !origin) return marked_element<bytes>(element, state.operand.seed, stored);
    return marked_element<bytes>(element_of(origin->formula, element), seed_of(origin->array),
                                 false);
}

Element counted_element(Content content, const ArrayState& state, std::uint64_t element,
                        std::uint64_t hits) {
    const std::uint64_t start = start_count(element, state.operand.seed);
    const std::int64_t added = state.added * static_cast<std::int64_t>(hits);
    const double real = static_cast<double>(start) + static_cast<double>(added);
    Element words{};
    if (content == Content::count_f32)
        words[0] = std::bit_cast<Word>(static_cast<float>(real));
    else if (content == Content::count_f64)
        put_number(std::bit_cast<std::uint64_t>(real), words);
    else
        put_number(start + static_cast<std::uint64_t>(added), words);
    return words;
}

Element row_element(const ArrayState& state, std::uint64_t row) {
    Element words{};
    put_number(state.operand.rows_base + row * state.operand.row_bytes, words);
    return words;
}

// Calls visit(element) for every element that one launch stores to or adds to; idle lanes are
// beyond the array.
template <typename Visit>
void each_change(const Program& program, std::size_t array, Visit visit) {
    const std::uint64_t elements_in_array = program.arrays[array].elements;
    std::array<std::uint64_t, warp_lanes> elements;
    for (const Instruction& instruction : program.instructions) {
        if (instruction.array != array || instruction.kind == AccessKind::load) continue;
        for (std::uint64_t first = 0; first < program.threads; first += warp_lanes) {
            const auto count = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(program.threads - first, warp_lanes));
            instruction.formula->evaluate(first, count, elements.data());
            for (std::uint32_t k = 0; k < count; ++k)
                if (elements[k] < elements_in_array) visit(elements[k]);
        }
    }
}

bool is_changed(const Program& program, std::size_t array) {
    return std::any_of(program.instructions.begin(), program.instructions.end(),
                       [array](const Instruction& instruction) {
                           return instruction.array == array &&
                                  instruction.kind != AccessKind::load;
                       });
}

struct Difference {
    std::uint64_t element = 0;
    std::uint64_t hits = 0;  // changes by one launch; one is enough for stores
};

// Calls expected(element, hits) for each element until it differs from the found one.
template <unsigned bytes, typename Hits, typename Expected>
std::optional<Difference> compare_all(std::span<const std::byte> found, const Hits& hits,
                                      Expected expected) {
    const std::uint64_t elements = found.size() / bytes;
    for (std::uint64_t e = 0; e < elements; ++e) {
        const std::uint64_t count = hits.empty() ? 0 : hits[e];
        const Element words = expected(e, count);
        if (std::memcmp(words.data(), &found[e * bytes], bytes) != 0) return Difference{e, count};
    }
    return std::nullopt;
}

template <unsigned bytes>
std::optional<Difference> compare_marked(const Program& program, const ArrayState& state,
                                         std::span<const std::byte> found) {
    std::vector<std::uint8_t> is_stored;
    if (state.has_run && is_changed(program, state.array)) {
        is_stored.resize(program.arrays[state.array].elements);
        each_change(program, state.array, [&](std::uint64_t element) { is_stored[element] = 1; });
    }
    const auto& origin = program.arrays[state.array].origin;
    return compare_all<bytes>(found, is_stored, [&](std::uint64_t element, std::uint64_t hits) {
        return left_element<bytes>(origin, state, element, hits != 0);
    });
}

template <unsigned bytes>
std::optional<Difference> compare_counted(const Program& program, Content content,
                                          const ArrayState& state,
                                          std::span<const std::byte> found) {
    std::vector<std::uint32_t> hits(program.arrays[state.array].elements);
    each_change(program, state.array, [&](std::uint64_t element) { ++hits[element]; });
    return compare_all<bytes>(found, hits, [&](std::uint64_t element, std::uint64_t count) {
        return counted_element(content, state, element, count);
    });
}

std::optional<Difference> compare_rows(const ArrayState& state, std::span<const std::byte> found) {
    return compare_all<8>(
        found, std::span<const std::uint8_t>(),
        [&](std::uint64_t row, std::uint64_t) { return row_element(state, row); });
}

// visit.template operator()<bytes>() for an element's width.
template <typename Visit>
auto with_width(std::uint32_t bytes, Visit visit) {
    switch (bytes) {
        case 1: return visit.template operator()<1>();
        case 2: return visit.template operator()<2>();
        case 4: return visit.template operator()<4>();
        case 8: return visit.template operator()<8>();
        default: return visit.template operator()<16>();
    }
}

std::optional<Difference> compare_array(const Program& program, Content content,
                                        const ArrayState& state, std::span<const std::byte> found) {
    const std::uint32_t bytes = program.arrays[state.array].element_bytes;
    if (content == Content::rows) return compare_rows(state, found);
    if (content != Content::marked)
        return bytes == 8 ? compare_counted<8>(program, content, state, found)
                          : compare_counted<4>(program, content, state, found);
    return with_width(
        bytes, [&]<unsigned width>() { return compare_marked<width>(program, state, found); });
}

Element expected_element(const Array& array, Content content, const ArrayState& state,
                         std::uint64_t element, std::uint64_t hits) {
    if (content == Content::rows) return row_element(state, element);
    if (content != Content::marked) return counted_element(content, state, element, hits);
    const bool stored = state.has_run && hits != 0;
    return with_width(array.element_bytes, [&]<unsigned width>() {
        return left_element<width>(array.origin, state, element, stored);
    });
}

}  // namespace

std::string hexadecimal(std::span<const std::byte> element) {
    std::string text;
    for (std::size_t start = 0; start < element.size(); start += 8) {
        const std::size_t bytes = std::min<std::size_t>(element.size() - start, 8);
        std::uint64_t number = 0;
        std::memcpy(&number, &element[start], bytes);
        text += fmt::format("{}0x{:0{}x}", start == 0 ? "" : " ", number, 2 * bytes);
    }
    return text;
}

std::string expected_text(const Program& program, const ProgramShape& shape,
                          const ArrayState& state, std::uint64_t element, std::uint64_t hits) {
    const Array& array = program.arrays[state.array];
    const Element words =
        expected_element(array, shape.contents[state.array], state, element, hits);
    return hexadecimal(std::as_bytes(std::span(words)).first(array.element_bytes));
}

std::optional<WrongElement> find_wrong_element(const Program& program, const ProgramShape& shape,
                                               const ArrayState& state,
                                               std::span<const std::byte> found) {
    const auto wrong = compare_array(program, shape.contents[state.array], state, found);
    if (!wrong) return std::nullopt;
    const std::uint32_t bytes = program.arrays[state.array].element_bytes;
    return WrongElement{
        .element = wrong->element,
        .expected = expected_text(program, shape, state, wrong->element, wrong->hits),
        .found = hexadecimal(found.subspan(wrong->element * bytes, bytes))};
}

namespace {

constexpr unsigned most_checks = 4;  // each with at most 16 MiB of arrays

}  // namespace

// One of the threads is left to the one that enqueues launches: any delay of it could be taken for
// time of the GPU.
HostChecks::HostChecks(unsigned threads) : slots_(std::clamp(threads, 2u, most_checks + 1) - 1) {}

std::span<std::byte> HostChecks::room(std::uint64_t bytes) {
    current_ = (current_ + 1) % slots_.size();
    Slot& slot = slots_[current_];
    slot.wait();
    if (slot.bytes.size() < bytes) slot.bytes.resize(bytes);
    return std::span(slot.bytes).first(bytes);
}

std::shared_future<void> HostChecks::start(std::function<void()> compare) {
    // Begun by an idle thread, one of those that predict as well: more threads would keep the
    // launching one from running. Else the thread that waits for it does it.
    const auto answer = std::make_shared<Answer<bool>>([compare = std::move(compare)] {
        compare();
        return true;
    });
    slots_[current_].check =
        std::async(std::launch::deferred, [answer] { static_cast<void>(answer->get()); }).share();
    return slots_[current_].check;
}

void HostChecks::finish() const {
    for (const Slot& slot : slots_) slot.wait();
}

}  // namespace coalprof
