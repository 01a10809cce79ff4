#include "cli/kernel_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "cli/parse.h"
#include "cli/source_files.h"
#include "cli/sweep_options.h"
#include "core/kernel/arguments.h"
#include "core/pattern/launch_options.h"
#include "core/program/kernel_pattern.h"
#include "core/program/machine_widths.h"
#include "core/text/describe.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

CudaSource cuda_source(const KernelOptions& options, std::string_view bytes, std::uint32_t cc) {
    for (const std::string& folder : options.includes)
        if (std::error_code error; !std::filesystem::is_directory(folder, error))
            throw UsageError(fmt::format("-I {}: there is no such folder", shown(folder)));
    CudaSource source{.file = options.file,
                      .bytes = bytes,
                      .includes = options.includes,
                      .defines = options.defines,
                      .nvcc_args = {},
                      .architecture = cc,
                      .pasted = options.code,
                      .cache_dir = options.cache_dir,
                      .is_one_of_many = options.is_one_of_many};
    for (const std::string& one : options.nvcc_args)
        if (one.find(" -") != one.npos)
            throw UsageError(
                fmt::format("--nvcc-args {}: commas stand between options, no blanks", shown(one)),
                "for example --nvcc-args -O3,-std=c++17");
    for (const std::string& one : options.nvcc_args)
        for (const std::string& word : split_list(one, "--nvcc-args"))
            source.nvcc_args.push_back(word);
    return source;
}

// A name without what compilers and people write differently: "fill<float, (int)256>" and
// "fill<float,256u>" both become "fill<float,256>".
std::string plain_name(std::string name) {
    std::erase(name, ' ');
    std::string plain;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool follows_mark = at > 0 && (name[at - 1] == '<' || name[at - 1] == ',');
        if (follows_mark && name[at] == '(') at = std::min(name.find(')', at), name.size() - 1) + 1;
        const bool is_suffix = !plain.empty() && is_digit(plain.back()) && at < name.size() &&
                               std::string_view("uUlL").find(name[at]) != std::string_view::npos;
        if (at < name.size() && !is_suffix) plain += name[at];
    }
    return plain;
}

using NameTest = std::function<bool(const std::string& symbol)>;
// The meanings of a NAME, the narrowest first.
std::vector<NameTest> tests_for(const std::string& name) {
    std::vector<NameTest> tests{[&name](const std::string& symbol) {
        return symbol == name || kernel_name(symbol) == name || demangled(symbol) == name ||
               plain_name(long_kernel_name(symbol)) == plain_name(name);
    }};
    if (!fault_of_pattern(name))
        tests.emplace_back([pattern = KernelPattern(name)](const std::string& symbol) {
            return pattern.is_found_in(demangled(symbol)).value_or(false);
        });
    tests.emplace_back([&name](const std::string& symbol) {
        return demangled(symbol).find(name) != std::string::npos;
    });
    return tests;
}

std::string list_of_names(const std::vector<std::string>& symbols) {
    NameList names(12);
    for (const std::string& one : symbols) names.add(printable(long_kernel_name(one)));
    return names.text();
}

// " a 'b<4>'": two of them, as a shell takes them.
std::string names_to_compare(const std::vector<std::string>& symbols) {
    const auto differ = [&](const auto& name_of) {
        return name_of(symbols[0]) != name_of(symbols[1]);
    };
    const auto name = differ(kernel_name) ? kernel_name : demangled;
    return fmt::format(" {} {}", printable(shell_word(name(symbols[0]))),
                       printable(shell_word(name(symbols[1]))));
}

}  // namespace

void KernelOptions::add_to(CLI::App& command) {
    add_repeated(
        command, "--arg", arguments,
        "An argument by its name or position: n=1000, 2=3.5, x=f32[1048576], and what an "
        "array holds: =0, =iota, =random:SEED, =@file.npy, =@raw.bin; y=x: the same array. May "
        "be repeated",
        "NAME=VALUE");
    add_repeated(command, "--launch", launches,
                 "Grid, block and dynamic shared memory as in the source: '<<<4096, 256>>>'",
                 "<<<G,B>>>");
    add_value(command, "--shared", shared, "Dynamic shared memory of a block", "BYTES");
    add_repeated(command, "--nvcc-args", nvcc_args, "More for nvcc, between commas: -O2,-std=c++20",
                 "LIST");
    add_repeated(command, "-I", includes, "A folder of headers, for nvcc", "FOLDER");
    add_repeated(command, "-D", defines, "A macro, for nvcc", "NAME[=VALUE]");
    add_value(
        command, "--cache-dir", cache_dir,
        "Where compiled kernels are kept, up to 256 MiB (default coalprof in XDG_CACHE_HOME or "
        "~/.cache; none: nowhere)",
        "FOLDER");
    limits.add_to(command);
}

