// `coalprof kernel FILE [NAME]`: a user's own kernel, executed on the CPU and counted by line.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/kernel_options.h"
#include "cli/kernel_sources.h"
#include "cli/output_options.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/ptx_source.h"
#include "cli/saved_result.h"
#include "cli/source_launches.h"
#include "cli/sweep_options.h"
#include "core/access/warps_file.h"
#include "core/kernel/arguments.h"
#include "core/kernel/kernel_faults.h"
#include "core/lines/line_findings.h"
#include "core/machine/machine_file.h"
#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"
#include "core/sim/kernel_time.h"
#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

struct KernelCommand {
    KernelOptions kernel;
    std::vector<std::string> files;  // with those in folders
    std::string file;                // all of them as they were typed
    std::vector<std::string> names;  // of kernels; none: the only one, or with --best all
    std::vector<std::string> grids;  // one for all of them, or one each
    std::vector<std::string> blocks;
    std::string max_steps;
    std::string addresses;
    bool list = false;
    bool all = false;
    std::string machine = "h200";
    BudgetOptions budgets;
    OutputOptions output;
};

std::vector<Machine> machines_of(const KernelCommand& command) {
    std::vector<Machine> machines;
    for (const std::string& name : split_list(command.machine, "--machine"))
        add_machine(machines, machine_named(name));
    return machines;
}

void print_list(const KernelCommand& command, const KernelFile& file,
                const Invocation& invocation) {
    for (const char* option : {"--output", "-o", "--format", "--json", "--jsonl", "--csv", "--grid",
                               "--block", "--arg", "--launch", "--shared"})
        if (invocation.has_typed(option))
            throw UsageError(fmt::format("kernel --list: {} changes nothing about a list", option),
                             "coalprof kernel FILE --list > kernels.txt");
    for (const std::string& name :
         command.names.empty() ? std::vector<std::string>{""} : command.names)
        print_out_folded(file.list(name));
}

void save(OutputFile& file, const KernelResult& result) {
    for (std::size_t i = 0; i < result.points.size(); ++i)
        for (const WarpAccess& warp : result.warps[i])
            if (const auto line = warps_file_line(result.points[i].name, warp)) file.write(*line);
    file.commit();
}

ResultHead head_of_kernel(const KernelCommand& command, const Invocation& invocation,
                          const std::vector<Machine>& machines, const LaunchedKernels& launched) {
    const std::vector<LaunchedKernel>& kernels = launched.kernels;
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines(machines);
    head.backend = "model";
    head.sweep = {.pattern = "kernel",
                  .file = command.file,
                  .parameter = kernels.size() > 1                                ? "kernel"
                               : machines.size() > 1 && launched.launches() == 1 ? "machine"
                               : kernels.front().notes.size() > 1
                                   ? "launch"
                                   : swept_key(kernels.front().axes)};
    head.columns = command.output.view.chosen_columns();
    return head;
}

// A status line while launches are predicted.
class LaunchProgress {
 public:
    explicit LaunchProgress(const OutputOptions& output)
        : status_(wants_progress(output), [this](double seconds) {
              return all_ > 1 ? progress_text(done_, all_, seconds) : progress_of_work(seconds);
          }) {}
    void expect(std::uint64_t launches) {
        status_.set_aside([&] { all_ = launches; });
    }
    // `write`: its result.
    void launch(const std::function<void()>& write) {
        status_.set_aside([&] {
            write();
            ++done_;
        });
    }
    void stop() { status_.stop(); }

 private:
    std::uint64_t done_ = 0, all_ = 0;  // read under the lock of the status
    StatusLine status_;
};

// Every launch on every machine, to `sink`; collects the sentences about the whole result.
class KernelRun {
 public:
    // `costliest`: gets the costliest line of each point.
    KernelRun(const KernelCommand& command, const LaunchedKernels& launched, bool ranks,
              ResultSink& sink, LimitsHeld& limits, LaunchProgress& progress,
              BestSink::Lines& costliest, OutputFile* addresses)
        : command_(command),
          launched_(launched),
          skips_(launched.are_of_source),
          ranks_(ranks),
          sink_(sink),
          limits_(limits),
          progress_(progress),
          costliest_(costliest),
          addresses_(addresses) {
        if (!command.max_steps.empty())
            options_.limits.steps_of_warp = parse_integer(command.max_steps, "--max-steps", 1);
        if (command.all) options_.limits.steps_before_sampling = ~std::uint64_t{0};
        options_.threads = thread_count();
    }

