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
    CacheState cache() const { return is_warm ? CacheState::warm : CacheState::cold; }
};

class Probes {
 public:
    Probes(const Machine& machine, std::uint64_t most_bytes)
        : machine_(machine), most_bytes_(most_bytes) {}

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
        return fmt::format("--op {} --type {} --size {} --block {} --per-thread {} --cache {}",
                           name_of(*sweep.launch.op), name_of(sweep.launch.type),
                           size_as_typed(sweep.launch.shape), shape.block, shape.per_thread,
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
        {&SimRates::write_sectors_per_second, 1, again("(i*8)", 4), store, f32, middle / 2,
         several},
        {&SimRates::reductions_per_second, 1.0 / 8, again("i", 4), reduce, f32, middle, several},
        // All to one word, each lane for itself.
        {&SimRates::line_reductions_per_second,
         1,
         "i & 0",
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

}  // namespace coalprof