namespace {

// The arguments of "kernel<<<4096, dim3(32, 8), 1024>>>", each as its option takes it: "32x8".
std::vector<std::string> parts_of_launch(const std::string& text) {
    const std::size_t begin = text.find("<<<"), end = text.find(">>>");
    std::vector<std::string> parts(1);
    int depth = 0;
    if (begin < end && end != text.npos)
        for (const char c : text.substr(begin + 3, end - begin - 3)) {
            if (c == '(' || c == '{') parts.back().clear();  // after dim3
            depth += c == '(' || c == '{' ? 1 : c == ')' || c == '}' ? -1 : 0;
            if (c == ',' && depth == 0)
                parts.emplace_back();
            else if (std::string_view(" (){}").find(c) == std::string_view::npos)
                parts.back() += c == ',' ? 'x' : c;
        }
    if (parts.size() >= 2) return parts;
    throw UsageError(fmt::format("--launch {}: it is no launch", shown(text)),
                     "for example --launch '<<<4096, 256>>>' or '<<<dim3(64, 64), dim3(32, 8), "
                     "1024>>>': grid, block and dynamic shared memory");
}

}  // namespace

void KernelOptions::take_launches(std::vector<std::string>& grids, std::vector<std::string>& blocks,
                                  std::vector<std::string>& names) {
    for (std::vector<std::string>* words : {&grids, &names})
        std::erase_if(*words, [&](const std::string& one) {
            const bool is_launch = one.find("<<<") != one.npos;
            if (is_launch) launches.push_back(one);
            return is_launch;
        });
    if (!launches.empty() && (!grids.empty() || !blocks.empty()))
        throw UsageError("--launch: it says grid and block, and --grid or --block was given, too",
                         "leave one of them out");
    for (const std::string& one : launches) {
        const std::vector<std::string> parts = parts_of_launch(one);
        for (const std::string& part : {parts[0], parts[1]})
            if (part.find_first_not_of("0123456789x") != part.npos)
                throw UsageError(
                    fmt::format("--launch {}: '{}' is no number", shown(one), shown(part)),
                    "write its value: --launch '<<<4096, 256>>>'; a grid of so many "
                    "threads is --grid 1048576/block");
        parse_block(parts[1], fmt::format("--launch {}: block", shown(one)));
        grids.push_back(parts[0]);
        blocks.push_back(parts[1]);
        if (parts.size() > 2) shared = parts[2];
    }
}

std::string KernelOptions::read_bytes() {
    if (code.text.empty() == file.empty())
        throw UsageError(file.empty() ? "kernel: there is neither a file nor --code"
                                      : fmt::format("kernel: {} and --code", shown(file)),
                         "give one of them: coalprof kernel saxpy.cu, or coalprof kernel --code "
                         "'c[i] = a[2*i];'");
    if (!file.empty()) return read_ptx_source(file);
    refuse_file(code.text, "a statement", fmt::format("coalprof kernel {}", shown(code.text)));
    if (code.text.starts_with('@'))
        throw UsageError("--code: statements are expected here, and this names a file",
                         fmt::format("coalprof kernel {}", shown(code.text.substr(1))));
    const bool is_whole = code.text.find("__global__") != code.text.npos;
    if (const std::size_t launch = code.text.find("<<<"); launch != code.text.npos && !is_whole)
        throw UsageError(
            "--code: it launches a kernel, whose own statements are meant",
            fmt::format("of the kernel in a file: coalprof kernel FILE.cu NAME --launch {}",
                        shown(shell_word(code.text.substr(
                            launch, code.text.find(">>>", launch) + 3 - launch)))));
    for (const char* of_host : {"cudaMalloc", "cudaMemcpy", "cudaMemset", "cudaFree"})
        if (code.text.find(of_host) != code.text.npos && !is_whole)
            throw UsageError(fmt::format("--code: it calls {}, which the host does, and a kernel's "
                                         "own statements are meant",
                                         of_host),
                             "of a whole file: coalprof kernel FILE.cu");
    file = "code";
    code.arguments = arguments;
    arguments = without_template_values(code);
    return code.text;
}

