// The options that shape a launch, one row each: its spelling, its values, its key in results.
// --help, completion, titles, CSV, JSON and the replay of saved results follow from the table.
// Adding one: its row, its member of ChosenLaunch, and code that uses it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/pattern/access_set.h"
#include "core/pattern/plan.h"

namespace coalprof {

// The values that an axis can change: everything that options say of a launch.
struct ChosenLaunch {
    std::optional<Op> op;  // none: the pattern's own
    ElementType type = ElementType::f32;
    LaunchShape shape;
    PatternOptions options;
    std::optional<LoadModifier> dlcm;  // none: each machine's default
    StoreModifier dscm = StoreModifier::wb;
    std::optional<Carveout> carveout;
    std::optional<std::uint32_t> l2_fetch_bytes;
    Allocation allocation = Allocation::device;
    LoadPath path = LoadPath::ld;
};

struct AxisValue {
    Value shown;  // value of the point's parameter
    std::function<void(ChosenLaunch&)> choose;
    NamedValues also = {};  // further parameters; the same keys for every value
};

// An option of the launch with several values: it is swept, and a parameter of the points.
struct Axis {
    std::string key;  // key of the parameter: "block"
    std::vector<AxisValue> values;
};

// The number of combinations; 2^64-1 for more.
std::uint64_t count_of(const std::vector<Axis>& axes);

// Makes the combination of this number in `choice` and names it in `parameters`. The last axis
// varies fastest.
void choose(const std::vector<Axis>& axes, std::uint64_t number, ChosenLaunch& choice,
            NamedValues& parameters);

// True if points have this key as a parameter.
bool has_axis(const std::vector<Axis>& axes, std::string_view key);

enum class OptionGroup : std::uint8_t {
    launch,  // every launch has it: type, op, size, block, ...
    memory,  // the way memory is accessed; swept, these are compared with each other
    pattern  // only the patterns that name it have it (PatternInfo::options)
};

struct LaunchOption {
    std::string_view key;   // key in results: "l2_fetch"
    std::string_view word;  // "--l2-fetch"; CLI11's "--type,-t" with a letter
    OptionGroup group;
    std::string_view usual;                    // the default, as typed; empty: it varies
    std::string_view value;                    // placeholder in --help: "N"
    std::string_view range;                    // example of a range for --help
    std::string_view help;                     // {words} and {range} are put in
    std::vector<std::string_view> (*words)();  // all that it takes; nullptr: other text
    // Throws UsageError for unreadable text; at least one value.
    std::vector<AxisValue> (*read)(const LaunchOption& option, const std::string& text);
    // For options of memory and patterns: the value in a launch, as results have it; nothing: the
    // launch has none.
    Value (*shown)(const ChosenLaunch& launch) = nullptr;
    // A launch without any of these accesses is the same with each value; empty: always.
    AccessSet acts_on = {};
    std::string_view what_it_acts_on = {};
    // Where the pattern also has the option of `needed_key`, this one acts only with `needed_word`.
    std::string_view needed_key = {}, needed_word = {};

    std::string_view name() const { return word.substr(0, word.find(',')); }  // "--type"
};

// In the order of --help and of results.
std::span<const LaunchOption> launch_options();
// nullptr: none of this key.
const LaunchOption* find_launch_option(std::string_view key);

// True for the keys of memory settings in results: those become parameters of points where they are
// swept.
bool is_memory_setting(std::string_view key);
// True if the option has this value where it was not given.
bool is_usual_value(std::string_view key, const Value& value);

// Stores a typed value in `launch` if it is one; several become an axis of `axes`, and the first is
// used for the others in `launch`. Throws UsageError.
void take_option(const LaunchOption& option, const std::string& text, ChosenLaunch& launch,
                 std::vector<Axis>& axes);

// Throws UsageError where the option, given this text, changes nothing about such accesses.
void require_effect(const LaunchOption& option, const std::string& text, AccessSet accesses);

// The blocks or grids of an option, each as a word: "256,32x8", "64..1024*2". Throws UsageError.
std::vector<std::string> words_of_dimensions(const std::string& text, std::string_view option);

// Sets the block's threads, and its dimensions if it has several.
void set_block(LaunchShape& shape, const Dimensions& block);
void set_grid(LaunchShape& shape, const GridSize& grid);
// prefer-l1, prefer-equal, prefer-shared or per cent; throws UsageError.
Carveout read_carveout(const std::string& word);

}  // namespace coalprof
