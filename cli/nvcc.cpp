#include "cli/nvcc.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <future>
#include <new>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "cli/child_program.h"
#include "cli/compile_cache.h"
#include "cli/host_code.h"
#include "cli/print.h"
#include "cli/repository_headers.h"
#include "core/program/statement.h"
#include "core/runtime/work_limits.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/name_list.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stand_in =
#include "cuda_runtime.inc"
    ;
// In place of PyTorch's headers, for extensions.
constexpr std::string_view torch_stand_in =
#include "torch.inc"
    ;
// Headers of the toolkit that kernels include.
constexpr const char* stood_in_for =
    "cuda.h cuda_fp16.h cuda_bf16.h cuda_runtime_api.h cooperative_groups.h math_constants.h "
    "device_launch_parameters.h vector_types.h vector_functions.h";
constexpr const char* clang_options =
    "-x cuda -nocudainc -nocudalib --cuda-path=/nonexistent -std=c++17 -w "
    "-Wno-unknown-cuda-version -ferror-limit=0 -fno-caret-diagnostics -include cuda_runtime.h";
constexpr const char* device_options = "--cuda-device-only -S -O3 -g --cuda-noopt-device-debug";
// Empty files stand for these: launches need nothing of them, and clang 14's tree of <iostream>
// alone has 122 MB (libstdc++ 12).
constexpr const char* host_options =
    "-DCOALPROF_HOST --cuda-host-only -nostdinc++ -fsyntax-only -Xclang -ast-dump=json";
constexpr const char* headers_of_cpp =
    "algorithm array atomic bitset cassert cctype cfloat chrono cinttypes climits cmath complex "
    "condition_variable cstddef cstdint cstdio cstdlib cstring ctime deque exception filesystem "
    "fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator "
    "limits list map memory mutex new numeric optional ostream queue random ratio regex set "
    "sstream stack stdexcept streambuf string string_view system_error thread tuple type_traits "
    "typeinfo unordered_map unordered_set utility variant vector";

// clang takes these of the library on the host alone.
constexpr std::string_view in_place_of_headers = R"(#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#ifndef __clang__
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#endif
)";

constexpr std::size_t most_ptx_bytes = std::size_t{1} << 29;
constexpr std::size_t most_message_bytes = 1 << 20;
constexpr std::string_view folder_mark = "/@coalprof@";  // stands for the folder in what is kept
constexpr int most_rounds = 100;  // rounds of compiling, each with less host code

// The first of them that can be executed.
std::string program_of(const std::vector<std::string>& places) {
    for (const std::string& place : places)
        if (place.find('/') != place.npos && ::access(place.c_str(), X_OK) == 0) return place;
    return {};
}

struct Compiler {
    std::string path;
    bool is_clang = false;
};

// Empty: there is none.
std::string find_clang() {
    std::vector<std::string> places{path_of_program("clang")};
    for (int version = 30; version >= 14; --version)
        places.push_back(path_of_program(fmt::format("clang-{}", version)));
    return program_of(places);
}

// A program of the toolkit. Empty: there is none.
std::string find_in_toolkit(const std::string& name) {
    std::vector<std::string> places;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = ::getenv(variable))
            places.push_back(fmt::format("{}/bin/{}", home, name));
    const bool says_place = !places.empty();
    places.push_back(path_of_program(name));
    if (!says_place) places.push_back("/usr/local/cuda/bin/" + name);
    return program_of(places);
}

// A tool of another version is another file.
std::string identity_of_tool(const std::string& path) {
    std::error_code error;
    const fs::path file = fs::canonical(path, error);
    return fmt::format("\n{} {} {}", file.string(), fs::file_size(file, error),
                       fs::last_write_time(file, error).time_since_epoch().count());
}

