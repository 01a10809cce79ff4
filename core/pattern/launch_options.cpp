#include "core/pattern/launch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

using Option = LaunchOption;
using AxisValues = std::vector<AxisValue>;
using Words = std::vector<std::string_view>;
constexpr std::string_view of_driver = "driver";  // it chooses

template <typename Read>
AxisValues each_word(const Option& option, const std::string& text, Read read) {
    AxisValues values;
    for (const std::string& word : split_list(text, option.name())) values.push_back(read(word));
    return values;
}

// "wb is of --dscm"; empty: no other option has the word.
std::string other_option_of(const Option& asked, const std::string& word) {
    for (const Option& one : launch_options())
        if (one.key != asked.key && one.words && std::ranges::count(one.words(), word) > 0)
            return fmt::format("{} is of {}", word, one.name());
    return {};
}

// Words that `find` knows, stored in a member of the launch.
template <auto find, auto member>
AxisValues read_known(const Option& option, const std::string& text) {
    return each_word(option, text, [&](const std::string& word) {
        const auto found = find(word);
        if (!found)
            throw UsageError(unknown_word(option.name(), word, option.words()),
                             other_option_of(option, word));
        return AxisValue{name_of(*found),
                         [found = *found](ChosenLaunch& launch) { launch.*member = found; }};
    });
}

// The pattern that takes a word reports an error in it, since it knows its words.
template <auto member>
AxisValues read_text(const Option& option, const std::string& text) {
    return each_word(option, text, [&](const std::string& word) {
        return AxisValue{word, [=](ChosenLaunch& launch) { launch.options.*member = word; }};
    });
}

template <typename Set>
AxisValues each_number(const Option& option, const std::string& text, std::uint64_t least,
                       std::uint64_t most, Set set) {
    AxisValues values;
    for (const std::uint64_t number : parse_range(text, option.name()).values()) {
        if (number < least || number > most)
            throw UsageError(
                fmt::format("{} {}: {} is not between {} and {}", option.name(), shown(text),
                            number, least, most),
                text, std::min(text.find(std::to_string(number)), UsageError::no_caret),
                fmt::format("numbers look like {0}, {0},{1} or {0}..{1}", least, least + 1));
        values.push_back({Value{number}, [=](ChosenLaunch& launch) { set(launch, number); }});
    }
    return values;
}

template <auto member>
AxisValues read_number(const Option& option, const std::string& text) {
    return each_number(option, text, 0, ~0ull, [](ChosenLaunch& launch, std::uint64_t number) {
        launch.options.*member = number;
    });
}

AxisValues read_per_thread(const Option& option, const std::string& text) {
    return each_number(option, text, 1, 64, [](ChosenLaunch& launch, std::uint64_t elements) {
        launch.shape.per_thread = static_cast<std::uint32_t>(elements);
    });
}

Value shown_dimensions(const Dimensions& of) {
    return of.is_flat() ? Value{of.x} : Value{text_of(of)};
}
Value shown_dimensions(const GridSize& of) {
    return of.counts_threads ? Value{text_of(of.size) + "/block"} : shown_dimensions(of.size);
}

template <auto parse, auto set>
AxisValues read_dimensions(const Option& option, const std::string& text) {
    AxisValues values;
    for (const std::string& word : words_of_dimensions(text, option.name())) {
        const auto dimensions = parse(word, option.name());
        values.push_back({shown_dimensions(dimensions),
                          [dimensions](ChosenLaunch& launch) { set(launch.shape, dimensions); }});
    }
    return values;
}

AxisValues read_types(const Option& option, const std::string& text) {
    return each_word(option, text, [&](const std::string& word) {
        const auto type = find_element_type(word);
        if (!type) {
            std::string hint = hint_for_element_type(word);
            hint.front() = static_cast<char>(hint.front() - 'a' + 'A');
            throw UsageError(fmt::format("unknown --type '{}'. {}", shown(word), hint),
                             other_option_of(option, word));
        }
        return AxisValue{name_of(*type),
                         [type = *type](ChosenLaunch& launch) { launch.type = type; }};
    });
}

AxisValues read_sizes(const Option& option, const std::string& text) {
    const std::vector<std::uint64_t> sizes = parse_size_list(text, option.name());
    AxisValues values;
    for (const std::uint64_t bytes : sizes)
        values.push_back({Value{bytes}, [bytes, typed = sizes.size() == 1 ? text : std::string()](
                                            ChosenLaunch& launch) {
                              launch.shape.size_bytes = bytes;
                              launch.shape.size_text = typed;
                          }});
    return values;
}

