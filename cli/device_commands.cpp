// `coalprof devices` and `coalprof doctor`: the GPUs, and obstacles to measuring. Both answer on a
// machine without a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/invocation.h"
#include "cli/list_output.h"
#include "cli/wiring.h"
#include "core/text/fold.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

std::string plain_text(const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
    if (std::holds_alternative<std::monostate>(value)) return "n/a";
    return text_of(value);
}

// A large number with its size in units: "62914560 (60 MiB)".
std::string with_unit(const std::string& key, const Value& value) {
    const std::string text = plain_text(value);
    const auto* integer = std::get_if<std::int64_t>(&value);
    const double number = integer ? static_cast<double>(*integer) : 0;
    if (key.ends_with("_bytes") && number >= 1024)
        return fmt::format("{} ({})", text, size_text(static_cast<std::uint64_t>(*integer)));
    if (key.ends_with("_hz")) return fmt::format("{} ({:.0f} MHz)", text, number / 1e6);
    if (const auto* rate = std::get_if<double>(&value); rate && key == "peak_bytes_per_second")
        return fmt::format("{} ({:.0f} GB/s)", text, *rate / 1e9);
    return text;
}

Listing list_devices() {
    const DevicesReport report = report_devices();
    Listing listing{
        .document = {.key = "devices", .rows = {}, .more = {{"problem", report.problem}}}};
    for (const NamedValues& device : report.devices) listing.document.rows.push_back({device});
    listing.text = [report](const TableStyle&) {
        std::string text;
        for (const NamedValues& device : report.devices) {
            for (const auto& [key, value] : device)
                text += fmt::format("{:<40} {}\n", key, with_unit(key, value));
            text += '\n';
        }
        constexpr std::string_view no_gpu = "no GPU: ";  // most problems begin like this
        std::string_view problem = report.problem;
        if (problem.starts_with(no_gpu)) problem.remove_prefix(no_gpu.size());
        if (!problem.empty())
            text += fmt::format(
                "No GPU: {}.\nThe model needs none: `coalprof machines` lists what it "
                "predicts.\n",
                problem);
        return text;
    };
    return listing;
}

Listing list_findings() {
    const std::vector<Diagnosis> findings = diagnose();
    Listing listing{.document = {.key = "findings", .rows = {}}};
    for (const Diagnosis& finding : findings)
        listing.document.rows.push_back(
            {{{"name", finding.name},
              {"state", finding.state},
              {"detail", finding.detail},
              {"remedy", finding.remedy.empty() ? Value{} : Value{finding.remedy}}}});
    if (std::ranges::find(findings, "problem", &Diagnosis::state) != findings.end())
        listing.code = ExitCode::finding;
    listing.text = [findings](const TableStyle& style) {
        const Folding folding{.columns = style.width, .indent = 10};
        std::string text;
        for (const Diagnosis& finding : findings) {
            text += fmt::format("{:<9} {}\n", finding.state, finding.name);
            text += folded_text(finding.detail, folding);
            if (!finding.remedy.empty()) text += folded_text("-> " + finding.remedy, folding);
        }
        return text;
    };
    return listing;
}

}  // namespace

void add_device_commands(CLI::App& app, Invocation& invocation) {
    add_list(app, invocation, "devices", "The GPUs of this machine and what coalescing depends on",
             list_devices);
    add_list(app, invocation, "doctor", "What measuring needs, what is missing, and how to fix it",
             list_findings);
}

}  // namespace coalprof
