// docs/coalprof.schema.json and docs/counters.md against the table of counters. Documents are held
// against the schema by the tests of the command line.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/result/counter.h"
#include "test_data.h"

namespace coalprof {
namespace {

nlohmann::json schema() {
    std::ifstream stream(test_data_folder() + "/../../docs/coalprof.schema.json");
    return nlohmann::json::parse(stream);
}

TEST(Schema, lists_exactly_the_counters_in_their_order) {
    nlohmann::json keys = nlohmann::json::array();
    for (const CounterInfo& counter : all_counters()) keys.push_back(counter.key);
    EXPECT_EQ(schema()["$defs"]["counter"]["enum"], keys);
}

// The guide speaks of the four kinds of access at once: load_sectors is in it as OP_sectors.
std::string key_in_guide(const CounterInfo& counter) {
    constexpr std::size_t access_counters = access_kinds.size() * access_field_count;
    const std::string key(counter.key);
    if (static_cast<std::size_t>(counter.counter) >= access_counters) return key;
    return "OP" + key.substr(key.find('_'));
}

TEST(Guide, explains_every_counter) {
    std::ifstream stream(test_data_folder() + "/../../docs/counters.md");
    std::ostringstream guide;
    guide << stream.rdbuf();
    for (const CounterInfo& counter : all_counters())
        EXPECT_NE(guide.str().find('`' + key_in_guide(counter) + '`'), std::string::npos)
            << counter.key;
}

TEST(Schema, readings_hold_nothing_but_counters) {
    EXPECT_EQ(schema()["$defs"]["readings"]["propertyNames"]["$ref"], "#/$defs/counter");
}

}  // namespace
}  // namespace coalprof
