#include "core/access/npy.h"

#include <cstring>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "fmt/format.h"

namespace coalprof {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

std::size_t byte_of(std::string_view bytes, std::size_t at) {
    return static_cast<unsigned char>(bytes[at]);
}

// The text after 'key': in the header, which is a Python dictionary.
std::string_view value_of_key(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(key);
    if (at == header.npos) return {};
    const std::size_t begin = header.find_first_not_of(" :", at + key.size());
    return begin == header.npos ? std::string_view() : header.substr(begin);
}

std::vector<std::uint64_t> read_shape(std::string_view text) {
    std::vector<std::uint64_t> shape;
    text = text.substr(0, text.find(')'));
    for (std::size_t at = 0; at < text.size();) {
        const ReadNumber number = read_integer(text.substr(at));
        if (number.status == NumberStatus::ok) shape.push_back(number.value);
        at += number.length > 0 ? number.length : 1;
    }
    return shape;
}

// Leaves in `data` as many elements as the header says: other arrays may follow.
void take_elements(NpyArray& array, const std::string& path) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : array.shape)
        elements = saturating_product({elements, extent});
    const std::uint64_t size_bytes = saturating_product({elements, array.element_bytes});
    if (size_bytes > array.data.size())
        throw UsageError(fmt::format(
            "{}: it was cut: its header says {} elements of {} bytes, and "
            "{} follow",
            shown(path), elements, array.element_bytes, array.data.size() / array.element_bytes));
    array.data = array.data.substr(0, size_bytes);
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(magic); }

NpyArray read_npy(std::string_view bytes, const std::string& path) {
    const auto cut = [&] { return UsageError(fmt::format("{}: it was cut", shown(path))); };
    if (bytes.size() < 12) throw cut();
    const bool is_old = bytes[6] == 1;
    std::size_t length = byte_of(bytes, 8) | byte_of(bytes, 9) << 8;
    if (!is_old) length |= byte_of(bytes, 10) << 16 | byte_of(bytes, 11) << 24;
    const std::size_t begin = (is_old ? 10 : 12) + length;
    if (begin > bytes.size()) throw cut();
    const std::string_view header = bytes.substr(0, begin);
    if (value_of_key(header, "'fortran_order'").starts_with("True"))
        throw UsageError(fmt::format("{}: its array is in Fortran's order", shown(path)),
                         "save it with numpy.ascontiguousarray");
    const std::string_view type = value_of_key(header, "'descr'");
    const bool is_plain = type.size() >= 4 && (type[1] == '<' || type[1] == '|') &&
                          std::string_view("iufb").find(type[2]) != std::string_view::npos;
    const ReadNumber size = is_plain ? read_integer(type.substr(3)) : ReadNumber{};
    if (!is_plain || size.status != NumberStatus::ok || size.value == 0 || size.value > 16)
        throw UsageError(
            fmt::format("{}: its elements are no plain little-endian numbers", shown(path)),
            "save what is read: array.astype('<i4'), or '<f4'");
    NpyArray array{type[2], static_cast<std::uint32_t>(size.value),
                   read_shape(value_of_key(header, "'shape'")), bytes.substr(begin)};
    take_elements(array, path);
    return array;
}

std::vector<std::int64_t> integers_in(const NpyArray& array, const std::string& path) {
    if (array.kind == 'f' || array.element_bytes > 8)
        throw UsageError(fmt::format("{}: its elements are no integers", shown(path)),
                         "indices are whole numbers: save .astype('int32')");
    std::vector<std::int64_t> values(array.data.size() / array.element_bytes);
    for (std::size_t k = 0; k < values.size(); ++k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, array.data.data() + k * array.element_bytes, array.element_bytes);
        const std::uint32_t unused = 64 - 8 * array.element_bytes;
        values[k] = static_cast<std::int64_t>(bits << unused);
        values[k] = array.kind == 'i' ? values[k] >> unused : static_cast<std::int64_t>(bits);
    }
    return values;
}

}  // namespace coalprof
