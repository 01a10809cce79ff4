// The layout of a table of these points: its columns and their units, with the cells of all points;
// the text above it; counters that do not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/write/number_text.h"
#include "core/write/table.h"
#include "core/write/table_items.h"

namespace coalprof {

// Facts about an item over all points of a table: do prediction and measurement agree, is it the
// same everywhere? They decide where the item is shown.
enum class Relation : std::uint8_t {
    none,       // no number in any point
    predicted,  // only predicted
    measured,   // measured; existing predictions agree, but some are missing
    agreed,     // both, equal in every point that did not fail
    differing,  // both
};

// Estimates of several rows that differ by more, as a share, are shown each in its row.
inline constexpr double visible_difference = 0.02;

struct ItemFacts {
    TableItem item;
    Relation relation = Relation::none;
    bool is_constant = false;             // the same in every point, of which there are several
    bool is_prediction_constant = false;  // only it; measurements differ from it
    bool is_minor = false;     // hardly worth a column: n/a in most points, or given by another
    bool is_doubtful = false;  // estimates that hardly differ, and by less than their doubt
    bool is_estimate = false;  // the prediction below
    Reading prediction = {};   // the first point that did not fail; all points, if constant
    Reading measurement = {};
};

// At least one point.
ItemFacts facts_of(TableItem item, const std::vector<Point>& points);

// The largest width of a name or a text parameter; the rest is cut.
inline constexpr std::size_t text_cell_columns = 28;
inline constexpr std::size_t column_gap = 2;
// Shown where a point has no value, be it that there is none or that it does not concern the point.
inline constexpr std::string_view not_there = "n/a";

enum class Place : std::uint8_t {
    column,    // one for each of its needed readings
    above,     // it is the same in every point
    left_out,  // no room
    nowhere,   // no point has a useful number
};

struct PlacedItem {
    ItemFacts facts;
    Place place = Place::column;
};

struct LaidColumn {
    TableColumn shown;
    std::vector<TableCell> cells;  // one cell for each point
    struct Doubt {
        double low = 0;
        double middle = -1;  // outside: an exact number
        double high = 0;
    };
    std::vector<Doubt> doubts = {};  // intervals of the points, if some are estimates
    std::size_t width = 0;           // width in columns of a terminal
    std::string parameter = {};      // that it shows; empty if there is none
    bool says_which_point = false;   // rather than its properties
};

struct TableLayout {
    std::vector<LaidColumn> columns;
    NamedValues constant_parameters;  // said once above
    std::vector<std::string> left_out_parameters;
    std::vector<PlacedItem> items;
    bool has_measurements = false;
    std::optional<Limit> limit;  // what limits the time of every point
    std::vector<GroupedText> facts;
    bool are_facts_near = false;  // some of them are ranges
};

// At least one point.
TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style);

// One reading of an item with its unit: "4 MiB", "80 %", "n/a".
std::string number_with_unit(const TableItem& item, const Reading& reading, bool is_estimate,
                             const TableStyle& style);
std::string value_text(const Value& value, std::size_t columns, bool ascii);
// The limit of the point's time, as a word.
std::string_view limit_of(const Point& point);

}  // namespace coalprof
