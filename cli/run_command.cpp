// `coalprof run -- PROGRAM ...`: the kernels of any CUDA program, counted while it runs.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "cli/child_program.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/result_head.h"
#include "cli/system_report.h"
#include "core/explain/line_findings.h"
#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/trace/kernels.h"
#include "core/trace/lines.h"
#include "core/warps/warps_file.h"
#include "core/write/file_descriptor.h"
#include "core/write/output_file.h"
#ifdef COALPROF_HAS_CUDA
#include "cupti/attach/choice.h"
#include "cupti/attach/orders.h"
#endif

namespace coalprof {
namespace {

struct RunCommand {
    std::vector<std::string> program;
    std::string kernel;
    std::vector<std::string> before;  // words that should stand behind --
    std::string first = "5";
    std::string counters = "basic";
    bool lines = false;
    std::string addresses;  // a warps file; empty: none
    OutputOptions output;
};

#ifdef COALPROF_HAS_CUDA

// Traces lie here until they are read.
class TraceFolder {
 public:
    TraceFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "coalprof-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            throw Error(
                fmt::format("cannot create a folder in {}: {}",
                            std::filesystem::temp_directory_path().string(), text_of_errno(errno)),
                ExitCode::output);
        path_ = name;
    }
    ~TraceFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TraceFolder(const TraceFolder&) = delete;
    TraceFolder& operator=(const TraceFolder&) = delete;
    const std::string& path() const { return path_; }

    std::vector<Trace> traces() const {
        std::vector<Trace> all;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            all.push_back(read_trace(entry.path().string()));
        std::ranges::sort(all, {}, [](const Trace& trace) { return trace.process.id; });
        return all;
    }

 private:
    std::string path_;
};

// Beside the program as it is built, or where it is installed.
std::string library_path() {
    const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    for (const auto& folder : {program, program.parent_path() / "lib" / "coalprof"}) {
        const auto path = folder / "coalprof_injection.so";
        if (std::filesystem::exists(path)) return path.string();
    }
    throw Error(
        fmt::format("cannot find coalprof_injection.so, which belongs beside {} or into {}: "
                    "install coalprof anew",
                    program.string(), (program.parent_path() / "lib" / "coalprof").string()));
}

// Names the library that the driver loads when it starts.
constexpr const char* injection_variable = "CUDA_INJECTION64_PATH";

void refuse_other_tools() {
    const char* other = ::getenv(injection_variable);
    if (other && *other)
        throw Error(
            fmt::format("cannot attach: CUDA_INJECTION64_PATH={} names another tool, and the "
                        "driver loads one; unset it",
                        shown(other)));
}

void check(const RunCommand& command) {
    if (!command.before.empty())
        throw UsageError(
            fmt::format("run: {} stands before --", shown(command.before.front())), {},
            UsageError::no_caret,
            "the program and what it is given stand behind it: coalprof run -- ./app arguments");
    if (command.program.empty())
        throw UsageError("run: no program was named", {}, UsageError::no_caret,
                         "it stands behind --: coalprof run -- ./app arguments");
    if (command.counters != "basic" && command.counters != "memory")
        throw UsageError(
            fmt::format("--counters {}: expected basic or memory", shown(command.counters)), {},
            UsageError::no_caret,
            "memory adds bytes per sector, and runs the program twice for it");
    if (!command.addresses.empty() && !command.lines)
        throw UsageError("--addresses: addresses are those of lines", {}, UsageError::no_caret,
                         "give --lines as well");
    parse_integer(command.first, "--first", 1);
    try {
        const std::regex tried(command.kernel);
    } catch (const std::regex_error&) {
        throw UsageError(
            fmt::format("--kernel {}: this is no regular expression", shown(command.kernel)));
    }
}

// "64x64"; dimensions of 1 at the end say nothing.
std::string dimensions_text(const std::array<std::uint32_t, 3>& all) {
    std::string text = std::to_string(all[0]);
    if (all[1] != 1 || all[2] != 1) text += fmt::format("x{}", all[1]);
    if (all[2] != 1) text += fmt::format("x{}", all[2]);
    return text;
}

// The function's own name: without its result, template arguments and parameters.
std::string short_name(const std::string& name) {
    if (name.starts_with('(')) return name;  // no function's
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        if (c == '<') ++depth;
        if (c == '(' && depth == 0 && !plain.empty()) break;
        if (depth == 0) plain += c;
        if (c == '>') --depth;
    }
    const std::size_t space = plain.rfind(' ');
    if (space != plain.npos && space + 1 < plain.size()) plain.erase(0, space + 1);
    return depth == 0 && !plain.empty() ? plain : name;
}

