#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/calibrate/calibration.h"
#include "core/sweep/formula_sweep.h"
#include "core/sweep/sweep.h"

namespace coalprof {
namespace {

constexpr std::uint64_t kibibyte = 1024;
constexpr std::uint64_t mebibyte = 1024 * kibibyte;

struct Shape {
    std::uint32_t block = 256;
    std::uint32_t per_thread = 1;
    bool is_warm = false;
    std::string_view variant = {};  // of a transpose
    CacheState cache() const { return is_warm ? CacheState::warm : CacheState::cold; }
};

class Probes {
 public:
    Probes(const Machine& machine, std::uint64_t most_bytes)
        : machine_(machine), most_bytes_(most_bytes) {}

    void add(std::string_view pattern, std::uint64_t value, Op op, ElementType type,
             std::uint64_t size, const Shape& shape = {}) {
        const PatternInfo& info = find_pattern(pattern);
        Sweep sweep = settings_of(op, type, size, shape);
        sweep.pattern = std::string(pattern);
        sweep.values = {value};
        if (!shape.variant.empty()) sweep.launch.options.variant = std::string(shape.variant);
        const std::string command =
            fmt::format("{} --range {}{} {}", pattern, value, info.unit == "bytes" ? "B" : "",
                        options_of(sweep, shape));
        keep({command, SweepPoints(std::move(sweep)).at(0).plan, shape.cache()});
    }
    void add_formula(const std::string& text, Op op, ElementType type, std::uint64_t size,
                     const Shape& shape = {}) {
        FormulaSweep sweep;
        sweep.text = text;
        sweep.settings = settings_of(op, type, size, shape);
        const std::string command =
            fmt::format("formula '{}' {}", text, options_of(sweep.settings, shape));
        keep({command, FormulaPoints({std::move(sweep)}).at(0).plan, shape.cache()});
    }
    std::vector<Probe> take() { return std::move(probes_); }

 private:
    Sweep settings_of(Op op, ElementType type, std::uint64_t size, const Shape& shape) const {
        Sweep sweep;
        sweep.launch.op = op;
        sweep.launch.type = type;
        sweep.launch.shape.size_bytes = size;
        sweep.launch.shape.block = shape.block;
        sweep.launch.shape.per_thread = shape.per_thread;
        sweep.machines = {machine_};
        return sweep;
    }
    static std::string options_of(const Sweep& sweep, const Shape& shape) {
        return fmt::format("--op {} --type {} --size {} --block {} --per-thread {}{}{} --cache {}",
                           name_of(*sweep.launch.op), name_of(sweep.launch.type),
                           size_as_typed(sweep.launch.shape), shape.block, shape.per_thread,
                           shape.variant.empty() ? "" : " --variant ", shape.variant,
                           shape.is_warm ? "warm" : "cold");
    }
    void keep(Probe probe) {
        for (const Array& array : probe.plan.program.arrays)
            if (array.bytes() > most_bytes_) return;
        probes_.push_back(std::move(probe));
    }

