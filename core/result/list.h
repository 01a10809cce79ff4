// What commands print that list things: rows under one key.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json/value.h"

namespace coalprof {

struct ListRow {
    NamedValues values;
    std::vector<std::pair<std::string, std::vector<Value>>> lists = {};  // behind the values
    friend bool operator==(const ListRow&, const ListRow&) = default;
};

struct ListDocument {
    std::string key;  // of the rows
    std::vector<ListRow> rows;
    NamedValues more = {};  // beside them; what is empty is left out
};

}  // namespace coalprof
