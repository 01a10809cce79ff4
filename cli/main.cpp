// coalprof: the pipeline on one screen. What can go wrong is thrown where it is known and said
// here, once.
#include <fmt/core.h>

#include <csignal>
#include <exception>

#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "core/run/stop.h"
#include "core/text/describe.h"
#include "core/write/outputs.h"

namespace {

using coalprof::ExitCode;

ExitCode run(int argc, char** argv) {
    coalprof::Invocation invocation;
    invocation.argv.assign(argv, argv + argc);
    CLI::App app("Predicts and measures how NVIDIA GPUs coalesce memory accesses.", "coalprof");
    coalprof::describe_command_line(app, invocation);
    if (!coalprof::parse_command_line(app, argc, argv)) return ExitCode::done;
    if (invocation.run) return invocation.run();
    coalprof::print_err(coalprof::help_of(app));
    return ExitCode::usage;
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that leaves is an answer of write(), not an end
    std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow any further
    coalprof::stop_on_signals();
    try {
        return static_cast<int>(run(argc, argv));
    } catch (const coalprof::Stopped&) {
        return static_cast<int>(coalprof::exit_code_of(coalprof::Status::interrupted));
    } catch (const coalprof::ReaderGone&) {
        return static_cast<int>(ExitCode::done);
    } catch (const coalprof::Error& error) {
        coalprof::print_err(coalprof::describe(error));
        return static_cast<int>(error.code());
    } catch (const std::exception& error) {
        coalprof::print_err(
            fmt::format("coalprof: a bug of ours: {}. Please report it with the command line.\n",
                        error.what()));
        return static_cast<int>(ExitCode::internal);
    }
}