Compiler find_compiler(const std::string& file) {
    if (std::string nvcc = find_in_toolkit("nvcc"); !nvcc.empty()) return {std::move(nvcc), false};
    if (std::string clang = find_clang(); !clang.empty()) return {std::move(clang), true};
    throw Error(fmt::format(
        "cannot compile {}: there is neither nvcc (in CUDA_HOME, on the PATH or in "
        "/usr/local/cuda) nor clang, which needs no CUDA. nvcc -ptx -lineinfo on another machine "
        "makes PTX, which needs no compiler here",
        shown(file)));
}

// "NAME=VALUE" as compilers read it after -D.
std::string macro_line(const std::string& define) {
    if (define.find_first_of("\n\r") != define.npos)
        throw UsageError(fmt::format("-D {}: a macro is one line", shown(define)));
    const std::size_t equals = define.find('=');
    if (const std::size_t blank = define.find(' '); blank < std::min(equals, define.find('(')))
        throw UsageError(fmt::format("-D {}: a name has no blank", shown(define)),
                         fmt::format("-D {}={}", shown(define.substr(0, blank)),
                                     shown(define.substr(blank + 1))));
    return equals == define.npos ? fmt::format("#define {} 1\n", define)
                                 : fmt::format("#define {} {}\n", define.substr(0, equals),
                                               define.substr(equals + 1));
}

