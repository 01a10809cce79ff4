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