Point point_of(const KernelSummary& summary) {
    const std::string full = demangled(summary.kernel.name);
    Point point;
    point.name = full;
    point.parameters = {{"kernel", short_name(full)}};
    const auto add = [&](const char* key, Value value) {
        point.name += fmt::format(" {}={}", key, text_of(value));
        point.parameters.emplace_back(key, std::move(value));
    };
    if (summary.kernel.block[0] != 0) {  // a CUDA graph has no shape
        add("grid", dimensions_text(summary.kernel.grid));
        add("block", dimensions_text(summary.kernel.block));
    }
    if (summary.kernel.device != 0) add("device", summary.kernel.device);
    point.parameters.emplace_back("launches",
                                  summary.launches ? Value(*summary.launches) : Value{});
    point.parameters.emplace_back("counted", summary.counted);
    if (summary.counted > 0) point.measured = summary.measured;
    return point;
}

std::vector<Warning> warnings_of(const std::vector<Trace>& traces) {
    std::vector<Warning> warnings;
    if (traces.empty())
        warnings.push_back({.code = "W-NO-KERNELS",
                            .point = {},
                            .text =
                                "the program did not start the CUDA driver, so there was nothing "
                                "to count"});
    std::set<std::string> said;
    for (const Trace& trace : traces) {
        for (const std::string& problem : trace.problems)
            if (said.insert(problem).second)
                warnings.push_back({.code = "W-NO-COUNTERS", .point = {}, .text = problem});
        if (!trace.launches)
            warnings.push_back(
                {.code = "W-ENDED-EARLY",
                 .point = {},
                 .text = fmt::format("process {} ended before it could tell how often each kernel "
                                     "was launched; kernels of its last moments may be missing",
                                     trace.process.id)});
    }
    return warnings;
}

// Standard output is the program's: what is for it goes to standard error.
std::vector<OutputTarget> targets_of(const RunCommand& command) {
    std::vector<OutputTarget> targets = command.output.targets();
    for (OutputTarget& target : targets)
        if (is_standard_output(target.path)) {
            target.path = "/dev/stderr";
            target.style.color = target.style.color && ::isatty(STDERR_FILENO) == 1;
        }
    return targets;
}

// What the driver says of the GPU that ran most of the program; empty where it says nothing.
NamedValues device_values(const std::vector<KernelSummary>& kernels) {
    const DevicesReport report = report_devices();
    const std::size_t index = kernels.empty() ? 0 : kernels.front().kernel.device;
    return index < report.devices.size() ? report.devices[index] : NamedValues{};
}

std::optional<MeasuredDevice> device_of(const std::vector<KernelSummary>& kernels) {
    const Value* name = nullptr;
    const NamedValues values = kernels.empty() ? NamedValues{} : device_values(kernels);
    if (!(name = find_value(values, "name"))) return std::nullopt;
    MeasuredDevice device;
    device.index = kernels.front().kernel.device;
    device.name = text_of(*name);
    return device;
}

int run_once(const RunCommand& command, const std::string& library, RunPass pass,
             std::vector<Trace>& traces) {
    const TraceFolder folder;
    AttachOrders orders{.folder = folder.path(),
                        .first_of_each = parse_integer(command.first, "--first", 1),
                        .pass = pass};
    if (!command.kernel.empty()) orders.kernel = command.kernel;
    Variables variables = variables_of(orders);
    variables.emplace_back(injection_variable, library);
    const int code = run_program(command.program, variables);
    for (Trace& trace : folder.traces()) traces.push_back(std::move(trace));
    return code;
}

// A program's kernels, or its lines, on their way out.
struct RunResult {
    std::vector<Point> points;
    std::string parameter;
    std::vector<Trace> traces;
    std::vector<LineFinding> findings;
    std::vector<Warning> warnings;
};

LineCosts costs_of(const std::vector<KernelSummary>& kernels, const NamedValues& device) {
    LineCosts costs;
    for (const KernelSummary& summary : kernels)
        costs.seconds_of_kernel[summary.kernel.name] += summary.total_seconds();
    const Value* processors = find_value(device, "multiprocessors");
    const Value* clock = find_value(device, "clock_hz");
    // A multiprocessor's banks give one pass a clock.
    if (processors && clock && std::holds_alternative<std::uint64_t>(*processors) &&
        std::holds_alternative<std::uint64_t>(*clock))
        costs.passes_per_second = static_cast<double>(std::get<std::uint64_t>(*processors)) *
                                  static_cast<double>(std::get<std::uint64_t>(*clock));
    return costs;
}

// "faults.cu:19"; the kernel's name where there is no line information.
std::string place_text(const LineReport& report) {
    const SourceLine& place = report.line.place();
    if (place.file.empty()) return {};
    return fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(), place.line);
}