KernelFile::KernelFile(const KernelOptions& options, std::string_view bytes, std::uint32_t cc)
    : options_(options), source_(cuda_source(options, bytes, cc)), texts_(ptx_texts_of(source_)) {
    for (const std::string_view text : texts_.texts)
        modules_.push_back(read_module(text, options.file));
    for (PtxModule& module : modules_) {
        for (auto& [number, file] : module.files) file = texts_.compiled.names.original(file);
        if (!texts_.compiled.debug.empty()) take_source_names(module, texts_.compiled.debug);
    }
}

const std::vector<PlacedLaunch>& KernelFile::host_launches() const {
    if (!launches_) {
        const bool is_compiled = !texts_.compiled.names.empty() && source_.pasted.text.empty();
        launches_ = is_compiled ? host_launches_of(source_, texts_.compiled.files)
                                : std::vector<PlacedLaunch>();
    }
    return *launches_;
}

bool KernelFile::includes(const std::string& file) const {
    std::error_code error;  // then it is another file
    return std::ranges::any_of(texts_.compiled.files, [&](const std::string& one) {
        return std::filesystem::equivalent(one, file, error) &&
               !std::filesystem::equivalent(one, options_.file, error);
    });
}

Code KernelFile::code_of(const PtxModule& module, const PtxFunction& kernel) const {
    PtxFunction named = kernel;
    const bool has_names = std::ranges::any_of(
        kernel.parameters, [](const PtxParameter& one) { return !one.source.name.empty(); });
    if (!has_names) name_by_text(module, named);
    return make_code(module, named);
}

// The parameters' names, from the source that PTX with line numbers names.
void KernelFile::name_by_text(const PtxModule& module, PtxFunction& kernel) const {
    const std::string folder = std::filesystem::path(options_.file).parent_path().string();
    SourceNames names({folder.empty() ? "." : folder, "."});
    for (const auto& [number, file] : module.files)
        if (const auto& found = names.parameters(file, kernel.name);
            found.size() == kernel.parameters.size()) {
            for (std::size_t i = 0; i < found.size(); ++i)
                kernel.parameters[i].source.name = found[i].name;
            return;
        }
}

// Empty: no kernel has a name like it, and it is no dimension, as in --grid 128 128.
std::string KernelFile::hint_for(const std::string& name) const {
    if (found_by({}).empty() && !compiled().missing_headers.empty())
        return hint_for_headers(compiled().missing_headers);
    const std::size_t values = name.find('<');  // of a template
    if (values != name.npos
            ? !found_by(name.substr(0, values + 1)).empty()
            : found_by({}).empty() && source_.bytes.find("__global__") != std::string_view::npos)
        return "a template is compiled where the file instantiates it: template __global__ void "
               "scale<float>(float*, int);";
    if (!name.empty() && name.find_first_not_of("0123456789x") == name.npos)
        return "a number belongs to an option: --arg n=1000; a launch is --grid 4096 --block 256, "
               "or --grid 128x128 --block 32x8";
    if (std::ranges::find(size_units, name, &UnitStep::unit) != size_units.end())
        return fmt::format("a size is one word: 4{}", name);
    if (std::filesystem::exists(name))
        return fmt::format("a file's name has a dot or a slash: ./{}", shown(name));
    if (name.find('=') != name.npos)
        return fmt::format("each argument has its own option: --arg {}", printable(name));
    const std::vector<std::string> parts = list_items(name);
    if (parts.size() > 1 && std::ranges::none_of(parts, [&](const std::string& one) {
            return one.empty() || found_by(one).empty();
        }))
        return fmt::format("blanks stand between names: {}", printable(joined(parts, " ")));
    std::vector<std::string> names;
    for (const std::string& one : names_found_by({})) names.push_back(kernel_name(one));
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (name.empty()) return {};
    if (const auto meant = nearest(name, views))
        return fmt::format("did you mean {}?", printable(*meant));
    // Names may go on after what was typed.
    std::vector<std::string_view> beginnings;
    for (const std::string_view view : views) beginnings.push_back(view.substr(0, name.size()));
    const auto begun = nearest(name, beginnings);
    if (!begun) return {};
    NameList meant(3);
    for (const std::string_view view : views)
        if (view.starts_with(*begun)) meant.add(std::string(view));
    return fmt::format("did you mean {}?", printable(meant.text()));
}

