#include "core/json/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace coalprof {
namespace {

using Json = nlohmann::ordered_json;

// Thrown through the parser; caught in JsonStream::next().
struct TooLarge {};

// The part of nlohmann's message that says what is wrong, without the place and without the bytes
// that it read last: "unexpected ']'; expected a value".
std::string reason_in(const nlohmann::json::exception& error) {
    if (error.id == 406) return "a number that 64 bits cannot hold";  // out_of_range
    std::string_view message = error.what();
    constexpr std::string_view before = " - ", last_read = "; last read: '";
    if (const std::size_t at = message.find(before); at != message.npos)
        message.remove_prefix(at + before.size());
    std::string reason(message.substr(0, message.find(last_read)));
    if (const std::size_t at = message.rfind("; expected ");
        at > reason.size() && at != message.npos)
        reason += message.substr(at);
    return reason;
}

}  // namespace

// The input in one block after the other.
class JsonStream::Input {
 public:
    explicit Input(ByteSource& source) : source_(source), block_(block_bytes, '\0') {}

    // False at the end of the input; of a line, too, where values are lines.
    bool has_byte() { return at_ != stop_ || goes_on(); }
    // True after has_byte() said no.
    bool ran_out() const { return ran_out_; }
    char byte() const { return *at_; }
    void advance() { ++at_; }
    bool is_at_end() { return at_ == end_ && !fetch(); }

    // To the first byte of a value. False at the end of the input.
    bool skip_blanks() {
        constexpr std::string_view blanks = " \t\r\n";
        for (start_token(); !is_at_end() && blanks.find(byte()) != blanks.npos; start_token())
            advance();
        return !is_at_end();
    }
    void skip_line() {
        for (start_token(); !is_at_end() && byte() != '\n'; start_token())
            at_ = std::find(at_, end_, '\n');
    }
    // A name or a value ended here: the next one may be as long.
    void start_token() { token_ = bytes(); }
    void set_within_line(bool is_within) {
        within_line_ = is_within;
        ran_out_ = false;
        set_stop();
    }

    std::uint64_t bytes() const {
        return bytes_before_ + static_cast<std::uint64_t>(at_ - block_.data());
    }
    std::uint64_t line() const { return lines_before_ + line_ends(at_) + 1; }

 private:
    static constexpr std::size_t block_bytes = 1 << 16;

    std::uint64_t line_ends(const char* end) const {
        return static_cast<std::uint64_t>(std::count(block_.data(), end, '\n'));
    }
    void set_stop() { stop_ = within_line_ ? std::find(at_, end_, '\n') : end_; }
    bool goes_on() {
        ran_out_ = at_ != end_ || !fetch() || at_ == stop_;
        return !ran_out_;
    }
    bool fetch() {
        if (bytes() - token_ > most_json_bytes) throw TooLarge{};
        lines_before_ += line_ends(end_);
        bytes_before_ += static_cast<std::uint64_t>(end_ - block_.data());
        at_ = block_.data();
        end_ = at_ + source_.read(block_);
        set_stop();
        return at_ != end_;
    }

    ByteSource& source_;
    std::string block_;
    const char* at_ = block_.data();
    const char* end_ = at_;   // end of the bytes that were read
    const char* stop_ = at_;  // end of this value's bytes
    bool within_line_ = false;
    bool ran_out_ = false;
    std::uint64_t token_ = 0;
    std::uint64_t bytes_before_ = 0;
    std::uint64_t lines_before_ = 0;
};

// Takes nlohmann's events into a document.
class JsonStream::Reader {
 public:
    Reader(ByteSource& source, std::string_view streamed, OnItem on_item)
        : input(source), streamed_(streamed), on_item_(std::move(on_item)) {}

    Step read_value(std::string& problem) {
        root = nullptr;
        open_.clear();
        nodes_ = bytes_ = 0;
        items_depth_ = 0;
        problem_ = &problem;
        input.set_within_line(values_are_lines);
        bool is_whole = false;
        try {
            is_whole = nlohmann::json::sax_parse(Bytes{&input}, Bytes{}, this,
                                                 nlohmann::json::input_format_t::json, false);
        } catch (const TooLarge&) {
            problem = fmt::format("more than {} levels, {} values or {} MiB of text in one part",
                                  most_json_depth, most_json_nodes, most_json_bytes >> 20);
            return Step::wrong;
        }
        if (is_whole) return Step::value;
        if (!input.ran_out()) return Step::wrong;
        if (input.is_at_end()) return Step::cut;
        problem = "the line ends within a value";
        return Step::wrong;
    }

