// `coalprof run -- PROGRAM ...`: the kernels of any CUDA program, counted while it runs.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <memory>

#include "cli/child_program.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/parse.h"
#include "cli/saved_result.h"
#include "cli/source_files.h"
#include "core/lines/run_kernels.h"
#include "core/lines/run_warnings.h"
#include "core/program/kernel_pattern.h"
#include "core/program/machine_code.h"
#include "core/program/traced_kernels.h"
#include "core/run/device_ceilings.h"
#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/files_in_use.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"
#include "core/write/output_file.h"
#ifdef COALPROF_HAS_CUDA
#include "cupti/attach/frameworks.h"
#include "cupti/attach/nvtx_ranges.h"
#include "cupti/attach/orders.h"
#include "kernels/gpu.h"
#endif

namespace coalprof {
namespace {

struct RunCommand {
    std::vector<std::string> program;
    std::string kernel;
    std::vector<std::string> before;  // words that should follow --
    std::string first = "5";
    std::vector<std::string> ranges;
    std::string counters = "basic";
    bool lines = false;        // they are the table
    bool fast = false;         // one run
    std::string machine_code;  // its kernels that get their own run; empty: those that are worth it
    std::string addresses;     // a warps file; empty if there is none
    OutputOptions output;
};

#ifdef COALPROF_HAS_CUDA

// The folder of this program; without /proc as it was started.
std::filesystem::path own_folder() {
    std::error_code error;
    auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        program = std::filesystem::canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)),
                                             error);
    return program.parent_path();
}

// Beside the program as it is built, or where it is installed.
std::string library_path(const std::string& name) {
    const auto program = own_folder();
    std::error_code error;
    for (const auto& folder : {program, program.parent_path() / "lib" / "coalprof"}) {
        const auto path = folder / name;
        if (std::filesystem::exists(path, error)) return path.string();
    }
    throw Error(
        fmt::format("cannot find {}, which belongs beside {} or into {}: install coalprof anew",
                    name, program.string(), (program.parent_path() / "lib" / "coalprof").string()));
}

// Marks the program, the files that it reads and those that options name, so that no result
// replaces them.
void note_files_of(const std::vector<std::string>& program) {
    note_input(path_of_program(program.front()));
    note_input("-");
    for (const std::string& word : program) {
        note_input(word);
        if (const std::size_t equals = word.find('='); equals != word.npos)  // --config=FILE
            note_input(word.substr(equals + 1));
    }
}

// Each names a library: of the driver, which loads it when it starts, and of NVTX.
constexpr const char* injection_variable = "CUDA_INJECTION64_PATH";
constexpr const char* nvtx_variable = "NVTX_INJECTION64_PATH";

void refuse_other_tool(const char* variable, const char* loader) {
    const char* other = ::getenv(variable);
    if (other && *other)
        throw Error(
            fmt::format("cannot attach: {}={} names another tool, and {} loads one; unset it",
                        variable, shown(other), loader));
}

void refuse_other_tools(const RunCommand& command) {
    refuse_other_tool(injection_variable, "the driver");
    if (command.ranges.empty()) return;
    refuse_other_tool(nvtx_variable, "NVTX");
    if (!knows_nvtx())
        throw Error(
            "cannot choose launches by NVTX ranges: this coalprof was built without the "
            "headers of NVTX (nvtx3/nvToolsExt.h)");
}

bool wants_lines(const RunCommand& command) { return !command.fast && command.ranges.empty(); }

std::uint64_t machine_code_runs(const RunCommand& command) {
    return command.machine_code.empty() ? 0
                                        : parse_integer(command.machine_code, "--machine-code", 0);
}

// Refuses options that need further runs, or lines, together with those that forbid them.
void refuse_more_runs(const RunCommand& command) {
    const bool wants_machine_code = machine_code_runs(command) > 0;
    for (const auto& [option, is_given] :
         {std::pair{"--lines", command.lines}, std::pair{"--machine-code", wants_machine_code},
          std::pair{"--addresses", !command.addresses.empty()},
          std::pair{"--counters memory", command.counters == "memory"}}) {
        if (!is_given) continue;
        if (command.fast)
            throw UsageError(fmt::format("{} and --fast do not go together: it runs the program "
                                         "more than once",
                                         option),
                             "leave out --fast");
        if (!command.ranges.empty() && option != std::string_view("--counters memory"))
            throw UsageError(
                fmt::format("--nvtx and {} do not go together: code that counts its own lines "
                            "does so in every launch",
                            option),
                fmt::format("leave out {}, or choose kernels by --kernel", option));
    }
}

