#include "core/kernel/kernel_launches.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/count/obstacles.h"
#include "core/kernel/arguments.h"
#include "core/kernel/kernel_faults.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

Value value_of_word(const std::string& word) {
    const ReadNumber number = read_integer(word);
    if (number.status == NumberStatus::ok && number.length == word.size())
        return Value{number.value};
    return Value{word};
}

// What a launch of other dimensions, or with other numbers, would not have; empty: nothing strikes.
std::string strange_of_launch(const Code& code, const KernelChoice& choice, double idle_share) {
    std::vector<std::string> all;
    const auto compare = [&](char axis, bool is_read, std::uint64_t count) {
        if (is_read && count == 1 && axis != 'x')
            all.push_back(
                fmt::format("the kernel reads {0} of its threads or blocks, and there is "
                            "one {0} only: --grid 64x64 --block 32x8 have several",
                            axis));
        if (!is_read && count > 1)
            all.push_back(fmt::format(
                "the kernel does not read {} of its threads or blocks: {} times the same is done",
                axis, count));
    };
    if (!reads_one_of(code, {SlotKind::laneid, SlotKind::warpid, SlotKind::smid})) {
        compare('x', reads_one_of(code, {SlotKind::tid_x, SlotKind::ctaid_x}),
                choice.grid.x * choice.block.x);
        compare('y', reads_one_of(code, {SlotKind::tid_y, SlotKind::ctaid_y}),
                choice.grid.y * choice.block.y);
        compare('z', reads_one_of(code, {SlotKind::tid_z, SlotKind::ctaid_z}),
                choice.grid.z * choice.block.z);
    }
    if (!code.uses_dynamic_shared && choice.shared_bytes > 0)
        all.emplace_back(
            "the kernel uses no dynamic shared memory: --shared changes only how many blocks run "
            "at once");
    if (std::string idle = idle_lanes(choice.block.count()); !idle.empty())
        all.push_back(std::move(idle));
    constexpr double much = 0.5;  // a last part of a grid is idle in most programs
    const auto blocks = static_cast<double>(choice.grid.count());
    if (idle_share >= 1)
        all.emplace_back("no thread accesses memory");
    else if (idle_share > much)
        all.push_back(
            fmt::format("{:.0f} of {:.0f} blocks access no memory", idle_share * blocks, blocks));
    if (idle_share > much && !choice.arguments.empty()) all.back() += " with";
    if (idle_share > much)
        for (const std::string& one : choice.arguments) all.back() += " --arg " + shown(one);
    return joined(all, "; ");
}

std::array<std::uint32_t, 3> as_array(const Dimensions& dimensions) {
    return {static_cast<std::uint32_t>(dimensions.x), static_cast<std::uint32_t>(dimensions.y),
            static_cast<std::uint32_t>(dimensions.z)};
}

// "M=2048,N=1024" in one option. Paths and extents may have commas and equals signs.
void refuse_several(const std::string& name, const std::string& text) {
    const std::size_t comma = text.find(',');
    const std::size_t equals = text.find('=', std::min(comma, text.size()));
    if (equals == text.npos || text.find_first_of("@[") < equals) return;
    std::string each = name + '=';
    for (std::size_t begin = 0, end = 0; end < text.size(); begin = end + 1) {
        end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (begin > 0) each += word.find('=') == word.npos ? "," : " --arg ";
        each += word;
    }
    throw UsageError(fmt::format("--arg {}={}: it has several arguments", name, shown(text)),
                     fmt::format("each has its own option: --arg {}", printable(each)));
}

}  // namespace

