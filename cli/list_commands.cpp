// Commands that list patterns, counters and machines.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/list_output.h"
#include "cli/wiring.h"
#include "core/machine/machine.h"
#include "core/result/counter.h"
#include "core/result/result.h"
#include "core/sweep/patterns.h"
#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/units.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

Listing list_patterns() {
    Listing listing{.document = {.key = "patterns", .rows = {}}};
    for (const PatternInfo& pattern : pattern_catalog())
        listing.document.rows.push_back({{{"name", pattern.name},
                                          {"formula", pattern.formula},
                                          {"parameter", pattern.parameter},
                                          {"unit", pattern.unit},
                                          {"default_range", pattern.default_range(4)},
                                          {"default_op", name_of(pattern.default_op)},
                                          {"default_size_bytes", pattern.default_size_bytes},
                                          {"teaches", pattern.teaches}}});
    listing.text = [](const TableStyle& style) {
        std::string text;
        for (const PatternInfo& pattern : pattern_catalog()) {
            text += fmt::format("{:<10} {}\n", pattern.name, pattern.formula);
            text += folded_text(pattern.teaches, {.columns = style.width, .indent = 11});
            text += fmt::format("{:11}--range {} ({}), --op {}, --size {}{}{}\n\n", "",
                                pattern.default_range(4), pattern.parameter,
                                name_of(pattern.default_op),
                                size_as_typed({.size_bytes = pattern.default_size_bytes}),
                                pattern.options.empty() ? "" : ", ", pattern.options);
        }
        return text + "`coalprof PATTERN --help` lists the options of one.\n";
    };
    return listing;
}

bool has_word(std::string_view text, std::string_view word) {
    return word.empty() ||
           std::ranges::search(text, word, {}, ascii_lower, ascii_lower).begin() != text.end();
}

// nvprof's names of the counter: all, or those that contain the word if some do.
std::vector<NvprofName> nvprof_names_of(Counter counter, std::string_view word) {
    std::vector<NvprofName> names;
    for (const NvprofName& name : nvprof_names())
        if (name.counter == counter) names.push_back(name);
    const auto lacks_word = [&](const NvprofName& name) { return !has_word(name.name, word); };
    if (!std::ranges::all_of(names, lacks_word)) std::erase_if(names, lacks_word);
    return names;
}

// Those with the word in their key or text; all of them without one.
std::vector<CounterInfo> counters_with(std::string_view word) {
    const auto is_called_so = [&](Counter counter) {
        const std::vector<NvprofName> names = nvprof_names_of(counter, word);
        return !names.empty() && has_word(names.front().name, word);
    };
    std::vector<CounterInfo> counters;
    for (const CounterInfo& counter : all_counters())
        if (has_word(counter.key, word) || has_word(counter.meaning, word) ||
            has_word(nsight_name_of(counter.counter), word) || is_called_so(counter.counter))
            counters.push_back(counter);
    if (counters.empty())
        throw UsageError(fmt::format("counters: none has '{}' in its key, meaning, Nsight Compute "
                                     "or nvprof name",
                                     shown(word)),
                         hint_for_counter(word));
    return counters;
}

std::string text_of(const CounterInfo& counter, std::string_view word, const TableStyle& style) {
    std::string text = fmt::format("{:<30} {}{}\n", counter.key, name_of(counter.unit),
                                   counter.may_be_estimated ? "  ~" : "");
    text += folded_text(counter.meaning, {.columns = style.width, .indent = 4});
    if (const std::string_view metric = nsight_name_of(counter.counter); !metric.empty())
        text += fmt::format("    ncu: {}\n", metric);
    for (const NvprofName& name : nvprof_names_of(counter.counter, word))
        text += folded_text(fmt::format("nvprof: {}{}{}", name.name,
                                        name.meaning.empty() ? "" : ": ", name.meaning),
                            {.columns = style.width, .indent = 4});
    return text;
}

Listing list_counters(const std::string& word) {
    Listing listing{.document = {.key = "counters", .rows = {}}};
    const std::vector<CounterInfo> counters = counters_with(word);
    for (const CounterInfo& counter : counters) {
        const std::string_view metric = nsight_name_of(counter.counter);
        ListRow row{{{"key", counter.key},
                     {"unit", name_of(counter.unit)},
                     {"meaning", counter.meaning},
                     {"may_be_estimated", counter.may_be_estimated},
                     {"nsight_compute", metric.empty() ? Value{} : Value{metric}}}};
        std::vector<Value> names;
        for (const NvprofName& name : nvprof_names_of(counter.counter, word))
            names.emplace_back(name.name);
        row.lists = {{"nvprof", std::move(names)}};
        listing.document.rows.push_back(std::move(row));
    }
    listing.text = [counters, word](const TableStyle& style) {
        std::string text;
        for (const CounterInfo& counter : counters) text += text_of(counter, word, style);
        return text + "~  predicted with an interval where it is not exact\n";
    };
    return listing;
}

// "L2 60 MiB, 141 GiB", "no L2", "L2 ?"
std::string memories_text(const Board& board) {
    std::string text = !board.l2_bytes        ? "L2 ?"
                       : *board.l2_bytes == 0 ? "no L2"
                                              : "L2 " + bytes_text(*board.l2_bytes);
    if (board.memory_bytes) text += ", " + bytes_text(*board.memory_bytes);
    return text;
}

Listing list_machines() {
    Listing listing{.document = list_of_machines()};
    listing.text = [](const TableStyle&) {
        std::string text;
        for (const Rules& rules : all_rules()) {
            text += fmt::format("{:<5} {:<12} global memory: {}\n", text_of(rules.cc), rules.family,
                                text_of(rules.evidence));
            for (const Board& board : all_boards())
                if (board.cc == rules.cc)
                    text += fmt::format(
                        "  {:<12} {:<26} {:>4} SMs {:>5.0f} GB/s  {}\n", board.key, board.name,
                        board.multiprocessors != 0 ? fmt::to_string(board.multiprocessors) : "?",
                        board.peak_bytes_per_second / 1e9, memories_text(board));
        }
        return text;
    };
    return listing;
}

}  // namespace

void add_list_commands(CLI::App& app, Invocation& invocation) {
    add_list(app, invocation, "patterns", "The built-in access patterns", list_patterns);
    auto word = std::make_shared<std::string>();
    add_list(app, invocation, "counters",
             "Every counter: key, unit, meaning, Nsight Compute and nvprof names",
             [word] { return list_counters(*word); })
        .add_option(
            "WORD", *word,
            "Only counters that have it in their key, meaning, Nsight Compute or nvprof name");
    add_list(app, invocation, "machines", "The GPUs that the model knows", list_machines);
}

}  // namespace coalprof
