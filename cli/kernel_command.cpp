// `coalprof kernel FILE [NAME]`: a user's own kernel, executed on the CPU and counted by line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "cli/ptx_source.h"
#include "cli/result_head.h"
#include "cli/sweep_options.h"
#include "core/calibrate/machine_file.h"
#include "core/kernel/arguments.h"
#include "core/kernel/kernel_points.h"
#include "core/pattern/dimensions.h"
#include "core/runtime/threads.h"
#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/size.h"
#include "core/text/suggest.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

struct KernelCommand {
    std::string file;
    std::string name;
    std::string grid;
    std::string block;
    std::vector<std::string> arguments;
    std::string shared = "0";
    std::vector<std::string> nvcc_args;
    std::vector<std::string> includes;
    std::vector<std::string> defines;
    std::string max_steps;
    bool list = false;
    std::string machine = "h200";
    OutputOptions output;
};

std::array<std::uint32_t, 3> as_array(const Dimensions& dimensions) {
    return {static_cast<std::uint32_t>(dimensions.x), static_cast<std::uint32_t>(dimensions.y),
            static_cast<std::uint32_t>(dimensions.z)};
}

// A kernel with the text that its statements point into.
struct ChosenKernel {
    std::vector<PtxModule> modules;
    const PtxModule* module = nullptr;
    const PtxFunction* kernel = nullptr;
};

bool is_named(const PtxFunction& kernel, const std::string& name) {
    return kernel.name == name || kernel_name(kernel.name) == name ||
           demangled(kernel.name) == name;
}

std::string names_of(const std::vector<PtxModule>& modules) {
    std::vector<std::string> names;
    for (const PtxModule& module : modules)
        for (const PtxFunction* one : module.kernels()) names.push_back(kernel_name(one->name));
    constexpr std::size_t most_names = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", printable(names[i]));
    return names.size() > most_names
               ? fmt::format("{}, and {} more", text, names.size() - most_names)
               : text;
}

void choose(ChosenKernel& chosen, const KernelCommand& command) {
    std::vector<std::pair<const PtxModule*, const PtxFunction*>> found;
    for (const bool is_exact : {true, false}) {
        for (const PtxModule& module : chosen.modules)
            for (const PtxFunction* one : module.kernels())
                if (command.name.empty() ||
                    (is_exact ? is_named(*one, command.name)
                              : demangled(one->name).find(command.name) != std::string::npos))
                    found.emplace_back(&module, one);
        if (!found.empty()) break;
    }
    if (found.empty())
        throw UsageError(command.name.empty()
                             ? fmt::format("{}: it holds no kernel", shown(command.file))
                             : fmt::format("{}: it holds no kernel '{}'; it holds {}",
                                           shown(command.file), shown(command.name),
                                           names_of(chosen.modules)));
    const bool are_several = std::ranges::any_of(
        found, [&](const auto& one) { return one.second->name != found.front().second->name; });
    if (are_several)
        throw UsageError(fmt::format("{}: it holds several kernels: {}", shown(command.file),
                                     names_of(chosen.modules)),
                         {}, UsageError::no_caret,
                         fmt::format("coalprof kernel {} NAME", shown(command.file)));
    std::tie(chosen.module, chosen.kernel) = found.front();
}

void print_list(const std::vector<PtxModule>& modules, const std::string& cuda) {
    for (const PtxModule& module : modules)
        for (const PtxFunction* kernel : module.kernels()) {
            const std::string name = kernel_name(kernel->name);
            std::string parameters;
            try {
                const Code code = make_code(module, *kernel);
                parameters = describe_parameters(code, parameter_names(cuda, name));
            } catch (const UsageError& error) {
                parameters = error.what();
            }
            print_out(fmt::format("{}: {}\n", printable(name), printable(parameters)));
        }
}

KernelLaunch dimensions_of(const KernelCommand& command, const Machine& machine) {
    if (command.grid.empty() || command.block.empty())
        throw UsageError("kernel: --grid and --block are needed", {}, UsageError::no_caret,
                         "for example --grid 16x128x256 --block 32x4x2");
    KernelLaunch launch;
    launch.grid = as_array(parse_grid(command.grid));
    launch.block = as_array(parse_block(command.block));
    if (launch.threads() > machine.rules->occupancy.threads_per_block)
        throw UsageError(fmt::format("--block {}: a block of {} has {} threads at most",
                                     shown(command.block), machine.name,
                                     machine.rules->occupancy.threads_per_block));
    if (command.shared != "0")
        launch.dynamic_shared_bytes = parse_size_bytes(command.shared, "--shared");
    return launch;
}

