#include "core/result/document.h"

#include <fmt/format.h>

#include <optional>

#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

namespace {

std::vector<std::pair<std::string, std::vector<Value>>> lists_in(JsonView row) {
    std::vector<std::pair<std::string, std::vector<Value>>> lists;
    for (const JsonView member : row) {
        if (!member.is_list()) continue;
        std::vector<Value>& values = lists.emplace_back(member.name(), std::vector<Value>()).second;
        for (const JsonView item : member)
            if (std::optional<Value> value = item.value()) values.push_back(std::move(*value));
    }
    return lists;
}

}  // namespace

SavedDocument::SavedDocument(ByteSource& source, std::string file)
    : file_(std::move(file)), stream_(source) {
    switch (stream_.next()) {
        case JsonStream::Step::value: break;
        case JsonStream::Step::end: refuse("the file is empty");
        case JsonStream::Step::cut:
            refuse("the file ends within the document: it was cut, or is still being written");
        case JsonStream::Step::wrong: refuse(stream_.problem());
    }
    if (!read([](JsonView document) { return is_readable_schema(document); }))
        refuse("its schema is newer than this coalprof, which reads coalprof/1");
}

void SavedDocument::refuse(const std::string& why) const {
    throw UsageError(fmt::format("{}:{}: {}", shown(file_), stream_.line(), why));
}

SavedList list_from(JsonView document) {
    SavedList saved;
    ListDocument& list = saved.list;
    for (const JsonView member : document) {
        if (member.is_list() && list.key.empty()) {
            list.key = member.name();
            for (const JsonView row : member)
                list.rows.push_back({values_from(row, list.key), lists_in(row)});
        } else if (member.name() == "meta") {
            read_origin(member, saved.head);
        } else if (const auto value = member.value(); value && member.name() != "schema") {
            list.more.emplace_back(member.name(), *value);
        }
    }
    return saved;
}

}  // namespace coalprof
