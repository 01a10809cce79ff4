#include "cli/source_launches.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/kernel/arguments.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

// Internal names differ between compilers, and what they stand for does not.
bool is_same_kernel(const std::string& a, const std::string& b) {
    return a == b || demangled(a) == demangled(b) || kernel_name(b) == a;
}

std::optional<Dimensions> dimensions_of(const HostTriple& triple) {
    if (!std::ranges::all_of(triple, [](const HostNumber& one) { return one && *one >= 1; }))
        return std::nullopt;
    const auto whole = [&](std::size_t at) { return static_cast<std::uint64_t>(*triple[at]); };
    return Dimensions{whole(0), whole(1), whole(2)};
}

}  // namespace

bool takes(const Code& code, const std::string& typed) {
    return std::ranges::any_of(read_argument(typed).names, [&](const std::string& name) {
        return parameter_of(code, name).has_value();
    });
}

namespace {

bool is_given(const Code& code, const std::vector<std::string>& typed, std::size_t at) {
    return std::ranges::any_of(typed, [&](const std::string& argument) {
        return std::ranges::any_of(read_argument(argument).names, [&](const std::string& name) {
            return parameter_of(code, name) == at;
        });
    });
}

SourceLaunch launch_of_host(const Code& code, const PlacedLaunch& placed,
                            const std::vector<std::string>& typed) {
    const HostLaunch& host = placed.launch;
    KernelChoice choice{.grid = {}, .block = {}, .arguments = typed};
    std::string text;
    for (std::size_t i = 0; i < std::min(host.arguments.size(), code.own_parameters()); ++i) {
        const PtxParameter& parameter = code.parameters[i];
        const HostNumber& value = host.arguments[i];
        if (!value || parameter.type == "b8" || code.is_address[i] || is_given(code, typed, i))
            continue;
        const std::string name =
            parameter.source.name.empty() ? std::to_string(i) : parameter.source.name;
        choice.arguments.push_back(fmt::format("{}={}", name, *value));
        text += fmt::format(", {} = {}", name, *value);
    }
    std::vector<MissingArgument> missing;
    const auto grid = dimensions_of(host.grid), block = dimensions_of(host.block);
    if (!grid) missing.push_back({"--grid", "--grid", "4096"});
    if (!block) missing.push_back({"--block", "--block", "256"});
    try {
        require_nothing_missing(code, choice.arguments, missing);
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("launch of {}: {}", placed.place, error.what()), error.hint());
    }
    choice.grid = *grid;
    choice.block = *block;
    choice.shared_bytes = static_cast<std::uint64_t>(std::max(0.0, host.shared_bytes.value_or(0)));
    if (choice.shared_bytes > 0)
        text = fmt::format(", {} bytes shared", choice.shared_bytes) + text;
    text = fmt::format("launch of {}: {} blocks of {}{}", placed.place, text_of(choice.grid),
                       text_of(choice.block), text);
    return {std::move(choice),
            {"W-SOURCE", short_kernel_name(code.kernel), printable(text)},
            placed.place};
}

// 2^20 threads in as many dimensions as the kernel reads.
SourceLaunch assumed_launch(const Code& code, const std::vector<std::string>& typed) {
    const bool has_z = reads_one_of(code, {SlotKind::tid_z, SlotKind::ctaid_z});
    const bool has_y = has_z || reads_one_of(code, {SlotKind::tid_y, SlotKind::ctaid_y});
    KernelChoice choice{.grid = has_z   ? Dimensions{8, 16, 32}
                                : has_y ? Dimensions{32, 128, 1}
                                        : Dimensions{4096, 1, 1},
                        .block = has_y ? Dimensions{32, 8, 1} : Dimensions{256, 1, 1},
                        .arguments = typed};
    if (const Dimensions required = required_block(code); required.count() != 0)
        choice.block = required;
    else if (code.most_threads != 0 && code.most_threads < choice.block.count())
        choice.block = {code.most_threads, 1, 1};
    require_nothing_missing(code, typed, {});
    return {choice,
            {"W-ASSUMED", short_kernel_name(code.kernel),
             fmt::format("no launch of it was found: {} blocks of {} are assumed, and arrays as "
                         "large as what they touch. --launch '<<<G, B>>>' says more",
                         text_of(choice.grid), text_of(choice.block))},
            {}};
}

}  // namespace

std::vector<SourceLaunch> launches_of_kernel(
    const Code& code, const std::vector<const std::vector<PlacedLaunch>*>& places,
    const std::vector<std::string>& all_typed) {
    std::vector<std::string> typed = all_typed;
    std::erase_if(typed, [&](const std::string& one) { return !takes(code, one); });
    std::vector<SourceLaunch> launches;
    std::optional<UsageError> problem;
    for (const std::vector<PlacedLaunch>* place : places) {
        for (const PlacedLaunch& one : *place) {
            if (!is_same_kernel(one.launch.kernel, code.kernel)) continue;
            try {
                launches.push_back(launch_of_host(code, one, typed));
                launches.back().choice.swept = {{"launch", one.place}};
            } catch (const UsageError& error) {
                if (!problem) problem = error;
            }
        }
        if (!launches.empty() || problem) break;
    }
    if (launches.empty() && problem) throw UsageError(*problem);
    if (launches.empty()) launches.push_back(assumed_launch(code, typed));
    if (launches.size() == 1) launches.front().choice.swept.clear();
    return launches;
}

}  // namespace coalprof