AxisValue pitch_value(const std::string& word) {
    std::uint64_t bytes = 0;
    if (word != "none" && word != "auto") {
        if (word.find_first_of("0123456789") != 0)
            throw UsageError(unknown_word("--pitch", word, find_launch_option("pitch")->words()),
                             "or elements, 1024, or bytes with a unit: 4KiB");
        const SizedRange sizes = parse_sized_range(word, "--pitch");
        if (sizes.values.size() != 1)
            throw UsageError(
                fmt::format("--pitch {}: expected none, auto or a number", shown(word)),
                "several go by comma: --pitch none,auto,1024");
        bytes = sizes.values.front();  // elements without a unit
    }
    return {word, [word, bytes](ChosenLaunch& launch) {
                launch.options.pitch = word;
                launch.options.pitch_bytes = bytes;
            }};
}

AxisValue carveout_value(const std::string& word) {
    std::optional<Carveout> carveout;
    if (word != of_driver) carveout = read_carveout(word);
    return {word, [carveout](ChosenLaunch& launch) { launch.carveout = carveout; }};
}

AxisValue l2_fetch_value(const std::string& word) {
    std::optional<std::uint32_t> bytes;
    for (const std::uint32_t known : {32u, 64u, 128u})
        if (word == fmt::to_string(known)) bytes = known;
    if (!bytes && word != of_driver)
        throw UsageError(fmt::format("--l2-fetch {}: L2 fetches 32, 64 or 128 bytes", shown(word)),
                         "one of these numbers, or several: --l2-fetch 32,64,128");
    return {bytes ? Value{*bytes} : Value{word},
            [bytes](ChosenLaunch& launch) { launch.l2_fetch_bytes = bytes; }};
}

template <AxisValue read(const std::string&)>
AxisValues read_each(const Option& option, const std::string& text) {
    return each_word(option, text, read);
}

// The value in results of a member of the launch, or of the pattern's options.
template <auto member>
Value shown_name(const ChosenLaunch& launch) {
    return name_of(launch.*member);
}
template <auto member>
Value shown_option(const ChosenLaunch& launch) {
    return launch.options.*member;
}

constexpr AccessSet in_device_memory = [] {
    AccessSet set = global_accesses;
    set.add({Access::local_load, Access::local_store});
    return set;
}();
constexpr AccessSet in_l1_or_shared = [] {
    AccessSet set = in_device_memory;
    set.add({Access::shared_load, Access::shared_store, Access::shared_atomic});
    return set;
}();

constexpr auto of_launch = OptionGroup::launch;
constexpr auto of_memory = OptionGroup::memory;
constexpr auto of_pattern = OptionGroup::pattern;

