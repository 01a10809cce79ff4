// The formats of tables: aligned text for people, and tables within documents.
#pragma once

#include <memory>
#include <string>

#include "core/write/table.h"

namespace coalprof {

std::unique_ptr<TableRenderer> make_text_renderer(const TableStyle& style);
std::unique_ptr<TableRenderer> make_markdown_renderer();
std::unique_ptr<TableRenderer> make_latex_renderer();

// One table within a page.
std::string html_of(const Table& table);

}  // namespace coalprof
