#include "core/write/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/pattern/launch_options.h"
#include "core/text/units.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

constexpr std::size_t part_columns = 60;
constexpr std::size_t formula_columns = 400;
constexpr std::uint64_t usual_block = 256;                    // block size if none is given
constexpr std::string_view name_of_formula = "formula_name";  // a column's key

std::string gpu_of(std::string_view name, std::string_view compute_capability, bool ascii) {
    if (compute_capability.empty() || name.empty()) return cell_text(name, part_columns, ascii);
    return fmt::format("{} (cc {})", cell_text(name, part_columns, ascii),
                       cell_text(compute_capability, part_columns, ascii));
}

// The board's full name, if the machine's name is a short key.
std::string gpu_of(const MachineFacts& machine, bool ascii) {
    return gpu_of(machine.board.empty() ? machine.name : machine.board, machine.compute_capability,
                  ascii);
}

// "32x8" for a stated block or grid; empty if none was.
std::string dimensions_text(const std::optional<std::uint64_t>& x,
                            const std::optional<std::uint64_t>& y,
                            const std::optional<std::uint64_t>& z) {
    if (!x) return {};
    std::string text = fmt::format("{}", *x);
    if (y && (*y != 1 || z.value_or(1) != 1)) text += fmt::format("x{}", *y);
    if (z && *z != 1) text += fmt::format("x{}", *z);
    return text;
}

// "64x64", "32x8", "256": the launch's dimensions; empty where the head has none.
std::string grid_text(const SweepFacts& sweep) {
    return dimensions_text(sweep.grid_x, sweep.grid_y, sweep.grid_z);
}

std::string block_text(const SweepFacts& sweep) {
    if (sweep.block_x) return dimensions_text(sweep.block_x, sweep.block_y, sweep.block_z);
    return sweep.block ? fmt::to_string(*sweep.block) : std::string();
}

// Every option that is not at its default: "blocks of 64", "dlcm cg", "pitch auto".
std::vector<std::string> chosen_options(const ResultHead& head) {
    const SweepFacts& sweep = head.sweep;
    std::vector<std::string> options;
    const std::string grid = grid_text(sweep);
    if (!grid.empty()) options.push_back("grid " + grid);
    if (sweep.block_x || (sweep.block && *sweep.block != usual_block))
        options.push_back("blocks of " + block_text(sweep));
    // The tile of a transpose decides the elements of each thread.
    if (sweep.per_thread && *sweep.per_thread != 1 && sweep.variant.empty())
        options.push_back(fmt::format("{} elements per thread", *sweep.per_thread));
    const auto add = [&](const NamedValues& list, std::string_view unsaid) {
        for (const auto& [key, value] : list)
            if (key == "shard_of_points")
                options.back() += fmt::format(" of {} points", text_of(value));  // after the shard
            else if (key.find('.') == std::string::npos && key != unsaid &&
                     !text_of(value).empty() && !is_usual_value(key, value))
                options.push_back(fmt::format("{} {}", key, text_of(value)));
    };
    add(sweep.settings, "");
    add(sweep.more, "dlcm");  // the machines' default
    if (sweep.cache == "warm") options.emplace_back("L2 warm");
    return options;
}

// Sweeps have them, even if points differ in them; warps of a file and kernels of a program do not.
bool has_launch_options(const SweepFacts& sweep) { return sweep.block || !sweep.settings.empty(); }

std::string text_of_setting(const SweepFacts& sweep, std::string_view key) {
    for (const NamedValues* list : {&sweep.settings, &sweep.more})
        if (const Value* value = find_value(*list, key)) return text_of(*value);
    return {};
}

std::string text_or_none(const std::optional<std::uint64_t>& number) {
    return number ? fmt::to_string(*number) : std::string();
}

class OriginMaker {
 public:
    OriginMaker(const ResultHead& head, const std::vector<std::string>& parameters)
        : head_(head), parameters_(parameters) {}

