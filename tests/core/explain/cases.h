// Warps for tests of `explain`: of every pattern of the catalog with many parameters, and random
// ones. Each visit gets the access and the machine's counts of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/count/coalescer.h"
#include "core/explain/drawing.h"
#include "core/explain/launch_sample.h"
#include "core/explain/reasons.h"
#include "core/machine/machine.h"
#include "core/pattern/built.h"
#include "core/text/error.h"

namespace coalprof {

inline std::string draw(const Explanation& explanation, const ExplainStyle& style) {
    return text_of(lines_of(explanation, style), style.color);
}
inline std::string explain(const Plan& plan, const Machine& machine, const ExplainStyle& style,
                           std::optional<std::uint64_t> warp = {}) {
    return draw(explanation_of(plan, machine, warp), style);
}

}  // namespace coalprof

namespace coalprof::explain_cases {

inline Plan plan_of(const std::string& pattern, std::uint64_t value, Op op, ElementType type,
                    std::uint64_t size_bytes = 64 << 10, std::uint32_t block = 256) {
    return built({.pattern = pattern,
                  .value = value,
                  .op = op,
                  .type = type,
                  .shape = {.size_bytes = size_bytes, .block = block}});
}

inline Purpose purpose_of(AccessKind kind) {
    if (kind == AccessKind::load) return Purpose::load;
    return kind == AccessKind::store ? Purpose::store : Purpose::atomic;
}

inline bool touches_global(const Program& program) {
    return std::any_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& i) { return i.space == Space::global; });
}

// Every pattern of global memory x op x type x some values; combinations that do not fit together
// are left out.
template <typename Visit>
void each_plan(Visit visit) {
    const std::vector<std::uint64_t> values{0,   1,   2,   3,   4,   5,    7,    8,   9,  11,
                                            12,  16,  24,  31,  32,  33,   48,   64,  96, 100,
                                            120, 128, 256, 480, 512, 1000, 1024, 4096};
    for (const PatternInfo& pattern : pattern_catalog())
        for (const Op op :
             {Op::load, Op::store, Op::rmw, Op::copy, Op::add, Op::atomic, Op::reduce})
            for (const ElementType type : {ElementType::u8, ElementType::u16, ElementType::f32,
                                           ElementType::f64, ElementType::f32x4})
                for (const std::uint64_t value : values)
                    for (const std::uint32_t block : {256u, 50u}) {
                        // Blocks that end in partial warps, for one type.
                        if (block == 50 && type != ElementType::f32) continue;
                        Plan plan;
                        try {
                            plan = plan_of(std::string(pattern.name), value, op, type, 64 << 10,
                                           block);
                        } catch (const UsageError&) {
                            continue;
                        }
                        if (touches_global(plan.program)) visit(plan);
                    }
}

// Some warps of a launch: the first ones, one in the middle, the last.
inline std::vector<LaunchWarp> some_warps(const Program& program) {
    const std::uint64_t count = warp_count(program);
    std::vector<LaunchWarp> warps;
    for (const std::uint64_t index :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, count / 2, count - 1})
        if (index < count) warps.push_back(warp_at(program, index));
    return warps;
}

class RandomWarps {
 public:
    explicit RandomWarps(std::uint32_t seed) : random_(seed) {}

    WarpAccess next() {
        WarpAccess access;
        access.width_bytes = 1u << pick(0, 4);
        const bool may_be_atomic = access.width_bytes == 4 || access.width_bytes == 8;
        access.kind = access_kinds[pick(0, may_be_atomic ? 3 : 1)];
        access.active_lanes = lanes();
        const std::uint64_t base = pick(0, 1 << 20) * 16;
        const std::uint64_t extent = std::uint64_t{1} << pick(0, 12);  // elements
        const std::uint64_t step = pick(0, 40);
        const auto shape = pick(0, 3);
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            std::uint64_t element = 0;
            if (shape == 0) element = lane * step;
            if (shape == 1) element = pick(0, extent - 1);
            if (shape == 2) element = lane / (step + 1) * 32 + lane % (step + 1);
            if (shape == 3) element = (lane ^ (step % 32)) + step;
            access.addresses[lane] = base + element * access.width_bytes;
        }
        return access;
    }

 private:
    std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
        return std::uniform_int_distribution<std::uint64_t>(low, high)(random_);
    }
    std::uint32_t lanes() {
        switch (pick(0, 4)) {
            case 0: return static_cast<std::uint32_t>(pick(0, all_lanes));
            case 1: return pick(0, 3) == 0 ? 0 : 1u << pick(0, 31);
            case 2: return all_lanes >> pick(0, 31);
            default: return all_lanes;
        }
    }
    std::mt19937_64 random_;
};

}  // namespace coalprof::explain_cases