void check(const RunCommand& command, const Invocation& invocation) {
    if (command.program.empty() && !command.before.empty())
        refuse_missing_dashes({invocation.argv.begin() + 1, invocation.argv.end()},
                              command.before.front());
    if (!command.before.empty())
        throw UsageError(
            fmt::format("run: {} stands before --", shown(command.before.front())),
            "the program and its arguments follow it: coalprof run -- ./app arguments");
    if (command.program.empty())
        throw UsageError("run: no program was named",
                         "it follows --: coalprof run -- ./app arguments");
    if (command.program.front().ends_with(".cu"))
        refuse_missing_dashes({}, command.program.front());
    if (command.counters != "basic" && command.counters != "memory")
        throw UsageError(
            fmt::format("--counters {}: expected basic or memory", shown(command.counters)),
            "memory adds bytes per sector, and runs the program twice for it");
    refuse_more_runs(command);
    if (std::ranges::count(command.ranges, "") > 0)
        throw UsageError("--nvtx: no name of a range was given");
    for (const std::string& range : command.ranges)
        if (std::ranges::any_of(range, [](unsigned char c) { return std::iscntrl(c) != 0; }))
            throw UsageError(fmt::format("--nvtx: {} holds a control character", shown(range)));
    parse_integer(command.first, "--first", 1);
    if (const auto fault = fault_of_pattern(command.kernel))
        throw UsageError(
            fmt::format("--kernel {}: this is no regular expression: {}", shown(command.kernel),
                        fault->sentence),
            command.kernel, fault->at,
            "it is found anywhere in a name: 'gemm' alone, or 'gemm.*f32' with .* for any text");
}

// Standard output is the program's: our results go to standard error, unless -o names it.
std::vector<OutputTarget> targets_of(const RunCommand& command) {
    OutputOptions output = command.output;
    // The page of a program that is built here shows its source.
    output.usual_sources = {"."};
    std::vector<OutputTarget> targets = output.targets();
    if (command.output.sends_files_to_standard_output()) return targets;
    for (OutputTarget& target : targets)
        if (is_standard_output(target.path)) {
            target.path = "/dev/stderr";
            target.style.color = target.style.color && ::isatty(STDERR_FILENO) == 1;
        }
    return targets;
}

// The GPU that ran most of the program; none where the driver says nothing about it.
std::optional<DeviceFacts> facts_of_gpu(const std::vector<KernelSummary>& kernels) {
    if (kernels.empty()) return std::nullopt;
    const DeviceList inventory = take_inventory();
    const std::size_t index = kernels.front().kernel.device;
    if (index >= inventory.devices.size()) return std::nullopt;
    return inventory.devices[index].facts;
}

std::optional<MeasuredDevice> device_of(const std::optional<DeviceFacts>& facts) {
    if (!facts) return std::nullopt;
    MeasuredDevice device;
    device.index = static_cast<std::uint64_t>(facts->index);
    device.name = facts->name;
    return device;
}

// `code` is set to the program's as soon as it has ended. `before`: traces of its first run.
// `kernel`: of machine code, whose instructions are counted.
void run_once(const RunCommand& command, const std::string& library, RunPass pass, int& code,
              std::vector<Trace>& traces, const std::vector<Trace>& before = {},
              const KernelOfMachineCode& kernel = {}) {
    const WorkFolder folder;
    AttachOrders orders{.folder = folder.path(),
                        .first_of_each = parse_integer(command.first, "--first", 1),
                        .pass = pass,
                        .one_kernel = kernel.name,
                        .tells_of_code = wants_lines(command) && pass == RunPass::traffic};
    if (pass == RunPass::machine_code) orders.first_of_each = kernel.launches;
    if (!command.kernel.empty()) orders.kernel = command.kernel;
    orders.ranges = command.ranges;
    if (pass == RunPass::use) orders.left_out = names_in(before, &Trace::unfinished);
    Variables variables = variables_of(orders);
    variables.emplace_back(injection_variable, library);
    if (!orders.ranges.empty()) variables.emplace_back(nvtx_variable, library);
    if (pass == RunPass::lines) {
        const auto libraries = names_in(before, &Trace::libraries);
        std::ranges::move(
            variables_for_ptx(folder.path(), take_inventory().driver_version, libraries),
            std::back_inserter(variables));
        std::ranges::move(
            variables_for_linkers(libraries, folder.path(), library_path("coalprof_linking.so")),
            std::back_inserter(variables));
    }
    code = run_program(command.program, variables);
    for (Trace& trace : traces_in(folder.path())) traces.push_back(std::move(trace));
}

