#include "cli/axis_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cli/sweep_options.h"
#include "core/formula/formula.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/range.h"
#include "core/text/size.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

// One value is the sweep's; several are an axis of it, and none is the sweep's then. The first one
// stands for the others where only one is looked at.
void settle(Sweep& sweep, const char* key, std::vector<AxisValue> values) {
    ChosenLaunch choice{.op = sweep.op,
                        .type = sweep.type,
                        .shape = sweep.shape,
                        .options = std::move(sweep.options)};
    values.front().choose(choice);
    // float and f32 are the same.
    std::unordered_set<std::string> known;
    std::erase_if(
        values, [&](const AxisValue& value) { return !known.insert(text_of(value.shown)).second; });
    sweep.op = choice.op;
    sweep.type = choice.type;
    sweep.shape = std::move(choice.shape);
    sweep.options = std::move(choice.options);
    std::erase_if(sweep.axes, [&](const Axis& axis) { return axis.key == key; });
    if (values.size() > 1) sweep.axes.push_back({key, std::move(values)});
}

template <typename Read>
std::vector<AxisValue> words_of(const std::string& text, std::string_view option, Read read) {
    std::vector<AxisValue> values;
    for (const std::string& word : split_list(text, option)) values.push_back(read(word));
    return values;
}

template <typename Make>
std::vector<AxisValue> numbers_of(const std::string& text, std::string_view option,
                                  std::uint64_t least, std::uint64_t most, Make make) {
    std::vector<AxisValue> values;
    for (const std::uint64_t number : parse_range(text, option).values()) {
        if (number < least || number > most)
            throw UsageError(
                fmt::format("{} {}: {} is not between {} and {}", option, shown(text), number,
                            least, most),
                text, std::min(text.find(std::to_string(number)), UsageError::no_caret),
                fmt::format("numbers look like {0}, {0},{1} or {0}..{1}", least, least + 1));
        values.push_back({Value{number}, make(number)});
    }
    return values;
}

constexpr std::uint64_t no_limit = ~0ull;

// What is wrong with a word is said by the pattern that takes it, which knows its own.
template <typename Set>
std::vector<AxisValue> texts_of(const std::string& text, std::string_view option, Set set) {
    return words_of(text, option, [&](const std::string& word) {
        return AxisValue{word, [=](ChosenLaunch& choice) { set(choice.options, word); }};
    });
}

template <typename Parse, typename Set>
std::vector<AxisValue> dimensions_of(const std::string& text, std::string_view option, Parse parse,
                                     Set set) {
    std::vector<AxisValue> values;
    for (const std::string& word : words_of_dimensions(text, option)) {
        const Dimensions dimensions = parse(word, option);
        values.push_back({dimensions.is_flat() ? Value{dimensions.x} : Value{text_of(dimensions)},
                          [=](ChosenLaunch& choice) { set(choice.shape, dimensions); }});
    }
    return values;
}

AxisValue pitch_of(const std::string& word) {
    PatternOptions pitch;
    pitch.pitch = word;
    if (word != "none" && word != "auto") {
        constexpr std::array<std::string_view, 2> words{"none", "auto"};
        if (word.find_first_of("0123456789") != 0)
            throw UsageError(unknown_word("--pitch", word, words), {}, UsageError::no_caret,
                             "or elements, 1024, or bytes with a unit: 4KiB");
        const SizedRange sizes = parse_sized_range(word, "--pitch");
        if (sizes.values.size() != 1)
            throw UsageError(
                fmt::format("--pitch {}: expected none, auto or a number", shown(word)), {},
                UsageError::no_caret, "several go by comma: --pitch none,auto,1024");
        pitch.pitch_bytes = sizes.values.front();  // elements, where the text has no unit
    }
    return {word, [pitch](ChosenLaunch& choice) {
                choice.options.pitch = pitch.pitch;
                choice.options.pitch_bytes = pitch.pitch_bytes;
            }};
}

}  // namespace

std::vector<std::string> words_of_dimensions(const std::string& text, std::string_view option) {
    if (text.find("..") == text.npos && text.find_first_of("*:") == text.npos)
        return split_list(text, option);
    std::vector<std::string> words;
    for (const std::uint64_t number : parse_range(text, option).values())
        words.push_back(std::to_string(number));
    return words;
}

void add_type(Sweep& sweep, const std::string& text) {
    settle(sweep, "type", words_of(text, "--type", [](const std::string& word) {
               const auto type = find_element_type(word);
               if (!type) {
                   std::string hint = hint_for_element_type(word);
                   hint.front() = static_cast<char>(hint.front() - 'a' + 'A');
                   throw UsageError(fmt::format("unknown --type '{}'. {}", shown(word), hint));
               }
               return AxisValue{name_of(*type),
                                [type = *type](ChosenLaunch& choice) { choice.type = type; }};
           }));
}

