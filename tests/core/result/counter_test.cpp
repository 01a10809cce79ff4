#include "core/result/counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace coalprof {
namespace {

TEST(Counter, table_holds_each_key_once) {
    std::set<std::string_view> keys;
    for (const CounterInfo& row : all_counters()) keys.insert(row.key);
    EXPECT_EQ(keys.size(), counter_count);
}

TEST(Counter, info_answers_for_the_counter_asked) {
    for (const CounterInfo& row : all_counters()) {
        EXPECT_EQ(info(row.counter).key, row.key);
        EXPECT_EQ(find_counter(row.key), row.counter);
    }
}

TEST(Counter, an_unknown_key_is_no_counter) {
    EXPECT_EQ(find_counter("load_sector"), std::nullopt);
    EXPECT_EQ(find_counter(""), std::nullopt);
    EXPECT_EQ(find_counter("LOAD_SECTORS"), std::nullopt);
}

TEST(Counter, access_counter_finds_the_key_of_kind_and_field) {
    EXPECT_EQ(key_of(access_counter(AccessKind::load, AccessField::requests)), "load_requests");
    EXPECT_EQ(key_of(access_counter(AccessKind::atomic, AccessField::efficiency)),
              "atomic_efficiency");
    EXPECT_EQ(key_of(access_counter(AccessKind::reduce, AccessField::transaction_bytes)),
              "reduce_transaction_bytes");
}

TEST(Counter, ratios_and_rates_are_real_and_totals_are_integers) {
    for (const CounterInfo& row : all_counters()) {
        const bool is_real = row.key.find("_per_") != std::string_view::npos ||
                             row.key.ends_with("_efficiency") || row.key.ends_with("_excess") ||
                             row.key.ends_with("_conflict_degree") ||
                             row.key == "duration_seconds" || row.key.ends_with("_share");
        EXPECT_EQ(row.is_integer, !is_real) << row.key;
    }
}

TEST(Counter, says_which_way_is_better) {
    for (const auto& [counter, better] : {std::pair{Counter::load_ideal_sectors, Better::neither},
                                          {Counter::store_unique_bytes, Better::neither},
                                          {Counter::useful_bytes, Better::neither},
                                          {Counter::bandwidth_bytes_per_second, Better::more},
                                          {Counter::bandwidth_share, Better::more},
                                          {Counter::load_bytes_per_sector, Better::more},
                                          {Counter::store_efficiency, Better::more},
                                          {Counter::l1_hit_sectors, Better::more},
                                          {Counter::load_sectors, Better::less},
                                          {Counter::duration_seconds, Better::less}})
        EXPECT_EQ(info(counter).better, better) << key_of(counter);
}

TEST(Counter, units_follow_from_the_names) {
    for (const CounterInfo& row : all_counters()) {
        if (row.key.ends_with("_sectors")) {
            EXPECT_EQ(row.unit, Unit::sector) << row.key;
        }
        if (row.key.ends_with("_bytes")) {
            EXPECT_EQ(row.unit, Unit::byte) << row.key;
        }
        if (row.key.ends_with("_requests") || row.key.ends_with("_wavefronts")) {
            EXPECT_EQ(row.unit, Unit::one) << row.key;
        }
    }
    EXPECT_EQ(name_of(info(Counter::bandwidth_bytes_per_second).unit), "byte/s");
    EXPECT_EQ(name_of(info(Counter::load_efficiency).unit), "ratio");
}

TEST(Counter, every_meaning_is_one_sentence) {
    for (const CounterInfo& row : all_counters()) {
        EXPECT_GT(row.meaning.size(), 20u) << row.key;
        EXPECT_TRUE(row.meaning.ends_with('.')) << row.key;
        EXPECT_EQ(row.meaning.find(". "), std::string_view::npos) << row.key;
    }
}

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
