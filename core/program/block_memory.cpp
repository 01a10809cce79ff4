#include "core/program/block_memory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/access/lane_set.h"
#include "core/program/numbers.h"
#include "core/program/step_code.h"

namespace coalprof {
namespace {

static_assert(std::endian::native == std::endian::little);

// A copy of constant size becomes a single move.
template <typename Copy>
void copy_of_size(std::uint32_t bytes, Copy copy) {
    switch (bytes) {
        case 4: return copy(std::integral_constant<std::size_t, 4>());
        case 8: return copy(std::integral_constant<std::size_t, 8>());
        case 2: return copy(std::integral_constant<std::size_t, 2>());
        case 1: return copy(std::integral_constant<std::size_t, 1>());
        default: return copy(std::min<std::size_t>(bytes, sizeof(std::uint64_t)));
    }
}
constexpr std::uint64_t word_bytes = 4;

// The position of a lane's pair of 16-bit elements in matrices of 8 rows, whose rows are where
// lanes point: PTX ISA, "ldmatrix".
struct MatrixPlace {
    std::uint32_t lane;  // whose address it is
    std::uint32_t offset_bytes;
};
MatrixPlace place_in_matrix(std::size_t matrix, std::uint32_t lane, bool is_transposed,
                            std::uint32_t half) {
    const std::uint32_t row = is_transposed ? lane % 4 * 2 + half : lane / 4;
    const std::uint32_t column = is_transposed ? lane / 4 : lane % 4 * 2 + half;
    return {static_cast<std::uint32_t>(matrix * 8) + row, column * 2};
}
bool is_near(const CheckedAccess& access) {
    return access.state == PtxState::shared || access.state == PtxState::local;
}
bool is_matrix(const PtxStep& step) {
    return step.variant == 'n' || step.variant == 'm' || step.variant == 'M';
}

}  // namespace

void NearBytes::clear() {
    std::ranges::fill(bytes, std::uint8_t{0});
    unsaid.clear();
}

UnsaidArrays NearBytes::unsaid_at(std::uint64_t at, std::uint32_t count) const {
    UnsaidArrays all = 0;
    if (!unsaid.empty())
        for (std::uint64_t word = at / word_bytes; word * word_bytes < at + count; ++word)
            all |= unsaid[word];
    return all;
}

void NearBytes::set_unsaid(std::uint64_t at, std::uint32_t count, UnsaidArrays from) {
    if (from != 0 && unsaid.empty()) unsaid.resize(bytes.size() / word_bytes + 1);
    if (!unsaid.empty())
        for (std::uint64_t word = at / word_bytes; word * word_bytes < at + count; ++word)
            unsaid[word] = from;
}

BlockMemory::BlockMemory(const Code& code, const KernelLaunch& launch, LaunchMemory& memory)
    : code_(code), launch_(launch), memory_(memory) {
    shared_.bytes.resize(code.shared_bytes + launch.dynamic_shared_bytes);
}

void BlockMemory::begin_block() {
    if (code_.needs_shared_values) shared_.clear();
}

std::optional<std::uint64_t> BlockMemory::place_of(const CheckedAccess& access,
                                                   std::uint64_t address, std::uint32_t lane,
                                                   std::uint32_t bytes) const {
    const bool is_shared = access.state == PtxState::shared;
    const std::uint64_t size = is_shared ? shared_.bytes.size() : code_.local_bytes;
    if (address + bytes > size) return std::nullopt;
    return is_shared ? address : lane * code_.local_bytes + address;
}

std::uint64_t number_of_parameter(const KernelLaunch& launch, std::uint64_t address,
                                  std::uint32_t bytes) {
    const auto& all = launch.parameters;
    std::uint64_t value = 0;
    if (address < all.size() && bytes <= all.size() - address)
        std::memcpy(&value, &all[address], std::min<std::size_t>(bytes, sizeof value));
    return value;
}

std::uint64_t BlockMemory::read(const CheckedAccess& access, NearBytes& local,
                                std::uint64_t address, std::uint32_t lane, std::uint32_t bytes,
                                UnsaidArrays& unsaid) {
    switch (access.state) {
        case PtxState::param: return number_of_parameter(launch_, address, bytes);
        case PtxState::shared:
        case PtxState::local: {
            const NearBytes& near = near_of(access, local);
            const auto at = place_of(access, address, lane, bytes);
            std::uint64_t value = 0;
            if (!at) return value;
            std::memcpy(&value, &near.bytes[*at], std::min<std::size_t>(bytes, sizeof value));
            unsaid |= near.unsaid_at(*at, bytes);
            return value;
        }
        default:
            return memory_.read(access.array ? access.array : memory_.find(address), address, bytes,
                                unsaid);
    }
}

void BlockMemory::write(const CheckedAccess& access, NearBytes& local, std::uint64_t address,
                        std::uint32_t lane, std::uint64_t value, std::uint32_t bytes,
                        UnsaidArrays unsaid) {
    if (access.state == PtxState::global) return memory_.write(address, value, bytes, unsaid);
    NearBytes& near = near_of(access, local);
    if (const auto at = place_of(access, address, lane, bytes)) {
        std::memcpy(&near.bytes[*at], &value, std::min<std::size_t>(bytes, sizeof value));
        near.set_unsaid(*at, bytes, unsaid);
    }
}

NearBytes& BlockMemory::near_of(const CheckedAccess& access, NearBytes& local) {
    NearBytes& near = access.state == PtxState::shared ? shared_ : local;
    if (near.bytes.empty()) near.bytes.resize(local_bytes());
    return near;
}

// visit(lane, place) for the lanes within.
template <typename Visit>
void BlockMemory::each_place(const CheckedAccess& access, std::uint64_t more, std::uint32_t bytes,
                             Visit visit) const {
    const bool is_shared = access.state == PtxState::shared;
    const std::uint64_t size = is_shared ? shared_.bytes.size() : code_.local_bytes;
    const std::uint64_t step = is_shared ? 0 : code_.local_bytes;
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t at = access.warp.addresses[lane] + more;
        if (at + bytes <= size) visit(lane, lane * step + at);
    });
}

