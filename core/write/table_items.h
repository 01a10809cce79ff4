// Items that a table can show: one for each counter, one for several equivalent counters, and one
// that follows from two. Their headings and their importance are here; table_layout decides which
// of them fit.
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct ItemHeading {
    std::string_view line1;      // the column's heading; the unit takes the second line
    std::string_view line2;      //   where that is empty
    std::string_view phrase;     // words in running text: "L2 read sectors"
    int importance;              // the higher, the sooner it is left out; see enough_to_know
    bool never_hoisted = false;  // stays a column even if it is the same in every point
};

// Items with a larger number than this are columns of a table only where the user asked for them,
// or where no more important item is.
inline constexpr int enough_to_know = 39;

struct TableItem {
    // At least one. Several: loads and stores that are equal in every point, or one counter of each
    // kind of instruction if each point has only one kind.
    std::vector<Counter> counters;
    std::string_view group;  // headline over neighbours: "loads"; empty if there is none
    const ItemHeading* heading = nullptr;
    bool is_per_request = false;  // form of ideal sectors

    // A point's reading; absent if it was not measured.
    Reading predicted(const Point& point) const { return in(point.predicted); }
    Reading measured(const Point& point) const {
        return point.measured ? in(*point.measured) : Reading{};
    }
    // The interval of a prediction; nullptr if that is exact, or absent.
    const Interval* interval(const Point& point) const;
    // "2.5" ideal sectors a request are no count, whatever the counter is.
    CounterInfo format() const;
    bool is(Counter counter) const { return counters.front() == counter; }
    bool is(AccessField field) const;

 private:
    Reading in(const Readings& readings) const;
};

// The kinds of instruction that a point executed, by its readings: those of global memory in the
// order of AccessKind, then loads and stores of shared memory.
inline constexpr std::array<std::string_view, access_kinds.size() + 2> kind_names{
    "load", "store", "atomic", "reduce", "shared_load", "shared_store"};
using Kinds = std::bitset<kind_names.size()>;
Kinds kinds_of(const Point& point);
bool uses_shared_memory_alone(const Point& point);

// "load sectors", "L1 hit sectors": a counter in running text.
std::string phrase_of(Counter counter);

// A piece of running text about an item of this group.
struct GroupedText {
    std::string_view group;
    std::string text;
};
// "requests 4, lines 8 (loads); L1 hit sectors 0": neighbours of one group together.
std::string list_by_group(const std::vector<GroupedText>& texts);

struct TableItems {
    std::vector<TableItem> items;  // the order is that of a table's columns
    bool are_merged = false;       // columns show several kinds of instruction, one a point
};
TableItems items_of(const ResultHead& head, const std::vector<Point>& points);

}  // namespace coalprof
