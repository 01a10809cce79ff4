#include "core/result/json_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

// nlohmann's reader calls these as it goes through the text; nothing recurses, so that depth costs
// no stack, and too much of it ends the reading.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
    explicit TreeBuilder(std::string_view file) : file_(file) {}

    bool null() override { return put(FileValue::Kind::other, "null"); }
    bool boolean(bool) override { return put(FileValue::Kind::other, "true or false"); }
    bool number_integer(number_integer_t number) override {
        if (!put(FileValue::Kind::integer, "an integer")) return false;
        last_->integer = number;
        return true;
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (number > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
            return put(FileValue::Kind::other, "an integer of more than 63 bits");
        return number_integer(static_cast<number_integer_t>(number));
    }
    bool number_float(number_float_t, const string_t&) override {
        return put(FileValue::Kind::other, "a number that is no integer");
    }
    bool string(string_t& text) override {
        if (!put(FileValue::Kind::text, "text")) return false;
        last_->text = std::move(text);
        return true;
    }
    bool binary(binary_t&) override { return put(FileValue::Kind::other, "binary"); }
    bool start_object(std::size_t) override { return open(FileValue::Kind::table, "a table"); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(FileValue::Kind::list, "a list"); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        FileValue& table = *open_.back();
        const bool is_new =
            std::none_of(table.members.begin(), table.members.end(),
                         [&](const FileMember& member) { return member.name == name; });
        if (!is_new)
            throw UsageError(
                fmt::format("{}: {}: '{}' comes twice", file_, place_of(table), shown(name)));
        if (table.members.size() == max_config_names)
            throw UsageError(fmt::format("{}: {}: more than {} names in one table", file_,
                                         place_of(table), max_config_names));
        FileValue member;
        member.where = fmt::format("{}/{}", table.where, shown(name));
        table.members.push_back({std::move(name), std::move(member)});
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
        error_position_ = position;
        return false;
    }

    FileValue take() { return std::move(root_); }
    std::size_t error_position() const { return error_position_; }

 private:
    static std::string place_of(const FileValue& value) {
        return value.where.empty() ? "/" : value.where;
    }

    // The place of the next value: the root, a new item, or the member just named.
    FileValue* next() {
        if (open_.empty()) return &root_;
        FileValue& parent = *open_.back();
        if (parent.kind == FileValue::Kind::table) return &parent.members.back().value;
        FileValue item;
        item.where = fmt::format("{}/{}", parent.where, parent.items.size());
        parent.items.push_back(std::move(item));
        return &parent.items.back();
    }
    bool put(FileValue::Kind kind, const char* type) {
        last_ = next();
        last_->kind = kind;
        last_->type = type;
        return true;
    }
    bool open(FileValue::Kind kind, const char* type) {
        put(kind, type);
        if (open_.size() == max_config_depth)
            throw UsageError(fmt::format("{}: {}: nested deeper than {} levels", file_,
                                         place_of(*last_), max_config_depth));
        open_.push_back(last_);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string file_;
    FileValue root_;
    FileValue* last_ = nullptr;
    // Values that are still open. A pointer stays good: its parent grows only after it is closed.
    std::vector<FileValue*> open_;
    std::size_t error_position_ = 0;
};

}  // namespace

FileValue parse_json(std::string_view text, std::string_view file) {
    if (text.size() > max_config_bytes)
        throw UsageError(fmt::format("{}: larger than {} bytes", shown(file), max_config_bytes));
    if (!is_valid_utf8(text)) throw UsageError(fmt::format("{}: not UTF-8 text", shown(file)));
    TreeBuilder builder(shown(file));
    if (!nlohmann::json::sax_parse(text, &builder)) {
        // The position counts from 1 and is that of the last character read.
        const std::size_t at = std::min(builder.error_position(), text.size());
        const std::string_view before = text.substr(0, at == 0 ? 0 : at - 1);
        const auto line = std::count(before.begin(), before.end(), '\n') + 1;
        throw UsageError(fmt::format("{}: line {}, column {}: not JSON", shown(file), line,
                                     before.size() - (before.rfind('\n') + 1) + 1));
    }
    return builder.take();
}

}  // namespace coalprof
