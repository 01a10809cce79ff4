#include "core/write/table_title.h"

#include <fmt/format.h>

#include <vector>

#include "core/write/columns.h"
#include "core/write/number_text.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

constexpr std::size_t part_columns = 60;

std::string text_in(const NamedValues& values, const std::string& key, bool ascii) {
    const Value* value = find_value(values, key);
    const auto* text = value ? std::get_if<std::string>(value) : nullptr;
    return text ? cell_text(*text, part_columns, ascii) : std::string();
}

std::string size_in(const NamedValues& values) {
    const Value* value = find_value(values, "size_bytes");
    const auto* size = value ? std::get_if<std::int64_t>(value) : nullptr;
    return size && *size >= 0 ? size_text(static_cast<std::uint64_t>(*size)) : std::string();
}

std::string tile_in(const NamedValues& values) {
    const Value* value = find_value(values, "tile");
    const auto* columns = value ? std::get_if<std::int64_t>(value) : nullptr;
    return columns ? fmt::format("tile {}", *columns) : std::string();
}

std::string gpu_of(const NamedValues& values, bool ascii) {
    // The board's full name where the machine goes by a short key.
    std::string name = text_in(values, "board", ascii);
    if (name.empty()) name = text_in(values, "name", ascii);
    const std::string cc = text_in(values, "compute_capability", ascii);
    return cc.empty() || name.empty() ? name : fmt::format("{} (cc {})", name, cc);
}

}  // namespace

std::string title_of(const ResultHead& head, const TableStyle& style) {
    const bool is_measured = head.device.has_value();
    const std::string gpu = gpu_of(is_measured ? *head.device : head.machine, style.ascii);
    std::string title;
    const auto add = [&](const std::string& part) {
        if (part.empty()) return;
        if (!title.empty()) title += style.ascii ? ", " : " · ";
        title += part;
    };
    add(text_in(head.sweep, "pattern", style.ascii));
    add(text_in(head.sweep, "variant", style.ascii));
    add(tile_in(head.sweep));
    add(text_in(head.sweep, "op", style.ascii));
    add(text_in(head.sweep, "type", style.ascii));
    add(size_in(head.sweep));
    add(gpu.empty() && is_measured ? gpu_of(head.machine, style.ascii) : gpu);
    add(is_measured ? "predicted and measured" : "predicted");
    return title;
}

}  // namespace coalprof