ArgumentAxis read_argument(const std::string& typed) {
    const std::size_t equals = typed.find('=');
    if (equals == typed.npos || equals == 0)
        throw UsageError(fmt::format("--arg {}: it is no NAME=VALUE", shown(typed)),
                         "for example --arg n=1000, --arg 2=3.5 or --arg x=f32[1048576]");
    const std::string name = typed.substr(0, equals);
    ArgumentAxis axis{split_list(name, "--arg"), {}};
    const std::string text = typed.substr(equals + 1);
    refuse_several(name, text);
    const bool is_list =
        text.find_first_of("[@=") == text.npos && text.find_first_of("0123456789") != text.npos;
    if (is_list && text.find("..") != text.npos) {
        const std::string option = fmt::format("--arg {}=", name);
        if (text.find('-') == text.npos)
            for (const std::uint64_t one : parse_range(text, option).values())
                axis.values.push_back(std::to_string(one));
        else
            for (const std::int64_t one : parse_signed_range(text, option).signed_values())
                axis.values.push_back(std::to_string(one));
        return axis;
    }
    std::size_t begin = 0;
    for (std::size_t comma = is_list ? text.find(',') : text.npos; comma != text.npos;
         comma = text.find(',', begin)) {
        axis.values.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    axis.values.push_back(text.substr(begin));
    return axis;
}

std::vector<KernelChoice> choices_of(const KernelAxes& axes) {
    std::uint64_t count = saturating_product({axes.grids.size(), axes.blocks.size()});
    for (const ArgumentAxis& one : axes.arguments)
        count = saturating_product({count, one.values.size()});
    if (count > most_range_points)
        throw UsageError(
            fmt::format("kernel: --grid, --block and --arg make {} launches together, "
                        "the most is {}",
                        count, most_range_points));
    std::vector<KernelChoice> choices;
    for (std::uint64_t number = 0; number < count; ++number) {
        KernelChoice choice;
        choice.shared_bytes = axes.shared_bytes;
        std::uint64_t left = count;
        const auto pick = [&](const auto& values) -> const auto& {
            left /= values.size();
            return values[number / left % values.size()];
        };
        const GridSize& grid = pick(axes.grids);
        choice.block = pick(axes.blocks);
        choice.grid = grid.blocks_of(choice.block);
        if (axes.grids.size() > 1) choice.swept.emplace_back("grid", text_of(choice.grid));
        if (axes.blocks.size() > 1) choice.swept.emplace_back("block", text_of(choice.block));
        for (const ArgumentAxis& one : axes.arguments) {
            const std::string& value = pick(one.values);
            for (const std::string& name : one.names) {
                choice.arguments.push_back(name + "=" + value);
                if (one.values.size() > 1) choice.swept.emplace_back(name, value_of_word(value));
            }
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

std::string swept_key(const KernelAxes& axes) {
    std::vector<std::string> keys;
    if (axes.grids.size() > 1) keys.emplace_back("grid");
    if (axes.blocks.size() > 1) keys.emplace_back("block");
    for (const ArgumentAxis& one : axes.arguments)
        if (one.values.size() > 1) keys.push_back(one.names.front());
    const bool grid_follows = axes.blocks.size() > 1 && axes.grids.front().counts_threads;
    return keys.empty() ? "line" : grid_follows ? "block" : keys.front();
}

bool reads_one_of(const Code& code, std::initializer_list<SlotKind> kinds) {
    return std::ranges::any_of(code.slots, [&](const SlotInfo& one) {
        return std::ranges::find(kinds, one.kind) != kinds.end();
    });
}

Dimensions required_block(const Code& code) {
    return {code.required_block[0], code.required_block[1], code.required_block[2]};
}

void require_possible(const Code& code, const KernelChoice& choice, const Machine& machine) {
    const auto threads = static_cast<std::uint32_t>(choice.block.count());
    std::vector<std::string> found = launch_obstacles(
        *machine.rules, threads, code.shared_bytes + choice.shared_bytes, choice.grid);
    if (code.most_threads != 0 && threads > code.most_threads)
        found.push_back(fmt::format("the kernel was compiled for blocks of {} threads at most",
                                    code.most_threads));
    const Dimensions required = required_block(code);
    if (required.count() != 0 && !(choice.block == required))
        found.push_back(
            fmt::format("the kernel was compiled for --block {} and no other", text_of(required)));
    if (found.empty()) return;
    const std::uint64_t blocks = std::uint64_t{choice.grid.count()} * threads;
    const bool is_in_line = choice.grid.is_flat() && choice.block.is_flat();
    throw UsageError(
        fmt::format("{} cannot run {} with --grid {} --block {}: {}", machine.name,
                    shown(kernel_name(code.kernel)), text_of(choice.grid), text_of(choice.block),
                    found.front()),
        is_in_line && code.most_threads != 0 && threads > code.most_threads
            ? fmt::format("as many threads: --grid {} --block {}",
                          (blocks + code.most_threads - 1) / code.most_threads, code.most_threads)
            : "");
}

KernelResult predict_choice(Code& code, const KernelChoice& choice, const Machine& machine,
                            const PredictionOptions& options) {
    BoundLaunch bound = bind_arguments(code, choice.arguments);
    bound.launch.grid = as_array(choice.grid);
    bound.launch.block = as_array(choice.block);
    bound.launch.dynamic_shared_bytes = choice.shared_bytes;
    bound.launch.multiprocessors =
        machine.board ? machine.board->multiprocessors : 132;  // an H100's
    bound.launch.cc_major = static_cast<std::uint32_t>(machine.rules->cc.major);
    std::uint64_t bytes = 0;
    for (const LaunchArray& array : bound.memory.arrays()) bytes += array.size_bytes;
    KernelResult result = predict_kernel(code, bound.launch, bound.memory, machine, options);
    if (auto warning = memory_warning(machine, bytes))
        result.warnings.push_back(std::move(*warning));
    if (std::string text = strange_of_launch(code, choice, result.idle_share); !text.empty())
        result.warnings.push_back({"W-LAUNCH", {}, std::move(text)});
    return result;
}

namespace {

double cost_of(const Point& point) { return number_or(point.predicted[Counter::cost_share], 0); }

double waste_of(const Point& point) {
    double excess = 0;
    for (const AccessKind kind : access_kinds)
        excess += number_or(point.predicted[access_counter(kind, AccessField::excess_sectors)], 0);
    return excess;
}

// None: all are 0. The first point is the whole kernel.
const Point* line_with_most(const KernelResult& result, double (*amount)(const Point&)) {
    const auto most =
        std::max_element(std::next(result.points.begin()), result.points.end(),
                         [&](const Point& a, const Point& b) { return amount(a) < amount(b); });
    return most != result.points.end() && amount(*most) > 0 ? &*most : nullptr;
}

}  // namespace

std::string costliest_line(const KernelResult& result) {
    const Point* line = line_with_most(result, cost_of);
    return line ? line->name : std::string();
}

std::string worst_line(const KernelResult& result) {
    const Point* line = line_with_most(result, cost_of);
    if (!line) line = line_with_most(result, waste_of);
    std::string text;
    for (const char* key : {"line", "op", "array"})
        if (const Value* value = line ? find_value(line->parameters, key) : nullptr;
            value && !text_of(*value).empty())
            text += (text.empty() ? "" : " ") + text_of(*value);
    return text;
}

KernelResult as_one_point(KernelResult result, const NamedValues& swept) {
    Point& point = result.points.front();
    const std::string short_kernel = point.name;
    std::erase_if(point.parameters, [](const auto& one) {
        return one.first == "line" || one.first == "op" || one.first == "array" ||
               one.first == "width_bytes";
    });
    for (const auto& [key, value] : swept) {
        point.name += fmt::format(" {}={}", key, text_of(value));
        if (!find_value(point.parameters, key)) point.parameters.emplace_back(key, value);
    }
    for (LineFinding& one : result.findings)
        one.point =
            one.point == short_kernel ? point.name : fmt::format("{} of {}", one.point, point.name);
    for (Warning& one : result.warnings)
        if (one.code != bounds_code) one.point = point.name;
    result.points.resize(1);
    result.warps.resize(1);
    return result;
}

}  // namespace coalprof
