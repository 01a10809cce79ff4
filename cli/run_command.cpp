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
#include "cli/hints.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/result_head.h"
#include "core/program/machine_code.h"
#include "core/program/second_run.h"
#include "core/program/traced_kernels.h"
#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/files_in_use.h"
#include "core/text/number.h"
#include "core/text/symbol.h"
#include "core/text/work_folder.h"
#include "core/write/output_file.h"
#ifdef COALPROF_HAS_CUDA
#include "cli/run_lines.h"
#include "cli/run_warnings.h"
#include "cli/trace_folder.h"
#include "cupti/attach/choice.h"
#include "cupti/attach/frameworks.h"
#include "cupti/attach/kernel_pattern.h"
#include "cupti/attach/linkers.h"
#include "cupti/attach/nvtx_hooks.h"
#include "cupti/attach/orders.h"
#include "kernels/inventory.h"
#endif

namespace coalprof {
namespace {

struct RunCommand {
    std::vector<std::string> program;
    std::string kernel;
    std::vector<std::string> before;  // words that should stand behind --
    std::string first = "5";
    std::vector<std::string> ranges;
    std::string counters = "basic";
    bool lines = false;
    std::string machine_code = "0";  // kernels of it that get a run of their own
    std::string addresses;           // a warps file; empty: none
    OutputOptions output;
};

#ifdef COALPROF_HAS_CUDA

// Without /proc as it was started.
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

// What it is, what it reads and what it is given by name: no result is to take their place.
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

void check(const RunCommand& command, const Invocation& invocation) {
    if (command.program.empty() && !command.before.empty())
        refuse_missing_dashes({invocation.argv.begin() + 1, invocation.argv.end()},
                              command.before.front());
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
    if (parse_integer(command.machine_code, "--machine-code", 0) > 0 && !command.lines)
        throw UsageError("--machine-code: it is for lines", {}, UsageError::no_caret,
                         "give --lines as well");
    if (std::ranges::count(command.ranges, "") > 0)
        throw UsageError("--nvtx: no name of a range was given");
    for (const std::string& range : command.ranges)
        if (std::ranges::any_of(range, [](unsigned char c) { return std::iscntrl(c) != 0; }))
            throw UsageError(fmt::format("--nvtx: {} holds a control character", shown(range)));
    if (!command.ranges.empty() && command.lines)
        throw UsageError(
            "--nvtx and --lines do not go together: code that counts its own lines does so in "
            "every launch",
            {}, UsageError::no_caret, "leave out --lines, or choose kernels by --kernel");
    parse_integer(command.first, "--first", 1);
    if (const auto fault = fault_of_pattern(command.kernel))
        throw UsageError(
            fmt::format("--kernel {}: this is no regular expression: {}", shown(command.kernel),
                        fault->sentence),
            command.kernel, fault->at,
            "it is found anywhere in a name: 'gemm' alone, or 'gemm.*f32' with .* for any text");
}

// "64x64"; dimensions of 1 at the end say nothing.
std::string dimensions_text(const std::array<std::uint32_t, 3>& all) {
    std::string text = std::to_string(all[0]);
    if (all[1] != 1 || all[2] != 1) text += fmt::format("x{}", all[1]);
    if (all[2] != 1) text += fmt::format("x{}", all[2]);
    return text;
}

Point point_of(const KernelSummary& summary, bool tells_device) {
    const std::string full = demangled(summary.kernel.name);
    Point point;
    point.name = full;
    point.parameters = {{"kernel", kernel_name(summary.kernel.name)}};
    const auto add = [&](const char* key, Value value) {
        point.name += fmt::format(" {}={}", key, text_of(value));
        point.parameters.emplace_back(key, std::move(value));
    };
    if (summary.kernel.block[0] != 0) {  // a CUDA graph has no shape
        add("grid", dimensions_text(summary.kernel.grid));
        add("block", dimensions_text(summary.kernel.block));
    }
    if (tells_device) add("device", summary.kernel.device);
    point.parameters.emplace_back("launches",
                                  summary.launches ? Value(*summary.launches) : Value{});
    point.parameters.emplace_back("counted", summary.counted);
    if (summary.counted > 0) point.measured = summary.measured;
    return point;
}

std::vector<Point> points_of(const std::vector<KernelSummary>& kernels) {
    const bool is_of_first_gpu = std::ranges::all_of(
        kernels, [](const KernelSummary& summary) { return summary.kernel.device == 0; });
    std::vector<Point> points;
    for (const KernelSummary& summary : kernels)
        points.push_back(point_of(summary, !is_of_first_gpu));
    return points;
}

// Standard output is the program's: what is for it goes to standard error, unless -o names it.
std::vector<OutputTarget> targets_of(const RunCommand& command) {
    OutputOptions output = command.output;
    // The page of a program that is built here shows its source.
    if (output.source_folders.empty()) output.source_folders = {"."};
    std::vector<OutputTarget> targets = output.targets();
    if (command.output.sends_files_to_standard_output()) return targets;
    for (OutputTarget& target : targets)
        if (is_standard_output(target.path)) {
            target.path = "/dev/stderr";
            target.style.color = target.style.color && ::isatty(STDERR_FILENO) == 1;
        }
    return targets;
}

// Of the GPU that ran most of the program; none where the driver says nothing of it.
std::optional<DeviceFacts> facts_of_gpu(const std::vector<KernelSummary>& kernels) {
    if (kernels.empty()) return std::nullopt;
    const GpuInventory inventory = take_inventory();
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

// `code` is that of the program as soon as it has ended. `before`: of its first run. `kernel`: of
// machine code, whose instructions are to be counted.
void run_once(const RunCommand& command, const std::string& library, RunPass pass, int& code,
              std::vector<Trace>& traces, const std::vector<Trace>& before = {},
              const KernelOfMachineCode& kernel = {}) {
    const WorkFolder folder;
    AttachOrders orders{.folder = folder.path(),
                        .first_of_each = parse_integer(command.first, "--first", 1),
                        .pass = pass,
                        .one_kernel = kernel.name,
                        .tells_of_code = command.lines && pass == RunPass::traffic};
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

// A run behind the first one. What keeps it from beginning takes nothing from what the first told.
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

// The runs of a program that tell its lines, after the first one.
struct LineRuns {
    LineTraces traces;
    std::uint64_t runs = 0;
    int code = 0;  // of the last; of the first where there is none
    std::vector<Warning> warnings;
    std::vector<Warning> failures;  // of runs that could not be made, or ended in another way
};

LineRuns run_for_lines(const RunCommand& command, const std::string& library,
                       const std::vector<KernelSummary>& kernels, const std::vector<Trace>& first,
                       int code) {
    LineRuns result;
    result.code = code;
    const auto run = [&](RunPass pass, std::vector<Trace>& traces,
                         const KernelOfMachineCode& kernel = {}) {
        const std::vector<Warning> failed = run_again("W-NO-LINES", [&] {
            run_once(command, library, pass, result.code, traces, first, kernel);
        });
        if (!failed.empty()) return append(result.failures, failed);
        ++result.runs;
        // Frameworks compile in another way then (see variables_for_ptx()), which the exit code
        // that is the program's own must not depend on.
        append(result.failures,
               other_end_of(result.code, code,
                            pass == RunPass::lines
                                ? "with code that counts its lines (docs/run.md says what is set "
                                  "for it)"
                                : fmt::format("with the instructions of {} counted",
                                              kernel_name(kernel.name))));
    };
    if (may_have_lines(command, first)) run(RunPass::lines, result.traces.of_ptx);
    const std::uint64_t most = parse_integer(command.machine_code, "--machine-code", 0);
    const auto kernels_left = [&](std::uint64_t count) {
        return kernels_of_machine_code(kernels, first, result.traces.of_ptx, count);
    };
    result.traces.may_ask_for_more = most == 0 && !kernels_left(1).empty();
    for (const KernelOfMachineCode& kernel : kernels_left(most)) {
        if (stop_signal() != 0 || result.code >= 128) break;
        auto& counted = result.traces.of_machine_code.emplace_back(
            MachineCodeRun{.kernel = kernel.name, .traces = {}});
        run(RunPass::machine_code, counted.traces, kernel);
    }
    if (result.runs == 0 && result.failures.empty())
        append(result.warnings, why_it_ran_once(first));
    return result;
}

ResultHead head_of_run(const RunCommand& command, const Invocation& invocation, std::uint64_t runs,
                       std::optional<MeasuredDevice> device) {
    ResultHead head = head_of(invocation.argv);
    head.backend = "device";
    head.passes = runs;
    head.device = std::move(device);
    head.sweep = {.pattern = "run",
                  .file = command.program.front(),
                  .parameter = command.lines ? "line" : "kernel"};
    if (!command.ranges.empty())
        head.sweep.more.emplace_back("nvtx", fmt::format("{}", fmt::join(command.ranges, ", ")));
    return head;
}

// The run that tells bytes per sector. `code` stays that of the first run, unless this one was
// stopped.
std::vector<Warning> run_for_use(const RunCommand& command, const std::string& library,
                                 std::vector<KernelSummary>& kernels, std::vector<Trace>& traces,
                                 int& code, std::uint64_t& runs) {
    std::vector<Trace> again;
    int code_again = code;
    std::vector<Warning> warnings = run_again("W-NO-COUNTERS", [&] {
        ++runs;
        run_once(command, library, RunPass::use, code_again, again, traces);
    });
    append(warnings, other_end_of(code_again, code, "with its bytes counted"));
    if (stop_signal() != 0) code = code_again;
    add_use(kernels, summarize(again));
    std::ranges::move(again, std::back_inserter(traces));
    return warnings;
}

ExitCode run_run_command(const RunCommand& command, Invocation& invocation) {
    check(command, invocation);
    refuse_other_tools(command);
    const std::string library = library_path("coalprof_injection.so");
    note_files_of(command.program);
    note_input(library);
    Outputs outputs = command.output.open(targets_of(command));
    std::unique_ptr<OutputFile> addresses;
    if (!command.addresses.empty()) addresses = std::make_unique<OutputFile>(command.addresses);
    std::vector<Trace> traces;
    int& code = invocation.code_of_program;
    run_once(command, library, RunPass::traffic, code, traces);
    // It could not be started, or ends so itself.
    if ((code == 126 || code == 127) && traces.empty()) return static_cast<ExitCode>(code);
    std::vector<KernelSummary> kernels = summarize(traces);
    const std::optional<DeviceFacts> facts = facts_of_gpu(kernels);
    RunLines lines;
    std::vector<Trace> again;
    std::vector<Warning> failures;  // of runs behind the first
    // A program that ends with an error may do so again; one that a signal ended is not asked, nor
    // one that never came to the GPU.
    const bool may_run_again = !traces.empty() && code < 128;
    std::uint64_t runs = 1;
    const bool asks_for_use = !command.lines && command.counters == "memory";
    if (command.lines && may_run_again) {
        LineRuns more = run_for_lines(command, library, kernels, traces, code);
        runs += more.runs;
        lines = lines_of_run(kernels, more.traces, facts, addresses.get());
        append(lines.warnings, more.warnings);
        failures = std::move(more.failures);
        if (stop_signal() != 0) code = more.code;
        again = std::move(more.traces.of_ptx);
        for (MachineCodeRun& one : more.traces.of_machine_code)
            std::ranges::move(one.traces, std::back_inserter(again));
    } else if (asks_for_use && may_run_again && code == 0) {
        failures = run_for_use(command, library, kernels, traces, code, runs);
    } else if ((command.lines || asks_for_use) && !traces.empty()) {
        failures = not_run_again(command.lines ? "W-NO-LINES" : "W-NO-COUNTERS", code);
    }
    if (!command.lines) lines.points = points_of(kernels);

    ResultHead head = head_of_run(command, invocation, runs, device_of(facts));
    head.points = lines.points.size();
    // Code that cannot be counted by lines is nothing that failed.
    std::vector<Warning> problems = problems_of_run(traces, again, command.ranges);
    append(problems, failures);
    ResultTail tail{.status = problems.empty() ? Status::complete : Status::partial,
                    .warnings = problems,
                    .findings = lines.findings};
    append(tail.warnings, lines.warnings);
    try {
        outputs.begin(head);
        for (const Point& point : lines.points) outputs.point(point);
        outputs.finish(tail);
    } catch (const ReaderGone&) {  // the exit code is the program's all the same
    }
    if (lines.failure) throw *lines.failure;
    return static_cast<ExitCode>(code);
}

#else

ExitCode run_run_command(const RunCommand&, Invocation&) {
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
                    "those of NCCL and NVSHMEM); all but one: '^(?!.*name)'")
        ->type_name("REGEX");
    sub->add_option("--first", command->first,
                    "Count the first N launches of each kernel, grid and block (default 5)")
        ->type_name("N");
    sub->add_option("--nvtx", command->ranges,
                    "Only launches inside an NVTX range of this name: pushed by the thread that "
                    "launches, or started by any. One name each, to which a comma belongs; may be "
                    "repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    sub->add_option(
           "--counters", command->counters,
           "basic: requests, sectors, hits, L2, DRAM and time in one run (default); memory: "
           "bytes per sector as well, for which the program is run a second time")
        ->type_name("SET");
    sub->add_flag(
        "--lines", command->lines,
        "What each load, store and atomic of the source asks of memory: the program is run "
        "a second time, and its PTX counts itself; not where its kernels have none");
    sub->add_option(
           "--machine-code", command->machine_code,
           "With --lines, for kernels without PTX: the N that take most time are counted by their "
           "instructions, each in a run of the program of its own (default 0)")
        ->type_name("N");
    sub->add_option("--addresses", command->addresses,
                    "With --lines: save addresses of some warps of each line as a warps file")
        ->type_name("FILE");
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
        "  coalprof run --lines --machine-code 1 -- python train.py\n");
    command->output.add_to(*sub);
    command->output.add_source_to(*sub);
    OutputOptions::tell_of_standard_error(*sub);
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] {
            command->program = invocation.program;
            return run_run_command(*command, invocation);
        };
    });
}

}  // namespace coalprof
