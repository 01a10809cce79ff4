// Tables as aligned text for people.
#pragma once

#include <memory>
#include <string>

#include "core/write/table.h"

namespace coalprof {

std::unique_ptr<TableRenderer> make_text_renderer(const TableStyle& style);

}  // namespace coalprof