    const Machine& machine_;
    std::uint64_t most_bytes_;
    std::vector<Probe> probes_;
};

// near_bytes fits L2 with room to spare; far_bytes does not fit at all.
struct Sizes {
    std::uint64_t near_bytes;
    std::uint64_t middle_bytes;
    std::uint64_t far_bytes;
};

using enum Op;
using enum ElementType;

void add_small(Probes& probes) {
    for (const std::uint64_t size : {64 * kibibyte, mebibyte})
        for (const bool is_warm : {true, false})
            probes.add("offset", 0, load, f32, size, {.is_warm = is_warm});
    probes.add("offset", 0, rmw, f32, 64 * kibibyte, {.is_warm = true});
    probes.add("offset", 0, load, f32, 64 * kibibyte, {.block = 1024, .is_warm = true});
    // A flush before a launch adds little: several launches measure it.
    probes.add("offset", 0, load, u8, 64 * kibibyte);
    probes.add("offset", 0, load, f64, 64 * kibibyte, {.block = 64});
    probes.add("offset", 0, load, f32x4, 64 * kibibyte, {.per_thread = 2});
    probes.add("offset", 0, copy, f32, 64 * kibibyte, {.block = 512});
    probes.add("stride", 4, load, f32, 64 * kibibyte);
    probes.add("broadcast", 8, load, f32, 256 * kibibyte);
}

void add_blocks_and_latency(Probes& probes, const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    probes.add("offset", 0, load, u8, near, {.block = 32, .is_warm = true});
    probes.add("offset", 0, load, u8, near, {.block = 64, .is_warm = true});
    probes.add("offset", 0, store, u8, near, {.block = 64, .is_warm = true});
    probes.add("offset", 0, load, f32, near, {.block = 32, .is_warm = true});
    probes.add("offset", 0, load, f32, middle, {.block = 32});
    probes.add("offset", 0, load, u8, near, {.block = 1024, .is_warm = true});
    for (const bool is_warm : {true, false}) {
        probes.add("offset", 0, load, u8, middle, {.block = 1024, .is_warm = is_warm});
        probes.add("offset", 0, load, u8, middle, {.block = 512, .is_warm = is_warm});
    }
    probes.add("broadcast", 32, load, u8, middle, {.block = 1024, .is_warm = true});
    probes.add("broadcast", 32, load, f32, middle,
               {.block = 512, .per_thread = 8, .is_warm = true});
    probes.add("broadcast", 32, load, f32, middle, {.per_thread = 4, .is_warm = true});
    probes.add("broadcast", 32, load, f32, far, {.block = 1024, .per_thread = 8, .is_warm = true});
    probes.add("offset", 0, load, u8, middle, {.per_thread = 8, .is_warm = true});
    probes.add("offset", 0, load, f32, middle);
    probes.add("offset", 0, load, u8, mebibyte, {.block = 1024});
    probes.add("stride", 4, load, u8, near, {.block = 1024});
    for (const std::uint32_t per_thread : {1u, 4u, 8u})
        probes.add("indirect", 16 * kibibyte, load, f32, near,
                   {.per_thread = per_thread, .is_warm = true});
    probes.add("indirect", 16 * kibibyte, load, f32, near, {.block = 1024, .is_warm = true});
    probes.add("indirect", 2 * kibibyte, load, f32, middle);
    probes.add("indirect", 2 * kibibyte, load, f32, middle, {.per_thread = 4});
    probes.add("indirect", 4 * kibibyte, load, u8, near, {.block = 1024, .is_warm = true});
}

void add_l2(Probes& probes, const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    for (const std::uint32_t per_thread : {1u, 4u}) {
        probes.add("stride", 32, load, f32, mebibyte, {.per_thread = per_thread, .is_warm = true});
        probes.add("offset", 0, load, f32x4, 2 * near, {.per_thread = per_thread, .is_warm = true});
    }
    probes.add("column", 2 * kibibyte, load, f32, near, {.is_warm = true});
    probes.add("column", 16 * kibibyte, load, f32, far);
    probes.add("column", 64 * kibibyte, copy, f32, middle, {.per_thread = 2});
    probes.add("offset", 0, load, f32, near, {.per_thread = 4, .is_warm = true});
    probes.add("offset", 0, load, f64x2, near, {.block = 512, .per_thread = 2, .is_warm = true});
    probes.add("offset", 1, load, f32x4, near, {.per_thread = 2, .is_warm = true});
    probes.add("scatter", near, load, f32, near, {.per_thread = 4, .is_warm = true});
    probes.add("scatter", near, load, f32, middle, {.per_thread = 8, .is_warm = true});
    probes.add("scatter", near, load, f64x2, 2 * near, {.is_warm = true});
    probes.add("scatter", 4 * near, load, f32, middle, {.per_thread = 4});
    probes.add("stride", 8, load, f32, mebibyte, {.per_thread = 4, .is_warm = true});
    probes.add("stride", 32, load, f64, mebibyte, {.per_thread = 4, .is_warm = true});
    probes.add("offset", 0, store, f32x4, near, {.is_warm = true});
    probes.add("offset", 0, store, f32, near, {.per_thread = 4, .is_warm = true});
    probes.add("offset", 0, rmw, f32, near, {.per_thread = 4, .is_warm = true});
    probes.add("stride", 2, store, f32, near / 2, {.is_warm = true});
    probes.add("stride", 8, store, f32, mebibyte, {.per_thread = 4, .is_warm = true});
    probes.add("scatter", near, store, f32, near, {.is_warm = true});
    probes.add("scatter", near, store, u8, near / 2, {.per_thread = 4, .is_warm = true});
    probes.add("transpose", 4096, copy, f32, middle);
    probes.add("transpose", 1024, copy, f64, middle);
    // Data that L2 holds, again and again: long launches that separate the cost of its requests, of
    // one sector or of four, from that of its sectors.
    const auto again = [](std::string_view index, std::uint64_t elements) {
        return fmt::format("{} & {}", index, elements - 1);
    };
    const std::uint64_t held = 2 * near;
    for (const std::uint32_t per_thread : {1u, 4u}) {
        const Shape shape{.per_thread = per_thread, .is_warm = true};
        probes.add_formula(again("(i*32)", held / 4), load, f32, middle / 2, shape);
        probes.add_formula(again("(i*8)", held / 4), load, f32, middle / 2, shape);
        probes.add_formula(again("i", held / 4), load, f32, far, shape);
        probes.add_formula(again("i", held / 16), load, f32x4, 2 * far, shape);
    }
}

void add_dram(Probes& probes, const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    for (const std::uint32_t per_thread : {1u, 4u})
        for (const ElementType type : {f32, f32x4})
            probes.add("offset", 0, load, type, far, {.per_thread = per_thread});
    probes.add("offset", 0, load, u8, middle, {.per_thread = 4});
    for (const ElementType type : {f32, f32x4})
        for (const Op op : {store, copy}) probes.add("offset", 0, op, type, far);
    probes.add("offset", 0, rmw, f32, far);
    probes.add("offset", 0, rmw, f64, far, {.per_thread = 2});
    probes.add("offset", 5, copy, f32, far, {.block = 512, .per_thread = 2});
    const std::pair<std::uint64_t, std::uint64_t> strides[] = {{4, middle},      {8, middle / 2},
                                                               {16, middle / 4}, {64, near},
                                                               {256, near / 2},  {1024, near / 8}};
    for (const auto& [stride, size] : strides) {
        probes.add("stride", stride, load, f32, size, {.per_thread = 2});
        if (stride != 8 && stride < 1024) probes.add("stride", stride, store, f32, size);
    }
    probes.add("aos", 64, load, f32, middle / 4);
    probes.add("aos", 128, load, f64, middle / 4, {.per_thread = 2});
    probes.add("stride", 4, rmw, f32, middle);
    probes.add("stride", 16, rmw, f32, middle / 4, {.per_thread = 2});
    probes.add("scatter", 2 * far, load, f32, middle / 4, {.per_thread = 2});
    probes.add("scatter", 4 * far, load, f32x4, middle / 2);
    probes.add("scatter", 2 * far, store, f32, middle / 4);
    probes.add("scatter", far, rmw, f32, middle / 4);
    probes.add("transpose", 4096, copy, f32, far, {.variant = "padded"});
}

void add_atomics_and_one_line(Probes& probes, const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    probes.add("scatter", 4 * kibibyte, store, f32, mebibyte);
    probes.add("scatter", 16 * kibibyte, store, f32, 4 * mebibyte);
    probes.add("scatter", 2 * kibibyte, store, u8, mebibyte, {.per_thread = 2});
    probes.add("scatter", 4 * kibibyte, rmw, f32, mebibyte);
    for (const std::uint64_t region : {8 * kibibyte, 16 * kibibyte, 32 * kibibyte})
        probes.add("scatter", region, rmw, f32, 4 * mebibyte);
    probes.add("scatter", 16 * kibibyte, rmw, u32, 8 * mebibyte);
    for (const Op op : {reduce, atomic}) {
        probes.add("offset", 0, op, f32, middle);
        probes.add("offset", 0, op, u32, near, {.is_warm = true});
    }
    probes.add("scatter", 4 * kibibyte, reduce, u32, 4 * mebibyte);
    probes.add("scatter", 64 * kibibyte, reduce, u32, middle / 4);
    probes.add("broadcast", 8, reduce, u32, middle / 4);
    probes.add("scatter", near, atomic, u32, near, {.is_warm = true});
    probes.add("stride", 8, reduce, f32, near / 2, {.is_warm = true});
}

void add_near_memories(Probes& probes, const Sizes& sizes) {
    const std::uint64_t middle = sizes.middle_bytes;
    for (const std::uint64_t stride : {1u, 8u, 32u})
        probes.add("shared-stride", stride, load, f32, middle);
    probes.add("shared-stride", 2, load, f64, middle);
    probes.add("shared-random", 4 * kibibyte, load, f32, middle);
    probes.add("shared-random", 32 * kibibyte, load, f32, sizes.near_bytes);
    for (const std::uint64_t addresses : {1u, 8u, 16u, 32u})
        probes.add("constant", addresses, load, f32, middle);
    probes.add("scatter", 16 * kibibyte, load, f32, sizes.near_bytes, {.is_warm = true});
    probes.add("scatter", 16 * kibibyte, load, f32, middle, {.per_thread = 4, .is_warm = true});
    probes.add("scatter", 4 * kibibyte, load, f32x4, middle, {.is_warm = true});
}

// Everyday kernels, for effects that no single part shows.
void add_mixture(Probes& probes, const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    probes.add("soa", 16, copy, f32, middle, {.per_thread = 2});
    probes.add("aos", 24, rmw, f64, middle / 2);
    probes.add("offset", 3, store, u16, middle, {.per_thread = 4});
    probes.add("permute", 5, copy, f32x2, middle, {.block = 128});
    probes.add("broadcast", 8, load, f64, middle, {.per_thread = 2});
    probes.add("row", 1544, rmw, f32x2, middle / 2);
    probes.add("transpose", 2048, copy, f32, middle / 2, {.variant = "tile"});
    probes.add("offset", 1, add, f32, middle, {.block = 512});
}

Sizes sizes_on(const Machine& machine) {
    const std::uint64_t l2_bytes = machine.board ? machine.board->l2_bytes.value_or(0) : 0;
    const std::uint64_t near = std::clamp(std::bit_floor(l2_bytes / 4), mebibyte, 64 * mebibyte);
    const std::uint64_t far = std::bit_ceil(4 * std::max(l2_bytes, near));
    return {.near_bytes = near, .middle_bytes = far / 4, .far_bytes = far};
}

struct StreamRecipe {
    double SimRates::*rate;
    double of_element;  // units of the rate
    std::string index;
    Op op;
    ElementType type;
    std::uint64_t shorter_bytes;
    Shape shape = {};
};

// All but the last four read data that L2 holds, again and again.
std::vector<StreamRecipe> recipes(const Sizes& sizes) {
    const auto [near, middle, far] = sizes;
    const auto again = [&](std::string_view index, std::uint64_t element_bytes) {
        return fmt::format("{} & {}", index, near / element_bytes - 1);
    };
    const Shape several{.per_thread = 4, .is_warm = true};
    return {
        {&SimRates::blocks_per_second,
         1.0 / 32,
         "i",
         load,
         u8,
         near,
         {.block = 32, .is_warm = true}},
        // One sector of each line.
        {&SimRates::read_requests_per_second, 1, again("(i*32)", 4), load, f32, middle / 2,
         several},
        {&SimRates::sectors_per_second, 0.5, again("i", 16), load, f32x4, far, several},
        // One whole sector of each line.
        {&SimRates::write_requests_per_second, 0.5, again("(i/2*8 + i%2)", 16), store, f32x4,
         middle, several},
        {&SimRates::partial_writes_per_second, 1, again("(i*8)", 4), store, f32, middle / 2,
         several},
        {&SimRates::reductions_per_second, 1.0 / 8, again("i", 4), reduce, f32, middle, several},
        // Eight words of one line, by each warp.
        {&SimRates::line_reductions_per_second,
         1.0 / 32,
         "i & 7",
         reduce,
         u32,
         near / 2,
         {.is_warm = true}},
        {&SimRates::dram_read_bytes_per_second, 16, "i", load, f32x4, far},
        {&SimRates::dram_write_bytes_per_second, 16, "i", store, f32x4, far},
        // 64 bytes of every second row.
        {&SimRates::dram_rows_per_second, 1, "i*128", load, f32, far / 64},
        // A word of each line.
        {&SimRates::dram_turns_per_second, 1, "i*32", rmw, f32, far / 32},
    };
}

}  // namespace

std::vector<SimStream> simulation_streams(const Machine& machine, std::uint64_t most_bytes) {
    std::vector<SimStream> streams;
    for (const StreamRecipe& one : recipes(sizes_on(machine))) {
        Probes probes(machine, most_bytes);
        for (const std::uint64_t bytes : {one.shorter_bytes, 2 * one.shorter_bytes})
            probes.add_formula(one.index, one.op, one.type, bytes, one.shape);
        std::vector<Probe> both = probes.take();
        if (both.size() < 2) continue;  // no memory for it
        const double more = static_cast<double>(both[1].plan.program.threads) -
                            static_cast<double>(both[0].plan.program.threads);
        streams.push_back(
            {one.rate, std::move(both[0]), std::move(both[1]), more * one.of_element});
    }
    return streams;
}

std::vector<Probe> calibration_probes(const Machine& machine, std::uint64_t most_bytes) {
    const Sizes sizes = sizes_on(machine);
    Probes probes(machine, most_bytes);
    add_small(probes);
    add_blocks_and_latency(probes, sizes);
    add_l2(probes, sizes);
    add_dram(probes, sizes);
    add_atomics_and_one_line(probes, sizes);
    add_near_memories(probes, sizes);
    add_mixture(probes, sizes);
    return probes.take();
}

}  // namespace coalprof
