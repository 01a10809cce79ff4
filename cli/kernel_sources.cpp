#include "cli/kernel_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "cli/limited_work.h"
#include "cli/parse.h"
#include "cli/source_launches.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

// So many kernels are a library, of which some are meant.
constexpr std::size_t most_kernels_of_source = 64;

std::vector<std::string> sources_in(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        if (const std::string suffix = at->path().extension().string();
            (suffix == ".cu" || suffix == ".ptx") && at->is_regular_file(error))
            files.push_back(at->path().lexically_normal().string());
    if (files.empty())
        throw UsageError(fmt::format("{}: it holds no .cu and no .ptx file", shown(folder)),
                         "kernels of a header: coalprof kernel FOLDER/FILE.cuh");
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> types_of(const Code& code) {
    std::vector<std::string> types;
    for (std::size_t i = 0; i < code.own_parameters(); ++i) {
        const PtxParameter& one = code.parameters[i];
        types.push_back(one.source.type.empty() ? one.type : one.source.type);
    }
    return types;
}

// Reads kernels and their launches. What stands in the way of one costs no other its answer.
class SourceReading {
 public:
    SourceReading(std::deque<KernelFiles>& files, const std::vector<std::string>& names,
                  const Machine& machine, const LimitsHeld& limits)
        : files_(files), names_(names), machine_(machine), limits_(limits) {}

    LaunchedKernels run() {
        compile();
        for (KernelFiles* one : compiled_) find_kernels(*one);
        if (found_.empty() && !problem_)
            compiled_.front()->of(machine_).kernel(names_.empty() ? "" : names_.front(),
                                                   false);  // throws
        for (const auto& [file, symbol] : found_)
            attempt(short_kernel_name(symbol), [&] { add_launches(*file, symbol); });
        if (!all_.kernels.empty() && !foreign_.empty())
            throw UsageError(fmt::format("--arg {}: no kernel here has a parameter of this name",
                                         shown(foreign_.front())),
                             "coalprof kernel FILE --list lists the parameters of all");
        if (all_.kernels.empty() && problem_) throw UsageError(*problem_);
        tell_apart();
        return std::move(all_);
    }

 private:
    template <typename Work>
    bool attempt(const std::string& what, const Work& work) {
        std::optional<UsageError> problem;
        try {
            work();
            return true;
        } catch (const UsageError& error) {
            problem = error;
        } catch (const LimitReached& reached) {
            if (files_.size() == 1) throw;
            problem = UsageError(text_of(reached, limits_.seconds()));
        }
        limits_.begin_time();
        all_.skipped.push_back(skipped(what, *problem));
        if (!problem_) problem_ = problem;
        return false;
    }

    // A file that another one includes is a part of that.
    void compile() {
        for (KernelFiles& one : files_) {
            if (files_.size() == 1)
                one.of(machine_);
            else if (!attempt(one.options().file, [&] { one.of(machine_); }))
                continue;
            compiled_.push_back(&one);
            limits_.begin_time();
        }
        const std::vector<KernelFiles*> compiled = compiled_;
        const auto is_part = [&](const std::string& file) {
            return std::ranges::any_of(
                compiled, [&](KernelFiles* other) { return other->of(machine_).includes(file); });
        };
        std::erase_if(compiled_, [&](KernelFiles* one) { return is_part(one->options().file); });
        std::erase_if(all_.skipped, [&](const Warning& one) { return is_part(one.point); });
    }

    void find_kernels(KernelFiles& of) {
        const KernelFile& file = of.of(machine_);
        std::vector<std::string> symbols;
        for (const std::string& name : names_.empty() ? std::vector<std::string>{""} : names_) {
            const std::vector<std::string> found = file.names_found_by(name);
            if (found.empty() && (files_.size() == 1 || (name.empty() && file.holds("__global__"))))
                attempt(of.options().file, [&] { file.kernel(name, false); });
            symbols.insert(symbols.end(), found.begin(), found.end());
        }
        if (symbols.size() > most_kernels_of_source) {
            all_.skipped.push_back(
                {"W-SKIPPED", of.options().file,
                 fmt::format("it holds {} kernels, and these are the first {}; name others: "
                             "coalprof kernel FILE NAME; --list lists them",
                             symbols.size(), most_kernels_of_source)});
            symbols.resize(most_kernels_of_source);
        }
        for (std::string& one : symbols) found_.emplace_back(&of, std::move(one));
    }

    void add_launches(KernelFiles& of, const std::string& symbol) {
        const KernelOptions& options = of.options();
        const Code code = of.of(machine_).kernel(symbol, false).code;
        std::erase_if(foreign_, [&](const std::string& one) { return takes(code, one); });
        LaunchedKernel one{.files = &of, .name = symbol, .types = types_of(code)};
        // The file's own launches come first, then those of the others.
        std::vector<const std::vector<PlacedLaunch>*> places{&of.of(machine_).host_launches()};
        for (KernelFiles* other : compiled_)
            if (other != &of) places.push_back(&other->of(machine_).host_launches());
        for (SourceLaunch& launch : launches_of_kernel(code, places, options.arguments)) {
            one.axes = {.grids = {{launch.choice.grid}},
                        .blocks = {launch.choice.block},
                        .arguments = {},
                        .shared_bytes = options.shared != "0"
                                            ? parse_size_bytes(options.shared, "--shared")
                                            : launch.choice.shared_bytes};
            for (const std::string& typed : launch.choice.arguments)
                one.axes.arguments.push_back(read_argument(typed));
            for (KernelChoice& choice : choices_of(one.axes)) {
                std::ranges::copy(launch.choice.swept, std::back_inserter(choice.swept));
                one.choices.push_back(std::move(choice));
            }
            one.notes.push_back(std::move(launch.note));
            if (one.place.empty()) one.place = launch.place;
        }
        all_.kernels.push_back(std::move(one));
    }

    // Kernels may have one name, overloads and those of several files, or several launches.
    void tell_apart() {
        std::set<std::string> names;
        std::size_t launches = 0;
        for (const LaunchedKernel& one : all_.kernels) {
            names.insert(short_kernel_name(one.name));
            launches += one.notes.size();
        }
        if (all_.kernels.size() == 1 || names.size() == launches) return;
        for (LaunchedKernel& one : all_.kernels)
            for (KernelChoice& choice : one.choices)
                if (!find_value(choice.swept, "launch"))
                    choice.swept.emplace_back(
                        "launch", one.place.empty() ? one.files->options().file : one.place);
    }

    std::deque<KernelFiles>& files_;
    const std::vector<std::string>& names_;
    const Machine& machine_;
    const LimitsHeld& limits_;
    std::vector<std::string> foreign_ = files_.front().options().arguments;  // of no kernel
    std::vector<KernelFiles*> compiled_;
    std::vector<std::pair<KernelFiles*, std::string>> found_;
    LaunchedKernels all_{.kernels = {}, .are_of_source = true};
    std::optional<UsageError> problem_;
};

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

}  // namespace

