#include "core/result/exit_code.h"

namespace coalprof {

ExitCode exit_code_of(Status status) {
    switch (status) {
        case Status::complete:
            return ExitCode::done;
        case Status::partial:
            return ExitCode::partial;
        case Status::interrupted:
            break;
    }
    const int signal = stop_signal();
    return signal == 0 ? ExitCode::interrupted : static_cast<ExitCode>(128 + signal);
}

}  // namespace coalprof
