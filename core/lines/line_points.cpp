#include "core/lines/line_points.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/text/symbol.h"
#include "core/write/table_style.h"

namespace coalprof {
namespace {

// "load", "shared_store"
std::string op_of(const PtxSite& site) {
    const std::string_view prefix = site.space == Space::shared  ? "shared_"
                                    : site.space == Space::local ? "local_"
                                                                 : "";
    return std::string(prefix).append(name_of(site.kind));
}

// Without line information the place in machine code: "+0x1a0".
std::string place_of(const LineSummary& line) {
    const std::string place = place_text(line.place());
    return place.empty() && line.is_machine_code() ? fmt::format("+{:#x}", line.offset) : place;
}

}  // namespace

std::string place_text(const SourceLine& place) {
    if (place.file.empty()) return {};
    return fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(), place.line);
}

std::string dimensions_text(const std::array<std::uint32_t, 3>& all) {
    std::string text = std::to_string(all[0]);
    if (all[1] != 1 || all[2] != 1) text += fmt::format("x{}", all[1]);
    if (all[2] != 1) text += fmt::format("x{}", all[2]);
    return text;
}

Point LinePoints::point_of(const LineSummary& line, const NamedValues& of_kernel) {
    const PtxSite& site = line.site;
    const std::string place = place_of(line);
    const std::string& file = line.place().file;
    Point point;
    point.name = fmt::format(
        "{} {}", file.empty() ? short_kernel_name(site.function) + place : place, site.instruction);
    if (site.space == Space::shared && site.instruction.find("shared") == std::string::npos)
        point.name += " (shared)";  // the instruction reaches both memories
    if (!site.array.empty()) point.name += " " + site.array;
    if (const int before = names_[point.name]++; before > 0)
        point.name += fmt::format(" #{}", before + 1);
    point.parameters = {{"line", place.empty() ? Value{} : Value(place)}};
    point.parameters.insert(point.parameters.end(), of_kernel.begin(), of_kernel.end());
    point.parameters.emplace_back("op", op_of(site));
    if (!site.array.empty()) point.parameters.emplace_back("array", site.array);
    if (site.width_bytes != 0) point.parameters.emplace_back("width_bytes", site.width_bytes);
    if (!file.empty()) point.parameters.emplace_back(std::string(source_file_parameter), file);
    return point;
}

}  // namespace coalprof
