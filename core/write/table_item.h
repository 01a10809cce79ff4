// What a table can show: one item per counter, or one for several counters that say the same. Here
// lives how counters are headed and which matter more; what fits is the layout's decision.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// How an item of several counters stands for them.
enum class Join : std::uint8_t {
    single,  // one counter
    alike,   // loads and stores, equal in every point
    merged,  // each point has exactly one of them: its own kind of instruction
};

struct TableItem {
    std::vector<Counter> counters;  // at least one
    Join join = Join::single;
    std::string_view group;   // headline over neighbours: "loads"; empty: none
    std::string_view line1;   // heading, two lines; a unit that depends on the numbers is added to
    std::string_view line2;   //   the second one
    std::string_view phrase;  // in running text: "L2 read sectors"
    int importance = 0;       // the higher, the sooner it is left out
    bool never_hoisted = false;  // stays a column even when it is the same in every point
};

// How much of what moved was used: what colours and bars are for.
bool is_efficiency(Counter counter);

// The reading that the item shows of a point.
const Reading& reading_of(const TableItem& item, const Readings& readings);

// The kinds of instruction that a point executed, by its readings: those of global memory in the
// order of AccessKind, then loads and stores of shared memory.
inline constexpr std::array<std::string_view, access_kinds.size() + 2> kind_names{
    "load", "store", "atomic", "reduce", "shared_load", "shared_store"};
struct Kinds {
    std::array<bool, kind_names.size()> seen{};
    int count() const;
};
Kinds kinds_of(const Point& point);

// "load sectors", "L1 hit sectors": a counter in running text.
std::string phrase_of(Counter counter);

// A piece of running text about an item of this group.
struct GroupedText {
    std::string_view group;
    std::string text;
};
// "requests 4, lines 8 (loads); L1 hit sectors 0": neighbours of one group together.
std::string list_by_group(const std::vector<GroupedText>& texts);

// The items of these points, in the order in which a table shows them.
std::vector<TableItem> items_of(const std::vector<Point>& points);

}  // namespace coalprof
