// How a table of these points looks, decided once, before a row is printed: which columns there
// are, how wide, in which units; what is said once above them; what finds no room.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/write/labels.h"
#include "core/write/number_text.h"
#include "core/write/table_facts.h"
#include "core/write/table_style.h"

namespace coalprof {

struct TableColumn {
    enum class Shows : std::uint8_t { name, parameter, kind, reading, bar, limit };
    Shows shows = Shows::name;
    std::string parameter = {};  // its key
    TableItem item = {};
    bool from_measurement = false;  // which of the item's two readings
    NumberStyle number = {};
    bool is_left_aligned = false;
    bool is_colored = false;
    std::array<std::string, 3> heading = {};  // name, name or unit, where the numbers come from
    std::size_t width = 0;
    Labels labels = {};  // of texts, where some are too long for a cell
};

enum class Place : std::uint8_t {
    column,    // one for each of its readings that a reader needs, perhaps with a bar
    above,     // it is the same in every point
    left_out,  // no room
    nowhere,   // no point has a number
};

struct PlacedItem {
    ItemFacts facts;
    Place place = Place::column;
};

struct TableLayout {
    std::vector<TableColumn> columns;
    NamedValues constant_parameters;  // said once above
    std::vector<std::string> left_out_parameters;
    std::vector<PlacedItem> items;
    bool has_measurements = false;
    std::optional<Limit> limit;  // of the time of every point
};

// At least one point.
TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style);

// "requests 32,768, lines 65,536 (loads and stores, each); L1 hit sectors 0": what every row has.
std::string constants_text(const TableLayout& layout, const TableStyle& style);

// One reading of an item on its own: "4 MiB", "80 %", "n/a".
std::string number_with_unit(const TableItem& item, const Reading& reading, bool is_estimate,
                             const TableStyle& style);

}  // namespace coalprof