Point point_of(const LineReport& report, std::map<std::string, int>& names) {
    const PtxSite& site = report.line.site;
    const std::string place = place_text(report);
    const std::string kernel = short_name(demangled(site.function));
    Point point;
    point.name = fmt::format("{} {}", place.empty() ? kernel : place, site.instruction);
    if (site.space == Space::shared && site.instruction.find("shared") == std::string::npos)
        point.name += " (shared)";  // of an instruction that can reach both
    if (const int before = names[point.name]++; before > 0)
        point.name += fmt::format(" #{}", before + 1);
    point.parameters = {{"line", place.empty() ? Value{} : Value(place)},
                        {"kernel", kernel},
                        {"width_bytes", site.width_bytes}};
    if (site.space == Space::global) point.measured = report.measured;
    point.predicted = report.predicted;
    return point;
}

void save_addresses(const std::string& path, const std::vector<LineReport>& reports,
                    const std::vector<Point>& points) {
    OutputFile file(path);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        std::string name = points[i].name;
        std::ranges::replace(name, ' ', '_');
        std::ranges::replace(name, '#', '_');
        for (const WarpAccess& warp : reports[i].line.samples)
            if (const auto text = warps_file_line(name, warp)) file.write(*text);
    }
    file.commit();
}

// Kernels whose code could not count itself.
std::vector<Warning> kernels_without_lines(const std::vector<KernelSummary>& kernels,
                                           const std::vector<LineSummary>& lines) {
    double all = 0;
    std::map<std::string, double> missing;
    for (const KernelSummary& summary : kernels) {
        all += summary.total_seconds();
        if (std::ranges::none_of(lines, [&](const LineSummary& line) {
                return line.site.function == summary.kernel.name;
            }))
            missing[short_name(demangled(summary.kernel.name))] += summary.total_seconds();
    }
    if (missing.empty()) return {};
    std::vector<std::string> names;
    double seconds = 0;
    for (const auto& [name, time] : missing) {
        if (names.size() < 5) names.push_back(name);
        seconds += time;
    }
    if (missing.size() > names.size())
        names.push_back(fmt::format("{} more", missing.size() - names.size()));
    return {{.code = "W-NO-LINES",
             .point = {},
             .text = fmt::format("no lines of {}: {:.0f} % of the GPU's time",
                                 fmt::join(names, ", "), all > 0 ? 100 * seconds / all : 0.0)}};
}

// Kernels whose lines do not add up to what the hardware counted of the kernel as it was: where
// lanes part, compilers order and repeat instructions, and not alike in code that counts itself.
std::vector<Warning> lines_that_differ(const std::vector<KernelSummary>& kernels,
                                       const std::vector<LineSummary>& lines) {
    constexpr double tolerated = 0.02;
    std::map<std::string, double> counted;
    for (const KernelSummary& summary : kernels)
        for (const Counter counter : {Counter::load_sectors, Counter::store_sectors})
            counted[summary.kernel.name] +=
                number_or(summary.measured[counter], 0) *
                static_cast<double>(summary.launches.value_or(summary.counted));
    std::map<std::string, double> of_lines;
    for (const LineSummary& line : lines) {
        if (!counted.contains(line.site.function)) return {};  // a function of several kernels
        const bool is_counted =
            line.site.kind == AccessKind::load || line.site.kind == AccessKind::store;
        if (line.site.space == Space::global && is_counted)
            of_lines[line.site.function] += static_cast<double>(line.totals.sectors);
    }
    std::vector<Warning> warnings;
    for (const auto& [name, sectors] : of_lines) {
        const double hardware = counted[name];
        if (hardware == 0) continue;  // it was not counted
        if (std::abs(sectors - hardware) <= tolerated * hardware) continue;
        warnings.push_back(
            {.code = "W-LINES-DIFFER",
             .point = {},
             .text = fmt::format("the lines of {} add up to {:.0f} sectors, the hardware counted "
                                 "{:.0f}: where lanes part, the program's own code is arranged in "
                                 "another way",
                                 short_name(demangled(name)), sectors, hardware)});
    }
    return warnings;
}

// A GPU that is newer than the list has the rules of the newest.
Machine machine_with(const std::string& capability) {
    try {
        return find_machine(capability);
    } catch (const UsageError&) {
        return find_machine("h200");
    }
}

void add_lines(const RunCommand& command, const std::vector<KernelSummary>& kernels,
               const std::vector<Trace>& traced, RunResult& result) {
    const std::vector<LineSummary> lines = summarize_lines(traced);
    const NamedValues device = device_values(kernels);
    const LineCosts costs = costs_of(kernels, device);
    const Value* capability = find_value(device, "compute_capability");
    const Machine machine = machine_with(capability ? text_of(*capability) : "h200");
    const std::vector<LineReport> reports = report_lines(lines, costs, machine);
    std::map<std::string, int> names;
    bool has_places = false;
    for (const LineReport& report : reports) {
        result.points.push_back(point_of(report, names));
        has_places |= !report.line.place().file.empty();
        if (auto finding = finding_of(report, result.points.back().name, machine))
            result.findings.push_back(std::move(*finding));
    }
    result.warnings = kernels_without_lines(kernels, lines);
    for (Warning& warning : lines_that_differ(kernels, lines))
        result.warnings.push_back(std::move(warning));
    if (!reports.empty() && !has_places)
        result.warnings.push_back(
            {.code = "W-NO-LINE-INFO",
             .point = {},
             .text = "the program was built without line information: compile it with nvcc "
                     "-lineinfo to see source lines"});
    if (!command.addresses.empty()) save_addresses(command.addresses, reports, result.points);
}