    bool null() { return added(nullptr); }
    bool boolean(bool flag) { return added(flag); }
    bool number_integer(std::int64_t number) {
        return number == 0 ? added(std::uint64_t{0}) : added(number);
    }
    bool number_unsigned(std::uint64_t number) { return added(number); }
    bool number_float(double number, const std::string&) { return added(number); }
    bool string(std::string& text) {
        take_bytes(text);
        return added(std::move(text));
    }
    bool binary(nlohmann::json::binary_t&) { return false; }
    bool key(std::string& name) {
        take_bytes(name);
        name_ = std::move(name);
        return true;
    }
    bool start_object(std::size_t) { return opened(Json::object()); }
    bool start_array(std::size_t) {
        const bool is_streamed =
            on_item_ && open_.size() + 1 == streamed_depth && name_ == streamed_;
        opened(Json::array());
        if (is_streamed) items_depth_ = streamed_depth;
        return true;
    }
    bool end_object() { return closed(); }
    bool end_array() {
        if (open_.size() == items_depth_) items_depth_ = 0;
        return closed();
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
        *problem_ = reason_in(error);
        return false;
    }

    Input input;
    Json root;
    bool values_are_lines = false;

 private:
    // What nlohmann reads from.
    struct Bytes {
        using iterator_category = std::input_iterator_tag;
        using value_type = char;
        using difference_type = std::ptrdiff_t;
        using pointer = const char*;
        using reference = char;

        char operator*() const { return input->byte(); }
        Bytes& operator++() {
            input->advance();
            return *this;
        }
        // The other one is always the end.
        bool operator!=(const Bytes&) const { return input->has_byte(); }

        Input* input = nullptr;
    };
    static constexpr std::size_t streamed_depth = 2;

    void take_bytes(const std::string& text) {
        if (text.size() > most_json_bytes - bytes_) throw TooLarge{};
        bytes_ += text.size();
        input.start_token();
    }
    // As an item or the member of the last name.
    Json& append(Json&& value) {
        if (nodes_ == most_json_nodes) throw TooLarge{};
        ++nodes_;
        input.start_token();
        if (open_.empty()) return root = std::move(value);
        Json& parent = *open_.back().node;
        if (parent.is_array())
            return parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
        // As it stands: one more of the same name is kept, and never found.
        Json::object_t::Container& members = parent.get_ref<Json::object_t&>();
        Json& member = members.emplace_back(std::move(name_), std::move(value)).second;
        name_.clear();
        return member;
    }
    bool opened(Json&& value) {
        if (open_.size() == most_json_depth) throw TooLarge{};
        Json& node = append(std::move(value));
        open_.push_back({&node, nodes_, bytes_});
        return true;
    }
    bool added(Json&& value) { return ended(append(std::move(value))); }
    bool closed() {
        Json& node = *open_.back().node;
        open_.pop_back();
        return ended(node);
    }
    // Streamed items are handed on and dropped.
    bool ended(Json& value) {
        input.start_token();
        if (items_depth_ == 0 || open_.size() != items_depth_) return true;
        on_item_(JsonView(root), JsonView(value));
        const Open& list = open_.back();
        list.node->clear();
        nodes_ = list.nodes;
        bytes_ = list.bytes;
        return true;
    }

    struct Open {
        Json* node;
        std::size_t nodes, bytes;  // when it was opened
    };
    std::vector<Open> open_;
    std::string name_;
    std::size_t nodes_ = 0;
    std::size_t bytes_ = 0;
    std::string streamed_;
    OnItem on_item_;
    std::string* problem_ = nullptr;
    std::size_t items_depth_ = 0;  // number of open ones where items are streamed; 0: none
};

JsonStream::JsonStream(ByteSource& source, std::string_view streamed, OnItem on_item)
    : reader_(std::make_unique<Reader>(source, streamed, std::move(on_item))) {}
JsonStream::~JsonStream() = default;

JsonStream::Step JsonStream::next() {
    reader_->input.set_within_line(false);
    return reader_->input.skip_blanks() ? reader_->read_value(problem_) : Step::end;
}

JsonView JsonStream::value() const { return JsonView(reader_->root); }
std::uint64_t JsonStream::line() const { return reader_->input.line(); }
std::uint64_t JsonStream::bytes() const { return reader_->input.bytes(); }
void JsonStream::values_are_lines() { reader_->values_are_lines = true; }
void JsonStream::skip_line() { reader_->input.skip_line(); }

}  // namespace coalprof
