#include "core/formula/toml_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_place.h"
#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}
// What numbers, dates and true are made of.
bool is_word(char c) { return is_bare(c) || c == '+' || c == '.' || c == ':'; }

class TomlReader {
 public:
    TomlReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    FileValue read() {
        FileValue root = value_at(0, FileValue::Kind::table, "a table");
        FileValue* table = &root;
        take("\xEF\xBB\xBF");  // a byte order mark, as some editors write
        for (skip_lines(); at_ < text_.size(); skip_lines()) {
            if (text_[at_] == '[') {
                table = read_header(root);
            } else {
                read_member(*table, 1);
            }
            end_line();
        }
        return root;
    }

 private:
    struct Key {
        std::string name;
        std::size_t at = 0;  // where it begins
    };

    [[noreturn]] void fail(const std::string& sentence) const { fail_at(at_, sentence); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& sentence) const {
        throw UsageError(fmt::format(
            "{}: {}", text_of(std::string(file_), PlaceFinder(text_).at(at)), sentence));
    }
    bool sees(std::string_view sign) const { return text_.substr(at_).starts_with(sign); }
    bool take(std::string_view sign) {
        if (!sees(sign)) return false;
        at_ += sign.size();
        return true;
    }
    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    // Blanks, line ends and comments.
    void skip_lines() {
        for (;;) {
            skip_blanks();
            if (sees("#"))
                while (at_ < text_.size() && text_[at_] != '\n') ++at_;
            if (!take("\n") && !take("\r\n")) return;
        }
    }
    void end_line() {
        skip_blanks();
        if (at_ == text_.size() || sees("#") || sees("\n") || sees("\r\n")) return;
        fail("expected the end of the line");
    }

    static FileValue value_at(std::size_t at, FileValue::Kind kind, const char* type) {
        FileValue value;
        value.at = at;
        value.kind = kind;
        value.type = type;
        return value;
    }

    // None where a name would be new; throws where there is no room for a new one.
    FileValue* find(FileValue& table, std::string_view name) const {
        for (FileMember& member : table.members)
            if (member.name == name) return &member.value;
        if (table.members.size() == max_config_names)
            fail(fmt::format("more than {} names in one table", max_config_names));
        return nullptr;
    }

    // [a], [a.b], [[a]] or [[a.b]]; answers the table that the following keys belong to.
    FileValue* read_header(FileValue& root) {
        const std::size_t header = at_;
        const bool is_list = sees("[[");
        at_ += is_list ? 2 : 1;
        FileValue* table = &root;
        for (std::size_t depth = 1;; ++depth) {
            if (depth > max_config_depth)
                fail(fmt::format("nested deeper than {} levels", max_config_depth));
            skip_blanks();
            const Key key = read_key();
            skip_blanks();
            if (take(".")) {
                table = enter(*table, key, header);
                continue;
            }
            if (!take(is_list ? "]]" : "]")) fail(is_list ? "expected ']]'" : "expected ']'");
            return is_list ? add_item(*table, key, header) : add_table(*table, key, header);
        }
    }
    // The table of that name, or the last of a list of them; a new one where there is none.
    FileValue* enter(FileValue& table, const Key& key, std::size_t header) const {
        FileValue* member = find(table, key.name);
        if (member == nullptr) return add_table(table, key, header);
        if (member->kind == FileValue::Kind::list && !member->items.empty())
            member = &member->items.back();
        if (member->kind != FileValue::Kind::table)
            fail_at(key.at, fmt::format("'{}' is no table", shown(key.name)));
        return member;
    }
    FileValue* add_table(FileValue& table, const Key& key, std::size_t header) const {
        require_new(table, key);
        table.members.push_back(
            {key.name, key.at, value_at(header, FileValue::Kind::table, "a table")});
        return &table.members.back().value;
    }
    FileValue* add_item(FileValue& table, const Key& key, std::size_t header) const {
        FileValue* list = find(table, key.name);
        if (list == nullptr) {
            table.members.push_back(
                {key.name, key.at, value_at(header, FileValue::Kind::list, "a list")});
            list = &table.members.back().value;
        }
        if (list->kind != FileValue::Kind::list)
            fail_at(key.at, fmt::format("'{}' is no list", shown(key.name)));
        list->items.push_back(value_at(header, FileValue::Kind::table, "a table"));
        return &list->items.back();
    }
    void require_new(FileValue& table, const Key& key) const {
        if (find(table, key.name) != nullptr)
            fail_at(key.at, fmt::format("'{}' comes twice", shown(key.name)));
    }

    Key read_key() {
        const std::size_t begin = at_;
        if (sees("\"") || sees("'")) return {read_text().text, begin};
        while (at_ < text_.size() && is_bare(text_[at_])) ++at_;
        if (at_ == begin) fail("expected a name");
        return {std::string(text_.substr(begin, at_ - begin)), begin};
    }