    // rethrow_failure() throws an error that came after some launches had answered.
    ResultTail run(const std::vector<Machine>& machines) {
        const std::uint64_t launches = machines.size() * launched_.launches();
        progress_.expect(launches);
        is_one_ = launches == 1;
        options_.prices_findings = is_one_ || ranks_;
        if (!launched_.skipped.empty()) tail_.status = Status::partial;
        try {
            for (const Machine& machine : machines) run(machine, machines.size() > 1);
        } catch (const Stopped&) {
            tail_.status = Status::interrupted;
        } catch (...) {
            if (!limits_.has_answered()) throw;
            failure_ = std::current_exception();
            tail_.status = Status::partial;
        }
        sort_by_saving(tail_.findings);
        // The slowest kernel's launch comes first.
        std::vector<std::pair<double, std::size_t>> order;
        for (const LaunchedKernel& one : launched_.kernels)
            order.emplace_back(-seconds_[&one], order.size());
        std::ranges::sort(order);
        for (const auto& [seconds, at] : order)
            std::ranges::copy(launched_.kernels[at].notes, std::back_inserter(tail_.warnings));
        std::ranges::copy(launched_.skipped, std::back_inserter(tail_.warnings));
        return std::move(tail_);
    }
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    // A kernel of a file, ready to be executed once it is assembled.
    struct Ready {
        const LaunchedKernel* launched;
        KernelFile::Kernel kernel;
    };

