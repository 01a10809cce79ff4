#include <cupti_result.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/cupti_api.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(CuptiFailures, have_a_sentence_and_a_remedy) {
    int known = 0;
    for (int code = 1; code < 1000; ++code) {
        const std::string text = describe_cupti_failure(code, "count");
        if (text.find("CUPTI_ERROR_") == text.npos) continue;
        EXPECT_THAT(text,
                    MatchesRegex("cannot count: .*[^.] \\(CUPTI_ERROR_[A-Z0-9_]+\\)\\. .+\\."));
        ++known;
    }
    EXPECT_GT(known, 20);
}

TEST(CuptiFailures, carry_the_names_of_the_header) {
    const auto name_of = [](int code) {
        const std::string text = describe_cupti_failure(code, "x");
        const std::size_t begin = text.find('(') + 1;
        return text.substr(begin, text.find(')') - begin);
    };
    EXPECT_EQ(name_of(CUPTI_ERROR_HARDWARE_BUSY), "CUPTI_ERROR_HARDWARE_BUSY");
    EXPECT_EQ(name_of(CUPTI_ERROR_INVALID_METRIC_NAME), "CUPTI_ERROR_INVALID_METRIC_NAME");
    EXPECT_EQ(name_of(CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED),
              "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED");
    EXPECT_EQ(name_of(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED),
              "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED");
}

TEST(CuptiFailures, tell_what_could_not_be_done_why_and_what_to_do) {
    EXPECT_EQ(describe_cupti_failure(26, "start counting"),
              "cannot start counting: another profiler holds the GPU's counters "
              "(CUPTI_ERROR_HARDWARE_BUSY). Pause DCGM with `dcgmi profile --pause` (later "
              "--resume), stop dcgm-exporter, and close nsys, ncu and other CUPTI tools on this "
              "GPU.");
    const std::string restricted = describe_cupti_failure(35, "start counting");
    for (const char* part : {"CAP_SYS_ADMIN", "CAP_PERFMON", "--cap-add=SYS_ADMIN",
                             "NVreg_RestrictProfilingToAdminUsers=0"})
        EXPECT_THAT(restricted, HasSubstr(part));
}

TEST(CuptiFailures, pass_on_codes_that_they_do_not_know) {
    EXPECT_THAT(describe_cupti_failure(4711, "start counting"), HasSubstr("4711"));
}

TEST(CuptiFailures, are_thrown_unless_the_code_is_success) {
    EXPECT_NO_THROW(check_cupti(0, "x"));
    EXPECT_THROW(check_cupti(35, "x"), CountersError);
}

}  // namespace
}  // namespace coalprof