// All lanes at once, since kernels that sort or add in shared memory spend most of their time here.
void BlockMemory::load_near(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                            std::uint32_t bytes, LaneValue& result) {
    const NearBytes& near = near_of(access, local);
    result.at.fill(0);
    copy_of_size(bytes, [&](auto size) {
        each_place(access, more, bytes, [&](std::uint32_t lane, std::uint64_t at) {
            std::memcpy(&result.at[lane], &near.bytes[at], size);
        });
    });
    if (!near.unsaid.empty())
        each_place(access, more, bytes, [&](std::uint32_t, std::uint64_t at) {
            result.unsaid |= near.unsaid_at(at, bytes);
        });
}

void BlockMemory::store_near(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                             std::uint32_t bytes, const LaneValue& value) {
    NearBytes& near = near_of(access, local);
    copy_of_size(bytes, [&](auto size) {
        each_place(access, more, bytes, [&](std::uint32_t lane, std::uint64_t at) {
            std::memcpy(&near.bytes[at], &value.at[lane], size);
        });
    });
    if (value.unsaid != 0 || !near.unsaid.empty())
        each_place(access, more, bytes, [&](std::uint32_t, std::uint64_t at) {
            near.set_unsaid(at, bytes, value.unsaid);
        });
}

void BlockMemory::load_far(const CheckedAccess& access, NearBytes& local, std::uint64_t more,
                           std::uint32_t bytes, LaneValue& result) {
    const std::string_view plain = access.array ? memory_.plain(*access.array) : std::string_view();
    copy_of_size(bytes, [&](auto size) {
        each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
            const std::uint64_t address = access.warp.addresses[lane] + more;
            const std::uint64_t at = plain.empty() ? 0 : address - access.array->base;
            result.at[lane] = 0;
            if (at < plain.size() && bytes <= plain.size() - at)
                std::memcpy(&result.at[lane], plain.data() + at, size);
            else
                result.at[lane] = read(access, local, address, lane, bytes, result.unsaid);
        });
    });
}

