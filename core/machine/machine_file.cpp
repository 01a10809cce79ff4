#include "core/machine/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "core/machine/rates.h"
#include "core/result/document.h"
#include "core/text/byte_source.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

// A text among the values beside the list.
std::string text_at(const NamedValues& values, std::string_view name) {
    const Value* value = find_value(values, name);
    const auto* text = value ? std::get_if<std::string>(value) : nullptr;
    if (!text || text->empty()) complain(name, "a text");
    return *text;
}
// All sizes and rates of GPUs are well within its ends, and arithmetic with them stays finite.
struct Ends {
    double least;
    double most;
};
constexpr Ends multiprocessors_there_are{1, 10'000};
constexpr Ends bytes_per_second_there_are{1e9, 1e15};
constexpr Ends l2_bytes_there_are{1024, 1e12};
constexpr Ends memory_bytes_there_are{1 << 20, 1e15};
// A rate, as a factor of this program's own value for such a GPU. Those of one kind differ by a
// factor of 1.7 between GPUs that were measured (core/machine/chips).
constexpr double most_apart = 1000;

double number_at(const NamedValues& values, std::string_view key, std::string_view name,
                 const Ends& ends, std::string_view unit) {
    const auto number = number_of(find_value(values, key));
    if (!number || !(*number >= ends.least) || !(*number <= ends.most))
        complain(number ? fmt::format("{}, {:.9g},", name, number.value_or(0)) : std::string(name),
                 fmt::format("from {:.3g} to {:.3g}{}", ends.least, ends.most,
                             unit == "1" ? "" : fmt::format(" {}", unit)));
    return *number;
}
std::uint64_t natural_at(const NamedValues& values, std::string_view name, const Ends& ends,
                         std::string_view unit) {
    const double number = number_at(values, name, name, ends, unit);
    if (number != std::floor(number)) complain(name, "a whole number");
    return static_cast<std::uint64_t>(number);
}

ComputeCapability capability_at(const NamedValues& values) {
    constexpr std::string_view name = "compute_capability";
    const std::string text = text_at(values, name);
    const ReadNumber major = read_integer(text);
    const std::string_view rest =
        std::string_view(text).substr(std::min(text.size(), major.length + 1));
    const ReadNumber minor = read_integer(rest);
    // It may be newer than this program's rules.
    if (major.status != NumberStatus::ok || minor.status != NumberStatus::ok ||
        minor.length != rest.size() || text[major.length] != '.' || major.value > 1000 ||
        minor.value > 1000)
        complain(name, "a compute capability like \"9.0\"");
    return {static_cast<int>(major.value), static_cast<int>(minor.value)};
}

void take_rates(const ListDocument& list, Rates& rates) {
    const SimRates known = rates.sim;
    for (const ListRow& row : list.rows) {
        const Value* kind = find_value(row.values, "kind");
        if (!kind || text_of(*kind) != machine_file_rate) continue;
        const std::string name = text_at(row.values, "name");
        const auto rate =
            std::ranges::find(all_sim_rates(), std::string_view(name), &SimRateInfo::key);
        if (rate == all_sim_rates().end()) {
            // Other versions have other rates; a misspelled one is refused.
            std::vector<std::string_view> names;
            for (const SimRateInfo& one : all_sim_rates()) names.push_back(one.key);
            if (const auto meant = nearest(name, names))
                complain(fmt::format("\"{}\"", name),
                         fmt::format("the name of a rate, as \"{}\" is", *meant));
            continue;
        }
        const Value* typed = find_value(row.values, "unit");
        if (typed && text_of(*typed) != rate->unit &&
            text_of(*typed) != "1")  // 1: no unit is given
            complain(fmt::format("the unit of {}, \"{}\",", rate->key, text_of(*typed)),
                     fmt::format("\"{}\"", rate->unit));
        const double shipped = known.*rate->value;
        rates.sim.*rate->value =
            number_at(row.values, "value", rate->key, {shipped / most_apart, shipped * most_apart},
                      rate->unit);
        const Value* source = find_value(row.values, "source");
        if (rate->value == &SimRates::launch_seconds && source && text_of(*source) == "measured")
            rates.starts = starts_about(rates.sim.launch_seconds);
    }
}

Machine machine_from(const ListDocument& list, const std::string& path) {
    if (list.key != machine_file_key)
        complain("it", "a machine file, as `coalprof calibrate` writes it");
    auto measured = std::make_shared<MeasuredRates>();
    measured->device = text_at(list.more, "machine");
    Machine machine = machine_of_device(
        capability_at(list.more), measured->device,
        DeviceSizes{static_cast<std::uint32_t>(
                        natural_at(list.more, "multiprocessors", multiprocessors_there_are, "1")),
                    number_at(list.more, "peak_bytes_per_second", "peak_bytes_per_second",
                              bytes_per_second_there_are, "B/s"),
                    natural_at(list.more, "l2_bytes", l2_bytes_there_are, "bytes"),
                    find_value(list.more, "memory_bytes")
                        ? std::optional(natural_at(list.more, "memory_bytes",
                                                   memory_bytes_there_are, "bytes"))
                        : std::nullopt});
    // Values that the file lacks are those that this program has for such a GPU.
    const std::optional<Rates> known = rates_of(machine);
    if (!known || machine.rules->global != GlobalRule::sectors_by_warp)
        complain("compute_capability", "one that has rates, 7.0 or later");
    measured->rates = *known;
    // The rates are this GPU's, as those of the shipped machines are theirs. Its caches do not
    // change.
    measured->rates.doubt = 1;
    take_rates(list, measured->rates);
    machine.name = path;
    machine.board->key = "file";
    machine.board->name = measured->device;
    machine.board->source = "a machine file of `coalprof calibrate`";
    machine.measured = std::move(measured);
    return machine;
}

}  // namespace

bool names_machine_file(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".json");
}

Machine machine_named(std::string_view text) {
    const std::string path(text);
    if (!names_machine_file(text) || !text.ends_with(".json"))
        refuse_file(path, "a GPU or a machine file", "`coalprof machines` lists GPUs");
    if (!names_machine_file(text)) return find_machine(text);
    const std::unique_ptr<ByteSource> source = open_bytes(path);
    const SavedDocument document(*source, path);
    return document.read([&](JsonView root) { return machine_from(list_from(root).list, path); });
}

}  // namespace coalprof