// The files that a makefile's rule depends on.
std::vector<std::string> dependencies(std::string_view rule) {
    std::vector<std::string> files(1);
    rule.remove_prefix(std::min(rule.size(), rule.find(':') + 1));
    for (std::size_t i = 0; i < rule.size(); ++i) {
        const char c = rule[i];
        const char next = i + 1 < rule.size() ? rule[i + 1] : '\n';
        if (c == '\n' || c == ' ' || (c == '\\' && next == '\n')) {
            if (!files.back().empty()) files.emplace_back();
        } else {
            const bool is_escape =
                (c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$');
            files.back() += is_escape ? next : c;
            i += is_escape;
        }
    }
    if (files.back().empty()) files.pop_back();
    return files;
}

std::string first_error_in(const std::string& messages) {
    const std::size_t begin = messages.rfind('\n', messages.find("error")) + 1;
    return messages.substr(begin, messages.find('\n', begin) - begin);
}

bool took_all_memory() {
    rlimit limit{};
    rusage usage{};
    return ::getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           ::getrusage(RUSAGE_CHILDREN, &usage) == 0 &&
           static_cast<rlim_t>(usage.ru_maxrss) * 1024 > limit.rlim_cur / 2;
}

// Launches as lines: the place, the kernel, then numbers, "-" where there is none.
std::string lines_of(const std::vector<PlacedLaunch>& launches) {
    std::string text;
    for (const auto& [launch, place] : launches) {
        std::vector<HostNumber> numbers(launch.grid.begin(), launch.grid.end());
        numbers.insert(numbers.end(), launch.block.begin(), launch.block.end());
        numbers.push_back(launch.shared_bytes);
        numbers.insert(numbers.end(), launch.arguments.begin(), launch.arguments.end());
        text += fmt::format("{}\t{}\t", place, launch.kernel);
        for (const HostNumber& one : numbers) text += one ? fmt::format("{} ", *one) : "- ";
        text += '\n';
    }
    return text;
}
std::vector<PlacedLaunch> launches_from(const std::string& text) {
    std::vector<PlacedLaunch> launches;
    std::istringstream lines(text);
    for (std::string place, kernel, words; std::getline(lines, place, '\t') &&
                                           std::getline(lines, kernel, '\t') &&
                                           std::getline(lines, words);) {
        std::vector<HostNumber> numbers;
        for (const std::string_view word : words_of(words)) {
            double number = 0;
            const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
            numbers.push_back(read.ec == std::errc() ? HostNumber(number) : HostNumber());
        }
        if (numbers.size() < 7) return {};
        HostLaunch launch;
        launch.kernel = kernel;
        launch.shared_bytes = numbers[6];
        std::copy_n(numbers.begin(), 3, launch.grid.begin());
        std::copy_n(numbers.begin() + 3, 3, launch.block.begin());
        launch.arguments.assign(numbers.begin() + 7, numbers.end());
        launches.push_back({std::move(launch), place});
    }
    return launches;
}

class Compilation {
 public:
    // Messages are kept in memory: a full disk is among what they say.
    explicit Compilation(const CudaSource& source) : source_(source), pasted_(source.pasted) {
        const std::string file = fmt::format("/proc/self/fd/{}", messages_);
        std::error_code ignored;  // a file of the folder holds them then
        if (fs::exists(file, ignored)) fs::create_symlink(file, path("messages"), ignored);
    }
    ~Compilation() { ::close(messages_); }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    // Errors of host code cost the statements that have them.
    std::vector<PlacedLaunch> launches(const std::string& clang,
                                       const std::vector<std::string>& files) {
        std::vector<std::string> words = words_for_clang(clang, host_options);
        const CompileCache cache(source_.cache_dir, key_of(words));
        if (const auto known = known_files(cache, 1)) return launches_from(known->values.front());
        std::error_code ignored;  // the files say where the folder could not be made
        fs::create_directories(path("host"), ignored);
        for (const std::string_view name : words_of(headers_of_cpp))
            save(fmt::format("host/{}", name), {});
        save("source.cu", source_.bytes);
        for (int round = 0; round < most_rounds; ++round) {
            run_tool(words, folder_, {.output = path("tree.json"), .messages = path("messages")});
            if (!takes_header(text_of("messages", most_message_bytes), words)) break;
        }
        std::vector<PlacedLaunch> all;
        for (HostLaunch& one :
             launches_in(text_of("tree.json", most_ptx_bytes / 2), path("cuda"))) {
            const std::string file = names_.original(one.file);
            const bool is_own = one.file == path("source.cu");
            const auto line =
                1 + std::ranges::count(source_.bytes.substr(0, is_own ? one.place : 0), '\n');
            std::string place = fs::path(file).filename().string();
            if (is_own) place += fmt::format(":{}", line);
            all.push_back({std::move(one), std::move(place)});
        }
        CompileCache::Entry made{.files = files, .values = {lines_of(all)}};
        std::ranges::copy(missing_headers_, std::back_inserter(made.values));
        keep(cache, std::move(made));
        return all;
    }

    CompiledCuda run(const Compiler& compiler) {
        if (compiler.is_clang && !source_.nvcc_args.empty())
            throw UsageError("--nvcc-args: they are for nvcc, and clang compiles here",
                             "-D and -I are for both");
        std::vector<std::string> words = compiler.is_clang
                                             ? words_for_clang(compiler.path, device_options)
                                             : words_for(compiler.path);
        const CompileCache cache(source_.cache_dir, key_of(words));
        if (auto known = known_files(cache, 5)) return compiled_of(*known, compiler);
        constexpr std::string_view none = "\n";
        std::string cuda(source_.bytes), instantiated;
        for (int round = 0;; ++round) {
            if (is_pasted()) cuda = source_of(pasted_, source_.file);
            save("source.cu", cuda);
            if (compiles(words, !compiler.is_clang)) {
                if (!is_pasted() && instantiated.empty() && has_no_kernel()) {
                    instantiated = instantiations(cuda);
                    if (!instantiated.empty()) {
                        cuda += '\n' + instantiated;
                        continue;
                    }
                }
                break;
            }
            const std::string messages = text_of("messages", most_message_bytes);
            if (round < most_rounds && may_compile_now(messages, cuda, words)) continue;
            // Without a header that is missing the first errors are the user's own.
            if (instantiated.empty() || instantiated == none)
                refuse(missing_headers_.empty() && !first_errors_.empty() ? first_errors_
                                                                          : messages);
            cuda.resize(cuda.size() - instantiated.size());
            instantiated = none;  // the templates need other values
        }
        if (instantiated == none) instantiated.clear();
        CompileCache::Entry made{
            .files = {},
            .values = {text_of("kernels.ptx", most_ptx_bytes), text_of("names.ptx", most_ptx_bytes),
                       instantiated, joined(found_folders_), passed_over_}};
        for (const std::string& one : dependencies(text_of("kernels.d", most_ptx_bytes)))
            if (!is_own(one)) made.files.push_back(names_.original(one));
        std::ranges::copy(missing_headers_, std::back_inserter(made.values));
        keep(cache, made);
        return compiled_of(made, compiler);
    }

 private:
    // Parameters are named meanwhile.
    bool compiles(const std::vector<std::string>& words, bool names_parameters) const {
        std::future<int> naming;
        if (names_parameters)
            naming = std::async(std::launch::async, [&] { return name_parameters(words); });
        const int code = run_tool(words, folder_, {.messages = path("messages")});
        if (naming.valid()) naming.get();
        return code == 0;
    }
    // True where what the messages complain of was declared now, or left out.
    bool may_compile_now(const std::string& messages, std::string& cuda,
                         std::vector<std::string>& words) {
        if (is_pasted()) return note_undeclared(pasted_, messages);
        if (takes_header(messages, words)) return true;
        if (first_errors_.empty()) first_errors_ = messages;
        if (const std::size_t at = messages.find(": #error "); at != messages.npos) {
            const std::size_t begin = messages.rfind('\n', at) + 1;
            passed_over_ += names_.in_text(messages.substr(begin, messages.find('\n', at) - begin));
        }
        bool has_changed = false;
        for (const auto& [file, lines] : lines_of_errors(messages)) {
            if (file == path("source.cu")) {
                has_changed |= leave_out_host_code(cuda, lines);
            } else if (is_header_of_source(file)) {
                // GCC may name a file by its place behind all links.
                const fs::path original = fs::absolute(names_.original(file)).lexically_normal();
                std::string header = text_of("root" + original.string(), most_message_bytes);
                if (!leave_out_host_code(header, lines)) continue;
                replace(original, header);
                has_changed = true;
            }
        }
        return has_changed;
    }
    bool is_header_of_source(const std::string& file) const {
        return file.starts_with(folder_.path()) ||
               std::ranges::any_of(found_folders_, [&](const std::string& folder) {
                   return file.starts_with(folder + '/');
               });
    }
    // Links to folders on the way to a file become folders of links, for a copy in its place.
    void replace(const fs::path& original, const std::string& text) {
        fs::path at = path("root");
        for (const fs::path& part : original.relative_path()) {
            if (fs::is_symlink(at)) {
                const fs::path target = fs::canonical(at);
                fs::remove(at);
                fs::create_directory(at);
                for (const auto& one : fs::directory_iterator(target))
                    fs::create_symlink(one.path(), at / one.path().filename());
            }
            at /= part;
        }
        fs::remove(at);  // the link
        save(at.lexically_relative(folder_.path()).string(), text);
        replaced_.insert(fs::canonical(at).string());
    }
    // A header that is in no folder of -I is looked for in the source's repository. Those that the
    // host alone needs are seldom there: one with what such headers bring along does for kernels.
    bool takes_header(const std::string& messages, std::vector<std::string>& words) {
        constexpr std::string_view fatal = "fatal error: ";
        const std::size_t at = messages.find(fatal);
        const bool is_missing = messages.find(": No such file", at) != messages.npos ||
                                messages.find("' file not found", at) != messages.npos;
        if (at == messages.npos || !is_missing) return false;
        std::size_t begin = at + fatal.size();
        begin += messages[begin] == '\'' ? 1 : 0;
        const std::string name =
            messages.substr(begin, messages.find_first_of(":'\n", begin) - begin);
        const std::string folder = repository_.folder_of(name);
        if (!folder.empty() && std::ranges::find(found_folders_, folder) == found_folders_.end()) {
            found_folders_.push_back(folder);
            const std::string own = link(fmt::format("found-{}", found_folders_.size()), folder);
            // Behind the system's folders: a repository may have a string.h.
            if (words.front().ends_with("nvcc"))
                words.insert(std::next(words.begin()), "-Xcompiler=-idirafter," + own);
            else
                words.insert(std::next(words.begin()), {"-idirafter", own});
            return true;
        }
        const fs::path whole = fs::path(path("missing")) / fs::path(name).relative_path();
        if (name.find("..") != name.npos || ::access(whole.c_str(), F_OK) == 0) return false;
        std::error_code ignored;  // writing says it
        fs::create_directories(whole.parent_path(), ignored);
        std::string text(in_place_of_headers);
        for (const char* of_torch : {"torch/", "ATen/", "c10/", "THC/"})
            if (name.starts_with(of_torch)) text += torch_stand_in;
        save(fs::relative(whole, folder_.path(), ignored).string(), text);
        missing_headers_.push_back(name);
        return true;
    }
    // Files of ours are removed, and others may be written in their places on the disk.
    bool is_own(const std::string& file) const {
        std::error_code error;
        const std::string whole = fs::canonical(file, error).string();
        return whole.starts_with(fs::canonical(folder_.path(), error).string() + '/') &&
               !replaced_.contains(whole);
    }

    // All that goes in, but for files that the compiler finds.
    std::string key_of(const std::vector<std::string>& words) const {
        std::string key = source_.file + '\n' + fs::absolute(source_.file).string();
        for (const std::string& one : source_.includes) key += '\n' + fs::absolute(one).string();
        for (const std::string& one : words) key += '\n' + with(one, folder_.path(), folder_mark);
        for (const std::string& one :  // this program reads trees
             {words.front(), path_of_program("g++"), std::string("/proc/self/exe")})
            key += identity_of_tool(one);
        for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "NVCC_PREPEND_FLAGS",
                                 "NVCC_APPEND_FLAGS", "NVCC_CCBIN"})
            if (const char* value = ::getenv(name)) key += fmt::format("\n{}={}", name, value);
        for (const std::string& one : source_.defines) key += '\n' + macro_line(one);
        for (const std::string& one : pasted_.arguments) key += '\n' + one;
        return fmt::format("{}\n{}\n{}\n{}\n{}", key, pasted_.type, pasted_.text, stand_in,
                           source_.bytes);
    }
    static std::string with(std::string text, std::string_view old, std::string_view replacement) {
        for (std::size_t at = 0; (at = text.find(old, at)) != text.npos; at += replacement.size())
            text.replace(at, old.size(), replacement);
        return text;
    }
    // Values from `headers` on are names of headers that were found nowhere: one may be there now.
    std::optional<CompileCache::Entry> known_files(const CompileCache& cache,
                                                   std::size_t headers) const {
        std::optional<CompileCache::Entry> known = cache.find();
        if (!known || known->values.size() < headers) return std::nullopt;
        std::vector<std::string> folders = source_.includes;
        folders.insert(folders.end(), {fs::absolute(source_.file).parent_path().string(),
                                       "/usr/include", "/usr/local/include"});
        for (std::size_t i = headers; i < known->values.size(); ++i)
            for (const std::string& folder : folders)
                if (std::error_code error; fs::exists(fs::path(folder) / known->values[i], error))
                    return std::nullopt;
        for (std::string& one : known->values) one = with(one, folder_mark, folder_.path());
        return known;
    }
    void keep(const CompileCache& cache, CompileCache::Entry made) const {
        if (!missing_headers_.empty() && !source_.nvcc_args.empty()) return;  // more folders
        for (std::string& one : made.values) one = with(one, folder_.path(), folder_mark);
        cache.keep(made);
    }
    CompiledCuda compiled_of(CompileCache::Entry& made, const Compiler& compiler) const {
        for (const std::string& one : made.files) note_input(identity_of(one), one);
        return {std::move(made.values[0]),
                names_,
                std::move(made.values[1]),
                std::move(made.values[2]),
                {std::next(made.values.begin(), 5), made.values.end()},
                std::move(made.files),
                std::move(made.values[3]),
                std::move(made.values[4]),
                compiler.is_clang};
    }
    bool has_no_kernel() const {
        return text_of("kernels.ptx", most_ptx_bytes).find(".entry") == std::string::npos;
    }
    bool is_pasted() const { return !pasted_.text.empty(); }
    std::string path(std::string_view name) const {
        return fmt::format("{}/{}", folder_.path(), name);
    }
    std::string text_of(std::string_view name, std::size_t most_bytes) const {
        if (::access(path(name).c_str(), F_OK) != 0) return {};
        return read_whole(*open_own_bytes(path(name)), most_bytes).value_or(std::string());
    }
    void save(std::string_view name, std::string_view text) const {
        OutputFile file(path(name));
        file.write(text);
        file.commit();
    }
    std::string write(std::string_view name, std::string_view text, const std::string& original) {
        save(name, text);
        names_.add(path(name), original);
        return path(name);
    }
    // A link to a folder.
    std::string link(const std::string& name, const std::string& target) {
        std::error_code error;
        if (!fs::exists(path("root"), error)) {
            fs::create_directory_symlink("/", path("root"), error);
            names_.add(path("root"), "");
        }
        fs::create_directory_symlink(path("root") / fs::absolute(target, error).relative_path(),
                                     path(name), error);
        if (error)
            throw Error(
                fmt::format("cannot write {}: {}", path(name), text_of_errno(error.value())),
                ExitCode::output);
        names_.add(path(name), target);
        return path(name);
    }

    std::vector<std::string> words_for(const std::string& nvcc) {
        std::vector<std::string> words{
            nvcc, "-ptx", "-lineinfo", "--expt-relaxed-constexpr", "--extended-lambda",
            fmt::format("-arch=sm_{}", source_.architecture),
            // -iquote finds headers in quotes in the source's own folder, -imacros defines macros
            // before the toolkit's headers, -MD lists the headers that are read.
            fmt::format("-Xcompiler=-iquote,{},-imacros,{},-MD,-MF,{}", source_folder(), macros(),
                        path("kernels.d"))};
        add_folders(words);
        for (const std::string& one : source_.nvcc_args) {
            if (shell_word(one) != one)
                throw UsageError(
                    fmt::format("--nvcc-args {}: nvcc would give it to a shell, which may read "
                                "it otherwise",
                                shown(one)),
                    "-D and -I take any text");
            words.push_back(one);
        }
        add_files(words);
        return words;
    }
    // nvcc keeps names of parameters only where it leaves out what makes code fast.
    int name_parameters(std::vector<std::string> words) const {
        *std::ranges::find(words, "-lineinfo") = "-G";
        for (std::string& word : words)
            if (const std::size_t at = word.find(path("kernels.")); at != word.npos)
                word.replace(at, path("kernels.").size(), path("names."));
        return run_tool(words, folder_, {.messages = "/dev/null"});
    }
    // Newer GPUs than clang 14 knows take the same addresses from this code.
    std::vector<std::string> words_for_clang(const std::string& clang, const char* options) {
        std::error_code ignored;  // the files say where the folder could not be made
        fs::create_directories(path("cuda"), ignored);
        save("cuda/cuda_runtime.h", stand_in);
        for (const std::string_view name : words_of(stood_in_for))
            save(fmt::format("cuda/{}", name), "#include <cuda_runtime.h>\n");
        std::vector<std::string> words{clang};
        for (const char* own : {options, clang_options})
            for (const std::string_view word : words_of(own)) words.emplace_back(word);
        words.push_back(fmt::format("--cuda-gpu-arch=sm_{}", std::min(source_.architecture, 86u)));
        words.insert(words.end(), {"-isystem", path("cuda"), "-isystem", path("host"), "-iquote",
                                   source_folder()});
        words.insert(words.end(), {"-imacros", macros(), "-MD", "-MF", path("kernels.d")});
        add_folders(words);
        add_files(words);
        return words;
    }
    std::string source_folder() {
        const std::string own = fs::path(source_.file).parent_path().string();
        return link("source-folder", own.empty() ? "." : own);
    }
    std::string macros() {
        std::string lines;
        for (const std::string& one : source_.defines) lines += macro_line(one);
        return write("macros.h", lines, "-D");
    }
    void add_folders(std::vector<std::string>& words) {
        for (std::size_t i = 0; i < source_.includes.size(); ++i)
            words.push_back("-I" + link(fmt::format("folder-{}", i), source_.includes[i]));
        words.push_back("-I" + path("missing"));
    }
    void add_files(std::vector<std::string>& words) {
        words.insert(words.end(), {"-o", path("kernels.ptx"), path("source.cu")});
        names_.add(path("source.cu"), source_.file);
    }
    [[noreturn]] void refuse(const std::string& messages) const {
        // The last are GCC's words, which may call a full disk an invalid argument.
        for (const std::string& words :
             {text_of_errno(ENOSPC), text_of_errno(EDQUOT), std::string("when writing output to ")})
            if (messages.find(words) != messages.npos)
                throw Error(fmt::format("cannot compile {}: the compiler cannot write its files in "
                                        "{}; TMPDIR names another place",
                                        shown(source_.file), folder_.path()),
                            ExitCode::output);
        if (took_all_memory()) throw std::bad_alloc();
        const std::string text = names_.in_text(messages);
        std::string reason = "; what the compiler says is above";
        if (source_.is_one_of_many)
            reason = ": " + first_error_in(text);
        else
            print_err(text);
        throw UsageError(fmt::format("{} does not compile{}", shown(source_.file), reason),
                         hint_for(messages));
    }

    std::string hint_for(const std::string& messages) const {
        if (!source_.defines.empty() && messages.find("math_functions.h") != messages.npos)
            return fmt::format(
                "-D {0} replaces this name everywhere, also in CUDA's headers; a "
                "parameter's value is --arg {0}",
                shown(source_.defines.front()));
        if (messages.find(": #error ") != messages.npos)
            return "-D NAME=VALUE gives a macro that its build defines";
        if (!missing_headers_.empty()) return hint_for_headers(missing_headers_);
        for (const std::string_view sentence :
             {"use of undeclared identifier '", "identifier \""}) {
            const std::size_t at = messages.find(sentence);
            const std::size_t begin = at == messages.npos ? at : at + sentence.size();
            const std::string name =
                begin == messages.npos
                    ? std::string()
                    : messages.substr(begin, messages.find(sentence.back(), begin) - begin);
            if (!name.empty() &&
                std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; }))
                return fmt::format("-D {}=VALUE defines it", printable(name));
        }
        if (is_pasted())
            return "statements of CUDA C++ are taken as they stand in a kernel: if (i < n) y[i] = "
                   "2 * x[i];";
        return source_.is_one_of_many ? "mend it, or name the other files" : "";
    }

    const CudaSource& source_;
    const RepositoryHeaders repository_{source_.file};
    std::vector<std::string> found_folders_, missing_headers_;
    std::string first_errors_;        // after all headers are there
    std::string passed_over_;         // messages of #error
    std::set<std::string> replaced_;  // copies of headers without what does not compile
    PastedCode pasted_;
    const WorkFolder folder_;
    const int messages_ = ::memfd_create("messages", MFD_CLOEXEC);
    StandIns names_;
};

}  // namespace

