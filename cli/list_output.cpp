#include "cli/list_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "cli/print.h"
#include "cli/result_head.h"
#include "core/text/fold.h"

namespace coalprof {

namespace {

void refuse_other_formats(const OutputTarget& target, const Invocation& invocation) {
    constexpr std::array<std::string_view, 5> formats{"table", "json", "jsonl", "csv", "md"};
    if (std::ranges::find(formats, target.format->name) != formats.end()) return;
    throw UsageError(
        fmt::format("{}: a list is not written as {}", invocation.argv.at(1), target.format->name),
        {}, UsageError::no_caret, "lists are table, json, jsonl, csv or md");
}

std::string listed_as(const OutputTarget& target, const Listing& listing, const ResultHead& head) {
    const std::string_view format = target.format->name;
    if (format == "table") return without_commands(listing.text(target.style));
    if (format == "json") return list_as_json(head, listing.document);
    if (format == "jsonl") return list_as_jsonl(listing.document);
    if (format == "csv") return list_as_csv(listing.document);
    return list_as_markdown(listing.document);
}

}  // namespace

ExitCode print_listing(const std::function<Listing()>& make, const OutputOptions& output,
                       const Invocation& invocation) {
    const std::vector<OutputTarget> targets = output.targets();
    for (const OutputTarget& target : targets) refuse_other_formats(target, invocation);
    TextOutputs outputs(targets, output);
    const Listing listing = make();
    const ResultHead head = head_of(invocation.argv);  // once: every output has the same time
    outputs.write([&](const OutputTarget& target) { return listed_as(target, listing, head); });
    return listing.code;
}

CLI::App& add_list(CLI::App& app, Invocation& invocation, const char* name, const char* help,
                   const std::function<Listing()>& make) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->group("Lists");
    auto output = std::make_shared<OutputOptions>();
    output->add_to(*sub);
    OutputOptions::offer_only(*sub, list_formats);
    sub->footer(
        fmt::format("Examples:\n"
                    "  coalprof {0}\n"
                    "  coalprof {0} --json\n"
                    "  coalprof {0} -o {0}.csv\n",
                    name));
    sub->callback([&invocation, output, make] {
        invocation.run = [&invocation, output, make] {
            return print_listing(make, *output, invocation);
        };
    });
    return *sub;
}

TextOutputs::TextOutputs(std::vector<OutputTarget> targets, const OutputOptions& options)
    : options_(options) {
    for (const bool takes_files : {true, false})
        for (OutputTarget& target : targets)
            if (is_standard_output(target.path) != takes_files)
                targets_.push_back(std::move(target));
    for (const OutputTarget& target : targets_)
        files_.push_back(
            is_standard_output(target.path) ? nullptr : std::make_unique<OutputFile>(target.path));
}

void TextOutputs::write(const std::function<std::string(const OutputTarget&)>& text) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const std::string whole = text(targets_[i]);
        try {
            if (files_[i])
                commit(*files_[i], whole);
            else
                print_out(whole);
        } catch (const Error& error) {
            failures_ += (failures_.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (!failures_.empty()) throw Error(failures_, ExitCode::output);
}

void TextOutputs::commit(OutputFile& file, const std::string& text) {
    file.write(text);
    file.commit();
    if (!file.remark().empty()) options_.note(file.remark());
}

}  // namespace coalprof
