#include "cli/child_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/print.h"
#include "core/runtime/signal.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"
#include "core/text/files_in_use.h"

#ifdef COALPROF_HAS_CUDA
#include "cupti/attach/orders.h"
#endif

namespace coalprof {
namespace {

std::vector<std::string> environment_with(const Variables& added) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view name =
            std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
        if (std::ranges::none_of(added, [&](const auto& one) { return one.first == name; }))
            all.emplace_back(*entry);
    }
    for (const auto& [name, value] : added) all.push_back(name + '=' + value);
    return all;
}

std::vector<char*> pointers_into(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// Restores the default action of signals that we ignore or catch.
class SpawnAttributes {
 public:
    explicit SpawnAttributes(bool has_own_group) {
        ::posix_spawnattr_init(&attributes_);
        sigset_t defaults;
        ::sigemptyset(&defaults);
        for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
        ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
        const int group = has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
        ::posix_spawnattr_setflags(&attributes_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | group));
    }
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    const posix_spawnattr_t* get() const { return &attributes_; }

 private:
    posix_spawnattr_t attributes_;
};

class SpawnActions {
 public:
    explicit SpawnActions(const ToolStreams& streams) {
        ::posix_spawn_file_actions_init(&actions_);
        send(STDOUT_FILENO, streams.output);
        send(STDERR_FILENO, streams.messages);
    }
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
    void send(int stream, const std::string& file) {
        if (!file.empty())
            ::posix_spawn_file_actions_addopen(&actions_, stream, file.c_str(),
                                               O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }

    posix_spawn_file_actions_t actions_;
};

bool terminal_tells_everyone(int signal) {
    return (signal == SIGINT || signal == SIGQUIT) && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

int code_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Its exit code once it has ended.
std::optional<int> code_if_ended(pid_t child) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return code_of(status);
    if (ended < 0 && errno != EINTR) return 127;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return std::nullopt;
}

int wait_for(pid_t child) {
    bool was_told = false;
    for (;;) {
        if (const auto code = code_if_ended(child)) return *code;
        const int signal = stop_signal();
        if (signal == 0 || std::exchange(was_told, true)) continue;
        if (!terminal_tells_everyone(signal)) ::kill(child, signal);
    }
}

// Compilers are scripts of programs: the group of all of them ends with our work.
int wait_for_group(pid_t leader) {
    try {
        for (;;) {
            if (const auto code = code_if_ended(leader)) return *code;
            stop_if_asked();
        }
    } catch (...) {
        ::kill(-leader, SIGKILL);
        ::waitpid(leader, nullptr, 0);
        throw;
    }
}

}  // namespace

std::string path_of_program(const std::string& word) {
    if (word.find('/') != word.npos) return word;
    const char* set = ::getenv("PATH");
    std::istringstream folders(set ? set : "/bin:/usr/bin");  // the default of posix_spawnp()
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string path = folder.empty() ? word : folder + '/' + word;
        if (identity_of(path) && ::access(path.c_str(), X_OK) == 0) return path;
    }
    return word;
}

namespace {

int run_and_wait(std::vector<std::string> words, const Variables& added,
                 const SpawnAttributes& attributes, const SpawnActions& actions,
                 int (*wait)(pid_t)) {
    std::vector<std::string> environment = environment_with(added);
    // The system keeps no exit code where the parent process has it ignored.
    std::signal(SIGCHLD, SIG_DFL);
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, words.front().c_str(), actions.get(), attributes.get(),
                       pointers_into(words).data(), pointers_into(environment).data());
    if (error == 0) return wait(child);
    print_err(
        fmt::format("coalprof: cannot start {}: {}\n", shown(words.front()), text_of_errno(error)));
    const std::string& file = words.front();
    if (identity_of(file)) {
        const std::string way = way_of_file(beginning_of(*open_own_bytes(file)), file);
        print_err(fmt::format("hint: {}\n", !way.empty()      ? way
                                            : error == ENOENT ? "of this folder: ./" + shown(file)
                                                              : "it is not executable: chmod +x"));
    } else if (const std::string hint = hint_for_missing(file);
               file.find('/') != file.npos && !hint.empty()) {
        print_err(fmt::format("hint: {}\n", hint));
    }
    return error == ENOENT ? 127 : 126;
}

}  // namespace

int run_program(const std::vector<std::string>& words, const Variables& added) {
    return run_and_wait(words, added, SpawnAttributes(false), SpawnActions({}), wait_for);
}

int run_tool(const std::vector<std::string>& words, const WorkFolder& folder,
             const ToolStreams& streams) {
    return run_and_wait(words, {{"TMPDIR", folder.path()}}, SpawnAttributes(true),
                        SpawnActions(streams), wait_for_group);
}

namespace {

std::vector<std::string> temporary_places() {
    std::vector<std::string> all;
    std::error_code ignored;
    if (const char* named = ::getenv("TMPDIR"); named && *named)
        all.push_back(std::filesystem::absolute(named, ignored).string());
    for (const char* usual : {"/tmp", "/var/tmp", "/dev/shm"}) all.emplace_back(usual);
    std::erase(all, "");
    // Compilers give the names of their temporary files to a shell.
    std::erase_if(all, [](const std::string& place) {
        return shell_word(place) != place || place.find(',') != place.npos;
    });
    return all;
}

}  // namespace

WorkFolder::WorkFolder() {
    const std::vector<std::string> places = temporary_places();
    int error = 0;
    for (const std::string& place : places) {
        std::string name = place + "/coalprof-XXXXXX";
        if (::mkdtemp(name.data())) {
            path_ = name;
            remove_when_killed(path_);
            return;
        }
        if (error == 0) error = errno;
    }
    throw Error(fmt::format("cannot create a folder in any of {}: {} in the first; name one that "
                            "can be written by TMPDIR",
                            fmt::join(places, ", "), text_of_errno(error)),
                ExitCode::output);
}

WorkFolder::~WorkFolder() {
    keep_when_killed(path_);
    remove_folder(path_.c_str());
}

#ifdef COALPROF_HAS_CUDA

namespace {

Trace lost_traces(const std::string& folder, int error) {
    Trace none;
    none.problems.push_back(
        fmt::format("what was counted cannot be read from {}: {}", folder, text_of_errno(error)));
    return none;
}

// Opening a pipe would wait for its other end.
bool is_trace(const std::string& path) {
    struct stat status {};
    return path.ends_with(trace_extension) && ::lstat(path.c_str(), &status) == 0 &&
           S_ISREG(status.st_mode);
}

}  // namespace

std::vector<Trace> traces_in(const std::string& folder_path) {
    std::vector<Trace> all;
    // Not std::filesystem's, which ends the process where memory is short (libstdc++ 12).
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_path.c_str()), &::closedir);
    int error = folder ? 0 : errno;
    while (folder) {
        errno = 0;
        const dirent* entry = ::readdir(folder.get());
        if (!entry) {
            error = errno;
            break;
        }
        const std::string path = folder_path + '/' + entry->d_name;
        if (is_trace(path)) all.push_back(read_trace(path));
    }
    if (error != 0) all.push_back(lost_traces(folder_path, error));
    std::ranges::sort(all, {}, [](const Trace& trace) { return trace.process.id; });
    return all;
}

#endif

}  // namespace coalprof
