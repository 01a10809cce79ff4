#include "core/formula/declared_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/access/npy.h"
#include "core/formula/vocabulary.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{1} << 29;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 38;
constexpr const char* examples =
    "for example in=f32[2048][2048], col=@col.npy, col=i32[1000]=random or col=i32[1000]=iota";

class ArrayText {
 public:
    explicit ArrayText(const std::string& typed)
        : typed_(typed), option_(fmt::format("--array {}", shown(typed))) {}

    DeclaredArray read() {
        const std::size_t equals = typed_.find('=');
        array_.name = typed_.substr(0, equals);
        const std::string reason = reason_against_name(array_.name);
        if (equals == typed_.npos || !reason.empty())
            fail(reason.empty() ? "it says nothing" : reason);
        std::string_view what = std::string_view(typed_).substr(equals + 1);
        if (!what.starts_with('@')) what = read_extents(what);
        if (!what.empty() && !array_.structure.empty())
            fail(fmt::format("'{}' is no type of numbers", shown(array_.structure)));
        if (what.starts_with('@'))
            read_file(std::string(what.substr(1)));
        else if (!what.empty())
            read_rule(what);
        return std::move(array_);
    }

 private:
    [[noreturn]] void fail(const std::string& why) const {
        throw UsageError(fmt::format("{}: {}", option_, why), examples);
    }

    // The text after "=".
    std::string_view read_extents(std::string_view what) {
        const std::size_t open = std::min(what.find_first_of("[="), what.size());
        std::string type(what.substr(0, open));
        if (type.starts_with('i') && type.size() > 1 && is_digit(type[1])) type[0] = 's';
        if (!type.empty()) array_.type = find_element_type(type);
        if (!array_.type) array_.structure = type;
        what.remove_prefix(open);
        bool in_bracket = false;
        while (what.starts_with('[') || std::exchange(in_bracket, false)) {
            const std::size_t close = what.find(']');
            if (close == what.npos) fail("a ']' is missing");
            // C writes [2048][2048], Python [2048, 2048].
            const std::size_t end = std::min(close, what.find(',', 1));
            array_.extents.push_back(parse_integer(trimmed(what.substr(1, end - 1)), option_, 1,
                                                   most_elements / count()));
            what.remove_prefix(end == close ? close + 1 : end);
            if (end != close) in_bracket = true;
        }
        if (!what.empty() && !what.starts_with('=')) fail("'=' is expected after ']'");
        return what.empty() ? what : what.substr(1);
    }

    std::uint64_t count() const {
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : array_.extents) elements *= extent;
        return elements;
    }

    void read_file(const std::string& path) {
        const auto source = open_bytes(path);
        const auto bytes = read_whole(*source, most_file_bytes);
        if (!bytes) fail(fmt::format("the file holds more than {} MiB", most_file_bytes >> 20));
        NpyArray file;
        if (is_npy(*bytes)) {
            file = read_npy(*bytes, path);
            if (array_.extents.empty()) array_.extents = file.shape;
        } else {
            if (!array_.type) fail("a file that is no .npy says no type: col=i32[1000]=@raw.bin");
            file = {name_of(*array_.type)[0] == 'f'   ? 'f'
                    : name_of(*array_.type)[0] == 's' ? 'i'
                                                      : 'u',
                    bytes_of(*array_.type),
                    {},
                    *bytes};
        }
        auto values = integers_in(file, path);
        if (values.empty()) fail("the file holds no element");
        if (!array_.extents.empty() && count() > values.size())
            fail(fmt::format("the file holds {} elements, the array {}", values.size(), count()));
        if (!array_.type) array_.type = type_of(file);
        array_.values = std::make_shared<const std::vector<std::int64_t>>(std::move(values));
    }

    static std::optional<ElementType> type_of(const NpyArray& file) {
        return find_element_type(
            fmt::format("{}{}", file.kind == 'i' ? 's' : 'u', file.element_bytes * 8));
    }

    void read_rule(std::string_view rule) {
        using Rule = DeclaredArray::Rule;
        if (!array_.type) array_.type = ElementType::s32;
        if (rule == "0") {
            array_.rule = Rule::zeros;
        } else if (rule == "iota") {
            array_.rule = Rule::iota;
        } else if (rule == "random" || rule.starts_with("random:")) {
            array_.rule = Rule::random;
            if (array_.extents.empty()) fail("random numbers are below how many elements it has");
            if (rule.size() > 7) array_.seed = parse_integer(rule.substr(7), option_);
        } else {
            fail(fmt::format("'{}' does not say what the array holds", shown(rule)));
        }
    }

    const std::string& typed_;
    std::string option_;
    DeclaredArray array_;
};

}  // namespace

DeclaredArray read_declared_array(const std::string& typed) { return ArrayText(typed).read(); }

}  // namespace coalprof