    void warn_once(Warning warning) {
        const bool is_known = std::ranges::any_of(tail_.warnings, [&](const Warning& one) {
            return one.code == warning.code && one.text == warning.text;
        });
        if (!is_known) tail_.warnings.push_back(std::move(warning));
    }
    void warn_of(const KernelFile& file) {
        const CompiledCuda& compiled = file.compiled();
        if (compiled.is_of_clang)
            warn_once({"W-CLANG", "",
                       "clang compiled the kernel, with stand-ins for CUDA's headers: nvcc may "
                       "order, merge and drop accesses otherwise"});
        if (!compiled.missing_headers.empty())
            warn_once({"W-HEADERS", "",
                       fmt::format("no folder of -I has {}: a stand-in took its place",
                                   printable(joined(compiled.missing_headers, ", ")))});
        if (!compiled.found_folders.empty())
            warn_once({"W-HEADERS", "",
                       fmt::format("headers that no folder of -I has were found in {}",
                                   printable(compiled.found_folders))});
        if (!compiled.passed_over.empty())
            warn_once({"W-ASSUMED", "",
                       fmt::format("-D gives the macros that its build defines; passed over: {}",
                                   trimmed(compiled.passed_over))});
        if (!compiled.instantiated.empty())
            warn_once({"W-ASSUMED", "",
                       "the file instantiates no kernel that compiles here: of templates types are "
                       "taken as float and numbers as 32. More: template __global__ void "
                       "scale<half>(half*, int);"});
    }
    void run(const Machine& machine, bool says_machine) {
        std::vector<Ready> kernels;
        for (const LaunchedKernel& one : launched_.kernels) {
            const KernelFile& file = one.files->of(machine);
            warn_of(file);
            kernels.push_back({&one, file.kernel(one.name, false)});
            if (!skips_)
                for (const KernelChoice& choice : one.choices)
                    require_possible(kernels.back().kernel.code, choice, machine);
        }
        for (Ready& one : kernels) {
            try {
                one.kernel = one.launched->files->of(machine).kernel(one.launched->name);
            } catch (const LimitReached&) {  // counts are the PTX's then
                limits_.begin_time();
            }
            for (KernelChoice choice : one.launched->choices) {
                stop_if_asked();
                std::erase_if(choice.arguments, [&](const std::string& typed) {
                    return !takes(one.kernel.code, typed) &&
                           std::ranges::any_of(kernels, [&](const Ready& other) {
                               return takes(other.kernel.code, typed);
                           });
                });
                if (says_machine) choice.swept.emplace_back("machine", machine.name);
                predict_or_skip(one, choice, machine);
            }
        }
    }
    void predict_or_skip(Ready& one, const KernelChoice& choice, const Machine& machine) {
        std::optional<UsageError> problem;
        try {
            if (skips_) require_possible(one.kernel.code, choice, machine);
            predict(one, choice, machine);
            return;
        } catch (const UsageError& error) {
            if (!skips_ || is_one_) throw;
            problem = error;
        } catch (const LimitReached& reached) {
            if (!skips_ || is_one_) throw;
            problem = UsageError(text_of(reached, limits_.seconds()));
            limits_.begin_time();
        }
        tail_.warnings.push_back(skipped(short_kernel_name(one.kernel.code.kernel), *problem));
        tail_.status = Status::partial;
    }
    // What `coalprof explain` takes to draw a line of this launch.
    std::string words_to_draw(const LaunchedKernel& launched, const std::string& name,
                              const KernelChoice& choice, const Point& line) const {
        const KernelOptions& typed = launched.files->options();
        std::vector<std::string> words{"kernel", typed.file};
        if (!typed.code.text.empty()) words = {"kernel", "--code", typed.code.text};
        if (skips_ || command_.files.size() > 1)
            words.push_back(name);
        else
            words.insert(words.end(), command_.names.begin(), command_.names.end());
        const auto add = [&](const char* option, const std::vector<std::string>& values) {
            for (const std::string& one : values) words.insert(words.end(), {option, one});
        };
        for (const char* key : {"line", "op", "array"})
            if (const Value* value = find_value(line.parameters, key);
                value && !text_of(*value).empty())
                add(fmt::format("--{}", key).c_str(), {text_of(*value)});
        if (typed.code.type != PastedCode().type) add("--type", {typed.code.type});
        for (const std::string& one : typed.code.arguments)  // of a template
            if (std::ranges::find(typed.arguments, one) == typed.arguments.end())
                add("--arg", {one});
        add("--grid", {text_of(choice.grid)});
        add("--block", {text_of(choice.block)});
        add("--arg", choice.arguments);
        if (choice.shared_bytes > 0) add("--shared", {std::to_string(choice.shared_bytes)});
        if (command_.machine != KernelCommand().machine) add("--machine", {command_.machine});
        add("-I", typed.includes);
        add("-D", typed.defines);
        add("--nvcc-args", typed.nvcc_args);
        return shell_words(words);
    }
    void predict(Ready& one, const KernelChoice& choice, const Machine& machine) {
        Code& code = one.kernel.code;
        KernelResult result = predict_choice(code, choice, machine, options_);
        const std::string costliest = costliest_line(result);
        const std::string worst = worst_line(result);
        for (LineFinding& finding : result.findings) {
            const auto line = std::ranges::find(result.points, finding.point, &Point::name);
            const bool is_drawn =
                one.launched->files->options().file != "-" && line != result.points.end();
            finding.like = is_drawn ? words_to_draw(*one.launched, long_kernel_name(code.kernel),
                                                    choice, *line)
                                    : std::string();
        }
        const ComputeCapability own = machine.rules->cc;
        if (std::cmp_greater(one.kernel.architecture, std::max(75, own.major * 10 + own.minor)))
            result.warnings.push_back(
                {"W-TARGET",
                 {},
                 fmt::format(
                     "the PTX is for sm_{}, and {} ({}) would not load it: nvcc -arch=sm_{} "
                     "makes what it loads",
                     one.kernel.architecture, machine.name, text_of(own),
                     std::max(75, own.major * 10 + own.minor))});
        if (!is_one_) result = as_one_point(std::move(result), choice.swept);
        Point& point = result.points.front();
        costliest_[point.name] = costliest;
        if (ranks_ && !worst.empty()) point.parameters.emplace_back("costliest", worst);
        double& seconds = seconds_[one.launched];
        seconds = std::max(seconds, number_or(point.predicted[Counter::duration_seconds], 0));
        progress_.launch([&] {
            for (const Point& each : result.points) sink_.point(each);
        });
        limits_.answered();
        if (!point.failure.empty()) tail_.status = Status::partial;
        try {
            if (addresses_) save(*addresses_, result);
        } catch (const Error&) {  // the result comes first
            failure_ = std::current_exception();
        }
        add_findings(std::move(result.findings));
        for (Warning& warning : result.warnings) {
            const bool is_once = warning.code == "W-PTX";
            const bool is_of_one =
                is_once || warning.code == bounds_code || warning.code == "W-MERGED";
            const bool is_known = std::ranges::find(tail_.warnings, warning.code, &Warning::code) !=
                                  tail_.warnings.end();
            if (!is_of_one || (!is_known && (is_once || !ranks_)))
                tail_.warnings.push_back(std::move(warning));
        }
    }
    // Of several launches those that fail, and where kernels are ranked those that gain time.
    void add_findings(std::vector<LineFinding> findings) {
        if (!is_one_)
            std::erase_if(findings, [&](const LineFinding& one) {
                const bool gains = ranks_ && one.saves_seconds.value_or(1) > 0;
                return !gains && one.cause != fault_cause;
            });
        std::ranges::move(findings, std::back_inserter(tail_.findings));
    }
    const KernelCommand& command_;
    const LaunchedKernels& launched_;
    bool skips_;  // what cannot be executed, of all kernels of a file
    bool ranks_;  // kernels by their time
    ResultSink& sink_;
    LimitsHeld& limits_;
    LaunchProgress& progress_;
    BestSink::Lines& costliest_;
    OutputFile* addresses_;
    PredictionOptions options_;
    ResultTail tail_;
    std::map<const LaunchedKernel*, double> seconds_;  // of its longest launch
    std::exception_ptr failure_;
    bool is_one_ = true;
};

