// Saved documents other than results, each read as a whole: lists, drawings, verifications. A
// result can be of any length; result_reader.h reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json/json_stream.h"
#include "core/json/value.h"
#include "core/result/parts.h"
#include "core/text/byte_source.h"

namespace coalprof {

class SavedDocument {
 public:
    // Reads the first value of the source. Throws UsageError with file and line unless it is a
    // document of coalprof with a known schema.
    SavedDocument(ByteSource& source, std::string file);

    // Applies `from` to the document. A PartError becomes a UsageError that names the file.
    template <typename From>
    auto read(From from) const {
        try {
            return from(stream_.value());
        } catch (const PartError& error) {
            refuse(error.what());
        }
    }

 private:
    [[noreturn]] void refuse(const std::string& why) const;

    std::string file_;
    JsonStream stream_;
};

// The output of commands that list things: rows under one key.
struct ListRow {
    NamedValues values;
    std::vector<std::pair<std::string, std::vector<Value>>> lists = {};  // lists follow the values
    friend bool operator==(const ListRow&, const ListRow&) = default;
};

struct ListDocument {
    std::string key;  // name of the list of rows
    std::vector<ListRow> rows;
    NamedValues more = {};  // values beside the rows; empty values are left out
};

// The output of `coalprof patterns --json` and the like.
struct SavedList {
    ResultHead head;  // version, command line and time
    ListDocument list;
};
SavedList list_from(JsonView document);

}  // namespace coalprof
