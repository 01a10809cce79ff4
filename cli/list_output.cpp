#include "cli/list_output.h"

#include <fmt/format.h>

#include <memory>

#include "cli/print.h"
#include "cli/result_head.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

std::string listed_as(const OutputTarget& target, const Listing& listing, const ResultHead& head) {
    const std::string_view format = target.format->name;
    if (format == "table") return listing.text(target.style);
    if (format == "json") return list_as_json(head, listing.document);
    if (format == "jsonl") return list_as_jsonl(listing.document);
    if (format == "csv") return list_as_csv(listing.document);
    if (format == "md") return list_as_markdown(listing.document);
    throw UsageError(fmt::format("{}: a list is not written as {}", listing.document.key, format),
                     {}, UsageError::no_caret, "lists are table, json, jsonl, csv or md");
}

}  // namespace

ExitCode print_listing(const Listing& listing, const OutputOptions& output,
                       const Invocation& invocation) {
    const ResultHead head = head_of(invocation.argv);  // once: every output tells the same time
    for (const OutputTarget& target : output.targets()) {
        const std::string text = listed_as(target, listing, head);
        if (target.path == "-" || target.path == "/dev/stdout") {
            print_out(text);
            continue;
        }
        OutputFile file(target.path);
        file.write(text);
        file.commit();
        if (!file.remark().empty()) output.note(file.remark());
    }
    return ExitCode::done;
}

void add_list(CLI::App& app, Invocation& invocation, const char* name, const char* help,
              Listing (*make)()) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->group("Lists");
    auto output = std::make_shared<OutputOptions>();
    output->add_to(*sub);
    OutputOptions::offer_only(*sub, "table, json, jsonl, csv, md");
    sub->footer(
        fmt::format("Examples:\n"
                    "  coalprof {0}\n"
                    "  coalprof {0} --json\n"
                    "  coalprof {0} -o {0}.csv\n",
                    name));
    sub->callback([&invocation, output, make] {
        invocation.run = [&invocation, output, make] {
            return print_listing(make(), *output, invocation);
        };
    });
}

}  // namespace coalprof