void StandIns::add(std::string stand_in, std::string original) {
    all_.emplace_back(std::move(stand_in), std::move(original));
}

std::string StandIns::original(const std::string& name) const {
    for (const auto& [stand_in, original] : all_)
        if (name.starts_with(stand_in) &&
            (name.size() == stand_in.size() || name[stand_in.size()] == '/')) {
            const std::string own = original + name.substr(stand_in.size());
            std::error_code error;  // standard input and --code are no files
            return fs::exists(own, error) ? fs::absolute(own, error).string() : own;
        }
    return name;
}

std::string StandIns::in_text(std::string text) const {
    std::string all;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = printable(std::string_view(text).substr(begin, end - begin));
        // Later names may begin with earlier ones: folder-10, folder-1.
        for (auto one = all_.rbegin(); one != all_.rend(); ++one)
            for (std::size_t at = 0; (at = line.find(one->first, at)) != line.npos;) {
                const std::string original = printable(one->second);
                line.replace(at, one->first.size(), original);
                at += original.size();
            }
        all.append(line) += '\n';
        begin = end + 1;
    }
    return all;
}

std::string hint_for_headers(const std::vector<std::string>& missing) {
    return fmt::format("-I FOLDER names the folder that has {}", printable(joined(missing)));
}

std::vector<PlacedLaunch> host_launches_of(const CudaSource& source,
                                           const std::vector<std::string>& files) {
    const std::string clang = find_clang();
    if (clang.empty()) return {};
    const CountedWork reading("reading launches of " + source.file);
    return Compilation(source).launches(clang, files);
}

