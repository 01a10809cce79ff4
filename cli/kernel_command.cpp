// `coalprof kernel FILE [NAME]`: a user's own kernel, executed on the CPU and counted by line.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/kernel_options.h"
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

ExitCode print_list(const KernelCommand& command, const KernelFile& file,
                    const Invocation& invocation) {
    for (const char* option : {"--output", "-o", "--format", "--json", "--jsonl", "--csv", "--grid",
                               "--block", "--arg", "--launch", "--shared"})
        if (invocation.has_typed(option))
            throw UsageError(fmt::format("kernel --list: {} changes nothing about a list", option),
                             "coalprof kernel FILE --list > kernels.txt");
    for (const std::string& name :
         command.names.empty() ? std::vector<std::string>{""} : command.names)
        print_out_folded(file.list(name));
    return ExitCode::done;
}

void save(OutputFile& file, const KernelResult& result) {
    for (std::size_t i = 0; i < result.points.size(); ++i) {
        std::string name = result.points[i].name;
        std::ranges::replace_if(
            name, [](char c) { return c == ' ' || c == '#'; }, '_');
        for (const WarpAccess& warp : result.warps[i])
            if (const auto line = warps_file_line(name, warp)) file.write(*line);
    }
    file.commit();
}

// A kernel with its launches.
struct LaunchedKernel {
    std::string name;
    KernelAxes axes;
    std::vector<KernelChoice> choices;
    std::vector<Warning> notes = {};  // of launches that the file's host code makes
};
// All kernels that were asked for, and why others have no launch.
struct LaunchedKernels {
    std::vector<LaunchedKernel> kernels;
    std::vector<Warning> skipped = {};
    bool are_of_source = false;
};

std::string with_hint(const UsageError& error) {
    return error.hint().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.hint());
}

// So many kernels are a library, of which one is meant.
constexpr std::size_t most_kernels_of_source = 64;

LaunchedKernels launches_of_source(const KernelCommand& command, const KernelFile& file) {
    LaunchedKernels all{.kernels = {}, .are_of_source = true};
    std::vector<std::string> symbols;
    for (const std::string& name :
         command.names.empty() ? std::vector<std::string>{""} : command.names) {
        const std::vector<std::string> found = file.names_found_by(name);
        if (found.empty()) file.kernel(name);  // throws
        symbols.insert(symbols.end(), found.begin(), found.end());
    }
    if (symbols.size() > most_kernels_of_source)
        throw UsageError(
            fmt::format("{}: it holds {} kernels", shown(command.kernel.file), symbols.size()),
            "name some: coalprof kernel FILE NAME; --list lists them");
    std::optional<UsageError> problem;
    std::vector<std::string> foreign = command.kernel.arguments;  // of none of the kernels
    for (const std::string& symbol : symbols) {
        try {
            const KernelFile::Kernel kernel = file.kernel(symbol);
            std::erase_if(foreign, [&](const std::string& one) { return takes(kernel.code, one); });
            LaunchedKernel& one = all.kernels.emplace_back(LaunchedKernel{symbol, {}, {}});
            for (SourceLaunch& launch :
                 launches_of_kernel(kernel.code, file.host_launches(), command.kernel.arguments)) {
                one.axes = {
                    .grids = {{launch.choice.grid}},
                    .blocks = {launch.choice.block},
                    .arguments = {},
                    .shared_bytes = command.kernel.shared != "0"
                                        ? parse_size_bytes(command.kernel.shared, "--shared")
                                        : launch.choice.shared_bytes};
                for (const std::string& typed : launch.choice.arguments)
                    one.axes.arguments.push_back(read_argument(typed));
                for (KernelChoice& choice : choices_of(one.axes)) {
                    std::ranges::copy(launch.choice.swept, std::back_inserter(choice.swept));
                    one.choices.push_back(std::move(choice));
                }
                one.notes.push_back(std::move(launch.note));
            }
        } catch (const UsageError& error) {
            if (!all.kernels.empty() && all.kernels.back().choices.empty()) all.kernels.pop_back();
            all.skipped.push_back({"W-SKIPPED", short_kernel_name(symbol), with_hint(error)});
            if (!problem) problem = error;
        }
    }
    if (!all.kernels.empty() && !foreign.empty())
        throw UsageError(fmt::format("--arg {}: no kernel here has a parameter of this name",
                                     shown(foreign.front())),
                         "coalprof kernel FILE --list lists the parameters of all");
    if (all.kernels.empty() && problem) throw UsageError(*problem);
    return all;
}

