#include "core/run/stop.h"

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
    return stop_signal() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

}  // namespace coalprof
