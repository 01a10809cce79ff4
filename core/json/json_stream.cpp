#include "core/json/json_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

// The reason why a value could not be read to its end. Caught in JsonStream::next().
struct Broken {
    JsonStream::Step step;
    std::string problem;
};
[[noreturn]] void fail(std::string problem) {
    throw Broken{JsonStream::Step::wrong, std::move(problem)};
}
[[noreturn]] void fail_for_size() {
    fail(fmt::format("more than {} levels, {} values or {} MiB of text in one part",
                     most_json_depth, most_json_nodes, most_json_bytes >> 20));
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Plain text ends at one of these: its end, an escape, a control character, or the end of the
// block.
constexpr std::array<bool, 256> stops_text = [] {
    std::array<bool, 256> stops{};
    for (std::size_t c = 0; c < ' '; ++c) stops[c] = true;
    stops['"'] = true;
    stops['\\'] = true;
    return stops;
}();

// Eight bytes of text: sets the highest bit of each byte that ends a run, and perhaps of some after
// the first of them, since borrows carry. See "Determine if a word has a byte less than n" in Bit
// Twiddling Hacks.
constexpr std::uint64_t in_each_byte = 0x0101010101010101;
constexpr std::uint64_t highest_bits = 0x80 * in_each_byte;
constexpr std::uint64_t zero_bytes(std::uint64_t eight) {
    return (eight - in_each_byte) & ~eight & highest_bits;
}
constexpr std::uint64_t stops_in(std::uint64_t eight) {
    const std::uint64_t below_space = (eight - ' ' * in_each_byte) & ~eight & highest_bits;
    return below_space | zero_bytes(eight ^ ('"' * in_each_byte)) |
           zero_bytes(eight ^ ('\\' * in_each_byte));
}

// The length of the common beginning in bytes.
std::size_t same_bytes(std::string_view a, std::string_view b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t same = 0;
    for (std::uint64_t x = 0, y = 0; same + sizeof x <= most; same += sizeof x) {
        std::memcpy(&x, a.data() + same, sizeof x);
        std::memcpy(&y, b.data() + same, sizeof y);
        if (x != y) break;
    }
    while (same < most && a[same] == b[same]) ++same;
    return same;
}

// Takes the four hexadecimal digits of \uXXXX off the text.
std::uint32_t take_unit(std::string_view& text) {
    const ReadNumber unit = read_digits(text.substr(0, 4), 16);
    if (unit.length != 4) fail("four hexadecimal digits are missing after \\u");
    text.remove_prefix(4);
    return static_cast<std::uint32_t>(unit.value);
}

std::uint32_t take_code(std::string_view& text) {
    const std::uint32_t unit = take_unit(text);
    if (unit < 0xD800 || unit > 0xDFFF) return unit;
    if (unit > 0xDBFF || !text.starts_with("\\u")) fail("half a pair of surrogates");
    text.remove_prefix(2);
    const std::uint32_t low = take_unit(text);
    if (low < 0xDC00 || low > 0xDFFF) fail("half a pair of surrogates");
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

// Decodes the text between two quotes; `into` is overwritten.
void decode(std::string_view text, std::string& into) {
    constexpr std::string_view escapes = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    into.clear();
    while (!text.empty()) {
        const std::size_t plain = std::min(text.find('\\'), text.size());
        into += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) return;
        const char kind = text[1];  // the scanner has checked that it exists
        text.remove_prefix(2);
        if (kind == 'u')
            append_utf8(into, take_code(text));
        else if (const std::size_t known = escapes.find(kind); known != escapes.npos)
            into += meanings[known];
        else
            fail("an escape that JSON does not have");
    }
}

// True for -?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?
bool is_json_number(std::string_view text) {
    const auto take_digits = [&] {
        const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
        const auto count = static_cast<std::size_t>(end - text.begin());
        text.remove_prefix(count);
        return count;
    };
    const auto take_one = [&](std::string_view choice) {
        const bool is_there = !text.empty() && choice.find(text.front()) != choice.npos;
        if (is_there) text.remove_prefix(1);
        return is_there;
    };
    take_one("-");
    const bool begins_with_zero = text.starts_with('0');
    const std::size_t whole = take_digits();
    if (whole == 0 || (begins_with_zero && whole > 1)) return false;
    if (take_one(".") && take_digits() == 0) return false;
    if (take_one("eE")) {
        take_one("+-");
        if (take_digits() == 0) return false;
    }
    return text.empty();
}

template <typename Number>
bool is_whole(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

// The input in a block that moves along it. NULs follow the block, so that a search for the end of
// a token stops there and asks for more.
class JsonStream::Input {
 public:
    explicit Input(ByteSource& source) : source_(source) {}

    // NUL at the end of the block, where more may follow.
    char here() const { return block_[at_]; }
    void advance() { ++at_; }
    bool is_at_end() { return at_ == end_ && !fetch(); }
    char next_byte() {
        if (here() == '\0' && is_at_end()) throw Broken{Step::cut, {}};
        return here();
    }

    // The bytes that were fetched and not read yet.
    std::string_view rest() const { return {block_.data() + at_, end_ - at_}; }
    void advance(std::size_t bytes) { at_ += bytes; }
    // The bytes read from this place on, as counted by bytes(); empty where they are gone.
    std::string_view since(std::uint64_t place) const {
        if (place < bytes_before_) return {};
        const auto from = static_cast<std::size_t>(place - bytes_before_);
        return {block_.data() + from, at_ - from};
    }

    // A token begins here: its bytes are kept together until the next one begins.
    void begin_token() { token_ = at_; }
    std::string_view token() const { return {block_.data() + token_, at_ - token_}; }

    // To the first byte that is no blank; within a line, to its end. False at the end of the input.
    bool skip_blanks(bool within_line) {
        do {
            while (is_blank(here()) && !(within_line && here() == '\n')) advance();
            begin_token();
            if (here() != '\0') return true;
        } while (at_ == end_ && fetch());
        return at_ != end_;
    }
    void skip_line() {
        begin_token();  // skipped text is not kept
        while (!is_at_end() && here() != '\n') {
            at_ = std::min(std::string_view(block_.data(), end_).find('\n', at_), end_);
            begin_token();
        }
    }
    // To the end of plain text. Returns true if all of it is ASCII.
    bool skip_text() {
        unsigned char all = 0;
        std::uint64_t all_eights = 0;
        const char* at = block_.data() + at_;
        for (std::uint64_t eight = 0;; at += sizeof eight, all_eights |= eight) {
            std::memcpy(&eight, at, sizeof eight);
            if (stops_in(eight) != 0) break;
        }
        while (!stops_text[static_cast<unsigned char>(*at)])
            all |= static_cast<unsigned char>(*at++);
        at_ = static_cast<std::size_t>(at - block_.data());
        return all < 0x80 && (all_eights & highest_bits) == 0;
    }

    std::uint64_t bytes() const { return bytes_before_ + at_; }
    std::uint64_t line() const { return lines_before_ + line_ends(at_) + 1; }

 private:
    std::uint64_t line_ends(std::size_t count) const {
        const auto begin = block_.begin();
        return static_cast<std::uint64_t>(
            std::count(begin, begin + static_cast<std::ptrdiff_t>(count), '\n'));
    }
    // Moves the token to the front and reads more after it.
    bool fetch() {
        lines_before_ += line_ends(token_);
        bytes_before_ += token_;
        std::memmove(block_.data(), block_.data() + token_, end_ - token_);
        at_ -= token_;
        end_ -= token_;
        token_ = 0;
        if (at_ > most_json_bytes) fail_for_size();
        constexpr std::size_t least = 1 << 16;
        const std::size_t wanted = end_ + std::max(least, at_) + behind;
        if (block_.size() < wanted) block_.resize(wanted);
        const std::size_t count =
            source_.read({block_.data() + end_, block_.size() - behind - end_});
        end_ += count;
        std::fill_n(block_.begin() + static_cast<std::ptrdiff_t>(end_), behind, '\0');
        return count > 0;
    }

    static constexpr std::size_t behind = sizeof(std::uint64_t);  // NULs

    ByteSource& source_;
    std::string block_ = std::string(behind, '\0');
    std::size_t token_ = 0;
    std::size_t at_ = 0;
    std::size_t end_ = 0;  // of the bytes that were read
    std::uint64_t bytes_before_ = 0;
    std::uint64_t lines_before_ = 0;
};

// Reads one value after the other into a tree. Nothing recurses: the tree holds the open lists and
// objects.
class JsonStream::Reader {
 public:
    Reader(ByteSource& source, std::string_view streamed, OnItem on_item)
        : input(source), streamed_(streamed), on_item_(std::move(on_item)) {}

    void read_value() {
        tree.clear();
        items_depth_ = 0;
        kept_ = nullptr;
        do {
            begin_value();
        } while (end_values());
    }

    // To the first byte of a value, or a mark; within a line, to its end. False at the end.
    bool skip_to_value(bool within_line) { return input.skip_blanks(within_line); }

    // Members of a document may have line ends, which no line repeats.
    void set_lines() {
        if (!values_are_lines) members_.clear();
        values_are_lines = true;
    }

    Input input;
    JsonTree tree;

 private:
    // A member of an item (of a point: "predicted", "unavailable", ...). The same member of the
    // next item usually begins and ends with the same bytes: then their values are copied, and only
    // the rest is read.
    struct Member {
        struct Item {
            std::size_t end = 0;  // of its bytes
            JsonTree::Mark mark;
        };
        std::string name;
        std::size_t depth = 0;
        std::uint32_t misses = 0;  // one after the other
        std::string bytes;         // empty: none were kept, and no items
        std::vector<Item> items;
        JsonTree::Kept kept;
        JsonTree::Mark mark;  // of all of it
        std::uint32_t content;
    };
    static constexpr std::size_t most_members = 16;
    static constexpr std::size_t most_member_bytes = 1 << 16;

    // The member of an item that begins here. None: it is not kept.
    Member* member_here() {
        if (tree.depth() != items_depth_ + 1 || !tree.open(items_depth_).is_object())
            return nullptr;
        const std::string_view name = tree.name_to_come();
        if (on_item_ && name == streamed_) return nullptr;
        for (Member& member : members_)
            if (member.name == name && member.depth == tree.depth()) return &member;
        if (members_.size() == most_members || name.size() > most_member_bytes) return nullptr;
        Member& member = members_.emplace_back();
        member.name = name;
        member.depth = tree.depth();
        return &member;
    }
    // Opens it. Returns true if that reads some of it, or all.
    bool open_member(Member& member, bool is_object) {
        const std::string_view rest = input.rest();
        const std::uint64_t begin = input.bytes();
        const std::size_t same = same_bytes(rest, member.bytes);
        need(is_object ? tree.open_object() : tree.open_list());
        if (same > 0 && same == member.bytes.size() && tree.repeat(member.kept, member.mark)) {
            input.advance(same);
            tree.set_content(member.content);
            tree.close();
            member.misses = 0;
            return true;
        }
        // The byte after an item ends it and must be the same, too.
        const auto end = std::partition_point(member.items.begin(), member.items.end(),
                                              [&](const auto& item) { return item.end < same; });
        const bool begins_alike =
            end != member.items.begin() && tree.repeat(member.kept, std::prev(end)->mark);
        if (begins_alike && same >= member.bytes.size() / 2)
            member.misses = 0;
        else
            ++member.misses;
        // One that always differs is tried only now and then.
        constexpr std::uint32_t patience = 8;
        constexpr std::uint32_t pause = 64;
        if (member.misses < patience || member.misses % pause == 0) {
            kept_ = &member;
            kept_begin_ = begin;
            kept_items_.clear();
            if (begins_alike) kept_items_.assign(member.items.begin(), std::prev(end));
        }
        input.advance(begins_alike ? std::prev(end)->end : 1);
        return begins_alike;
    }
    void note_item() {
        kept_items_.push_back({static_cast<std::size_t>(input.bytes() - kept_begin_), tree.mark()});
    }
    // The whole member was read.
    void keep_member() {
        Member& member = *std::exchange(kept_, nullptr);
        const std::string_view bytes = input.since(kept_begin_);
        if (bytes.empty() || bytes.size() > most_member_bytes) return;
        member.bytes = bytes;
        member.items.swap(kept_items_);
        tree.keep_open(member.kept);
        member.mark = tree.mark();
        member.content = ++contents_;
        tree.set_content(member.content);
    }
    bool is_in_kept() const { return kept_ != nullptr && tree.depth() == kept_->depth + 1; }

    // Past "//" and its line, or "/*" and its end.
    char next_byte() {
        if (!skip_to_value(values_are_lines)) throw Broken{Step::cut, {}};
        if (values_are_lines && input.here() == '\n') fail("the line ends within a value");
        return input.here();
    }
    void need(bool has_room) {
        if (!has_room) fail_for_size();
    }

    // Reads a whole value, or opens one and goes to its first item.
    void begin_value() {
        while (true) {
            const char first = next_byte();
            switch (first) {
                case '{':
                    if (Member* member = member_here()) {
                        if (open_member(*member, true)) return;
                    } else {
                        input.advance();
                        need(tree.open_object());
                    }
                    if (next_byte() == '}') return close();
                    read_name();
                    break;
                case '[':
                    if (Member* member = member_here()) {
                        if (open_member(*member, false)) return;
                    } else {
                        input.advance();
                        need(tree.open_list());
                    }
                    if (on_item_ && tree.depth() == 2 && tree.last().name() == streamed_)
                        items_depth_ = 2;
                    if (next_byte() == ']') return close();
                    break;
                case '"': return need(tree.add(read_text()));
                default: return read_word();
            }
        }
    }
    // After a value: closes the lists and objects that end here. False when that was the last.
    bool end_values() {
        while (tree.depth() > 0) {
            if (tree.depth() == items_depth_) hand_over();
            if (is_in_kept()) note_item();
            const bool is_object = tree.open(tree.depth() - 1).is_object();
            if (next_byte() == ',') {
                input.advance();
                if (is_object) read_name();
                return true;
            }
            if (input.here() != (is_object ? '}' : ']')) fail("a comma is missing");
            close();
        }
        return false;
    }
    void close() {
        input.advance();
        if (tree.depth() == items_depth_) items_depth_ = 0;
        if (is_in_kept()) keep_member();
        tree.close();
    }
    void hand_over() {
        on_item_(tree.root(), tree.last());
        tree.drop_items();
    }

    void read_name() {
        if (next_byte() != '"') fail("a name in quotes is missing");
        need(tree.put_name(read_text()));
        if (next_byte() != ':') fail("a colon is missing after a name");
        input.advance();
    }
    // Text in quotes, valid until the next is read.
    std::string_view read_text() {
        input.begin_token();
        input.advance();
        bool is_ascii = true;
        bool has_escapes = false;
        while (true) {
            is_ascii &= input.skip_text();
            const char stop = input.next_byte();
            if (!stops_text[static_cast<unsigned char>(stop)]) continue;  // the block ended
            if (stop == '"') break;
            if (stop != '\\') fail("a control character in text");
            has_escapes = true;
            input.advance();
            input.next_byte();
            input.advance();
        }
        const std::string_view text = input.token().substr(1);
        input.advance();
        if (!is_ascii && !is_valid_utf8(text)) fail("text that is not UTF-8");
        if (!has_escapes) return text;
        decode(text, decoded_);
        return decoded_;
    }
    // A number, true, false or null.
    void read_word() {
        const auto ends_word = [](char c) {
            return is_blank(c) || c == ',' || c == ']' || c == '}' || c == ':' || c == '/';
        };
        input.begin_token();
        do {
            while (input.here() != '\0' && !ends_word(input.here())) input.advance();
        } while (input.here() == '\0' && goes_on());
        if (tree.depth() > 0) input.next_byte();  // or it is cut
        const std::string_view word = input.token();
        if (word == "null") return need(tree.add(nullptr));
        if (word == "true" || word == "false") return need(tree.add(word == "true"));
        add_number(word);
    }
    // After a NUL, which may be the end of the block or a byte of the input.
    bool goes_on() {
        if (!input.is_at_end()) {
            if (input.here() == '\0') input.advance();
            return true;
        }
        return false;
    }
    void add_number(std::string_view word) {
        constexpr std::size_t safe_digits = 19;  // of 2^64
        if (word.size() <= safe_digits && (word.size() == 1 || !word.starts_with('0')) &&
            std::all_of(word.begin(), word.end(), is_digit) && !word.empty()) {
            std::uint64_t natural = 0;
            for (const char digit : word)
                natural = natural * 10 + static_cast<std::uint64_t>(digit - '0');
            return need(tree.add(natural));
        }
        if (!is_json_number(word)) fail("neither text nor a number");
        std::uint64_t natural = 0;
        if (is_whole(word, natural)) return need(tree.add(natural));
        std::int64_t integer = 0;
        if (is_whole(word, integer) && integer != 0) return need(tree.add(integer));
        double real = 0;
        // from_chars only says of a number close to zero that it does not fit.
        if (!is_whole(word, real)) real = std::strtod(std::string(word).c_str(), nullptr);
        if (!std::isfinite(real)) fail("a number that 64 bits cannot hold");
        need(tree.add(real));
    }

    std::string streamed_;
    OnItem on_item_;
    std::string decoded_;
    std::size_t items_depth_ = 0;  // number of open ones where items are streamed; 0: none
    bool values_are_lines = false;
    std::vector<Member> members_;
    Member* kept_ = nullptr;  // the one being read, in its place
    std::uint64_t kept_begin_ = 0;
    std::vector<Member::Item> kept_items_;
    std::uint32_t contents_ = 0;
};

JsonStream::JsonStream(ByteSource& source, std::string_view streamed, OnItem on_item)
    : reader_(std::make_unique<Reader>(source, streamed, std::move(on_item))) {}
JsonStream::~JsonStream() = default;

JsonStream::Step JsonStream::next() {
    constexpr bool across_lines = false;
    try {
        if (!reader_->skip_to_value(across_lines)) return Step::end;
        reader_->read_value();
        return Step::value;
    } catch (Broken& broken) {
        problem_ = std::move(broken.problem);
        return broken.step;
    }
}

JsonView JsonStream::value() const { return reader_->tree.root(); }
std::uint64_t JsonStream::line() const { return reader_->input.line(); }
std::uint64_t JsonStream::bytes() const { return reader_->input.bytes(); }
void JsonStream::values_are_lines() { reader_->set_lines(); }
void JsonStream::skip_line() { reader_->input.skip_line(); }

}  // namespace coalprof