// The value of an option that is given once for all kernels, or once for each.
std::string value_of(const std::vector<std::string>& values, std::size_t kernel,
                     std::size_t kernels, const char* option) {
    if (values.empty()) return {};
    if (values.size() == 1) return values.front();
    if (kernels == 1) return joined(values, ",");
    if (values.size() != kernels)
        throw UsageError(
            fmt::format("{}: {} values for {} kernels", option, values.size(), kernels),
            "give one value for all kernels or one for each, in their order; launches "
            "are swept kernel by kernel");
    return values[kernel];
}

// A list for several kernels has one value for each: it is no sweep.
std::vector<std::string> each_its_own(const std::vector<std::string>& values, std::size_t kernels) {
    return kernels < 2 || values.size() != 1 ? values : list_items(values.front());
}

LaunchedKernels launched_kernels(const KernelCommand& command, KernelFiles& files,
                                 const Machine& machine) {
    if (command.grids.empty() && command.blocks.empty() && command.kernel.code.text.empty())
        return launches_of_source(command, files.of(machine));
    std::vector<std::string> names = command.names;
    const bool means_all = names.empty() && !command.output.view.best.empty();
    const bool is_pattern = names.size() == 1 && names[0].find_first_of("*|") != std::string::npos;
    if (means_all || is_pattern) {
        const std::string pattern = is_pattern ? names[0] : std::string();
        names = files.of(machine).names_found_by(pattern);
        if (names.empty()) names.push_back(pattern);  // refused below
    }
    if (names.empty()) names.emplace_back();
    const std::vector<std::string> grids = each_its_own(command.grids, names.size());
    const std::vector<std::string> blocks = each_its_own(command.blocks, names.size());
    std::vector<LaunchedKernel> kernels;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string grid = value_of(grids, i, names.size(), "--grid");
        const std::string block = files.block_of_launch(
            machine, names[i], grid, value_of(blocks, i, names.size(), "--block"));
        KernelAxes axes = kernel_axes(command.kernel, grid, block);
        std::vector<KernelChoice> choices = choices_of(axes);
        kernels.push_back({names[i], std::move(axes), std::move(choices)});
    }
    return {std::move(kernels)};
}

std::uint64_t launches_of(const std::vector<LaunchedKernel>& kernels) {
    std::uint64_t count = 0;
    for (const LaunchedKernel& one : kernels) count += one.choices.size();
    return count;
}