// clang-format off
constexpr std::array<Option, 18> options_table{{
    {"type", "--type,-t", of_launch, "f32", "T", "",
     "Element type: {words}, or as in CUDA and NumPy: float, half2, int32",
     element_type_list, read_types},
    {"op", "--op", of_launch, "", "O", "", "Operation: {words}",
     word_list<Op>, read_known<find_word<Op>, &ChosenLaunch::op>},
    {"size_bytes", "--size,-s", of_launch, "64MiB", "N", ", 1MiB..1GiB*4",
     "Useful data in bytes: 4MiB, 65536{range}", nullptr, read_sizes},
    {"block", "--block", of_launch, "256", "N", "64..1024*2, ",
     "Threads per block: 256, {range}32x8, 8x8x4", nullptr, read_dimensions<parse_block, set_block>},
    {"grid", "--grid", of_launch, "", "N", "64..1024*2, ",
     "Blocks: 1024, {range}64x64, 8x8x8; or threads, 8192x8192/block (default: as many as --size "
     "needs)",
     nullptr, read_dimensions<parse_grid, set_grid>},
    {"per_thread", "--per-thread", of_launch, "1", "N", ", 1..8*2",
     "Elements each thread handles: 4{range}", nullptr, read_per_thread},
    {"dlcm", "--dlcm", of_memory, "", "M", "",
     "Default cache modifier of loads, nvcc's -Xptxas -dlcm: {words} (default: ca where the GPU "
     "keeps loads in L1, else cg)",
     word_list<LoadModifier>, read_known<find_word<LoadModifier>, &ChosenLaunch::dlcm>,
     [](const ChosenLaunch& of) { return of.dlcm ? Value{name_of(*of.dlcm)} : Value{}; },
     {Access::global_load}, "loads of global memory"},
    {"dscm", "--dscm", of_memory, "wb", "M", "",
     "Default cache modifier of stores, nvcc's -Xptxas -dscm: {words}", word_list<StoreModifier>,
     read_known<find_word<StoreModifier>, &ChosenLaunch::dscm>, shown_name<&ChosenLaunch::dscm>,
     {Access::global_store}, "stores to global memory"},
    {"carveout", "--carveout", of_memory, of_driver, "C", "",
     "L1/shared split: prefer-l1, prefer-equal, prefer-shared, or shared memory's share: 0 to 100",
     [] { return Words{"prefer-l1", "prefer-equal", "prefer-shared", of_driver}; },
     read_each<carveout_value>,
     [](const ChosenLaunch& of) { return of.carveout ? Value{of.carveout->text} : of_driver; },
     in_l1_or_shared, "accesses by L1 and of shared memory"},
    {"l2_fetch", "--l2-fetch", of_memory, of_driver, "N", "",
     "L2 fetch granularity: 32, 64, 128 bytes", [] { return Words{"32", "64", "128", of_driver}; },
     read_each<l2_fetch_value>,
     [](const ChosenLaunch& of) { return of.l2_fetch_bytes ? Value{*of.l2_fetch_bytes} : of_driver; },
     in_device_memory, "accesses of global memory"},
    {"alloc", "--alloc", of_memory, "device", "A", "", "Kind of memory that holds the arrays: {words}",
     word_list<Allocation>, read_known<find_word<Allocation>, &ChosenLaunch::allocation>,
     shown_name<&ChosenLaunch::allocation>,
     global_accesses, "accesses of global memory"},
    {"path", "--path", of_memory, "ld", "P", "", "Which instruction loads global memory: {words}",
     word_list<LoadPath>, read_known<find_word<LoadPath>, &ChosenLaunch::path>, shown_name<&ChosenLaunch::path>},
    {"variant", "--variant", of_pattern, "naive", "V", "", "transpose: {words}",
     [] { return Words{"naive", "tile", "padded", "swizzled"}; }, read_text<&PatternOptions::variant>, shown_option<&PatternOptions::variant>},
    {"order", "--order", of_pattern, "xor", "ORDER", "", "permute: {words}",
     [] { return Words{"reversed", "xor", "rotate", "shuffle"}; },
     read_text<&PatternOptions::order>, shown_option<&PatternOptions::order>},
    {"seed", "--seed", of_pattern, "1", "N", "", "Seed of the random numbers",
     nullptr, read_number<&PatternOptions::seed>, shown_option<&PatternOptions::seed>, {}, {},
     "order", "shuffle"},
    {"member", "--member", of_pattern, "0", "N", "", "Which member of the structure, from 0",
     nullptr, read_number<&PatternOptions::member>, shown_option<&PatternOptions::member>},
    {"tile", "--tile", of_pattern, "", "N", "",
     "Columns of the tile: 16 or 32 of shared-pad (default 32), 16, 32 or 64 of a transpose "
     "(default 64 for elements of up to 4 bytes, else 32)",
     [] { return Words{"16", "32", "64"}; }, read_number<&PatternOptions::tile>,
     [](const ChosenLaunch& of) { return of.options.tile ? Value{*of.options.tile} : Value{}; }},
    {"pitch", "--pitch", of_pattern, "none", "P", "",
     "From row to row: none, auto (as cudaMallocPitch), elements, or bytes with a unit: 4KiB",
     [] { return Words{"none", "auto"}; }, read_each<pitch_value>,
     shown_option<&PatternOptions::pitch>},
}};
// clang-format on

}  // namespace

