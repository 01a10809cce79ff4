#include "core/write/table_title.h"

#include <fmt/format.h>

#include "core/text/units.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

constexpr std::size_t part_columns = 60;

std::string gpu_of(std::string_view name, std::string_view compute_capability, bool ascii) {
    if (compute_capability.empty() || name.empty()) return cell_text(name, part_columns, ascii);
    return fmt::format("{} (cc {})", cell_text(name, part_columns, ascii),
                       cell_text(compute_capability, part_columns, ascii));
}

// The board's full name where the machine goes by a short key.
std::string gpu_of(const MachineFacts& machine, bool ascii) {
    return gpu_of(machine.board.empty() ? machine.name : machine.board, machine.compute_capability,
                  ascii);
}

// "32x8" of what was told of a block or a grid; empty: nothing was.
std::string dimensions_text(const std::optional<std::uint64_t>& x,
                            const std::optional<std::uint64_t>& y,
                            const std::optional<std::uint64_t>& z) {
    if (!x) return {};
    std::string text = fmt::format("{}", *x);
    if (y && (*y != 1 || z.value_or(1) != 1)) text += fmt::format("x{}", *y);
    if (z && *z != 1) text += fmt::format("x{}", *z);
    return text;
}

}  // namespace

std::string title_of(const ResultHead& head, const TableStyle& style) {
    const bool is_measured = head.device.has_value();
    const SweepFacts& sweep = head.sweep;
    std::string title;
    const auto add = [&](const std::string& part) {
        if (part.empty()) return;
        if (!title.empty()) title += style.ascii ? ", " : " · ";
        title += part;
    };
    const auto add_text = [&](const std::string& part) {
        add(cell_text(part, part_columns, style.ascii));
    };
    add_text(sweep.pattern);
    add_text(sweep.variant);
    if (sweep.tile) add(fmt::format("tile {}", *sweep.tile));
    add_text(sweep.op);
    add_text(sweep.type);
    if (sweep.size_bytes) add(size_text(*sweep.size_bytes));
    const std::string grid = dimensions_text(sweep.grid_x, sweep.grid_y, sweep.grid_z);
    const std::string block = dimensions_text(sweep.block_x, sweep.block_y, sweep.block_z);
    if (!grid.empty()) add("grid " + grid);
    if (!block.empty()) add("blocks of " + block);
    add(is_measured && !head.device->name.empty()
            ? gpu_of(head.device->name, head.device->compute_capability, style.ascii)
            : gpu_of(head.machine, style.ascii));
    const bool is_predicted = !head.machine.name.empty();
    if (is_predicted)
        add(is_measured ? "predicted and measured" : "predicted");
    else if (head.backend == "device")
        add("measured");
    return title;
}

}  // namespace coalprof