namespace {

// Compiled source has the name of our copy, another one each time.
std::string without_file_names(std::string_view ptx) {
    std::string text;
    while (!ptx.empty()) {
        const std::string_view line = ptx.substr(0, std::min(ptx.find('\n'), ptx.size() - 1) + 1);
        const std::size_t first = line.find_first_not_of(" \t");
        if (first == line.npos || !line.substr(first).starts_with(".file")) text += line;
        ptx.remove_prefix(line.size());
    }
    return text;
}

}  // namespace

std::optional<std::string> assemble_ptx(const std::string& ptx, const std::string& kernel,
                                        std::uint32_t architecture, const std::string& cache_dir) {
    constexpr std::size_t most_bytes = std::size_t{1} << 26;
    const std::string ptxas = find_in_toolkit("ptxas");
    if (ptxas.empty()) return std::nullopt;
    // PTX for sm_90a is for nothing else.
    std::string target = fmt::format("sm_{}", architecture);
    if (const std::size_t own = ptx.find(".target " + target); own != ptx.npos)
        if (const char letter = ptx[own + 8 + target.size()]; letter == 'a' || letter == 'f')
            target += letter;
    const std::vector<std::string> options{"-arch=" + target, "-lineinfo", "--entry", kernel};
    const CompileCache cache(cache_dir, fmt::format("{}\n{}\n{}", identity_of_tool(ptxas),
                                                    joined(options), without_file_names(ptx)));
    if (auto known = cache.find(); known && known->values.size() == 1) return known->values[0];
    const CountedWork assembling("assembling " + kernel);
    try {
        const WorkFolder folder;
        const auto path = [&](const char* name) {
            return fmt::format("{}/{}", folder.path(), name);
        };
        OutputFile file(path("kernel.ptx"));
        file.write(ptx);
        file.commit();
        std::vector<std::string> words{ptxas, path("kernel.ptx"), "-o", path("kernel.cubin")};
        words.insert(words.end(), options.begin(), options.end());
        if (run_tool(words, folder, {.output = path("output"), .messages = path("messages")}) != 0)
            return std::nullopt;
        auto cubin = read_whole(*open_own_bytes(path("kernel.cubin")), most_bytes);
        if (cubin) cache.keep({.files = {}, .values = {*cubin}});
        return cubin;
    } catch (const Error&) {  // no place for files
        return std::nullopt;
    }
}

CompiledCuda compile_cuda(const CudaSource& source) {
    const Compiler compiler = find_compiler(source.file);
    const CountedWork compiling("compiling " + source.file);
    return Compilation(source).run(compiler);
}

}  // namespace coalprof