PtxSource source_of(const KernelCommand& command, const Machine& machine) {
    const auto own =
        static_cast<std::uint32_t>(machine.rules->cc.major * 10 + machine.rules->cc.minor);
    // The oldest GPU that nvcc 13 compiles for is 7.5. Code for older ones asks for the same
    // addresses.
    PtxSource source{.file = command.file, .nvcc_args = {}, .architecture = std::max(75u, own)};
    for (const std::string& one : command.includes) source.nvcc_args.push_back("-I" + one);
    for (const std::string& one : command.defines) source.nvcc_args.push_back("-D" + one);
    for (const std::string& one : command.nvcc_args)
        for (const std::string& word : split_list(one, "--nvcc-args"))
            source.nvcc_args.push_back(word);
    return source;
}

ExitCode run_kernel_command(const KernelCommand& command, const Invocation& invocation) {
    const Machine machine = machine_named(command.machine);
    const PtxTexts texts = ptx_texts_of(source_of(command, machine));
    ChosenKernel chosen;
    for (const std::string& text : texts.texts)
        chosen.modules.push_back(read_module(text, command.file));
    if (command.list && !command.output.files.empty())
        throw UsageError("kernel --list: it prints to standard output alone", {},
                         UsageError::no_caret, "coalprof kernel FILE --list > kernels.txt");
    if (command.list) {
        print_list(chosen.modules, texts.cuda);
        return ExitCode::done;
    }
    choose(chosen, command);
    const Code code = make_code(*chosen.module, *chosen.kernel);
    KernelArguments arguments{.typed = command.arguments,
                              .known_names = parameter_names(texts.cuda, kernel_name(code.kernel))};
    const KernelLaunch dimensions = dimensions_of(command, machine);
    BoundLaunch bound = bind_arguments(code, arguments);
    bound.launch.grid = dimensions.grid;
    bound.launch.block = dimensions.block;
    bound.launch.dynamic_shared_bytes = dimensions.dynamic_shared_bytes;
    ExecutionLimits limits;
    if (!command.max_steps.empty())
        limits.steps_of_warp = parse_integer(command.max_steps, "--max-steps", 1);
    Outputs outputs = command.output.open(command.output.targets());
    const KernelResult result =
        predict_kernel(code, bound.launch, bound.memory, machine, limits, thread_count());
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines({machine});
    head.backend = "model";
    head.sweep = {.pattern = "kernel", .file = command.file, .parameter = "line"};
    head.points = result.points.size();
    outputs.begin(head);
    for (const Point& point : result.points) outputs.point(point);
    outputs.finish({.warnings = result.warnings, .findings = result.findings});
    return ExitCode::done;
}

}  // namespace

void add_kernel_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<KernelCommand>();
    CLI::App* sub = app.add_subcommand(
        "kernel", "A kernel of your own (.cu, .ptx or a program), predicted by line without a GPU");
    sub->group("Commands");
    sub->add_option("FILE", command->file,
                    "CUDA source, PTX, or a program, library or object that holds PTX; - reads PTX "
                    "from standard input")
        ->required();
    sub->add_option("NAME", command->name, "The kernel, where the file has several");
    sub->add_option("--grid", command->grid, "Blocks of the launch: 1024, 64x64, 16x128x256")
        ->type_name("N");
    sub->add_option("--block", command->block, "Threads of a block: 256, 32x8, 32x4x2")
        ->type_name("N");
    sub->add_option(
           "--arg", command->arguments,
           "An argument by its name or position: n=1000, 2=3.5, x=f32[1048576], and what an "
           "array holds: =0, =iota, =random:SEED, =@file.npy, =@raw.bin. May be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    sub->add_option("--shared", command->shared, "Dynamic shared memory of a block")
        ->type_name("BYTES");
    sub->add_option("--nvcc-args", command->nvcc_args,
                    "More for nvcc, between commas: -O2,-std=c++20")
        ->type_name("LIST")
        ->allow_extra_args(false);
    sub->add_option("-I", command->includes, "A folder of headers, for nvcc")
        ->type_name("FOLDER")
        ->allow_extra_args(false);
    sub->add_option("-D", command->defines, "A macro, for nvcc")
        ->type_name("NAME[=VALUE]")
        ->allow_extra_args(false);
    sub->add_option("--max-steps", command->max_steps,
                    "Instructions that a warp may take before the kernel counts as endless "
                    "(default 33554432)")
        ->type_name("N");
    sub->add_flag("--list", command->list, "List the kernels of the file with their parameters");
    sub->add_option("--machine", command->machine,
                    "Whose rules count: h200, 9.0, c2050 (coalprof machines)")
        ->type_name("NAME");
    command->output.add_to(*sub);
    command->output.add_source_to(*sub);
    sub->footer(
        "Pointers that are not given are as large as what is touched, and hold zeros.\n\n"
        "Examples:\n"
        "  coalprof kernel saxpy.cu --grid 4096 --block 256 --arg n=1048576\n"
        "  coalprof kernel triton.ptx --grid 1024 --block 128 --arg 3=4096\n"
        "  coalprof kernel app csr_scalar --grid 4096 --block 256 --arg 1=@col.npy\n"
        "  coalprof kernel kernels.cu --list\n");
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] {
            return run_kernel_command(*command, invocation);
        };
    });
}

}  // namespace coalprof