KernelFile::Found KernelFile::found_by(const std::string& name) const {
    Found found;
    for (const NameTest& is_meant : tests_for(name)) {
        for (const PtxModule& module : modules_)
            for (const PtxFunction* one : module.kernels())
                if (name.empty() || is_meant(one->name)) found.emplace_back(&module, one);
        if (!found.empty()) break;
    }
    return found;
}

std::vector<std::string> KernelFile::names_found_by(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& [module, kernel] : found_by(name))
        if (std::ranges::find(names, kernel->name) == names.end()) names.emplace_back(kernel->name);
    return names;
}

std::pair<const PtxModule*, const PtxFunction*> KernelFile::only(const std::string& name) const {
    const Found found = found_by(name);
    if (found.empty())
        throw UsageError(
            names_found_by({}).empty()
                ? fmt::format("{}: {}", shown(options_.file),
                              source_.bytes.empty() ? "the file is empty"
                                                    : "it holds no kernel: no function with "
                                                      "__global__, or .entry in PTX")
                : fmt::format("{}: it holds no kernel '{}'; it holds {}", shown(options_.file),
                              shown(name), list_of_names(names_found_by({}))),
            hint_for(name));
    if (const std::vector<std::string> several = names_found_by(name); several.size() > 1)
        throw UsageError(
            fmt::format("{}: it holds several kernels{}: {}", shown(options_.file),
                        name.empty() ? "" : fmt::format(" that '{}' names", shown(name)),
                        list_of_names(several)),
            fmt::format(
                "name one behind the file: {0} {1}; to compare their times: coalprof kernel "
                "{0}{2} --grid ...",
                shown(options_.file), printable(shell_word(long_kernel_name(several.front()))),
                names_to_compare(several)));
    return found.front();
}

KernelFile::Kernel KernelFile::kernel(const std::string& name, bool assembles) const {
    const auto [module, kernel] = only(name);
    Kernel all{code_of(*module, *kernel), module->architecture};
    const auto cubin = assembles ? assemble_ptx(ptx_with_marks(*module, all.code), kernel->name,
                                                source_.architecture, options_.cache_dir)
                                 : std::nullopt;
    if (!cubin || !take_machine_code(all.code, *cubin)) merge_shared_accesses(all.code);
    return all;
}

std::string KernelFile::list(const std::string& name) const {
    std::string text;
    const Found found = found_by(name);
    if (found.empty()) only(name);  // throws
    for (const auto& [module, one] : found) {
        std::string parameters;
        try {
            parameters = describe_parameters(code_of(*module, *one));
        } catch (const UsageError& error) {
            parameters = error.what();
        }
        text +=
            fmt::format("{}: {}\n", printable(long_kernel_name(one->name)), printable(parameters));
    }
    return text;
}

const KernelFile& KernelFiles::of(const Machine& machine) {
    const auto own =
        static_cast<std::uint32_t>(machine.rules->cc.major * 10 + machine.rules->cc.minor);
    // The oldest GPU that nvcc 13 compiles for is 7.5. Code for older ones asks for the same
    // addresses.
    const std::uint32_t cc = std::max(75u, own);
    return files_.try_emplace(cc, options_, bytes_, cc).first->second;
}

KernelAxes kernel_axes(const KernelOptions& options, const std::string& grid,
                       const std::string& block) {
    KernelAxes axes;
    if (!grid.empty())
        for (const std::string& word : words_of_dimensions(grid, "--grid"))
            axes.grids.push_back(parse_grid(word));
    if (!block.empty())
        for (const std::string& word : words_of_dimensions(block, "--block"))
            axes.blocks.push_back(parse_block(word));
    for (const std::string& one : options.arguments) axes.arguments.push_back(read_argument(one));
    if (options.shared != "0") axes.shared_bytes = parse_size_bytes(options.shared, "--shared");
    return axes;
}

}  // namespace coalprof
