#include "cli/limited_work.h"

#include <fmt/format.h>

#include <cmath>
#include <new>

#include "cli/parse.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/fold.h"
#include "core/text/number.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

// "while 12 of 4096 blocks were executed"; empty: nothing was counted.
std::string text_of(const WorkState& state) {
    if (state.what.empty()) return {};
    return state.all == 0
               ? fmt::format(" while {}", printable(state.what))
               : fmt::format(" with {} of {} {}", state.done, state.all, printable(state.what));
}

}  // namespace

void LimitOptions::add_to(CLI::App& command) {
    add_value(command, "--time-limit", seconds,
              "Seconds until a launch without an answer is given up (default 30; 0: never)", "N");
    add_value(command, "--memory-limit", memory,
              "Memory that may be used, also by compilers (default 1GiB; 0: all there is)",
              "BYTES");
}

WorkLimits LimitOptions::limits(double usual_seconds) const {
    const std::uint64_t bytes = memory == "0" ? 0 : parse_size_bytes(memory, "--memory-limit");
    constexpr std::uint64_t least_bytes = 1 << 20;
    if (bytes != 0 && bytes < least_bytes)
        throw UsageError(fmt::format("--memory-limit {}: {} bytes are too few for any work",
                                     shown(memory), bytes),
                         "with a unit: --memory-limit 1GiB");
    return {.seconds = seconds.empty()
                           ? usual_seconds
                           : static_cast<double>(parse_integer(seconds, "--time-limit")),
            .bytes = bytes};
}

std::string progress_of_work(double seconds) {
    const WorkState state = work_state();
    return state.all == 0
               ? fmt::format("{}, {:.0f} s", state.what.empty() ? "working" : printable(state.what),
                             seconds)
               : progress_text(state.done, state.all, state.seconds, printable(state.what));
}

std::string text_of(const LimitReached& reached, double limit_seconds) {
    const WorkState& state = reached.state;
    std::string sentence =
        fmt::format("there is no answer after {}{}", rounded_time(limit_seconds), text_of(state));
    double needed = 10 * limit_seconds;
    if (state.done != 0 && state.all > state.done) {
        needed = state.seconds * static_cast<double>(state.all) / static_cast<double>(state.done);
        sentence += fmt::format("; all of them take about {}", rounded_time(needed));
        needed = 2 * (limit_seconds + needed);
    }
    return fmt::format("{}. --time-limit {:.0f} allows {}, 0 any time", sentence, std::ceil(needed),
                       rounded_time(needed));
}

void do_within(const WorkLimits& limits, const std::function<void(LimitsHeld&)>& work) {
    LimitsHeld held(limits);
    const auto code = [&] { return held.has_answered() ? ExitCode::partial : ExitCode::usage; };
    try {
        work(held);
    } catch (const LimitReached& reached) {
        throw Error(text_of(reached, limits.seconds), code());
    } catch (const std::bad_alloc&) {
        if (limits.bytes == 0) throw;
        throw Error(
            fmt::format("there is no answer within {} of memory. --memory-limit {}MiB allows "
                        "more, 0 as much as there is",
                        size_text(limits.bytes), limits.bytes >> 18),
            code());
    }
}

}  // namespace coalprof
