// --threads, of every command that predicts.
#pragma once

#include <CLI/CLI.hpp>

namespace coalprof {

// Sets thread_count() (core/runtime/threads.h) when it is met.
CLI::Option* add_threads_to(CLI::App& command);

}  // namespace coalprof
