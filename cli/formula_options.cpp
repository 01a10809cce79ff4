#include "cli/formula_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "cli/parse.h"
#include "core/formula/tree.h"
#include "core/layout/layout.h"
#include "core/text/describe.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

FormulaParameter read_parameter(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--var {}: expected a name, '=' and its values", shown(text)),
                         text, std::min(equals, text.size()), "for example --var k=0..32");
    FormulaParameter parameter{text.substr(0, equals), {}};
    require_parameter_name(parameter.name);
    parameter.values = parse_signed_range(std::string_view(text).substr(equals + 1),
                                          "--var " + parameter.name + "=")
                           .signed_values();
    return parameter;
}

// "shared.store: tile"; "a" of global memory, where --op says what is done.
std::string access_of(const std::string& space, SweepOptions& options) {
    constexpr std::array<std::string_view, 2> spaces{"global", "shared"};
    if (space.empty() || space == "global") return "a";
    if (space != "shared") throw UsageError(unknown_word("--space", space, spaces));
    const std::string op = options.text_of("op").empty() ? "load" : options.text_of("op");
    if (!has_word("load store atomic reduce", op))
        throw UsageError(fmt::format("--op {}: shared memory has load, store, atomic, reduce", op));
    options.typed.erase("op");
    return fmt::format("shared.{}: tile", op);
}

FormulaSweep sweep_of_layout(const FormulaOptions& typed, SweepOptions options) {
    // Which type of a width it is changes no count.
    constexpr std::array types{"u8", "u16", "u32", "u32x2", "u32x4", "u32x8"};
    for (const std::string_view key : {"grid", "size_bytes", "per_thread"})
        if (!options.text_of(key).empty())
            throw UsageError(
                fmt::format("{}: a layout says its size", find_launch_option(key)->name()),
                "leave it out");
    const std::string type = options.text_of("type").empty() ? "f32" : options.text_of("type");
    const std::optional<ElementType> element = find_element_type(type);
    if (!element)
        throw UsageError(fmt::format("--type {}: a layout has elements of one type", shown(type)),
                         hint_for_element_type(type));
    const std::uint32_t width = bytes_of(*element);
    const std::uint64_t vector =
        typed.vector.empty() ? 0 : parse_integer(typed.vector, "--vector", 1, 1ull << 31);
    const std::uint64_t most = typed.space == "shared" && width < 32 ? 16 : 32;
    if (const std::uint64_t bytes = vector * width;
        bytes != 0 && (!std::has_single_bit(bytes) || bytes > most))
        throw UsageError(fmt::format("--vector {}: {} bytes are no access", vector, bytes),
                         fmt::format("an access has 1, 2, 4, 8, 16 or 32, lanes of shared memory "
                                     "at most 16: --vector {}",
                                     most / width));
    const LayoutFormula formula = formula_of_layout(
        typed.text, {access_of(typed.space, options), width, vector, typed.has_values});
    if (formula.has_values) {
        const std::string block = std::to_string(formula.threads);
        if (const std::string given = options.text_of("block"); !given.empty() && given != block)
            throw UsageError(fmt::format("--block {}: the layout has {} threads", given, block),
                             "leave it out");
        options.typed["block"] = block;
    }
    const std::uint64_t bytes = formula.vector * width;
    if (formula.vector > 1)
        options.typed["type"] = types[static_cast<std::size_t>(std::countr_zero(bytes))];
    FormulaSweep sweep{{}, formula.text, {}, {}, options.settings()};
    sweep.settings.launch.shape.size_bytes = formula.threads * bytes;
    return sweep;
}

}  // namespace

void FormulaOptions::add_to(CLI::App& command, OptionValues values) {
    const bool is_one = values == OptionValues::one;
    add_repeated(command, "--var", variables,
                 is_one ? "A parameter and its value: k=3, d=-1; repeatable"
                        : "A parameter and its values: k=0..32, d=-1..1; repeatable",
                 is_one ? "K=N" : "K=R");
    add_repeated(
        command, "--array", arrays,
        "An array: its extents, in=f32[2048][2048], with strides x=bf16[4096,4096]:1,4096, of "
        "Fortran x=f64(1000,1000); or what it holds where its values make indices: "
        "col=@col.npy, col=i32[1000]=iota or =random; repeatable",
        "NAME=WHAT");
}

void FormulaOptions::add_layout_to(CLI::App& command) {
    add_value(command, "--vector", vector,
              "Elements of an access, side by side: 8 of f16 are 16 bytes (default 1; of a "
              "thread's values as many as 16 bytes hold)",
              "N");
    add_value(command, "--space", space, "global or shared memory (default global)", "S");
    command.add_flag("--tv", has_values,
                     "Thread-value layout: the first part of the shape counts threads, the others "
                     "the values of each");
}

std::vector<FormulaParameter> FormulaOptions::parameters() const {
    std::vector<FormulaParameter> parameters;
    for (const std::string& variable : variables) parameters.push_back(read_parameter(variable));
    return parameters;
}

void FormulaOptions::declare(FormulaSweep& sweep) const {
    for (const std::string& array : arrays) {
        DeclaredArray declared = read_declared_array(array);
        if (std::ranges::find(sweep.arrays, declared.name, &DeclaredArray::name) !=
            sweep.arrays.end())
            throw UsageError(fmt::format("--array {}: given twice", declared.name));
        sweep.arrays.push_back(std::move(declared));
    }
}

FormulaSweep sweep_of(const FormulaOptions& formula, const SweepOptions& options) {
    refuse_file(formula.text, "a formula",
                fmt::format("kernels of a file: coalprof kernel {}; a * is quoted for the shell: "
                            "coalprof formula 'i*3'",
                            shown(formula.text)));
    if (formula.is_layout) return sweep_of_layout(formula, options);
    FormulaSweep sweep;
    sweep.text = formula.text;
    sweep.parameters = formula.parameters();
    formula.declare(sweep);
    sweep.settings = options.settings();
    if (options.text_of("size_bytes").empty() && options.text_of("grid").empty())
        follow_arrays(sweep);
    return sweep;
}

}  // namespace coalprof
