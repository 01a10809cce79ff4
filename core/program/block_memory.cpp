#include "core/program/block_memory.h"

#include <algorithm>
#include <cstring>

#include "core/access/lane_set.h"
#include "core/program/lane_exchange.h"

namespace coalprof {
namespace {

static_assert(std::endian::native == std::endian::little);

std::uint64_t number_in(const std::uint8_t* from, std::uint32_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, std::min<std::size_t>(bytes, sizeof value));
    return value;
}

// Where a lane finds a pair of 16-bit elements in matrices of 8 rows, whose rows lie where lanes
// point: PTX ISA, "ldmatrix".
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
bool is_matrix(const PtxStep& step) {
    return step.variant == 'n' || step.variant == 'm' || step.variant == 'M';
}

}  // namespace

BlockMemory::BlockMemory(const Code& code, const KernelLaunch& launch, LaunchMemory& memory)
    : code_(code),
      launch_(launch),
      memory_(memory),
      shared_(code.shared_bytes + launch.dynamic_shared_bytes) {}

void BlockMemory::begin_block() {
    if (code_.needs_shared_values) std::ranges::fill(shared_, std::uint8_t{0});
}

std::uint8_t* BlockMemory::bytes_at(const CheckedAccess& access, std::vector<std::uint8_t>& local,
                                    std::uint64_t address, std::uint32_t lane,
                                    std::uint32_t bytes) {
    if (access.state == PtxState::shared)
        return address + bytes <= shared_.size() ? &shared_[address] : nullptr;
    if (local.empty()) local.resize(local_bytes());
    return address + bytes <= code_.local_bytes ? &local[lane * code_.local_bytes + address]
                                                : nullptr;
}

std::uint64_t BlockMemory::parameter(std::uint64_t address, std::uint32_t bytes) const {
    const auto& all = launch_.parameters;
    return address < all.size() && bytes <= all.size() - address ? number_in(&all[address], bytes)
                                                                 : 0;
}

void BlockMemory::note_missing(const LaunchArray* array) {
    if (std::ranges::find(missing_, array) == missing_.end()) missing_.push_back(array);
}

std::vector<std::string> BlockMemory::take_missing() {
    std::vector<std::string> names;
    for (const LaunchArray* array : missing_) names.push_back(array->name);
    missing_.clear();
    return names;
}

std::uint64_t BlockMemory::read(const CheckedAccess& access, std::vector<std::uint8_t>& local,
                                std::uint64_t address, std::uint32_t lane, std::uint32_t bytes) {
    switch (access.state) {
        case PtxState::param:
            return parameter(address, bytes);
        case PtxState::shared:
        case PtxState::local: {
            const std::uint8_t* from = bytes_at(access, local, address, lane, bytes);
            return from ? number_in(from, bytes) : 0;
        }
        default: {
            const LaunchArray* array = access.array ? access.array : memory_.find(address);
            if (array && !array->contents) note_missing(array);
            return memory_.read(array, address, bytes);
        }
    }
}

void BlockMemory::write(const CheckedAccess& access, std::vector<std::uint8_t>& local,
                        std::uint64_t address, std::uint32_t lane, std::uint64_t value,
                        std::uint32_t bytes) {
    if (access.state == PtxState::global) return memory_.write(address, value, bytes);
    if (std::uint8_t* to = bytes_at(access, local, address, lane, bytes))
        std::memcpy(to, &value, std::min<std::size_t>(bytes, sizeof value));
}

void BlockMemory::load(const PtxStep& step, const CheckedAccess& access,
                       std::vector<std::uint8_t>& local, std::size_t number, std::uint8_t bits,
                       LaneValue& result) {
    result.growth = {};
    const auto& addresses = access.warp.addresses;
    if (is_matrix(step)) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            result.at[lane] = 0;
            for (const std::uint32_t half : {0u, 1u}) {
                const auto [from, offset] = place_in_matrix(number, lane, step.is_transposed, half);
                result.at[lane] |= read(access, local, addresses[from] + offset, from, 2)
                                   << (16 * half);
            }
        }
        return;
    }
    const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
    const bool is_signed = step.type.kind == 's';
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t value =
            read(access, local, addresses[lane] + number * bytes, lane, bytes);
        result.at[lane] =
            is_signed ? static_cast<std::uint64_t>(extended(value, step.type.bits)) & mask_of(bits)
                      : value;
    });
}

void BlockMemory::store(const PtxStep& step, const CheckedAccess& access,
                        std::vector<std::uint8_t>& local, std::size_t number,
                        const LaneValue& value) {
    const auto& addresses = access.warp.addresses;
    if (is_matrix(step)) {
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            for (const std::uint32_t half : {0u, 1u}) {
                const auto [to, offset] = place_in_matrix(number, lane, step.is_transposed, half);
                write(access, local, addresses[to] + offset, to, value.at[lane] >> (16 * half), 2);
            }
        return;
    }
    const std::uint32_t bytes = std::max<std::uint32_t>(1, step.type.bytes());
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        write(access, local, addresses[lane] + number * bytes, lane, value.at[lane], bytes);
    });
}

void BlockMemory::change(const PtxStep& step, const CheckedAccess& access,
                         std::vector<std::uint8_t>& local, const LaneValue& first,
                         const LaneValue& last, LaneValue& before) {
    const std::uint32_t bytes = step.type.bytes();
    before.growth = {};
    each_lane(access.warp.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t address = access.warp.addresses[lane];
        const std::uint64_t old = read(access, local, address, lane, bytes);
        before.at[lane] = old;
        const std::uint64_t next = step.variant == 'c'
                                       ? (old == first.at[lane] ? last.at[lane] : old)
                                       : combined(step, old, first.at[lane]);
        write(access, local, address, lane, next, bytes);
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
