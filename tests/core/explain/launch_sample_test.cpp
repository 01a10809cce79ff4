#include "core/explain/launch_sample.h"

#include <gtest/gtest.h>

#include "core/explain/explanation.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {
namespace {

FormulaSweep eight_warps(std::string text) {
    FormulaSweep sweep{.name = {}, .text = std::move(text), .parameters = {}, .settings = {}};
    sweep.settings.launch.type = ElementType::u32;
    sweep.settings.launch.shape.size_bytes = 1024;
    sweep.settings.machines = {find_machine("h200")};
    return sweep;
}

// Every load uses half of its 8 sectors, 128 of 256 bytes. The two of a take the two halves; of the
// three of b, 12 bytes apart, two are there: two thirds of 12 sectors, 256 of 384 bytes.
TEST(Explanation, says_what_the_other_loads_of_an_array_use_of_its_sectors) {
    const auto mends = [](std::string text) {
        std::vector<std::string> found;
        for (const ExplainedAccess& access :
             explanation_of(FormulaPoints({eight_warps(std::move(text))}).at(0).plan,
                            find_machine("h200"))
                 .accesses)
            found.push_back(access.reasons.mend);
        return found;
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    for (const std::string& mend : mends("load: a[2*i]; load: a[2*i + 1]"))
        EXPECT_TRUE(has(mend, "Nothing is wasted")) << mend;
    for (const std::string& mend : mends("load: b[3*i]; load: b[3*i + 1]"))
        EXPECT_TRUE(has(mend, "256 of the 384 bytes")) << mend;
    for (const std::string& mend : mends("load: a[2*i]; load: b[2*i + 1]"))
        EXPECT_FALSE(has(mend, "other loads")) << mend;
}

// Warp 0 updates 32 words, warp 7 one; the six between them 16, each with two lanes.
TEST(LaunchSample, of_atomics_on_shared_memory_goes_by_lanes_on_one_word) {
    const FormulaSweep sweep =
        eight_warps("shared.atomic: h[warp == 0 ? lane : warp == 7 ? 0 : lane / 2]");
    const Machine machine = find_machine("h200");
    const Program program = FormulaPoints({sweep}).at(0).plan.program;
    const WarpSample sample = sample_of(program, machine);
    EXPECT_EQ(sample.common, 1u);
    EXPECT_EQ(sample.worst, 7u);
}

}  // namespace
}  // namespace coalprof
