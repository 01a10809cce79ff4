#include <gmock/gmock.h>

#include "core/result/counter.h"

namespace coalprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(CounterWords, of_a_table_are_told_by_their_keys) {
    EXPECT_THAT(hint_for_counter("bytes/sector"),
                AllOf(HasSubstr("load_bytes_per_sector"), Not(HasSubstr("conflict"))));
    EXPECT_THAT(hint_for_counter("conflicts"), HasSubstr("shared_load_conflicts"));
}

TEST(CounterWords, that_end_as_keys_do_name_those) {
    EXPECT_THAT(hint_for_counter("some_dram_read_bytes"),
                AllOf(HasSubstr("'dram_read_bytes'"), Not(HasSubstr("load_"))));
    EXPECT_THAT(hint_for_counter("qqq"), Not(HasSubstr("there are")));
}

}  // namespace
}  // namespace coalprof
