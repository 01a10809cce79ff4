// `coalprof calibrate`: this GPU's rates, as a machine file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/invocation.h"
#include "cli/list_output.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/wiring.h"
#include "core/calibrate/calibration.h"
#include "core/text/fold.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

struct CalibrateCommand {
    std::string device = "0";
    OutputOptions output;
};

// The share of launches that are predicted to within `error`.
double share_within(const Calibration& found, double error) {
    const auto is_near = [&](const TimedProbe& launch) {
        return std::abs(launch.predicted_seconds / launch.seconds - 1) <= error;
    };
    return static_cast<double>(std::ranges::count_if(found.launches, is_near)) /
           static_cast<double>(found.launches.size());
}

std::string text_of(const Calibration& found, const TableStyle& style) {
    std::string text =
        fmt::format("{} (cc {}.{})\n\n", found.device.name, found.device.major, found.device.minor);
    for (const FoundSimRate& rate : found.rates)
        text += fmt::format("{:<32} {:>9.3g} {:<6} {}\n", rate.info.key, rate.value,
                            rate.info.unit == "1" ? "" : rate.info.unit,
                            rate.is_measured
                                ? fmt::format("measured, to about {:.2g} %", 100 * rate.doubt)
                                : fmt::format("not measured: {}", found.prior));
    text += fmt::format(
        "\n{} launches were timed; with these rates {:.0f} % of them are predicted to 10 %, "
        "{:.0f} % to 25 %.\n",
        found.launches.size(), 100 * share_within(found, 0.1), 100 * share_within(found, 0.25));
    for (const std::string& failure : found.failed)
        text += folded_text("failed: " + failure, {.columns = style.width, .indent = 0});
    return text;
}

ExitCode run_calibrate(const CalibrateCommand& command, const Invocation& invocation) {
    const StepLines steps(command.output.verbose);
    std::string disturbance;
    const auto make = [&] {
        const DeviceAccess device = open_device(
            {.index = static_cast<int>(parse_integer(command.device, "--device", 0, 1023)),
             .wants_counters = false,
             .wants_ceilings = true});
        if (!device.launcher)
            throw Error(
                fmt::format("calibrate needs a GPU: {}; run it on the GPU's host, and take "
                            "what it saves along: --machine ./FILE.json",
                            device.no_gpu));
        const Calibration found = calibrate(*device.launcher);
        disturbance = found.disturbance;
        return Listing{.document = machine_document(found),
                       .text = [found](const TableStyle& style) { return text_of(found, style); }};
    };
    const ExitCode code = print_listing(make, command.output, invocation);
    if (disturbance.empty()) return code;
    command.output.note(fmt::format("W-DISTURBED: {}; calibrate again", disturbance));
    return ExitCode::finding;
}

}  // namespace

void add_calibrate_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<CalibrateCommand>(
        app, invocation, "calibrate",
        "Measure this GPU's rates once; the model then predicts this GPU anywhere", run_calibrate);
    add_value(*sub, "--device", command->device, "CUDA device index (default 0)", "N");
    command->output.add_to(*sub);
    OutputOptions::offer_only(*sub, names_of_list_formats());
    sub->footer(
        "--machine ./mine.json then predicts this GPU, without it too. Takes less\n"
        "than a minute. Ends with 1 where the GPU was disturbed.\n"
        "\n"
        "Examples:\n"
        "  coalprof calibrate -o mine.json\n"
        "  coalprof calibrate --json\n");
}

}  // namespace coalprof
