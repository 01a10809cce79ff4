// How a table is to look, decided from the points that are known: which columns there are, how
// wide, in which units; what is said once above them; what finds no room.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/write/number_text.h"
#include "core/write/table_decision.h"
#include "core/write/table_style.h"

namespace coalprof {

struct TableColumn {
    enum class Shows : std::uint8_t { name, parameter, kind, reading, bar };
    Shows shows = Shows::name;
    std::string parameter;     // its key
    std::size_t position = 0;  // where that parameter usually stands
    TableItem item;
    bool from_measurement = false;  // which of the item's two readings
    NumberStyle number;
    bool is_left_aligned = false;
    bool is_colored = false;
    std::array<std::string, 3> heading;  // name, name or unit, where the numbers come from
    std::size_t width = 0;
};

struct HoistedParameter {
    std::string key;
    Value value;
};

struct TableLayout {
    std::vector<TableColumn> columns;
    std::vector<ItemDecision> decisions;
    std::array<bool, counter_count> is_decided{};
    std::vector<HoistedParameter> hoisted_parameters;
    bool has_measurements = false;
};

// At least one point. `is_complete`: no others will come, so that numbers need no room to grow.
TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style, bool is_complete);

// Whether the layout says the truth about one more point (widths aside).
bool holds_for(const TableLayout& layout, const Point& point);

// "requests 32,768, lines 65,536 (loads and stores, each); L1 hit sectors 0": what every row has.
std::string hoisted_text(const TableLayout& layout, const TableStyle& style);

// One reading of an item on its own: "4 MiB", "80 %", "n/a".
std::string number_with_unit(const TableItem& item, const Reading& reading, bool from_measurement,
                             const TableStyle& style);

// Whether predictions of the item are estimates: its unit is a rate.
bool is_estimated(const TableItem& item);

}  // namespace coalprof
