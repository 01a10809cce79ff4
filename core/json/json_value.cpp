#include "core/json/json_value.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_place.h"
#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

// Follows nlohmann's reader through a text that it has accepted so far, token by token: it does not
// tell where values stand.
class TokenFinder {
 public:
    explicit TokenFinder(std::string_view text) : text_(text) {
        if (text_.starts_with("\xEF\xBB\xBF")) end_ = 3;  // a byte order mark is skipped there too
    }

    // Moves to the next token and answers where it begins.
    std::size_t next() {
        for (;;) {
            begin_ = text_.find_first_not_of(" \t\r\n,:", end_);
            if (text_[begin_] != '/') break;
            end_ = text_[begin_ + 1] == '/' ? text_.find_first_of("\r\n", begin_)
                                            : text_.find("*/", begin_ + 2) + 2;
        }
        if (text_[begin_] == '"') {
            end_ = begin_ + 1;
            while (text_[end_] != '"') end_ += text_[end_] == '\\' ? 2 : 1;
            ++end_;
        } else if (std::string_view("{}[]").find(text_[begin_]) != std::string_view::npos) {
            end_ = begin_ + 1;
        } else {
            end_ = std::min(text_.find_first_of(" \t\r\n,:]}/", begin_), text_.size());
        }
        return begin_;
    }

    // Of the token, a string: where each byte that it stands for is written, and where it ends.
    std::vector<std::uint32_t> string_places() const {
        std::vector<std::uint32_t> places;
        for (std::size_t at = begin_ + 1; at + 1 < end_;) {
            const Written written = written_at(at);
            places.insert(places.end(), written.stands_for, static_cast<std::uint32_t>(at));
            at += written.bytes;
        }
        places.push_back(static_cast<std::uint32_t>(end_ - 1));
        return places;
    }

 private:
    struct Written {
        std::size_t bytes;       // in the file
        std::size_t stands_for;  // bytes of UTF-8
    };
    Written written_at(std::size_t at) const {
        if (text_[at] != '\\') return {1, 1};
        if (text_[at + 1] != 'u') return {2, 1};
        std::uint32_t unit = 0;
        for (std::size_t k = at + 2; k < at + 6; ++k) unit = unit * 16 + hex_digit(text_[k]);
        if (unit >= 0xD800 && unit <= 0xDFFF) return {12, 4};  // a pair of surrogates
        return {6, unit < 0x80 ? 1u : unit < 0x800 ? 2u : 3u};
    }

    std::string_view text_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

// nlohmann's reader calls these as it goes through the text; nothing recurses, so that depth costs
// no stack, and too much of it ends the reading.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
    TreeBuilder(std::string_view text, std::string_view file)
        : text_(text), file_(file), tokens_(text) {}

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
        put(FileValue::Kind::text, "text");
        last_->text = std::move(text);
        last_->text_at = tokens_.string_places();
        return true;
    }
    bool binary(binary_t&) override { return put(FileValue::Kind::other, "binary"); }
    bool start_object(std::size_t) override { return open(FileValue::Kind::object, "an object"); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(FileValue::Kind::list, "a list"); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        const std::size_t at = tokens_.next();
        FileValue& object = *open_.back();
        const bool is_new =
            std::none_of(object.members.begin(), object.members.end(),
                         [&](const FileMember& member) { return member.name == name; });
        if (!is_new) fail_at(at, fmt::format("'{}' comes twice", shown(name)));
        if (object.members.size() == max_config_names)
            fail_at(at, fmt::format("more than {} names in one object", max_config_names));
        object.members.push_back({std::move(name), at, {}});
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
    [[noreturn]] void fail_at(std::size_t at, const std::string& sentence) const {
        throw UsageError(
            fmt::format("{}: {}", text_of(file_, PlaceFinder(text_).at(at)), sentence));
    }

    // The place of the next value: the root, a new item, or the member just named.
    FileValue* next() {
        if (open_.empty()) return &root_;
        FileValue& parent = *open_.back();
        if (parent.kind == FileValue::Kind::object) return &parent.members.back().value;
        parent.items.emplace_back();
        return &parent.items.back();
    }
    bool put(FileValue::Kind kind, const char* type) {
        last_ = next();
        last_->at = tokens_.next();
        last_->kind = kind;
        last_->type = type;
        return true;
    }
    bool open(FileValue::Kind kind, const char* type) {
        put(kind, type);
        if (open_.size() == max_config_depth)
            fail_at(last_->at, fmt::format("nested deeper than {} levels", max_config_depth));
        open_.push_back(last_);
        return true;
    }
    bool close() {
        tokens_.next();
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    std::string file_;
    TokenFinder tokens_;
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
    // nlohmann ends a comment at one, where the places of what follows would be lost.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
        throw UsageError(fmt::format("{}: a byte of value 0 is no text",
                                     text_of(std::string(file), PlaceFinder(text).at(at))));
    TreeBuilder builder(text, file);
    constexpr bool ignores_comments = true;
    if (!nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true,
                                   ignores_comments)) {
        // The position counts from 1 and is that of the last character read.
        const std::size_t at = std::min(builder.error_position(), text.size());
        const FilePlace place = PlaceFinder(text).at(at == 0 ? 0 : at - 1);
        throw UsageError(fmt::format("{}: not JSON", text_of(std::string(file), place)));
    }
    return builder.take();
}

}  // namespace coalprof