void BlockMemory::load(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
                       std::size_t number, std::uint8_t bits, LaneValue& result) {
    result.growth = {};
    result.unsaid = 0;
    const auto& addresses = access.warp.addresses;
    if (is_matrix(step)) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            result.at[lane] = 0;
            for (const std::uint32_t half : {0u, 1u}) {
                const auto [from, offset] = place_in_matrix(number, lane, step.is_transposed, half);
                result.at[lane] |=
                    read(access, local, addresses[from] + offset, from, 2, result.unsaid)
                    << (16 * half);
            }
        }
        return;
    }
    const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
    if (is_near(access))
        load_near(access, local, number * bytes, bytes, result);
    else
        load_far(access, local, number * bytes, bytes, result);
    if (step.type.kind != 's') return;
    for (std::uint64_t& value : result.at) value = number_as_loaded(value, step.type, bits);
}

void BlockMemory::store(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
                        std::size_t number, const LaneValue& value) {
    const auto& addresses = access.warp.addresses;
    if (is_matrix(step)) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            for (const std::uint32_t half : {0u, 1u}) {
                const auto [to, offset] = place_in_matrix(number, lane, step.is_transposed, half);
                write(access, local, addresses[to] + offset, to, value.at[lane] >> (16 * half), 2,
                      value.unsaid);
            }
        return;
    }
    const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
    if (is_near(access)) return store_near(access, local, number * bytes, bytes, value);
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        write(access, local, addresses[lane] + number * bytes, lane, value.at[lane], bytes,
              value.unsaid);
    });
}

void BlockMemory::copy(const PtxStep& step, const CheckedAccess& from, const LaneValue& to,
                       const LaneValue* sizes, UnsaidArrays unsaid) {
    const CheckedAccess shared{.state = PtxState::shared, .warp = {}};
    NearBytes no_local;
    unsaid |= to.unsaid | (sizes ? sizes->unsaid : 0);
    each_lane(from.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t size = sizes ? sizes->at[lane] : step.width_bytes;
        const std::uint64_t all = std::min<std::uint64_t>(
            step.variant == 'b' ? size : step.width_bytes, shared_.bytes.size());
        for (std::uint64_t i = 0; i < all; i += word_bytes) {
            const std::uint64_t address = from.warp.addresses[lane] + i;
            UnsaidArrays made_of = unsaid;
            const std::uint64_t value =
                i < size ? memory_.read(memory_.find(address), address, word_bytes, made_of) : 0;
            write(shared, no_local, (to.at[lane] + step.target + i) & 0xFFFF'FFFFu, lane, value,
                  word_bytes, made_of);
        }
    });
}

void BlockMemory::forget_from(const CheckedAccess& access) {
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t at = std::min(access.warp.addresses[lane], shared_bytes());
        shared_.set_unsaid(at, static_cast<std::uint32_t>(shared_bytes() - at), by_fetches);
    });
}

void BlockMemory::change(const PtxStep& step, const CheckedAccess& access, NearBytes& local,
                         const LaneValue& first, const LaneValue& last, LaneValue& before) {
    const std::uint32_t bytes = step.type.bytes();
    before.growth = {};
    before.unsaid = 0;
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t address = access.warp.addresses[lane];
        UnsaidArrays unsaid = 0;
        const std::uint64_t old = read(access, local, address, lane, bytes, unsaid);
        before.unsaid |= unsaid;
        before.at[lane] = old;
        const std::uint64_t next = step.variant == 'c'
                                       ? (old == first.at[lane] ? last.at[lane] : old)
                                       : combined(step, old, first.at[lane]);
        write(access, local, address, lane, next, bytes, unsaid | first.unsaid | last.unsaid);
    });
}

bool BlockMemory::is_constant(const CheckedAccess& access) const {
    if (access.state == PtxState::param || code_.needs_stored_values) return false;
    bool all = true;
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const LaunchArray* array =
            access.array ? access.array : memory_.find(access.warp.addresses[lane]);
        all = all && array && (!array->contents || array->contents->is_constant());
    });
    return all;
}

}  // namespace coalprof