ExitCode run_run_command(const RunCommand& command, const Invocation& invocation) {
    check(command);
    refuse_other_tools();
    const std::string library = library_path();
    Outputs outputs = command.output.open(targets_of(command));
    RunResult result;
    result.parameter = command.lines ? "line" : "kernel";
    int code = run_once(command, library, RunPass::traffic, result.traces);
    if (code == 126 || code == 127) return static_cast<ExitCode>(code);
    std::vector<KernelSummary> kernels = summarize(result.traces);
    const auto run_again = [&](RunPass pass) {
        std::vector<Trace> traces;
        code = run_once(command, library, pass, traces);
        return traces;
    };
    const auto keep = [&](std::vector<Trace>& traces) {
        for (Trace& trace : traces) result.traces.push_back(std::move(trace));
    };
    // A program that ends with an error may do so again; one that a signal ended is not asked.
    if (command.lines && code < 128) {
        std::vector<Trace> counted = run_again(RunPass::lines);
        add_lines(command, kernels, counted, result);
        for (Trace& trace : counted) {
            for (const std::string& problem : trace.problems)
                result.warnings.push_back({.code = "W-NO-LINES", .point = {}, .text = problem});
            trace.problems.clear();
        }
        keep(counted);
    } else if (command.counters == "memory" && code == 0) {
        std::vector<Trace> patched = run_again(RunPass::use);
        add_use(kernels, summarize(patched));
        keep(patched);
    }
    if (!command.lines)
        for (const KernelSummary& summary : kernels) result.points.push_back(point_of(summary));

    ResultHead head = head_of(invocation.argv);
    head.backend = "device";
    head.passes = command.counters == "memory" || command.lines ? 2 : 1;
    head.device = device_of(kernels);
    head.sweep = {.pattern = "run", .file = command.program.front(), .parameter = result.parameter};
    head.points = result.points.size();
    outputs.begin(head);
    for (const Point& point : result.points) outputs.point(point);
    ResultTail tail{.warnings = warnings_of(result.traces), .findings = result.findings};
    // Code that cannot be counted by lines is nothing that failed.
    if (!tail.warnings.empty()) tail.status = Status::partial;
    tail.warnings.insert(tail.warnings.end(), result.warnings.begin(), result.warnings.end());
    outputs.finish(tail);
    return static_cast<ExitCode>(code);
}

#else

ExitCode run_run_command(const RunCommand&, const Invocation&) {
    throw Error("cannot attach to programs: this coalprof was built without CUDA");
}

#endif

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<RunCommand>();
    CLI::App* sub = app.add_subcommand(
        "run", "The kernels of a CUDA program, counted while it runs: run -- PROGRAM ...");
    sub->group("Commands");
    sub->add_option("--kernel", command->kernel,
                    "Only kernels in whose name this regular expression is found (default: all but "
                    "those of NCCL and NVSHMEM)")
        ->type_name("REGEX");
    sub->add_option("--first", command->first,
                    "Count the first N launches of each kernel, grid and block (default 5)")
        ->type_name("N");
    sub->add_option(
           "--counters", command->counters,
           "basic: requests, sectors, hits, L2, DRAM and time in one run (default); memory: "
           "bytes per sector as well, for which the program is run a second time")
        ->type_name("SET");
    sub->add_flag(
        "--lines", command->lines,
        "What each load, store and atomic of the source asks of memory: the program is run "
        "a second time, and its PTX counts itself");
    sub->add_option("--addresses", command->addresses,
                    "With --lines: save addresses of some warps of each line as a warps file")
        ->type_name("FILE");
    sub->add_option("PROGRAM", command->before, "Behind --: the program and its arguments")
        ->type_name("");
    sub->footer(
        "The program keeps its standard input, output and exit code; the table goes to\n"
        "standard error, and to FILE with --output.\n\n"
        "Examples:\n"
        "  coalprof run -- ./app input.bin\n"
        "  coalprof run -o kernels.json -- python train.py\n"
        "  coalprof run --kernel 'gemm|softmax' --counters memory -- ./app\n"
        "  coalprof run --lines -- ./app\n");
    command->output.add_to(*sub);
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] {
            command->program = invocation.program;
            return run_run_command(*command, invocation);
        };
    });
}

}  // namespace coalprof
