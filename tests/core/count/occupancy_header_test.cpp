// Holds our occupancy against NVIDIA's own header, over many inputs, where a toolkit has it.
#if __has_include(<cuda_occupancy.h>)

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/count/occupancy.h"
#include "core/machine/machine.h"

namespace coalprof {
namespace {

cudaOccDeviceProp properties_of(const Rules& rules) {
    const OccupancyLimits& limits = rules.occupancy;
    cudaOccDeviceProp device{};
    device.computeMajor = rules.cc.major;
    device.computeMinor = rules.cc.minor;
    device.maxThreadsPerBlock = static_cast<int>(limits.threads_per_block);
    device.maxThreadsPerMultiprocessor = static_cast<int>(limits.threads);
    device.regsPerBlock = static_cast<int>(limits.registers_per_block);
    device.regsPerMultiprocessor = static_cast<int>(limits.registers);
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = limits.shared_bytes;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = limits.shared_bytes_per_block;
    device.reservedSharedMemPerBlock = limits.shared_reserved_bytes;
    return device;
}

struct Question {
    KernelNeeds needs;
    int carveout = SHAREDMEM_CARVEOUT_DEFAULT;
    cudaOccCacheConfig preference = CACHE_PREFER_NONE;
};

struct Answer {
    cudaOccError error = CUDA_OCC_SUCCESS;
    cudaOccResult result{};
};

Answer ask_header(const Rules& rules, const Question& question) {
    const cudaOccDeviceProp device = properties_of(rules);
    cudaOccFuncAttributes kernel{};
    kernel.maxThreadsPerBlock = device.maxThreadsPerBlock;
    kernel.numRegs = static_cast<int>(question.needs.registers_per_thread);
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = question.needs.shared_bytes;
    kernel.numBlockBarriers = static_cast<int>(question.needs.barriers);
    cudaOccDeviceState state;
    state.cacheConfig = question.preference;
    state.carveoutConfig = question.carveout;
    Answer answer;
    answer.error = cudaOccMaxActiveBlocksPerMultiprocessor(&answer.result, &device, &kernel, &state,
                                                           static_cast<int>(question.needs.block),
                                                           question.needs.shared_bytes);
    return answer;
}

unsigned bits_of(const Occupancy& answer) {
    constexpr std::array<unsigned, limiter_count> bit{OCC_LIMIT_WARPS, OCC_LIMIT_REGISTERS,
                                                      OCC_LIMIT_SHARED_MEMORY, OCC_LIMIT_BLOCKS,
                                                      OCC_LIMIT_BARRIERS};
    unsigned bits = 0;
    for (const Limiter limiter : answer.limiters) bits |= bit[static_cast<std::size_t>(limiter)];
    return bits;
}

void compare(const Rules& rules, const Question& question) {
    const Answer theirs = ask_header(rules, question);
    ASSERT_EQ(theirs.error, CUDA_OCC_SUCCESS) << text_of(rules.cc);
    const Occupancy ours = occupancy(rules, question.needs);
    const auto& needs = question.needs;
    const auto blocks = static_cast<int>(ours.active_blocks);
    ASSERT_EQ(blocks, theirs.result.activeBlocksPerMultiprocessor)
        << text_of(rules.cc) << " block " << needs.block << " registers "
        << needs.registers_per_thread << " shared " << needs.shared_bytes << " barriers "
        << needs.barriers << " carveout " << question.carveout << " preference "
        << question.preference;
    // The header keeps what limited before barriers did; ours are only those that still do.
    const auto others = std::min({theirs.result.blockLimitRegs, theirs.result.blockLimitSharedMem,
                                  theirs.result.blockLimitWarps, theirs.result.blockLimitBlocks});
    if (blocks != others) return;
    ASSERT_EQ(bits_of(ours), theirs.result.limitingFactors)
        << text_of(rules.cc) << " block " << needs.block;
}

// The header covers 3.x on, but what is newer than it.
template <typename Visit>
void each_covered(Visit visit) {
    for (const Rules& rules : all_rules())
        if (ask_header(rules, {}).error != CUDA_OCC_ERROR_UNKNOWN_DEVICE) visit(rules);
}

TEST(OccupancyHeader, knows_most_of_what_we_do) {
    std::size_t known = 0;
    each_covered([&](const Rules& rules) { known += rules.cc.major >= 3; });
    EXPECT_GE(known, 15u);
}

TEST(OccupancyHeader, agrees_for_every_block_size_and_register_count) {
    each_covered([](const Rules& rules) {
        // 3.0 alone has a lower limit of registers than the header knows (63).
        const std::uint32_t registers = rules.occupancy.registers_per_thread;
        for (std::uint32_t block = 1; block <= 1056; block += block < 64 ? 1 : 31)
            for (std::uint32_t count = 0; count <= registers; count += 3)
                compare(rules, {{.block = block, .registers_per_thread = count}});
    });
}

TEST(OccupancyHeader, agrees_for_random_kernels_and_carveouts) {
    std::uint64_t random = 11;
    const auto next = [&](std::uint64_t below) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<std::uint32_t>((random >> 33) % below);
    };
    for (int round = 0; round < 20000; ++round) {
        each_covered([&](const Rules& rules) {
            Question question;
            question.needs.block = 1 + next(1030);
            question.needs.registers_per_thread = next(rules.occupancy.registers_per_thread + 1);
            question.needs.shared_bytes = next(2) == 0 ? 0 : next(240 * 1024);
            question.needs.barriers = next(17);
            const std::uint32_t choice = next(4);
            if (choice == 0 && rules.cc.major >= 7) {
                question.carveout = static_cast<int>(next(101));
                question.needs.shared_percent = question.carveout;
            } else if (choice == 1) {
                question.preference = CACHE_PREFER_L1;
                question.needs.shared_percent = 0;
            } else if (choice == 2) {
                question.preference = CACHE_PREFER_EQUAL;
                question.needs.shared_percent = 50;
            }
            compare(rules, question);
        });
        if (testing::Test::HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace coalprof

#endif
