// What a table can show: one item per counter, or one for several counters that say the same. Here
// lives how counters are headed and which matter more; what fits is the layout's decision.
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct ItemHeading {
    std::string_view line1;      // of the column; the unit of its numbers takes the second line
    std::string_view line2;      //   where that is empty
    std::string_view phrase;     // in running text: "L2 read sectors"
    int importance;              // the higher, the sooner it is left out
    bool never_hoisted = false;  // stays a column even when it is the same in every point
};

struct TableItem {
    // At least one. Several: loads and stores that are equal in every point, or one counter of
    // each kind of instruction where each point has only one kind.
    std::vector<Counter> counters;
    std::string_view group;  // headline over neighbours: "loads"; empty: none
    const ItemHeading* heading = nullptr;
};

// How much of what moved was used: what colours and bars are for.
bool is_efficiency(const TableItem& item);
bool is_sectors(const TableItem& item);
bool is_ideal_sectors(const TableItem& item);
// Whether none was measured of a point, of loads or of others.
bool lacks_efficiency(const Point& point);
bool is_sectors_per_request(const TableItem& item);

// The reading that the item shows of a point; absent where the point was not measured.
const Reading& predicted_reading(const TableItem& item, const Point& point);
const Reading& measured_reading(const TableItem& item, const Point& point);
// The interval of what is predicted; nullptr where that is exact, or not there.
const Interval* interval_of(const TableItem& item, const Point& point);

// The kinds of instruction that a point executed, by its readings: those of global memory in the
// order of AccessKind, then loads and stores of shared memory.
inline constexpr std::array<std::string_view, access_kinds.size() + 2> kind_names{
    "load", "store", "atomic", "reduce", "shared_load", "shared_store"};
using Kinds = std::bitset<kind_names.size()>;
Kinds kinds_of(const Point& point);

// "load sectors", "L1 hit sectors": a counter in running text.
std::string phrase_of(Counter counter);

// A piece of running text about an item of this group.
struct GroupedText {
    std::string_view group;
    std::string text;
    friend bool operator==(const GroupedText&, const GroupedText&) = default;
};
// "requests 4, lines 8 (loads); L1 hit sectors 0": neighbours of one group together.
std::string list_by_group(const std::vector<GroupedText>& texts);

struct TableItems {
    std::vector<TableItem> items;  // in the order in which a table shows them
    bool are_merged = false;       // over kinds of instruction, of which each point has one
};
TableItems items_of(const std::vector<Point>& points);

}  // namespace coalprof
