#include "core/result/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "core/pattern/launch_options.h"
#include "core/result/result.h"
#include "core/text/describe.h"

namespace coalprof {

namespace {

// The members of each part in the order of files. `Part` may be const; a list has no name.
template <typename Part, typename Visit>
requires std::is_same_v<std::remove_const_t<Part>, MachineFacts>
void each_member(Part& machine, Visit visit) {
    visit("name", machine.name);
    visit("evidence", machine.evidence);
    visit("compute_capability", machine.compute_capability);
    visit("family", machine.family);
    visit("board", machine.board);
    visit("", machine.more);
}

template <typename Part, typename Visit>
requires std::is_same_v<std::remove_const_t<Part>, MeasuredDevice>
void each_member(Part& device, Visit visit) {
    visit("index", device.index);
    visit("name", device.name);
    visit("uuid", device.uuid);
    visit("pci_bus_id", device.pci_bus_id);
    visit("compute_capability", device.compute_capability);
    visit("multiprocessors", device.multiprocessors);
    visit("l2_bytes", device.l2_bytes);
    visit("memory_bytes", device.memory_bytes);
    visit("clock_hz", device.clock_hz);
    visit("memory_clock_hz", device.memory_clock_hz);
    visit("memory_bus_bits", device.memory_bus_bits);
    visit("ecc", device.ecc);
    visit("driver_version", device.driver_version);
    visit("nvrtc_version", device.nvrtc_version);
    visit("read_ceiling_bytes_per_second", device.read_ceiling);
    visit("copy_ceiling_bytes_per_second", device.copy_ceiling);
    visit("start_seconds", device.start);
    visit("", device.more);
}

template <typename Part, typename Visit>
requires std::is_same_v<std::remove_const_t<Part>, SweepFacts>
void each_member(Part& sweep, Visit visit) {
    visit("pattern", sweep.pattern);
    visit("formula", sweep.formula);
    visit("file", sweep.file);
    visit("parameter", sweep.parameter);
    visit("op", sweep.op);
    visit("type", sweep.type);
    visit("size_bytes", sweep.size_bytes);
    visit("block", sweep.block);
    visit("per_thread", sweep.per_thread);
    visit("block_x", sweep.block_x);
    visit("block_y", sweep.block_y);
    visit("block_z", sweep.block_z);
    visit("grid_x", sweep.grid_x);
    visit("grid_y", sweep.grid_y);
    visit("grid_z", sweep.grid_z);
    visit("", sweep.settings);
    visit("variant", sweep.variant);
    visit("tile", sweep.tile);
    visit("", sweep.more);
    visit("repeat", sweep.repeat);
    visit("cache", sweep.cache);
}

struct Put {
    NamedValues& values;
    void operator()(const char* name, const std::string& text) const {
        if (!text.empty()) values.emplace_back(name, text);
    }
    template <typename T>
    void operator()(const char* name, const std::optional<T>& value) const {
        if (value) values.emplace_back(name, *value);
    }
    void operator()(const char* name, const Reading& reading) const {
        if (is_present(reading))
            values.emplace_back(name, is_number(reading) ? Value{number_in(reading)} : Value{});
    }
    void operator()(const char*, const NamedValues& list) const {
        values.insert(values.end(), list.begin(), list.end());
    }
};

// Sets the member and returns true if `value` is of its kind.
bool take(const Value& value, std::string& text) {
    const auto* given = std::get_if<std::string>(&value);
    if (given) text = *given;
    return given;
}
bool take(const Value& value, std::optional<bool>& flag) {
    const auto* given = std::get_if<bool>(&value);
    if (given) flag = *given;
    return given;
}
bool take(const Value& value, std::optional<std::uint64_t>& number) {
    number.reset();
    if (const auto* given = std::get_if<std::uint64_t>(&value)) number = *given;
    if (const auto* given = std::get_if<std::int64_t>(&value); given && *given >= 0)
        number = static_cast<std::uint64_t>(*given);
    return number.has_value();
}
bool take(const Value& value, Reading& reading) {
    reading = {};
    if (const auto* given = std::get_if<double>(&value)) reading = *given;
    if (const auto* given = std::get_if<std::int64_t>(&value))
        reading = static_cast<double>(*given);
    if (std::holds_alternative<std::monostate>(value))
        reading = Unavailable{"the file does not say why"};
    return is_present(reading);
}

template <typename Part>
NamedValues named(const Part& part) {
    NamedValues values;
    each_member(part, Put{values});
    return values;
}

// The first list after the member at `reached`; the last one, if none is.
template <typename Part>
NamedValues& list_behind(Part& part, std::size_t reached) {
    NamedValues* list = nullptr;
    std::optional<std::size_t> list_at;
    std::size_t at = 0;
    each_member(part, [&](const char*, auto& member) {
        if constexpr (std::is_same_v<decltype(member), NamedValues&>)
            if (!list_at || *list_at < reached) {
                list = &member;
                list_at = at;
            }
        ++at;
    });
    return *list;
}

template <typename Part>
Part part_from(const NamedValues& values) {
    Part part;
    std::size_t reached = 0;  // position of the last member found
    for (const auto& [name, value] : values) {
        bool is_known = false;
        std::size_t at = 0;
        each_member(part, [&](std::string_view known, auto& member) {
            if constexpr (!std::is_same_v<decltype(member), NamedValues&>)
                if (known == name) {
                    if (!take(value, member)) throw std::invalid_argument(name);
                    is_known = true;
                    reached = at;
                }
            ++at;
        });
        if (!is_known) list_behind(part, reached).emplace_back(name, value);
    }
    return part;
}

}  // namespace

std::string_view parameter_of(const SweepFacts& sweep) {
    if (!sweep.parameter.empty()) return sweep.parameter;
    return sweep.pattern == "formula" ? "formula" : "name";
}

std::vector<std::string_view> names_in_sweeps() {
    std::vector<std::string_view> names;
    for (const LaunchOption& option : launch_options()) names.push_back(option.key);
    const SweepFacts any;
    each_member(any, [&](std::string_view name, const auto&) {
        if (!name.empty() && !find_launch_option(name)) names.push_back(name);
    });
    return names;
}

NamedValues values_of(const MachineFacts& machine) { return named(machine); }
NamedValues values_of(const MeasuredDevice& device) { return named(device); }
NamedValues values_of(const SweepFacts& sweep) { return named(sweep); }

MachineFacts machine_from(const NamedValues& values) { return part_from<MachineFacts>(values); }
MeasuredDevice device_from(const NamedValues& values) { return part_from<MeasuredDevice>(values); }
SweepFacts sweep_from(const NamedValues& values) {
    SweepFacts sweep = part_from<SweepFacts>(values);
    // A modifier of loads that the user chose is the first setting. A default one stands after
    // those of `settings`, with those of `more`.
    const auto usual = std::ranges::find(sweep.settings, "dlcm", &NamedValues::value_type::first);
    if (usual != sweep.settings.begin()) {
        sweep.more.insert(sweep.more.begin(), usual, sweep.settings.end());
        sweep.settings.erase(usual, sweep.settings.end());
    }
    return sweep;
}

void each_text(ResultHead& head, const VisitText& visit) {
    const auto visit_part = [&](auto& part) {
        each_member(part, [&](const char*, auto& member) {
            if constexpr (std::is_same_v<decltype(member), std::string&>) visit(member);
            if constexpr (std::is_same_v<decltype(member), NamedValues&>) each_text(member, visit);
        });
    };
    for (std::string* text : {&head.coalprof_version, &head.time_utc, &head.backend}) visit(*text);
    for (std::string& word : head.argv) visit(word);
    each_text(head.environment, visit);
    visit_part(head.machine);
    if (head.device) visit_part(*head.device);
    visit_part(head.sweep);
}

namespace {

NamedValues identity_of(const ResultHead& head) {
    NamedValues facts{{"machine", head.machine.name},
                      {"device", head.device ? head.device->name : std::string()}};
    for (const auto& [name, value] : values_of(head.sweep))
        if (name != "file" && name != "repeat" && name != "shard" && name != "shard_of_points")
            facts.emplace_back(name, value);
    return facts;
}

std::string shown_fact(const Value* value) {
    if (!value || std::holds_alternative<std::monostate>(*value)) return "none";
    if (const auto* real = std::get_if<double>(value)) return fmt::format("{}", *real);
    if (const auto* flag = std::get_if<bool>(value)) return *flag ? "true" : "false";
    const std::string text = text_of(*value);
    return text.empty() ? "none" : shown(text);
}

}  // namespace

std::vector<HeadDifference> differences(const ResultHead& one, const ResultHead& other) {
    const NamedValues first = identity_of(one);
    const NamedValues second = identity_of(other);
    std::vector<HeadDifference> found;
    const auto look = [&](const std::string& name) {
        const std::string before = shown_fact(find_value(first, name));
        const std::string now = shown_fact(find_value(second, name));
        if (before != now)
            found.push_back({name, fmt::format("{} ({} and {})", shown(name), before, now)});
    };
    for (const auto& [name, value] : first) look(name);
    for (const auto& [name, value] : second)
        if (!find_value(first, name)) look(name);
    return found;
}

std::vector<std::string> comparable_names(const ResultHead& one, const ResultHead& other) {
    std::vector<std::string> names = {"machine", "device"};
    for (const std::string_view name : names_in_sweeps()) names.emplace_back(name);
    for (const ResultHead* head : {&one, &other})
        for (const auto& [name, value] : identity_of(*head)) names.push_back(name);
    return names;
}

}  // namespace coalprof