std::vector<std::string> kernel_files(const std::string& first, std::vector<std::string>& words) {
    std::vector<std::string> typed{first};
    std::error_code error;  // then it is no file
    const auto is_file = [&](const std::string& word) {
        return word.find_first_of("./") != word.npos && fs::exists(word, error);
    };
    std::ranges::copy_if(words, std::back_inserter(typed), is_file);
    std::erase_if(words, is_file);
    if (typed.size() > 1 && first.find_first_of("./-") == first.npos && !fs::exists(first, error)) {
        words.insert(words.begin(), first);
        typed.erase(typed.begin());
        throw UsageError(fmt::format("kernel: there is no file {}", shown(first)),
                         fmt::format("files stand before names: coalprof kernel {} {}",
                                     shown(shell_words(typed)), shown(shell_words(words))));
    }
    std::vector<std::string> files;
    for (const std::string& one : typed) {
        if (!fs::is_directory(one, error))
            files.push_back(one);
        else
            std::ranges::move(sources_in(one), std::back_inserter(files));
    }
    return files;
}

std::uint64_t LaunchedKernels::launches() const {
    std::uint64_t count = 0;
    for (const LaunchedKernel& one : kernels) count += one.choices.size();
    return count;
}

bool LaunchedKernels::are_variants() const {
    return kernels.size() > 1 && std::ranges::all_of(kernels, [&](const LaunchedKernel& one) {
               return one.types == kernels.front().types;
           });
}