ResultHead head_of_kernel(const KernelCommand& command, const Invocation& invocation,
                          const std::vector<Machine>& machines,
                          const std::vector<LaunchedKernel>& kernels) {
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines(machines);
    head.backend = "model";
    head.sweep = {.pattern = "kernel",
                  .file = command.kernel.file,
                  .parameter = kernels.size() > 1                                 ? "kernel"
                               : machines.size() > 1 && launches_of(kernels) == 1 ? "machine"
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
        : status_(
              wants_progress(output),
              [this](double seconds) {
                  return all_ > 1 ? progress_text(done_, all_, seconds) : progress_of_work(seconds);
              },
              StatusLine::Place::anywhere) {}
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
    KernelRun(const KernelCommand& command, KernelFiles& files, ResultSink& sink,
              LimitsHeld& limits, LaunchProgress& progress, BestSink::Lines& costliest,
              OutputFile* addresses, bool skips)
        : command_(command),
          skips_(skips),
          sink_(sink),
          limits_(limits),
          progress_(progress),
          costliest_(costliest),
          addresses_(addresses),
          files_(files) {
        if (!command.max_steps.empty())
            options_.limits.steps_of_warp = parse_integer(command.max_steps, "--max-steps", 1);
        if (command.all) options_.limits.steps_before_sampling = ~std::uint64_t{0};
        options_.threads = thread_count();
    }

    // rethrow_failure() throws an error that came after some launches had answered.
    ResultTail run(const std::vector<Machine>& machines,
                   const std::vector<LaunchedKernel>& kernels) {
        const std::uint64_t launches = machines.size() * launches_of(kernels);
        progress_.expect(launches);
        is_one_ = launches == 1;
        options_.prices_findings = is_one_;
        try {
            for (const Machine& machine : machines) run(machine, machines.size() > 1, kernels);
        } catch (const Stopped&) {
            tail_.status = Status::interrupted;
        } catch (...) {
            if (!limits_.has_answered()) throw;
            failure_ = std::current_exception();
            tail_.status = Status::partial;
        }
        return std::move(tail_);
    }
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    void run(const Machine& machine, bool says_machine,
             const std::vector<LaunchedKernel>& launched) {
        const KernelFile& file = files_.of(machine);
        const bool is_first = tail_.warnings.empty();
        if (file.is_of_clang() && is_first)
            tail_.warnings.push_back(
                {"W-CLANG", "",
                 "clang compiled the kernel, with stand-ins for CUDA's headers: nvcc may "
                 "order, merge and drop accesses otherwise"});
        if (!file.missing_headers().empty() && is_first)
            tail_.warnings.push_back(
                {"W-HEADERS", "",
                 fmt::format("no folder of -I has {}: an empty file stood for it",
                             printable(joined(file.missing_headers(), ", ")))});
        std::vector<KernelFile::Kernel> kernels;
        for (const LaunchedKernel& one : launched) {
            kernels.push_back(file.kernel(one.name));
            for (const KernelChoice& choice : one.choices)
                require_possible(kernels.back().code, choice, machine);
        }
        for (std::size_t i = 0; i < kernels.size(); ++i)
            for (KernelChoice choice : launched[i].choices) {
                stop_if_asked();
                std::erase_if(choice.arguments, [&](const std::string& typed) {
                    return !takes(kernels[i].code, typed) &&
                           std::ranges::any_of(
                               kernels, [&](const auto& one) { return takes(one.code, typed); });
                });
                if (says_machine) choice.swept.emplace_back("machine", machine.name);
                predict_or_skip(kernels[i], choice, machine);
            }
    }
    void predict_or_skip(KernelFile::Kernel& kernel, const KernelChoice& choice,
                         const Machine& machine) {
        try {
            predict(kernel, choice, machine);
        } catch (const UsageError& error) {
            if (!skips_ || is_one_) throw;
            tail_.warnings.push_back(
                {"W-SKIPPED", short_kernel_name(kernel.code.kernel), with_hint(error)});
            tail_.status = Status::partial;
        }
    }
    // What `coalprof explain` takes to draw a line of this launch.
    std::string words_to_draw(const std::string& name, const KernelChoice& choice,
                              const Point& line) const {
        const KernelOptions& typed = command_.kernel;
        std::vector<std::string> words{"kernel", typed.file};
        if (!typed.code.text.empty()) words = {"kernel", "--code", typed.code.text};
        if (skips_)
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
    void predict(KernelFile::Kernel& kernel, const KernelChoice& choice, const Machine& machine) {
        KernelResult result = predict_choice(kernel.code, choice, machine, options_);
        const std::string costliest = costliest_line(result);
        for (LineFinding& one : result.findings) {
            const auto line = std::ranges::find(result.points, one.point, &Point::name);
            const bool is_drawn = command_.kernel.file != "-" && line != result.points.end();
            one.like = is_drawn ? words_to_draw(long_kernel_name(kernel.code.kernel), choice, *line)
                                : std::string();
        }
        const ComputeCapability own = machine.rules->cc;
        if (std::cmp_greater(kernel.architecture, std::max(75, own.major * 10 + own.minor)))
            result.warnings.push_back(
                {"W-TARGET",
                 {},
                 fmt::format(
                     "the PTX is for sm_{}, and {} ({}) would not load it: nvcc -arch=sm_{} "
                     "makes what it loads",
                     kernel.architecture, machine.name, text_of(own),
                     std::max(75, own.major * 10 + own.minor))});
        if (!is_one_) result = as_one_point(std::move(result), choice.swept);
        costliest_[result.points.front().name] = costliest;
        if (skips_ && !is_one_ && !costliest.empty())
            result.points.front().parameters.emplace_back("costliest", costliest);
        progress_.launch([&] {
            for (const Point& point : result.points) sink_.point(point);
        });
        limits_.answered();
        if (!result.points.front().failure.empty()) tail_.status = Status::partial;
        try {
            if (addresses_) save(*addresses_, result);
        } catch (const Error&) {  // the result comes first
            failure_ = std::current_exception();
        }
        std::ranges::move(result.findings, std::back_inserter(tail_.findings));
        for (Warning& one : result.warnings)
            if (one.code != bounds_code ||
                std::ranges::find(tail_.warnings, one.code, &Warning::code) == tail_.warnings.end())
                tail_.warnings.push_back(std::move(one));
    }

    const KernelCommand& command_;
    bool skips_;  // what cannot be executed, of all kernels of a file
    ResultSink& sink_;
    LimitsHeld& limits_;
    LaunchProgress& progress_;
    BestSink::Lines& costliest_;
    OutputFile* addresses_;
    KernelFiles& files_;
    PredictionOptions options_;
    ResultTail tail_;
    std::exception_ptr failure_;
    bool is_one_ = true;
};

ExitCode run_within(LimitsHeld& limits, KernelCommand command, const Invocation& invocation) {
    const std::vector<Machine> machines = machines_of(command);
    LaunchProgress progress(command.output);
    const std::string bytes = command.kernel.read_bytes();
    KernelFiles files(command.kernel, bytes);
    if (command.list) return print_list(command, files.of(machines.front()), invocation);
    const LaunchedKernels launched = launched_kernels(command, files, machines.front());
    const std::vector<LaunchedKernel>& kernels = launched.kernels;
    std::optional<OutputFile> addresses;
    if (!command.addresses.empty()) {
        if (machines.size() * launches_of(kernels) > 1)
            throw UsageError("--addresses: they are those of one launch",
                             "give --grid, --block, --arg and --machine one value each");
        addresses.emplace(command.addresses);
    }
    OutputOptions output = command.output;
    // A page shows the kernel's own source.
    const std::string folder = std::filesystem::path(command.kernel.file).parent_path().string();
    if (output.source_folders.empty()) output.source_folders = {folder.empty() ? "." : folder};
    Outputs outputs = output.open(output.targets());
    ViewOptions view = output.view;
    const bool has_times = std::ranges::all_of(machines, is_simulated_on);
    const std::string time(key_of(Counter::duration_seconds));
    if (launched.are_of_source && launches_of(kernels) > 1 && has_times) {
        if (view.sort.empty()) view.sort = time + ":desc";
    } else if (kernels.size() > 1 && view.best.empty() && has_times) {
        view.best = time;
    }
    if (machines.size() * launches_of(kernels) == 1 && !view.best.empty()) {
        output.note(
            "--best: one launch is compared with nothing; --block 64..1024*2 makes several");
        view.best.clear();
    }
    BestSink::Lines costliest;
    view.costliest = &costliest;
    Viewed viewed(outputs, view);
    BudgetedRun budgeted(command.budgets, viewed.sink());
    ResultSink& sink = budgeted.sink();
    KernelRun run(command, files, sink, limits, progress, costliest,
                  addresses ? &*addresses : nullptr, launched.are_of_source);
    sink.begin(head_of_kernel(command, invocation, machines, kernels));
    ResultTail tail = run.run(machines, kernels);
    for (const LaunchedKernel& one : kernels)
        std::ranges::copy(one.notes, std::back_inserter(tail.warnings));
    std::ranges::copy(launched.skipped, std::back_inserter(tail.warnings));
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
    command.kernel.take_launches(command.grids, command.blocks);
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
    sub->add_option("FILE", command->kernel.file,
                    "CUDA source, PTX, or a program, library or object that holds PTX; - reads "
                    "PTX or CUDA source from standard input");
    sub->add_option(
        "NAME", command->names,
        "The kernel, where the file has several: its name, or a regular expression "
        "found in its name with types and parameters. Several are compared by time: a b, or "
        "'a|b', 'conv.*'");
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
