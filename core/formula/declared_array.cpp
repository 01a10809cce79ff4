#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "core/access/npy.h"
#include "core/formula/tree.h"
#include "core/formula/vocabulary.h"
#include "core/pattern/array_text.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"

namespace coalprof {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{1} << 29;
constexpr const char* examples =
    "for example x=f32[1048576], in=f32[2048][2048], x=bf16[4096,4096]:1,4096 (strides), Fortran's "
    "x=f64(1000,1000), "
    "col=@col.npy, col=i32[1000]=random or col=i32[1000]=iota";

class DeclarationReader {
 public:
    explicit DeclarationReader(const std::string& typed)
        : typed_(typed), option_(fmt::format("--array {}", shown(typed))) {}

    DeclaredArray read() {
        const std::size_t equals = typed_.find('=');
        array_.name = typed_.substr(0, equals);
        if (equals == typed_.npos) fail("it is no NAME=TYPE[SIZE]");
        const std::string reason = reason_against_name(array_.name);
        if (!reason.empty()) fail(reason);
        ArrayText text =
            read_array_text(std::string_view(typed_).substr(equals + 1), option_, examples);
        if (!text.type.empty()) array_.type = element_type_of_array(text.type);
        if (!text.type.empty() && !array_.type) {
            const bool is_file = text.type.ends_with(".npy") || std::filesystem::exists(text.type);
            throw UsageError(
                fmt::format("{}: '{}' is no type of numbers", option_, shown(text.type)),
                is_file ? fmt::format("did you mean --array {}=@{}?", array_.name, shown(text.type))
                        : examples);
        }
        if (!text.file.empty()) read_file(text);
        array_.extents = std::move(text.extents);
        array_.strides = std::move(text.strides);
        array_.is_fortran = text.is_fortran;
        if (text.rule == ArrayRule::none) return std::move(array_);
        if (array_.type && name_of(*array_.type).front() == 'f')
            fail(fmt::format("its values make indices, and {} are no integers", shown(text.type)));
        array_.rule = text.rule;
        array_.seed = text.seed;
        if (!array_.type) array_.type = ElementType::s32;
        if (text.rule == ArrayRule::random && array_.extents.empty())
            fail("random numbers are below how many elements it has");
        return std::move(array_);
    }

 private:
    [[noreturn]] void fail(const std::string& why) const {
        throw UsageError(fmt::format("{}: {}", option_, why), examples);
    }

    void read_file(ArrayText& text) {
        const auto source = open_bytes(text.file);
        const auto bytes = read_whole(*source, most_file_bytes);
        if (!bytes) fail(fmt::format("the file holds more than {} MiB", most_file_bytes >> 20));
        NpyArray file;
        if (is_npy(*bytes)) {
            file = read_npy(*bytes, text.file);
            if (text.extents.empty()) text.set_extents(file.shape);
        } else {
            if (!way_of_file(*bytes, text.file).empty())
                refuse_kind(*bytes, text.file, "an array of numbers", {});
            if (!array_.type) fail("a file that is no .npy says no type: col=i32[1000]=@raw.bin");
            file = {name_of(*array_.type)[0] == 'f'   ? 'f'
                    : name_of(*array_.type)[0] == 's' ? 'i'
                                                      : 'u',
                    bytes_of(*array_.type),
                    {},
                    *bytes};
        }
        auto values = integers_in(file, text.file);
        if (values.empty()) fail("the file holds no element");
        if (!text.extents.empty() && text.elements() > values.size())
            fail(fmt::format("the file holds {} elements, the array {}", values.size(),
                             text.elements()));
        if (!array_.type)
            array_.type = find_element_type(
                fmt::format("{}{}", file.kind == 'i' ? 's' : 'u', file.element_bytes * 8));
        array_.values = std::make_shared<const std::vector<std::int64_t>>(std::move(values));
    }

    const std::string& typed_;
    std::string option_;
    DeclaredArray array_;
};

}  // namespace

DeclaredArray read_declared_array(const std::string& typed) {
    return DeclarationReader(typed).read();
}

}  // namespace coalprof
