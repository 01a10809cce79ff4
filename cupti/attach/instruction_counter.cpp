#include "cupti/attach/instruction_counter.h"

#include <fmt/format.h>

#include "core/device/device.h"
#include "core/program/machine_code.h"

namespace coalprof {

void InstructionCounter::start_profiler() {
    const std::lock_guard lock(starting_);
    if (profiler_) return;
    try {
        profiler_.emplace(setup_.api());
    } catch (const CountersError&) {
        // Reported when it is tried again, at the launch.
    }
}

bool InstructionCounter::wants(const TracedKernel& kernel, CUcontext context) const {
    return !has_ended_ && kernel.name == setup_.kernel &&
           (!session_ || session_->context() == context);
}

bool InstructionCounter::begin(const TracedKernel& kernel, CUcontext context) {
    launching_ = kernel;
    if (session_) return true;
    try {
        const CuptiApi& api = setup_.api();
        {
            const std::lock_guard lock(starting_);
            if (!profiler_) profiler_.emplace(api);
        }
        session_.emplace(api, context, static_cast<std::uint32_t>(kernel.device),
                         machine_code_metrics(), sure_machine_code_metrics);
        if (!session_->shortage().empty())
            setup_.problem(fmt::format("of machine code only the first {} metrics were counted: {}",
                                       sure_machine_code_metrics, session_->shortage()));
        return true;
    } catch (const CountersError& error) {
        fail(error.what());
        return false;
    }
}

void InstructionCounter::end(bool was_launched) {
    if (!was_launched) return;
    ++launched_;
    ++launches_[launching_];
}

void InstructionCounter::fetch() {
    if (!session_) return;
    try {
        deliver();
        if (const std::size_t lost = session_->close(); lost > 0)
            setup_.problem(fmt::format("CUPTI lost {} counts of instructions", lost));
    } catch (const CountersError& error) {
        setup_.problem(error.what());
    }
    session_.reset();
    has_ended_ = true;
}

// CUPTI counts the function that is launched first, which another tool may have replaced.
void InstructionCounter::deliver() {
    for (const CountedInstruction& counted : session_->fetch()) {
        if (counted.function != setup_.kernel) {
            setup_.problem(fmt::format("CUPTI counted instructions of {} in place of {}",
                                       counted.function, setup_.kernel));
            return;
        }
        setup_.deliver({.function = counted.function,
                        .offset = counted.offset,
                        .source = cubins_.line_of(setup_.api(), counted.cubin_crc, counted.offset),
                        .counts = counted.counts});
    }
}

void InstructionCounter::abandon(const std::string& why) {
    session_->abandon();
    fail(why);
    launches_.clear();
}

void InstructionCounter::fail(const std::string& sentence) {
    session_.reset();
    has_ended_ = true;
    setup_.problem(sentence);
}

}  // namespace coalprof
