// The hash table of the simulation against std::map.
#include "core/sim/line_table.h"

#include <gtest/gtest.h>

#include <map>

namespace coalprof {
namespace {

TEST(LineTable, holds_what_a_map_holds) {
    LineTable table;
    std::map<std::uint64_t, std::uint32_t> truth;
    std::uint64_t random = 7;
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const std::uint64_t line = random >> 33 & 0x3FF;  // so few that they come again
        if (truth.erase(line) != 0) {
            table.erase(line);
        } else {
            table.insert(line, i);
            truth[line] = i;
        }
    }
    for (std::uint64_t line = 0; line < 0x400; ++line) {
        const std::uint32_t* const found = table.find(line);
        const auto known = truth.find(line);
        ASSERT_EQ(found != nullptr, known != truth.end()) << line;
        if (found) {
            EXPECT_EQ(*found, known->second) << line;
        }
    }
}

}  // namespace
}  // namespace coalprof