Warning skipped(const std::string& what, const UsageError& error) {
    std::string text = error.what();
    for (const std::string& known : {what + ": ", fmt::format("kernel {}: ", what)})
        if (text.starts_with(known)) text.erase(0, known.size());
    if (!error.hint().empty()) text += ": " + error.hint();
    return {"W-SKIPPED", what, std::move(text)};
}

LaunchedKernels launches_of_source(std::deque<KernelFiles>& files,
                                   const std::vector<std::string>& names, const Machine& machine,
                                   const LimitsHeld& limits) {
    return SourceReading(files, names, machine, limits).run();
}

LaunchedKernels launches_of_options(std::deque<KernelFiles>& files,
                                    const std::vector<std::string>& names, bool means_all,
                                    const std::vector<std::string>& grids,
                                    const std::vector<std::string>& blocks,
                                    const Machine& machine) {
    std::vector<LaunchedKernel> kernels;
    const bool is_pattern = names.size() == 1 && names[0].find_first_of("*|") != std::string::npos;
    const bool are_all = names.empty() && (means_all || files.size() > 1);
    for (const std::string& name : names.empty() ? std::vector<std::string>{""} : names) {
        const std::size_t before = kernels.size();
        for (KernelFiles& one : files) {
            const std::vector<std::string> found = one.of(machine).names_found_by(name);
            if (are_all || is_pattern)
                for (const std::string& symbol : found) kernels.push_back({&one, symbol});
            else if (!found.empty() && kernels.size() == before)
                kernels.push_back({&one, name});
        }
        if (kernels.size() == before) kernels.push_back({&files.front(), name});  // refused below
    }
    const std::vector<std::string> grids_of_each = each_its_own(grids, kernels.size());
    const std::vector<std::string> blocks_of_each = each_its_own(blocks, kernels.size());
    std::array<std::uint64_t, 3> threads{};  // of the largest launch: all get the same numbers
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        LaunchedKernel& one = kernels[i];
        const Code code = one.files->of(machine).kernel(one.name, false).code;
        one.axes =
            kernel_axes(one.files->options(), value_of(grids_of_each, i, kernels.size(), "--grid"),
                        value_of(blocks_of_each, i, kernels.size(), "--block"));
        std::string assumed;
        if (one.axes.blocks.empty()) {
            one.axes.blocks.push_back(assumed_block(code));
            if (required_block(code).count() == 0)
                assumed = " --block " + text_of(one.axes.blocks.front());
        }
        if (one.axes.grids.empty()) {
            one.axes.grids.push_back(assumed_grid(code));
            assumed += fmt::format(" --grid {}/block", text_of(one.axes.grids.front().size));
        }
        one.choices = choices_of(one.axes);
        one.types = types_of(code);
        one.notes = {{"", "", std::move(assumed)}};
        for (const KernelChoice& choice : one.choices)
            for (std::size_t axis = 0; axis < threads.size(); ++axis)
                threads[axis] = std::max(threads[axis], threads_of(choice)[axis]);
    }
    for (LaunchedKernel& one : kernels) {
        KernelChoice choice = one.choices.front();
        const auto given = static_cast<std::ptrdiff_t>(choice.arguments.size());
        one.notes = {with_numbers(one.files->of(machine).kernel(one.name, false).code, choice,
                                  threads, {}, one.notes.front().text)};
        if (one.notes.front().text.empty()) one.notes.clear();
        for (KernelChoice& each : one.choices)
            each.arguments.insert(each.arguments.end(), choice.arguments.begin() + given,
                                  choice.arguments.end());
    }
    return {std::move(kernels)};
}

}  // namespace coalprof
