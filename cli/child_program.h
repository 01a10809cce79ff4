// Runs a program with our streams, and passes signals on to it; a folder for its files; the traces
// that the library in it leaves.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

// The file that run_program() executes for this word; the word itself where none is found.
std::string path_of_program(const std::string& word);

using Variables = std::vector<std::pair<std::string, std::string>>;

// Answers as a shell does: its exit code, 128 and the signal that ended it, 127 where there is no
// such program, 126 where it cannot be started. `added` extends our environment or replaces parts
// of it. SIGTERM and the like are passed on; SIGINT and SIGQUIT too, unless a terminal has sent
// them to the program as well.
int run_program(const std::vector<std::string>& words, const Variables& added);

// A new folder for files of this run alone, in $TMPDIR or the usual place of temporary files;
// removed with this object, or when the process is ended at once. Throws Error where none can be
// made.
class WorkFolder {
 public:
    WorkFolder();
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    const std::string& path() const { return path_; }  // absolute, and harmless for shells

 private:
    std::string path_;
};

// Files for what a tool prints; empty: our streams.
struct ToolStreams {
    std::string output = {};
    std::string messages = {};
};
// A program that answers for us, such as a compiler; otherwise as run_program(). Its temporary
// files go to `folder`. Where a signal or a limit ends our work, it is ended with all that it has
// started: throws Stopped, LimitReached.
int run_tool(const std::vector<std::string>& words, const WorkFolder& folder,
             const ToolStreams& streams);

// One for each process, in the order of their numbers; an unreadable one has that as its problem.
std::vector<Trace> traces_in(const std::string& folder_path);

}  // namespace coalprof
