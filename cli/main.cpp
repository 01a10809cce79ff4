// coalprof: the pipeline on one screen. Errors are thrown where they are known and printed here,
// once.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "core/result/result.h"
#include "core/text/describe.h"
#include "core/text/files_in_use.h"
#include "core/write/outputs.h"

namespace {

using coalprof::ExitCode;

// Printed without a command: examples to try first.
constexpr const char* first_screen =
    "coalprof: how NVIDIA GPUs coalesce memory accesses, predicted and measured\n\n"
    "  coalprof offset                      what misaligned starts cost\n"
    "  coalprof stride --op load            what gaps between threads cost\n"
    "  coalprof formula 'i*3' 'i'           index expressions of your own, compared\n"
    "  coalprof explain row --at 1000       one warp, drawn\n"
    "  coalprof run -- ./app                kernels and lines of a program, on a GPU\n"
    "  coalprof kernel app.cu               the same predicted, without a GPU\n"
    "  coalprof check FILE --budget ...     budgets, for CI\n\n"
    "  coalprof patterns                    the access patterns that are built in\n"
    "  coalprof machines                    the GPUs that are predicted (--machine)\n"
    "  coalprof --help                      every command; COMMAND --help: its options\n"
    "  coalprof doctor                      is everything here that measuring needs?\n";

ExitCode run(coalprof::Invocation& invocation) {
    coalprof::note_input("/proc/self/exe");
    CLI::App app("Predicts and measures how NVIDIA GPUs coalesce memory accesses.", "coalprof");
    coalprof::describe_command_line(app, invocation);
    std::vector<std::string> words = invocation.argv;
    // The words after `run --` belong to another program.
    const auto end = std::find(words.begin(), words.end(), "--");
    if (words.size() > 1 && words[1] == "run" && end != words.end()) {
        invocation.program.assign(end + 1, words.end());
        words.erase(end, words.end());
    }
    if (!coalprof::parse_command_line(app, words)) return ExitCode::done;
    if (invocation.run) return invocation.run();
    coalprof::print_out(first_screen);
    return ExitCode::done;
}

// The exit code of the program that `run` has run; null: not parsed yet.
const int* code_of_program = nullptr;

// The program's exit code has priority over failures of ours.
int end_with(ExitCode code) noexcept {
    return code_of_program && *code_of_program != 0 ? *code_of_program : static_cast<int>(code);
}

// Works without free memory. Returns the exit code.
int say_out_of_memory() noexcept {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    std::array<char, 200> line{};
    std::snprintf(
        line.data(), line.size(),
        "coalprof: out of memory: up to %ld MiB were in use. Fewer points or formulas take "
        "less\n",
        usage.ru_maxrss / 1024);
    coalprof::print_err(line.data());
    return end_with(ExitCode::environment);
}

// Where no handler is reached: before main(), or where nothing may be thrown. Out of memory is
// reported as elsewhere.
[[noreturn]] void end_without_handler() noexcept {
    coalprof::remove_unfinished_files();
    try {
        if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
        ::_exit(say_out_of_memory());
    } catch (...) {
        coalprof::print_err("coalprof: a bug of ours: an exception that nothing handles\n");
    }
    std::abort();
}

// Before the objects of any file are constructed.
__attribute__((constructor(101))) void handle_what_nothing_handles() {
    std::set_terminate(end_without_handler);
}

int answer(coalprof::Invocation& invocation, int argc, char** argv) {
    try {
        invocation.argv.assign(argv, argv + argc);
        return static_cast<int>(run(invocation));
    } catch (const coalprof::Stopped&) {
        coalprof::print_err(fmt::format("coalprof: ended by a signal ({}) before it was done\n",
                                        ::strsignal(coalprof::stop_signal())));
        return end_with(coalprof::exit_code_of(coalprof::Status::interrupted));
    } catch (const coalprof::ReaderGone&) {
        return end_with(ExitCode::done);
    } catch (const coalprof::Error& error) {
        coalprof::print_err(coalprof::describe(error));
        return end_with(error.code());
    } catch (const std::bad_alloc&) {
        return say_out_of_memory();
    } catch (const std::exception& error) {
        coalprof::print_err(
            fmt::format("coalprof: a bug of ours: {}. Please report it with the command line.\n",
                        error.what()));
        return end_with(ExitCode::internal);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const coalprof::InputMemory inputs;
    std::signal(SIGPIPE, SIG_IGN);  // write() reports a reader that has left
    std::signal(SIGXFSZ, SIG_IGN);  // and a file that may not grow any further
    coalprof::stop_on_signals();
    coalprof::Invocation invocation;
    code_of_program = &invocation.code_of_program;
    try {
        return answer(invocation, argc, argv);
    } catch (...) {  // while an error was put into words
        return say_out_of_memory();
    }
}