bool may_have_lines(const RunCommand& command, const std::vector<Trace>& traces) {
    LaunchChoice choice(1, command.kernel.empty() ? std::nullopt : std::optional(command.kernel));
    return may_have_lines(traces, [&](const std::string& name) { return choice.wants(name); });
}

std::vector<Warning> not_run_again(std::string_view code, int code_of_program) {
    return {{.code = std::string(code),
             .point = {},
             .text = fmt::format("the program was not run again, as it ended with exit code {}",
                                 code_of_program)}};
}

// A run after the first one. If it cannot begin, the result of the first one stays.
template <typename Run>
std::vector<Warning> run_again(std::string_view code, Run run) try {
    if (stop_signal() == 0) {
        run();
        return {};
    }
    return {{.code = std::string(code),
             .point = {},
             .text = "the program was not run again, as a signal asked for the end"}};
} catch (const std::exception& error) {
    const bool is_short = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    return {{.code = std::string(code),
             .point = {},
             .text = fmt::format("the program was not run again: {}",
                                 is_short ? "memory is short" : error.what())}};
}

// The results of a program's runs.
struct ProgramRuns {
    LineTraces traces;
    std::vector<Trace> use;  // what the run that counted bytes recorded
    std::vector<KernelSummary> kernels;
    std::uint64_t count = 1;
    std::vector<Warning> failures;  // later runs that were not made or ended differently
};

// Runs the program once more for its lines. Returns its exit code, which counts only if a signal
// ended it.
int count_again(const RunCommand& command, const std::string& library, ProgramRuns& runs, int code,
                RunPass pass, std::vector<Trace>& traces, const KernelOfMachineCode& kernel = {}) {
    int last_code = code;  // frameworks compile differently then (see variables_for_ptx())
    const std::vector<Warning> failed = run_again("W-NO-LINES", [&] {
        run_once(command, library, pass, last_code, traces, runs.traces.first, kernel);
    });
    append(runs.failures, failed);
    if (!failed.empty()) return code;
    ++runs.count;
    append(
        runs.failures,
        other_end_of(last_code, code,
                     pass == RunPass::lines
                         ? "with code that counts its lines (docs/run.md says what is set for it)"
                         : fmt::format("with the instructions of {} counted",
                                       short_kernel_name(kernel.name))));
    return last_code;
}

void run_for_machine_code(const RunCommand& command, const std::string& library, ProgramRuns& runs,
                          const std::vector<KernelOfMachineCode>& kernels, int& code) {
    int last_code = code;
    for (const KernelOfMachineCode& kernel : kernels) {
        if (stop_signal() != 0 || last_code >= 128) break;
        auto& counted = runs.traces.of_machine_code.emplace_back(
            MachineCodeRun{.kernel = kernel.name, .traces = {}});
        last_code = count_again(command, library, runs, code, RunPass::machine_code, counted.traces,
                                kernel);
    }
    if (stop_signal() != 0) code = last_code;
}

void run_for_lines(const RunCommand& command, const std::string& library, ProgramRuns& runs,
                   int& code) {
    const std::vector<Trace>& first = runs.traces.first;
    int last_code = code;
    if (may_have_lines(command, first))
        last_code = count_again(command, library, runs, code, RunPass::lines, runs.traces.of_ptx);
    SourceNames names({"."});
    for (Trace& trace : runs.traces.of_ptx)
        for (auto& [id, traced] : trace.sites) names.name_array(traced.site);
    if (stop_signal() != 0) code = last_code;
    if (last_code >= 128) return;
    run_for_machine_code(command, library, runs,
                         kernels_of_machine_code(runs.kernels, first, runs.traces.of_ptx,
                                                 machine_code_runs(command)),
                         code);
}

ResultHead head_of_run(const RunCommand& command, const Invocation& invocation, std::uint64_t runs,
                       std::optional<MeasuredDevice> device) {
    ResultHead head = head_of(invocation.argv);
    head.backend = "device";
    head.passes = runs;
    head.device = std::move(device);
    if (head.device) head.device->more.emplace_back("host", expanded_name("%h"));
    head.sweep = {.pattern = "run",
                  .file = command.program.front(),
                  .parameter = command.lines ? "line" : "kernel"};
    if (!command.ranges.empty()) head.sweep.more.emplace_back("nvtx", joined(command.ranges));
    return head;
}

