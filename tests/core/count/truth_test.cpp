// Holds the model against counters measured on an H200 (tests/data/h200/README.md).
#include "core/count/truth.h"

#include <fmt/format.h>

#include "core/count/predict.h"
#include "core/formula/index_of.h"

namespace coalprof {
namespace {

// The promise: not one mismatch in any counter of any warp.
TEST(MeasuredWarps, every_counter_of_every_global_warp_is_predicted_exactly) {
    const Predictor predictor(find_machine("h200"));
    std::size_t compared = 0;
    for (const auto& warp : truth::read_warps("h200/warps_global")) {
        Readings readings;
        predictor.predict_warp(warp.access, readings);
        for (const auto& [key, measured] : warp.counters) {
            const auto counter = find_counter(key);
            ASSERT_TRUE(counter.has_value()) << key;
            const Reading& predicted = readings[*counter];
            ASSERT_TRUE(std::holds_alternative<std::uint64_t>(predicted))
                << warp.name << " " << key;
            EXPECT_EQ(std::get<std::uint64_t>(predicted), measured) << warp.name << " " << key;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 2332u);  // the rows of the file: nothing was skipped
}

Plan affine_plan(const std::string& op, std::uint64_t offset, std::uint64_t stride) {
    Plan plan;
    const std::uint64_t threads = 1u << 20;
    const Formula formula = index_of(fmt::format("i*{} + {}", stride, offset), threads);
    Program& program = plan.program;
    program.threads = threads;
    program.block = 256;
    program.arrays = {{"a", 4, threads * stride + offset}};
    if (op != "store")
        program.instructions.push_back({AccessKind::load, Space::global, 4, 0, formula});
    if (op != "load")
        program.instructions.push_back({AccessKind::store, Space::global, 4, 0, formula});
    return plan;
}

// Whole kernels: what the model calls deterministic must equal the measurement, and what it calls
// unavailable must be something that the misaligned or overlapping kernels cannot decide.
TEST(MeasuredKernels, every_deterministic_counter_of_the_sweeps_is_predicted_exactly) {
    const Predictor predictor(find_machine("h200"));
    auto rows = truth::open_data("h200/sweeps.csv");
    std::string row, cell;
    std::getline(rows, row);
    std::vector<std::string> header;
    for (std::istringstream cells(row); std::getline(cells, cell, ',');) header.push_back(cell);
    std::size_t compared = 0;
    while (std::getline(rows, row)) {
        std::map<std::string, std::string> at;
        std::istringstream cells(row);
        for (const auto& name : header) std::getline(cells, at[name], ',');
        const std::uint64_t offset = std::stoull(at["offset"]);
        const Readings readings =
            predictor.predict_launch(affine_plan(at["op"], offset, std::stoull(at["stride"])), {});
        for (const char* key :
             {"load_requests", "store_requests", "load_sectors", "store_sectors", "l1_hit_sectors",
              "l2_read_requests", "l2_read_sectors", "l2_write_requests", "l2_write_sectors"}) {
            const Reading& predicted = readings[*find_counter(key)];
            if (!is_number(predicted)) {
                const bool shared = offset % 32 != 0;  // a warp's 128 bytes straddle lines
                EXPECT_TRUE(shared || std::stoull(at[key]) == 0) << row << " " << key;
                continue;
            }
            EXPECT_EQ(std::get<std::uint64_t>(predicted), std::stoull(at[key])) << row << key;
            ++compared;
        }
    }
    EXPECT_GT(compared, 150u);
}

}  // namespace
}  // namespace coalprof