// Without --grid and --block the launches are those of the source.
LaunchedKernels launched_kernels(const KernelCommand& command, std::deque<KernelFiles>& files,
                                 const Machine& machine, const LimitsHeld& limits) {
    if (command.grids.empty() && command.blocks.empty() && command.kernel.code.text.empty())
        return launches_of_source(files, command.names, machine, limits);
    return launches_of_options(files, command.names, !command.output.view.best.empty(),
                               command.grids, command.blocks, machine);
}

ExitCode run_within(LimitsHeld& limits, KernelCommand command, const Invocation& invocation) {
    const std::vector<Machine> machines = machines_of(command);
    LaunchProgress progress(command.output);
    std::deque<KernelFiles> files;
    for (const std::string& file : command.files) {
        KernelOptions options = command.kernel;
        options.file = file;
        options.is_one_of_many = command.files.size() > 1;
        files.emplace_back(std::move(options));
    }
    if (command.list) {
        for (KernelFiles& one : files) print_list(command, one.of(machines.front()), invocation);
        return ExitCode::done;
    }
    if (files.size() == 1) command.file = files.front().options().file;
    const LaunchedKernels launched = launched_kernels(command, files, machines.front(), limits);
    const std::uint64_t launches = machines.size() * launched.launches();
    std::optional<OutputFile> addresses;
    if (!command.addresses.empty()) {
        if (launches > 1)
            throw UsageError("--addresses: they are those of one launch",
                             "give --grid, --block, --arg and --machine one value each");
        addresses.emplace(command.addresses);
    }
    OutputOptions output = command.output;
    // A page shows the kernel's own source.
    for (const std::string& file : command.files) {
        const std::string folder = std::filesystem::path(file).parent_path().string();
        output.usual_sources.push_back(folder.empty() ? "." : folder);
    }
    Outputs outputs = output.open(output.targets());
    ViewOptions view = output.view;
    const bool has_times = std::ranges::all_of(machines, is_simulated_on);
    const bool are_variants = launched.are_variants();
    const bool ranks = has_times && view.best.empty() && launches > 1 &&
                       (launched.are_of_source || (launched.kernels.size() > 1 && !are_variants));
    const std::string time(key_of(Counter::duration_seconds));
    if (ranks && view.sort.empty()) view.sort = time + ":desc";
    const bool compares = launched.kernels.size() > 1 && (are_variants || !launched.are_of_source);
    if (compares && has_times && view.best.empty()) {
        view.best = time;
        view.compares_same_work_alone = ranks;
    }
    if (launches == 1 && !view.best.empty()) {
        output.note(
            "--best: one launch is compared with nothing; --block 64..1024*2 makes several");
        view.best.clear();
    }
    for (const LaunchedKernel& one : launched.kernels)
        for (const ArgumentAxis& axis : one.axes.arguments) {
            if (axis.values.size() != 2 || axis.values.back().find('.') != std::string::npos)
                continue;
            const Code code = one.files->of(machines.front()).kernel(one.name, false).code;
            for (const PtxParameter& to : code.parameters)
                if (axis.names.front() == to.source.name && to.type.starts_with('f'))
                    output.note(
                        fmt::format("--arg {0}={1},{2} is a list of 2 values; a decimal "
                                    "has a point: {0}={1}.{2}",
                                    to.source.name, axis.values.front(), axis.values.back()));
        }
    BestSink::Lines costliest;
    view.costliest = &costliest;
    Viewed viewed(outputs, view);
    BudgetedRun budgeted(command.budgets, viewed.sink());
    ResultSink& sink = budgeted.sink();
    KernelRun run(command, launched, ranks, sink, limits, progress, costliest,
                  addresses ? &*addresses : nullptr);
    ResultHead head = head_of_kernel(command, invocation, machines, launched);
    head.is_ranking = ranks;
    sink.begin(head);
    const ResultTail tail = run.run(machines);
    progress.stop();
    sink.finish(tail);
    if (tail.status == Status::interrupted) throw Stopped{};
    run.rethrow_failure();
    const bool has_answer = viewed.found_best() || tail.status == Status::partial;
    return budgeted.judged(has_answer ? exit_code_of(tail.status) : ExitCode::environment);
}

