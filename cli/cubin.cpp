#include "cli/cubin.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/number.h"

extern char** environ;

namespace coalprof {
namespace {

// Standard output of a program; throws Error when it cannot be started or fails.
std::string output_of(std::vector<std::string> arguments) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw Error("cannot start " + arguments[0] + ": no pipe");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int status = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    if (status == 0) {
        std::array<char, 4096> block;
        for (ssize_t got = 0; (got = ::read(ends[0], block.data(), block.size())) > 0;)
            text.append(block.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    if (status == ENOENT)
        throw Error(
            fmt::format("cannot read a cubin: {} is not on the PATH (it comes with the CUDA "
                        "toolkit)",
                        arguments[0]));
    if (status != 0) throw Error(fmt::format("cannot start {}: error {}", arguments[0], status));
    int result = 0;
    ::waitpid(child, &result, 0);
    if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
        throw Error(fmt::format("{} could not read {}", arguments[0], shown(arguments.back())),
                    ExitCode::usage);
    return text;
}

// The number after `key` in `line`, e.g. REG:32.
std::uint64_t number_after(const std::string& line, const std::string& key) {
    const std::size_t at = line.find(key);
    return at == std::string::npos
               ? 0
               : read_integer(std::string_view(line).substr(at + key.size())).value;
}

}  // namespace

std::vector<CubinKernel> kernels_in(const std::string& resource_usage) {
    std::vector<CubinKernel> kernels;
    std::istringstream lines(resource_usage);
    std::string name;
    for (std::string line; std::getline(lines, line);) {
        const std::string function = "Function ";
        if (const std::size_t at = line.find(function); at != std::string::npos) {
            name = line.substr(at + function.size());
            if (name.ends_with(':')) name.pop_back();
        } else if (!name.empty() && line.find("REG:") != std::string::npos) {
            kernels.push_back({name, static_cast<std::uint32_t>(number_after(line, "REG:")),
                               number_after(line, "SHARED:")});
            name.clear();
        }
    }
    return kernels;
}

std::vector<CubinKernel> read_cubin(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
        throw UsageError(fmt::format("--cubin {}: there is no such file", shown(path)));
    // A name that begins with a dash would be taken for an option.
    const std::string safe = path.starts_with('-') ? "./" + path : path;
    auto kernels = kernels_in(output_of({"cuobjdump", "--dump-resource-usage", safe}));
    if (kernels.empty())
        throw UsageError(fmt::format("--cubin {}: cuobjdump finds no kernel in it", shown(path)));
    return kernels;
}

}  // namespace coalprof
