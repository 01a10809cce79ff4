#include "cli/thread_option.h"

#include <string>

#include "core/runtime/threads.h"
#include "core/text/number.h"

namespace coalprof {

CLI::Option* add_threads_to(CLI::App& command) {
    constexpr unsigned most_threads = 1024;
    return command
        .add_option_function<std::string>(
            "--threads",
            [](const std::string& text) {
                set_thread_count(
                    static_cast<unsigned>(parse_integer(text, "--threads", 1, most_threads)));
            },
            "Threads that predict (default: one for each processor); results are the same")
        ->type_name("N");
}

}  // namespace coalprof
