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

bool reads_z(const Code& code) { return reads_one_of(code, {SlotKind::tid_z, SlotKind::ctaid_z}); }
bool reads_y(const Code& code) {
    return reads_z(code) || reads_one_of(code, {SlotKind::tid_y, SlotKind::ctaid_y});
}

}  // namespace

Dimensions assumed_block(const Code& code) {
    if (const Dimensions required = required_block(code); required.count() != 0) return required;
    const Dimensions usual = reads_y(code) ? Dimensions{32, 8, 1} : Dimensions{256, 1, 1};
    return code.most_threads != 0 && code.most_threads < usual.count()
               ? Dimensions{code.most_threads, 1, 1}
               : usual;
}
GridSize assumed_grid(const Code& code) {
    const Dimensions threads = reads_z(code)   ? Dimensions{256, 128, 32}
                               : reads_y(code) ? Dimensions{1024, 1024, 1}
                                               : Dimensions{1 << 20, 1, 1};
    return {threads, true};
}

std::array<std::uint64_t, 3> threads_of(const KernelChoice& choice) {
    return {choice.grid.x * choice.block.x, choice.grid.y * choice.block.y,
            choice.grid.z * choice.block.z};
}

Warning with_numbers(const Code& code, KernelChoice& choice,
                     const std::array<std::uint64_t, 3>& threads, std::string text,
                     std::string options) {
    for (std::string& one : assumed_arguments(code, choice.arguments, threads)) {
        options += " --arg " + shell_word(one);
        choice.arguments.push_back(std::move(one));
    }
    if (!options.empty())
        text += fmt::format("{}assumed, give your own:{}", text.empty() ? "" : "; ", options);
    return {options.empty() ? "W-SOURCE" : "W-ASSUMED", short_kernel_name(code.kernel),
            printable(text)};
}

namespace {

std::string launch_option(const KernelChoice& choice) {
    return fmt::format(" --launch '<<<{}, {}>>>'", text_of(choice.grid), text_of(choice.block));
}

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
    const auto grid = dimensions_of(host.grid), block = dimensions_of(host.block);
    choice.block = block ? *block : assumed_block(code);
    choice.grid = grid ? *grid : assumed_grid(code).blocks_of(choice.block);
    choice.shared_bytes = static_cast<std::uint64_t>(std::max(0.0, host.shared_bytes.value_or(0)));
    if (choice.shared_bytes > 0)
        text = fmt::format(", {} bytes shared", choice.shared_bytes) + text;
    text = fmt::format("launch of {}: {} blocks of {}{}", placed.place, text_of(choice.grid),
                       text_of(choice.block), text);
    Warning note = with_numbers(code, choice, threads_of(choice), std::move(text),
                                grid && block ? "" : launch_option(choice));
    return {std::move(choice), std::move(note), placed.place};
}

SourceLaunch assumed_launch(const Code& code, const std::vector<std::string>& typed) {
    const Dimensions block = assumed_block(code);
    KernelChoice choice{
        .grid = assumed_grid(code).blocks_of(block), .block = block, .arguments = typed};
    Warning note =
        with_numbers(code, choice, threads_of(choice),
                     "no launch of it was found, and arrays are as large as what they touch",
                     launch_option(choice));
    return {std::move(choice), std::move(note), {}};
}

}  // namespace

std::vector<SourceLaunch> launches_of_kernel(
    const Code& code, const std::vector<const std::vector<PlacedLaunch>*>& places,
    const std::vector<std::string>& all_typed) {
    std::vector<std::string> typed = all_typed;
    std::erase_if(typed, [&](const std::string& one) { return !takes(code, one); });
    std::vector<SourceLaunch> launches, assumed;  // of these the grid or the block
    for (const std::vector<PlacedLaunch>* place : places) {
        for (const PlacedLaunch& one : *place) {
            if (!is_same_kernel(one.launch.kernel, code.kernel)) continue;
            const bool is_whole = dimensions_of(one.launch.grid) && dimensions_of(one.launch.block);
            (is_whole ? launches : assumed).push_back(launch_of_host(code, one, typed));
            (is_whole ? launches : assumed).back().choice.swept = {{"launch", one.place}};
        }
        if (!launches.empty() || !assumed.empty()) break;
    }
    if (launches.empty()) launches = std::move(assumed);
    if (launches.empty()) launches.push_back(assumed_launch(code, typed));
    if (launches.size() == 1) launches.front().choice.swept.clear();
    return launches;
}

}  // namespace coalprof
