#include "cli/list_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/print.h"
#include "cli/saved_result.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"

namespace coalprof {

namespace {

const ListFormat* find_list_format(const OutputTarget& target) {
    const auto known = std::ranges::find(list_formats, target.format->name, &ListFormat::name);
    return known == list_formats.end() ? nullptr : &*known;
}

void refuse_other_formats(const OutputTarget& target, const Invocation& invocation) {
    if (target.format->name == "table" || find_list_format(target)) return;
    throw UsageError(
        fmt::format("{}: a list is not written as {}", invocation.argv.at(1), target.format->name),
        "lists are " + names_of_list_formats(" or "));
}

std::string listed_as(const OutputTarget& target, const Listing& listing, const ResultHead& head) {
    if (const ListFormat* format = find_list_format(target))
        return format->write(head, listing.document);
    return without_commands(listing.text(target.style));
}

}  // namespace

std::string names_of_list_formats(std::string_view before_last) {
    std::string names = "table, " + joined(list_formats, &ListFormat::name);
    return names.replace(names.rfind(", "), 2, before_last);
}

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
    OutputOptions::offer_only(*sub, names_of_list_formats());
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