// The run that measures bytes per sector. `code` stays that of the first run, unless this one was
// stopped.
void run_for_use(const RunCommand& command, const std::string& library, ProgramRuns& runs,
                 int& code) {
    int code_again = code;
    append(runs.failures, run_again("W-NO-COUNTERS", [&] {
               ++runs.count;
               run_once(command, library, RunPass::use, code_again, runs.use, runs.traces.first);
           }));
    append(runs.failures, other_end_of(code_again, code, "with its bytes counted"));
    if (stop_signal() != 0) code = code_again;
    add_use(runs.kernels, summarize(runs.use));
}

// For a GPU whose clock is known: a multiprocessor's banks give one pass a clock.
RunLines lines_of(const ProgramRuns& runs, const std::optional<DeviceFacts>& facts) {
    if (!facts) return lines_of_run(runs.kernels, runs.traces, find_machine("h200"), 0);
    return lines_of_run(
        runs.kernels, runs.traces, machine_of(*facts),
        static_cast<double>(facts->multiprocessors) * static_cast<double>(facts->clock_hz));
}

// Kernels of more than this share of the time are worth a run that counts their bytes.
constexpr double least_share_for_use = 0.1;

// A kernel without lines whose waste costs more than this share is worth a run that counts its
// instructions, unless the user chose the number.
constexpr double least_cost_for_machine_code = 0.1;

std::vector<KernelOfMachineCode> worth_a_run(const RunCommand& command, const ProgramRuns& runs,
                                             const RunLines& lines) {
    if (!command.machine_code.empty() || stop_signal() != 0) return {};
    std::vector<KernelSummary> worst = runs.kernels;
    const std::string name =
        most_wasteful_by_bytes(runs.kernels, lines, least_cost_for_machine_code);
    std::erase_if(worst, [&](const KernelSummary& one) { return one.kernel.name != name; });
    return kernels_of_machine_code(worst, runs.traces.first, runs.traces.of_ptx, 1);
}

// The runs after the first, and their lines.
RunLines run_further(const RunCommand& command, const std::string& library, ProgramRuns& runs,
                     const std::optional<DeviceFacts>& facts, int& code) {
    const bool asks_for_use = command.counters == "memory";
    const bool is_asked = command.lines || asks_for_use;
    // A program that ends with an error may do so again; one that a signal ended is not run again,
    // nor one that never used the GPU.
    const bool came_to_gpu = !runs.traces.first.empty();
    const bool has_failed = command.lines ? code >= 128 : code != 0;
    if (command.fast || !came_to_gpu) return {};
    if (has_failed) {
        if (is_asked)
            append(runs.failures,
                   not_run_again(command.lines ? "W-NO-LINES" : "W-NO-COUNTERS", code));
        return {};
    }
    RunLines lines;
    if (wants_lines(command)) {
        run_for_lines(command, library, runs, code);
        lines = lines_of(runs, facts);
    }
    const bool needs_use = !command.lines && stop_signal() == 0 &&
                           share_without_lines(runs.kernels, lines) > least_share_for_use;
    if (asks_for_use || needs_use) run_for_use(command, library, runs, code);
    if (!needs_use || !wants_lines(command)) return lines;
    run_for_machine_code(command, library, runs, worth_a_run(command, runs, lines), code);
    return lines_of(runs, facts);
}

std::vector<Point> points_of(const RunCommand& command, const ProgramRuns& runs,
                             const RunLines& lines) {
    if (command.lines) return lines.points;
    if (runs.count == 1) return points_of_kernels(runs.kernels);
    std::vector<Point> points = points_of_kernels(runs.kernels, lines);
    points.insert(points.end(), lines.points.begin(), lines.points.end());
    return points;
}

// Code without lines is no failure.
ResultTail tail_of(const RunCommand& command, const ProgramRuns& runs, const RunLines& lines) {
    std::vector<Trace> first = runs.traces.first;
    first.insert(first.end(), runs.use.begin(), runs.use.end());
    std::vector<Trace> later = runs.traces.of_ptx;
    for (const MachineCodeRun& one : runs.traces.of_machine_code)
        later.insert(later.end(), one.traces.begin(), one.traces.end());
    std::vector<Warning> problems = problems_of_run(first, later, command.ranges);
    append(problems, runs.failures);
    ResultTail tail{.status = problems.empty() ? Status::complete : Status::partial,
                    .warnings = std::move(problems),
                    .findings = lines.findings};
    append(tail.warnings, lines.warnings);
    return tail;
}