std::vector<std::string> words_of_dimensions(const std::string& text, std::string_view option) {
    // 32*8, dim3(16, 16) and (4096,1,1)
    if (text.find("..") == text.npos && text.find_first_of("*([") != text.npos) {
        std::string shape;
        for (const char c : text.substr(text.starts_with("dim3") ? 4 : 0))
            if (is_digit(c) || c == ',' || c == '*') shape += is_digit(c) ? c : 'x';
        throw UsageError(fmt::format("{} {}: dimensions are one word", option, shown(text)),
                         fmt::format("with an x: {} {}", option, shape));
    }
    if (text.find("..") != text.npos || text.find_first_of("*:") != text.npos) {
        std::vector<std::string> words;
        for (const std::uint64_t number : parse_range(text, option).values())
            words.push_back(std::to_string(number));
        return words;
    }
    std::vector<std::string> words = split_list(text, option);
    if (std::cmp_equal(words.size(), 1 + std::ranges::count(text, ','))) return words;
    // dim3(16, 16), as CUDA writes it, is no list of two blocks.
    std::string shape = text;
    std::ranges::replace(shape, ',', 'x');
    throw UsageError(fmt::format("{} {}: one value twice", option, shown(text)),
                     fmt::format("dimensions are written with an x: {}; a list holds different "
                                 "values: 128,256",
                                 shown(shape)));
}

std::span<const LaunchOption> launch_options() { return options_table; }

const LaunchOption* find_launch_option(std::string_view key) {
    const auto found = std::ranges::find(options_table, key, &Option::key);
    return found == options_table.end() ? nullptr : &*found;
}

bool is_memory_setting(std::string_view key) {
    const Option* option = find_launch_option(key);
    return option && option->group == of_memory;
}

bool is_usual_value(std::string_view key, const Value& value) {
    const Option* option = find_launch_option(key);
    return option && option->usual == text_of(value);
}

void take_option(const LaunchOption& option, const std::string& text, ChosenLaunch& launch,
                 std::vector<Axis>& axes) {
    AxisValues values = option.read(option, text);
    values.front().choose(launch);
    // float and f32 are the same.
    std::unordered_set<std::string> known;
    std::erase_if(
        values, [&](const AxisValue& value) { return !known.insert(text_of(value.shown)).second; });
    const std::string key(option.key);
    std::erase_if(axes, [&](const Axis& axis) { return axis.key == key; });
    if (values.size() > 1) axes.push_back({key, std::move(values)});
}

void require_effect(const LaunchOption& option, const std::string& text, AccessSet accesses) {
    if (option.acts_on == AccessSet{} || accesses.meets(option.acts_on)) return;
    throw UsageError(fmt::format("{} {}: it acts on {}, and there are none here", option.name(),
                                 shown(text), option.what_it_acts_on),
                     "leave it out");
}

void set_block(LaunchShape& shape, const Dimensions& block) {
    shape.block = static_cast<std::uint32_t>(block.count());
    shape.block_shape.reset();
    if (!block.is_flat() || block.is_shape) shape.block_shape = block;
    if (shape.asked_grid) shape.grid = shape.asked_grid->blocks_of(block);
}

void set_grid(LaunchShape& shape, const GridSize& grid) {
    shape.asked_grid = grid;
    shape.grid = grid.blocks_of(shape.block_shape.value_or(Dimensions{shape.block}));
}

Carveout read_carveout(const std::string& word) {
    if (word == "prefer-l1") return {0, word};
    if (word == "prefer-equal") return {50, word};
    if (word == "prefer-shared") return {100, word};
    const std::string_view digits =
        std::string_view(word).substr(0, word.size() - (word.ends_with('%') ? 1 : 0));
    const ReadNumber number = read_integer(digits);
    if (number.status == NumberStatus::ok && number.length == digits.size() && number.value <= 100)
        return {static_cast<std::uint32_t>(number.value), word};
    throw UsageError(
        fmt::format("--carveout {}: not a way to split L1", shown(word)),
        "prefer-l1, prefer-equal, prefer-shared, or the share of shared memory: 0 to 100");
}

std::uint64_t count_of(const std::vector<Axis>& axes) {
    std::uint64_t count = 1;
    for (const Axis& axis : axes)
        if (__builtin_mul_overflow(count, axis.values.size(), &count)) return ~0ull;
    return count;
}

void choose(const std::vector<Axis>& axes, std::uint64_t number, ChosenLaunch& choice,
            NamedValues& parameters) {
    std::uint64_t left = count_of(axes);
    for (const Axis& axis : axes) {
        left /= axis.values.size();
        const AxisValue& value = axis.values[number / left % axis.values.size()];
        value.choose(choice);
        parameters.emplace_back(axis.key, value.shown);
        parameters.insert(parameters.end(), value.also.begin(), value.also.end());
    }
}

bool has_axis(const std::vector<Axis>& axes, std::string_view key) {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) {
        return axis.key == key || find_value(axis.values.front().also, key);
    });
}

}  // namespace coalprof