ExitCode run_kernel_command(KernelCommand& command, const Invocation& invocation) {
    if (command.kernel.code.text.empty() && invocation.has_typed("--type"))
        throw UsageError("--type: types are written in the kernel", "it is for --code alone");
    command.kernel.take_launches(command.grids, command.blocks, command.names);
    const std::vector<std::string> words = command.names;
    command.files = kernel_files(command.kernel.file, command.names);
    command.file = command.kernel.file;
    for (const std::string& one : words)
        if (std::ranges::find(command.names, one) == command.names.end()) command.file += ' ' + one;
    ExitCode code = ExitCode::done;
    const WorkLimits limits =
        command.all ? command.kernel.limits.limits(0) : command.kernel.limits.limits();
    do_within(limits, [&](LimitsHeld& held) { code = run_within(held, command, invocation); });
    return code;
}

}  // namespace

void add_kernel_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<KernelCommand>(
        app, invocation, "kernel",
        "A kernel of your own (.cu, .ptx or a program), predicted by line without a GPU",
        run_kernel_command);
    sub->add_option(
        "FILE", command->kernel.file,
        "CUDA source, PTX, or a program, library or object that holds PTX, or a folder of "
        "sources; - reads PTX or CUDA source from standard input");
    sub->add_option(
        "NAME", command->names,
        "More files, whose names have a dot or a slash, and kernels: the name, or a regular "
        "expression found in the name with types and parameters. Several kernels are ranked by "
        "time, and compared where they take the same arguments: a b, or 'a|b', 'conv.*'");
    add_repeated(*sub, "--grid", command->grids,
                 "Blocks of the launch: 1024, 64x64, 16x128x256; or its threads, 8192x8192/block. "
                 "Of several kernels each its own, --grid A,B or --grid A --grid B, in their order",
                 "N,...");
    add_repeated(*sub, "--block", command->blocks,
                 "Threads of a block: 256, 32x8, 64..1024*2; of several kernels likewise", "N,...");
    command->kernel.add_to(*sub);
    add_value(*sub, "--code", command->kernel.code.text,
              "Statements of C, or a whole __global__ function, in place of FILE: arrays become "
              "pointers, other unknown names integers of --arg; i, x, y, z, tid, bid and lane are "
              "there",
              "C");
    add_value(*sub, "--type", command->kernel.code.type,
              "Elements of arrays in --code that nothing else tells", "TYPE");
    add_value(*sub, "--max-steps", command->max_steps,
              "Instructions that a warp may take before the kernel counts as endless "
              "(default 33554432)",
              "N");
    sub->add_flag("--all", command->all,
                  "Execute every block, however long it takes, rather than a sample");
    sub->add_flag("--list", command->list, "List the kernels of the file with their parameters");
    add_value(*sub, "--addresses", command->addresses,
              "Save addresses of some warps of each line as a warps file", "FILE");
    add_value(*sub, "--machine,-m", command->machine,
              "Whose rules count: h200, 9.0, c2050 (coalprof machines)", "NAME,...");
    command->budgets.add_to(*sub);
    command->output.add_to(*sub);
    command->output.view.add_to(*sub);
    command->output.add_source_to(*sub);
    sub->footer(
        "Without --grid and --block the launch is that of the file's host code, or a million "
        "threads. Pointers that are not given are as large as what is touched, and hold zeros. "
        "--grid, "
        "--block, --arg and --machine take several values: then there is a point for each launch, "
        "not for its lines.\n\n"
        "Examples:\n"
        "  coalprof kernel saxpy.cu\n"
        "  coalprof kernel src/ filter.cu\n"
        "  coalprof kernel saxpy.cu --grid 4096 --block 256 --arg n=1048576\n"
        "  coalprof kernel triton.ptx --grid 1024 --block 128 --arg 3=4096\n"
        "  coalprof kernel app csr_scalar --grid 4096 --block 256 --arg 1=@col.npy\n"
        "  coalprof kernel saxpy.cu --grid 1048576/block --block 64..1024*2 --best\n"
        "  coalprof kernel csr.cu by_thread by_warp --grid 1024,32768 --block 256\n"
        "  coalprof kernel --code 'for (int k = 0; k < n; k++) s += a[i*n + k]; c[i] = s;' \\\n"
        "      --grid 4096 --block 256 --arg n=64\n"
        "  coalprof kernel kernels.cu --list\n");
}

}  // namespace coalprof
