// A table as a value: made once from points of a result, rendered as text, Markdown, LaTeX and
// HTML. Its cells are text that is ready to be read; a format decides their layout, never their
// content.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/write/table_style.h"
#include "core/write/text_buffer.h"

namespace coalprof {

// The quality of a number, where there is one: shown as colour.
enum class Shade : std::uint8_t { none, good, fair, poor };

struct TableCell {
    std::string text;
    Shade shade = Shade::none;
};

struct TableColumn {
    std::array<std::string, 3> heading = {};  // name, name or unit, source of the numbers
    std::string group = {};                   // named over neighbours: "loads"
    bool is_left_aligned = false;
};

// "loads: sectors/request": a heading as one line.
std::string with_group(const TableColumn& column);

struct TableRow {
    std::string_view group = {};  // named above the first of its rows
    std::vector<TableCell> cells = {};
};

// Every row has a cell for each column: the last cells of a row may be left out, and are empty
// then.
class TableGrid {
 public:
    TableGrid() = default;
    explicit TableGrid(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
    void add(TableRow row) {
        row.cells.resize(columns_.size());
        rows_.push_back(std::move(row));
    }
    const std::vector<TableColumn>& columns() const { return columns_; }
    const std::vector<TableRow>& rows() const { return rows_; }

 private:
    std::vector<TableColumn> columns_;
    std::vector<TableRow> rows_;
};

struct TableNote {
    enum class Rank : std::uint8_t { verdict, plain, aside };
    Rank rank = Rank::plain;
    std::string text;
};

struct Table {
    std::vector<std::string> above = {};  // title or name; each begins a line
    std::string facts = {};               // shared by all rows; less important
    TableGrid grid = {};                  // it has no columns where none is shown
    std::vector<TableNote> notes = {};
};

// A format of tables. It gets the tables of a result one after the other: a heading equal to the
// last one is not repeated.
class TableRenderer {
 public:
    virtual ~TableRenderer() = default;
    virtual void put(TextBuffer& out, const Table& table) = 0;
};

// The formats of tables: aligned text for people, and tables within documents.
std::unique_ptr<TableRenderer> make_text_renderer(const TableStyle& style);
std::unique_ptr<TableRenderer> make_markdown_renderer();
std::unique_ptr<TableRenderer> make_latex_renderer();

// One table within a page.
std::string html_of(const Table& table);

}  // namespace coalprof