    std::vector<OriginColumn> columns() && {
        const SweepFacts& sweep = head_.sweep;
        add("name", "");
        if (!sweep.pattern.empty()) {
            add("pattern", sweep.pattern);
            add(std::string(name_of_formula), "");
            add("formula", sweep.formula);
            add("op", sweep.op);
            add("type", sweep.type);
            add("size_bytes", text_or_none(sweep.size_bytes));
            add("machine", head_.machine.name);
        }
        if (has_launch_options(sweep))
            add_launch_options();
        else
            for (const std::string& key : parameters_) add(key, "");
        return std::move(columns_);
    }

 private:
    void add_launch_options() {
        const SweepFacts& sweep = head_.sweep;
        add("grid", grid_text(sweep));
        add("block", block_text(sweep));
        add("per_thread", text_or_none(sweep.per_thread));
        for (const LaunchOption& option : launch_options())
            if (option.group == OptionGroup::memory)
                add(std::string(option.key), text_of_setting(sweep, option.key));
        if (!sweep.parameter.empty()) add(sweep.parameter, "");
        std::map<std::string, std::string> others;  // sorted by key: axes have no fixed order
        for (const std::string& key : parameters_) others.emplace(key, "");
        if (sweep.pattern == "transpose") {
            others.emplace("variant", sweep.variant);
            others.emplace("tile", text_or_none(sweep.tile));
            others.emplace("tile_pitch", "");
        }
        // Files do not keep the list of a value, so that its name decides.
        for (const NamedValues* list : {&sweep.settings, &sweep.more})
            for (const auto& [key, value] : *list)
                if (key.find('.') == std::string::npos && !is_memory_setting(key) &&
                    !key.starts_with("shard"))
                    others.emplace(key, text_of(value));
        if (sweep.repeat) others.emplace("repeat", text_or_none(sweep.repeat));
        if (!sweep.cache.empty()) others.emplace("cache", sweep.cache);
        for (const auto& [key, text] : others) add(key, text);
    }

    void add(const std::string& key, const std::string& same) {
        if (std::ranges::find(columns_, key, &OriginColumn::key) != columns_.end()) return;
        const std::string parameter = key == name_of_formula ? "formula" : key;
        const auto place = std::ranges::find(parameters_, parameter);
        columns_.push_back({.key = key,
                            .parameter = parameter,
                            .place = static_cast<std::size_t>(place - parameters_.begin()),
                            .same = same});
    }

    const ResultHead& head_;
    const std::vector<std::string>& parameters_;
    std::vector<OriginColumn> columns_;
};

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
    const bool is_formula = sweep.pattern == "formula" && !sweep.formula.empty();
    if (is_formula)
        add("formula: " + cell_text(sweep.formula, formula_columns, style.ascii));
    else
        add_text(sweep.pattern);
    add_text(sweep.file);
    add_text(sweep.variant);
    if (sweep.tile) add(fmt::format("tile {}", *sweep.tile));
    // The operation comes first, since the default one was not chosen.
    add_text(sweep.op == "rmw" ? "read-add-write (rmw)" : sweep.op);
    add_text(sweep.type);
    if (sweep.size_bytes) add(size_text(*sweep.size_bytes));
    for (const std::string& option : chosen_options(head)) add_text(option);
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

std::vector<OriginColumn> origin_columns(const ResultHead& head,
                                         const std::vector<std::string>& parameters) {
    return OriginMaker(head, parameters).columns();
}

// A formula with a name is identified by it in its points; its text is in the head.
Value cell_of(const ResultHead& head, const OriginColumn& column, const Value* own) {
    const bool is_name = column.key == name_of_formula;
    const Value* text =
        own && column.parameter == "formula" ? text_of_named_formula(head, *own) : nullptr;
    if (is_name) return text ? *own : Value();
    return text ? *text : own ? *own : Value(column.same);
}

const Value* text_of_named_formula(const ResultHead& head, const Value& name) {
    // Files do not keep the list of a value.
    for (const NamedValues* list : {&head.sweep.more, &head.sweep.settings})
        if (const Value* text = find_value(*list, "formula." + text_of(name))) return text;
    return nullptr;
}

}  // namespace coalprof
