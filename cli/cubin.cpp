#include "cli/cubin.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/number.h"

extern char** environ;

namespace coalprof {
namespace {

// Kernels of 200 bytes each: 80,000 of them. What prints more is no list of kernels.
constexpr std::size_t most_output_bytes = 16 << 20;

// A program whose standard output is read. It does not outlive this.
class Child {
 public:
    // Throws Error when it cannot be started.
    explicit Child(std::vector<std::string>& arguments) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw Error(fmt::format("cannot start {}: no pipe", arguments[0]));
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        const int status =
            ::posix_spawnp(&process_, argv[0], &actions, nullptr, argv.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        output_ = ends[0];
        if (status == 0) return;
        ::close(output_);
        if (status == ENOENT)
            throw Error(
                fmt::format("cannot read a cubin: {} is not on the PATH (it comes with the CUDA "
                            "toolkit)",
                            arguments[0]));
        throw Error(fmt::format("cannot start {}: error {}", arguments[0], status));
    }
    ~Child() {
        ::close(output_);
        if (process_ == 0) return;
        ::kill(process_, SIGKILL);
        wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // All that it prints; throws Stopped when a signal asks for the end, Error when it is too much.
    std::string read_all() {
        std::string text;
        std::array<char, 4096> block;
        while (true) {
            stop_if_asked();
            const ssize_t got = ::read(output_, block.data(), block.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) throw Error("cannot read what cuobjdump prints");
            if (got == 0) return text;
            text.append(block.data(), static_cast<std::size_t>(got));
            if (text.size() > most_output_bytes)
                throw Error(fmt::format("cuobjdump prints more than {} MiB", text.size() >> 20),
                            ExitCode::usage);
        }
    }
    // Whether it ended well. Where a signal ended it, one may have been meant for us too.
    bool ended_well() {
        const int result = wait();
        stop_if_asked();
        return WIFEXITED(result) && WEXITSTATUS(result) == 0;
    }

 private:
    int wait() {
        int result = 0;
        while (::waitpid(process_, &result, 0) < 0 && errno == EINTR) {
        }
        process_ = 0;
        return result;
    }

    pid_t process_ = 0;
    int output_ = -1;
};

// Standard output of a program; throws Error when it cannot be started or fails.
std::string output_of(std::vector<std::string> arguments) {
    Child child(arguments);
    std::string text = child.read_all();
    if (!child.ended_well())
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
    note_input(path);
    // A name that begins with a dash would be taken for an option.
    const std::string safe = path.starts_with('-') ? "./" + path : path;
    auto kernels = kernels_in(output_of({"cuobjdump", "--dump-resource-usage", safe}));
    if (kernels.empty())
        throw UsageError(fmt::format("--cubin {}: cuobjdump finds no kernel in it", shown(path)));
    return kernels;
}

}  // namespace coalprof
