#include "core/program/thread_bounds.h"

#include <algorithm>
#include <bit>

namespace coalprof {
namespace {

constexpr std::uint64_t rounds_of_loop = 128;  // more take long

// What a value is computed from.
struct Sources {
    std::uint8_t axes = 1;      // sets of axes of the grid, a bit each: max(x, y) has {x} and {y}
    std::uint64_t numbers = 0;  // parameters, a bit each
    friend bool operator==(const Sources&, const Sources&) = default;
};

Sources of_slot(const SlotInfo& slot) {
    switch (slot.kind) {
        case SlotKind::ctaid_x: return {1 << 1};
        case SlotKind::ctaid_y: return {1 << 2};
        case SlotKind::ctaid_z: return {1 << 4};
        default: return {};
    }
}

Sources computed(const Code& code, const PtxInstruction& one, const std::vector<Sources>& known) {
    Sources all;
    if (one.opcode == Opcode::load && one.state == PtxState::param) {
        const std::uint64_t at =
            code.slots[one.inputs.front()].value + static_cast<std::uint64_t>(one.offset);
        for (std::size_t i = 0; i < std::min<std::size_t>(code.parameters.size(), 64); ++i)
            if (code.parameter_offsets[i] == at) all.numbers = std::uint64_t{1} << i;
    }
    if (one.opcode == Opcode::load || one.opcode == Opcode::atomic) return all;
    const bool chooses = one.opcode == Opcode::minimum || one.opcode == Opcode::maximum;
    for (const Slot slot : one.inputs) {
        if (slot == no_slot) continue;
        unsigned axes = chooses ? all.axes | known[slot].axes : 0;
        for (unsigned a = 0; a < 8 && !chooses; ++a)
            for (unsigned b = 0; b < 8; ++b)
                if ((all.axes >> a & 1) != 0 && (known[slot].axes >> b & 1) != 0)
                    axes |= 1u << (a | b);
        all.axes = static_cast<std::uint8_t>(axes);
        all.numbers |= known[slot].numbers;
    }
    return all;
}

}  // namespace

std::vector<std::uint64_t> sizes_by_threads(const Code& code,
                                            const std::array<std::uint64_t, 3>& threads) {
    std::vector<Sources> known;
    std::ranges::transform(code.slots, std::back_inserter(known), of_slot);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (const PtxInstruction& one : code.instructions) {
            const Sources made = computed(code, one, known);
            for (const Slot slot : one.results) {
                if (slot == no_slot) continue;
                Sources& all = known[slot];
                const Sources before = all;
                all.axes |= made.axes;
                all.numbers |= made.numbers;
                has_changed |= !(all == before);
            }
        }
    }
    const auto largest = [&](std::uint8_t places) {
        std::uint64_t most = 1;
        for (unsigned axes = 1; axes < 8; ++axes) {
            std::uint64_t count = 1;
            for (std::size_t i = 0; i < threads.size(); ++i)
                if ((axes >> i & 1) != 0) count *= threads[i];
            if ((places >> axes & 1) != 0) most = std::max(most, count);
        }
        return most;
    };
    std::vector<std::uint64_t> sizes(code.parameters.size(), ~std::uint64_t{0});
    const auto set = [&](std::uint64_t numbers, std::uint64_t size) {
        for (; numbers != 0; numbers &= numbers - 1) {
            std::uint64_t& own = sizes[static_cast<std::size_t>(std::countr_zero(numbers))];
            own = std::min(own, size);
        }
    };
    std::uint64_t compared = 0, of_places = 0;
    for (const PtxInstruction& one : code.instructions) {
        if (one.opcode != Opcode::compare || one.inputs.size() < 2) continue;
        for (const bool swaps : {false, true}) {
            const Sources place = known[one.inputs[swaps]], bound = known[one.inputs[!swaps]];
            compared |= bound.numbers;
            if (place.axes == 1 || bound.axes != 1) continue;
            of_places |= bound.numbers;
            const auto factors = static_cast<unsigned>(std::popcount(bound.numbers));
            const std::uint64_t most = largest(place.axes);
            const auto bits = static_cast<unsigned>(std::bit_width(most - 1));
            set(bound.numbers,
                factors < 2 ? most : std::uint64_t{1} << (bits + factors - 1) / factors);
        }
    }
    set(compared & ~of_places, rounds_of_loop);
    std::ranges::replace(sizes, ~std::uint64_t{0}, 0);
    return sizes;
}

}  // namespace coalprof
