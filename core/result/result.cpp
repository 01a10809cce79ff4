#include "core/result/result.h"

namespace coalprof {

std::string_view name_of(Status status) {
    switch (status) {
        case Status::complete:
            return "complete";
        case Status::partial:
            return "partial";
        case Status::interrupted:
            return "interrupted";
    }
    return "";
}

}  // namespace coalprof
