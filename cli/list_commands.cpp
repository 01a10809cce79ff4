// Commands that list what there is: patterns, counters, machines.
#include <fmt/format.h>

#include <memory>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "core/machine/machine.h"
#include "core/pattern/catalog.h"
#include "core/result/counter.h"
#include "core/result/estimates.h"
#include "core/text/fold.h"
#include "core/write/list_json.h"

namespace coalprof {
namespace {

// One list: how it reads on a screen, and its rows for --json.
struct Listing {
    std::string text{};
    std::string key{};  // of the rows in the JSON document
    std::vector<NamedValues> rows{};
};

using MakeListing = Listing (*)(std::size_t width);

Listing list_patterns(std::size_t width) {
    Listing listing{.key = "patterns"};
    for (const PatternInfo& pattern : pattern_catalog()) {
        listing.text += fmt::format("{:<10} {}\n", pattern.name, pattern.formula);
        listing.text += folded_text(pattern.teaches, {.columns = width, .indent = 11});
        listing.text +=
            fmt::format("{:11}--range {} ({}), --op {}{}{}\n\n", "", pattern.default_range(4),
                        pattern.parameter, name_of(pattern.default_op),
                        pattern.options.empty() ? "" : ", ", pattern.options);
        listing.rows.push_back({{"name", pattern.name},
                                {"formula", pattern.formula},
                                {"parameter", pattern.parameter},
                                {"unit", pattern.unit},
                                {"default_range", pattern.default_range(4)},
                                {"default_op", name_of(pattern.default_op)},
                                {"teaches", pattern.teaches}});
    }
    listing.text += "`coalprof PATTERN --help` lists the options of one.\n";
    return listing;
}

Listing list_counters(std::size_t width) {
    Listing listing{.key = "counters"};
    for (const CounterInfo& counter : all_counters()) {
        const bool is_estimate = may_be_estimated(counter.counter);
        listing.text += fmt::format("{:<28} {}{}\n", counter.key, name_of(counter.unit),
                                    is_estimate ? "  ~" : "");
        listing.text += folded_text(counter.meaning, {.columns = width, .indent = 4});
        listing.rows.push_back({{"key", counter.key},
                                {"unit", name_of(counter.unit)},
                                {"meaning", counter.meaning},
                                {"may_be_estimated", is_estimate}});
    }
    listing.text += "~  predicted with an interval where it is not exact\n";
    return listing;
}

Listing list_machines(std::size_t) {
    Listing listing{.key = "machines"};
    const auto board_row = [&](const Board& board) {
        listing.text +=
            fmt::format("  {:<12} {:<28} {:>4} SMs  {:>6.0f} GB/s\n", board.key, board.name,
                        board.multiprocessors, board.peak_bytes_per_second / 1e9);
    };
    for (const Rules& rules : all_rules()) {
        listing.text += fmt::format("{:<5} {:<12} global-memory rules: {}\n", text_of(rules.cc),
                                    rules.family, text_of(rules.evidence));
        listing.rows.push_back({{"compute_capability", text_of(rules.cc)},
                                {"family", rules.family},
                                {"evidence", text_of(rules.evidence)},
                                {"source", rules.source}});
        for (const Board& board : all_boards()) {
            if (board.cc != rules.cc) continue;
            board_row(board);
            listing.rows.push_back({{"compute_capability", text_of(board.cc)},
                                    {"board", board.key},
                                    {"name", board.name},
                                    {"multiprocessors", board.multiprocessors},
                                    {"peak_bytes_per_second", board.peak_bytes_per_second},
                                    {"source", board.source}});
        }
    }
    return listing;
}

void add_list(CLI::App& app, Invocation& invocation, const char* name, const char* help,
              MakeListing make) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->group("Lists");
    struct ListCommand {
        bool json = false;
        LookOptions look;
    };
    auto command = std::make_shared<ListCommand>();
    sub->add_flag("--json", command->json, "As one JSON document");
    command->look.add_to(*sub);
    sub->callback([&invocation, command, make] {
        invocation.run = [command, make] {
            const Listing listing = make(command->look.style().width);
            print_out(command->json ? list_document(listing.key, listing.rows) : listing.text);
            return ExitCode::done;
        };
    });
}

}  // namespace

void add_list_commands(CLI::App& app, Invocation& invocation) {
    add_list(app, invocation, "patterns", "The built-in access patterns", list_patterns);
    add_list(app, invocation, "counters", "Every counter: key, unit, meaning", list_counters);
    add_list(app, invocation, "machines", "The GPUs that the model knows", list_machines);
}

}  // namespace coalprof