    void read_member(FileValue& table, std::size_t depth) {
        const Key key = read_key();
        require_new(table, key);
        skip_blanks();
        if (sees(".")) fail("names with dots are not read here: write { ... } or a [table]");
        if (!take("=")) fail("expected '='");
        skip_blanks();
        FileValue value = read_value(depth);
        table.members.push_back({key.name, key.at, std::move(value)});
    }

    // Recursion is bounded by max_config_depth.
    FileValue read_value(std::size_t depth) {
        if (depth > max_config_depth)
            fail(fmt::format("nested deeper than {} levels", max_config_depth));
        if (sees("\"") || sees("'")) return read_text();
        if (sees("{")) return read_inline_table(depth);
        if (sees("[")) return read_list(depth);
        return read_word();
    }

    FileValue read_inline_table(std::size_t depth) {
        FileValue table = value_at(at_, FileValue::Kind::table, "a table");
        take("{");
        skip_blanks();
        if (take("}")) return table;
        do {
            skip_blanks();
            read_member(table, depth + 1);
            skip_blanks();
        } while (take(","));
        if (!take("}")) fail("expected ',' or '}'");
        return table;
    }

    FileValue read_list(std::size_t depth) {
        FileValue list = value_at(at_, FileValue::Kind::list, "a list");
        take("[");
        for (skip_lines(); !take("]"); skip_lines()) {
            list.items.push_back(read_value(depth + 1));
            skip_lines();
            if (take(",")) continue;
            if (!sees("]")) fail("expected ',' or ']'");
        }
        return list;
    }

    // An integer, or something that is named for what it is.
    FileValue read_word() {
        const std::size_t begin = at_;
        FileValue value = value_at(begin, FileValue::Kind::other, "something else");
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (word == "true" || word == "false") {
            value.type = "true or false";
            return value;
        }
        const bool is_negative = word.starts_with("-");
        std::string digits(word.substr(is_negative || word.starts_with("+") ? 1 : 0));
        if (digits.empty() || !is_digit(digits[0])) {
            at_ = begin;
            fail("expected a value: text in quotes, an integer or { ... }");
        }
        digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
        const ReadNumber number = read_integer(digits);
        value.type = "a number or date that is no decimal integer of 63 bits";
        const bool is_integer =
            number.length == digits.size() && (digits[0] != '0' || digits == "0");
        if (!is_integer || number.status != NumberStatus::ok || number.value > INT64_MAX)
            return value;
        value.kind = FileValue::Kind::integer;
        value.type = "an integer";
        value.integer = static_cast<std::int64_t>(number.value);
        if (is_negative) value.integer = -value.integer;
        return value;
    }

    // 'as it is', "with \"escapes\"", and both in three quotes over several lines.
    FileValue read_text() {
        FileValue value = value_at(at_, FileValue::Kind::text, "text");
        const char quote = text_[at_];
        const std::string three(3, quote);
        const bool spans_lines = take(three);
        const std::string end = spans_lines ? three : std::string(1, quote);
        if (!spans_lines) ++at_;
        if (spans_lines && !take("\n")) take("\r\n");  // a line end right behind them is no part
        while (!sees(end)) {
            if (at_ == text_.size()) fail(fmt::format("expected {}", end));
            const char c = text_[at_];
            const bool is_control = static_cast<unsigned char>(c) < ' ' && c != '\t';
            if (is_control && !(spans_lines && (c == '\n' || c == '\r')))
                fail(fmt::format("expected {} before the end of the line", end));
            value.text_at.push_back(static_cast<std::uint32_t>(at_));
            value.text += c == '\\' && quote == '"' ? read_escape() : c;
            ++at_;
        }
        value.text_at.push_back(static_cast<std::uint32_t>(at_));
        at_ += end.size();
        return value;
    }
    char read_escape() {
        ++at_;
        switch (at_ < text_.size() ? text_[at_] : '\0') {
            case '"':
                return '"';
            case '\\':
                return '\\';
            case 'n':
                return '\n';
            case 't':
                return '\t';
            default:
                fail("the escapes read here are \\\" \\\\ \\n and \\t");
        }
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t at_ = 0;
};

}  // namespace

FileValue parse_toml(std::string_view text, std::string_view file) {
    if (text.size() > max_config_bytes)
        throw UsageError(fmt::format("{}: larger than {} bytes", shown(file), max_config_bytes));
    if (!is_valid_utf8(text)) throw UsageError(fmt::format("{}: not UTF-8 text", shown(file)));
    return TomlReader(text, file).read();
}

}  // namespace coalprof