ExitCode run_run_command(RunCommand& command, Invocation& invocation) {
    command.program = invocation.program;
    check(command, invocation);
    refuse_other_tools(command);
    const std::string library = library_path("coalprof_injection.so");
    note_files_of(command.program);
    note_input(library);
    Outputs outputs = command.output.open(targets_of(command));
    std::unique_ptr<OutputFile> addresses;
    if (!command.addresses.empty()) addresses = std::make_unique<OutputFile>(command.addresses);
    ProgramRuns runs;
    int& code = invocation.code_of_program;
    run_once(command, library, RunPass::traffic, code, runs.traces.first);
    // It could not be started, or returned that code itself.
    if ((code == 126 || code == 127) && runs.traces.first.empty())
        return static_cast<ExitCode>(code);
    if (runs.traces.first.empty() && take_inventory().driver_version == 0)
        throw Error(
            fmt::format("there is no NVIDIA driver here, so nothing of {} could be counted. "
                        "`coalprof kernel {}` predicts kernels of a program or of source",
                        shown(command.program.front()),
                        // A name without a folder is an interpreter's more often than a program's.
                        command.program.front().find('/') != std::string::npos
                            ? shown(shell_word(command.program.front()))
                            : "FILE"),
            ExitCode::environment);
    runs.kernels = summarize(runs.traces.first);
    const std::optional<DeviceFacts> facts = facts_of_gpu(runs.kernels);
    RunLines lines = run_further(command, library, runs, facts, code);
    std::optional<Error> failure;
    try {
        if (addresses) append(lines.warnings, save_addresses(*addresses, lines));
    } catch (const Error& error) {
        failure = error;  // thrown after the result, which stays complete
    }
    const std::vector<Point> points = points_of(command, runs, lines);
    ResultHead head = head_of_run(command, invocation, runs.count, device_of(facts));
    head.points = points.size();
    try {
        outputs.begin(head);
        for (const Point& point : points) outputs.point(point);
        outputs.finish(tail_of(command, runs, lines));
    } catch (const ReaderGone&) {  // the exit code stays the program's
    }
    if (failure) throw *failure;
    return static_cast<ExitCode>(code);
}

#else

ExitCode run_run_command(RunCommand&, Invocation&) {
    throw Error("cannot attach to programs: this coalprof was built without CUDA");
}

#endif

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<RunCommand>(
        app, invocation, "run",
        "What the kernels of a CUDA program waste, where and why: run -- PROGRAM ...",
        run_run_command);
    add_value(*sub, "--kernel", command->kernel,
              "Only kernels in whose name this regular expression is found (default: all but "
              "those of NCCL and NVSHMEM); all but one: '^(?!.*name)'",
              "REGEX");
    add_value(*sub, "--first", command->first,
              "Count the first N launches of each kernel, grid and block (default 5)", "N");
    add_repeated(*sub, "--nvtx", command->ranges,
                 "Only launches inside an NVTX range of this name: pushed by the thread that "
                 "launches, or started by any. A comma is part of the name; may be repeated",
                 "NAME");
    sub->add_flag("--fast", command->fast,
                  "Run the program once: sectors and times of its kernels, not what they waste");
    add_value(*sub, "--counters", command->counters,
              "basic: requests, sectors, hits, L2, DRAM and time (default); memory: bytes per "
              "sector as well, for which the program is run once more",
              "SET");
    sub->add_flag("--lines", command->lines,
                  "A table of the loads, stores and atomics of the source in place of kernels");
    add_value(*sub, "--machine-code", command->machine_code,
              "Count the instructions of N kernels without PTX, each in another run of the "
              "program: your own first, then those that take most time (default: one, where "
              "a tenth of "
              "the time is waste of a kernel without lines)",
              "N");
    add_value(*sub, "--addresses", command->addresses,
              "Save addresses of some warps of each line as a warps file", "FILE");
    sub->add_option("PROGRAM", command->before, "After --: the program and its arguments")
        ->type_name("");
    sub->footer(
        "The program keeps its standard input, output and exit code; the table goes to\n"
        "standard error, and to FILE with --output (-o -: to standard output, behind\n"
        "what the program writes there).\n\n"
        "Examples:\n"
        "  coalprof run -- ./app input.bin\n"
        "  coalprof run -o kernels.json -- python train.py\n"
        "  coalprof run --kernel 'gemm|softmax' --counters memory -- ./app\n"
        "  coalprof run --nvtx step -- python train.py\n"
        "  coalprof run --lines -- ./app\n"
        "  coalprof run --machine-code 1 -- python train.py\n");
    command->output.add_to(*sub);
    command->output.add_source_to(*sub);
    OutputOptions::tell_of_standard_error(*sub);
}

}  // namespace coalprof
