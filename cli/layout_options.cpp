#include "cli/layout_options.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "cli/parse.h"
#include "core/layout/layout.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::uint64_t most_vector_bytes = 32;

// Of so many elements; which of several types of a width it is changes nothing.
std::string vector_type(ElementType type, std::uint64_t elements) {
    if (elements == 1) return std::string(name_of(type));
    const std::string name = fmt::format("{}x{}", name_of(type), elements);
    if (const auto own = find_element_type(name)) return std::string(name_of(*own));
    constexpr std::array words{"u8", "u16", "u32", "u32x2", "u32x4", "u32x8"};
    return words[static_cast<std::size_t>(std::countr_zero(elements * bytes_of(type)))];
}

// "shared.store: tile"; "a" of global memory, where --op says what is done.
std::string access_of(const std::string& space, SweepOptions& options) {
    constexpr std::array<std::string_view, 2> spaces{"global", "shared"};
    if (space.empty() || space == "global") return "a";
    if (space != "shared") throw UsageError(unknown_word("--space", space, spaces));
    std::string op = options.text_of("op");
    options.typed.erase("op");
    if (op.empty()) op = "load";
    if (!has_word("load store atomic reduce", op))
        throw UsageError(fmt::format("--op {}: an access of shared memory is one of load, store, "
                                     "atomic and reduce",
                                     op));
    return fmt::format("shared.{}: tile", op);
}

}  // namespace

void LayoutOptions::add_to(CLI::App& command) {
    add_value(command, "--vector", vector,
              "Elements of an access, side by side: 8 of f16 are 16 bytes (default 1; of a "
              "thread's values as many as 16 bytes hold)",
              "N");
    add_value(command, "--space", space, "global or shared memory (default global)", "S");
    command.add_flag("--tv", has_values,
                     "Thread-value layout: the first part of the shape counts threads, the others "
                     "the values of each");
}

FormulaSweep sweep_of(const std::string& text, const LayoutOptions& layout, SweepOptions options) {
    for (const std::string_view key : {"grid", "size_bytes", "per_thread"})
        if (!options.text_of(key).empty())
            throw UsageError(fmt::format("{}: a layout says how many threads there are",
                                         find_launch_option(key)->name()),
                             "leave it out");
    const std::string typed = options.text_of("type").empty() ? "f32" : options.text_of("type");
    const auto type = find_element_type(typed);
    if (!type)
        throw UsageError(fmt::format("--type {}: a layout has elements of one known type", typed),
                         hint_for_element_type(typed));
    LayoutUse use{.access = access_of(layout.space, options),
                  .element_bytes = bytes_of(*type),
                  .has_values = layout.has_values};
    if (!layout.vector.empty())
        use.vector = parse_integer(layout.vector, "--vector", 1, most_vector_bytes);
    if (const std::uint64_t bytes = use.vector * use.element_bytes;
        bytes > most_vector_bytes || (bytes > 0 && !std::has_single_bit(bytes)))
        throw UsageError(fmt::format("--vector {}: it makes {} bytes, and an access has 1, 2, 4, "
                                     "8, 16 or 32",
                                     use.vector, bytes),
                         fmt::format("--vector {}", 16 / use.element_bytes));
    const Layout read = read_layout(text);
    const LayoutFormula formula = formula_of(read, use);
    options.typed["type"] = vector_type(*type, formula.vector);
    if (read.has_values || layout.has_values) {
        const std::string block = std::to_string(formula.threads);
        if (const std::string given = options.text_of("block"); !given.empty() && given != block)
            throw UsageError(fmt::format("--block {}: the layout has {} threads", given, block),
                             "leave it out");
        options.typed["block"] = block;
    }
    FormulaSweep sweep{.name = text, .text = formula.text, .parameters = {}, .settings = options.settings()};
    sweep.settings.launch.shape.size_bytes =
        formula.threads * formula.vector * use.element_bytes;
    return sweep;
}

}  // namespace coalprof