void add_op(Sweep& sweep, const std::string& text) {
    settle(sweep, "op", words_of(text, "--op", [](const std::string& word) {
               const auto op = find_op(word);
               if (!op) throw UsageError(unknown_word("--op", word, op_list()));
               return AxisValue{name_of(*op), [op](ChosenLaunch& choice) { choice.op = op; }};
           }));
}

void add_size(Sweep& sweep, const std::string& text) {
    const std::vector<std::uint64_t> sizes = parse_size_list(text, "--size");
    std::vector<AxisValue> values;
    for (const std::uint64_t bytes : sizes)
        values.push_back({Value{bytes}, [bytes, typed = sizes.size() == 1 ? text : std::string()](
                                            ChosenLaunch& choice) {
                              choice.shape.size_bytes = bytes;
                              choice.shape.size_text = typed;
                          }});
    settle(sweep, "size_bytes", std::move(values));
}

void add_block(Sweep& sweep, const std::string& text) {
    settle(sweep, "block", dimensions_of(text, "--block", parse_block, set_block));
}

void add_grid(Sweep& sweep, const std::string& text) {
    settle(sweep, "grid",
           dimensions_of(text, "--grid", parse_grid,
                         [](LaunchShape& shape, const Dimensions& grid) { shape.grid = grid; }));
    const auto refuse = [&](const char* option) {
        throw UsageError(
            fmt::format("{} has several values: --grid and --size are of one launch", option), {},
            UsageError::no_caret, "give one of the two: each follows from the other");
    };
    if (has_axis(sweep.axes, "size_bytes")) refuse("--size");
    if (has_axis(sweep.axes, "grid") && !sweep.shape.size_text.empty()) refuse("--grid");
}

void add_per_thread(Sweep& sweep, const std::string& text) {
    settle(sweep, "per_thread", numbers_of(text, "--per-thread", 1, 64, [](std::uint64_t elements) {
               return [elements](ChosenLaunch& choice) {
                   choice.shape.per_thread = static_cast<std::uint32_t>(elements);
               };
           }));
}

void add_variant(Sweep& sweep, const std::string& text) {
    settle(sweep, "variant",
           texts_of(text, "--variant", [](PatternOptions& options, const std::string& word) {
               options.variant = word;
           }));
}

void add_order(Sweep& sweep, const std::string& text) {
    settle(sweep, "order",
           texts_of(text, "--order", [](PatternOptions& options, const std::string& word) {
               options.order = word;
           }));
}

void add_seed(Sweep& sweep, const std::string& text) {
    settle(sweep, "seed", numbers_of(text, "--seed", 0, no_limit, [](std::uint64_t seed) {
               return [seed](ChosenLaunch& choice) { choice.options.seed = seed; };
           }));
}

void add_member(Sweep& sweep, const std::string& text) {
    settle(sweep, "member", numbers_of(text, "--member", 0, no_limit, [](std::uint64_t member) {
               return [member](ChosenLaunch& choice) { choice.options.member = member; };
           }));
}

void add_pitch(Sweep& sweep, const std::string& text) {
    settle(sweep, "pitch", words_of(text, "--pitch", pitch_of));
}

void add_tile(Sweep& sweep, const std::string& text) {
    settle(sweep, "tile", numbers_of(text, "--tile", 0, no_limit, [](std::uint64_t columns) {
               return [columns](ChosenLaunch& choice) { choice.options.tile = columns; };
           }));
}

void set_values(Sweep& sweep, const PatternInfo& pattern, const std::string& text,
                const std::string& option) {
    sweep.values_unit = ValueUnit::of_parameter;
    const bool are_elements = pattern.unit == "elements";
    const bool are_bytes = pattern.unit == "bytes";
    // Of several types the widest: whole elements of it are whole elements of all.
    std::uint32_t width = bytes_of(sweep.type);
    for (const Axis& axis : sweep.axes)
        for (const AxisValue& value : axis.values) {
            ChosenLaunch choice;
            choice.type = sweep.type;
            value.choose(choice);
            width = std::max(width, bytes_of(choice.type));
        }
    std::string range = text.empty() ? pattern.default_range(width) : text;
    // As points are named: row_bytes=4000, row_elements=1000.
    const std::size_t equals = range.find('=');
    const std::string name = range.substr(0, equals == range.npos ? 0 : equals);
    const bool is_named = name == pattern.parameter;
    if (is_named || (pattern.typed_in_elements && name == "row_elements"))
        range.erase(0, equals + 1);
    if (!are_elements && !are_bytes) {
        sweep.values = parse_range(range, option).values();
        return;
    }
    SizedRange typed = parse_sized_range(range, option);
    sweep.values = std::move(typed.values);
    if (are_elements && typed.are_bytes) sweep.values_unit = ValueUnit::bytes;
    if (pattern.typed_in_elements && !typed.are_bytes && !is_named)
        sweep.values_unit = ValueUnit::elements;
}

}  // namespace coalprof
