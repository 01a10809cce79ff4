// The launches that `coalprof kernel` was asked for: every grid with every block and every value of
// every argument.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/json/value.h"
#include "core/kernel/kernel_points.h"
#include "core/machine/machine.h"
#include "core/pattern/dimensions.h"

namespace coalprof {

struct ArgumentAxis {
    std::vector<std::string> names;   // or positions, as typed; all take the same value
    std::vector<std::string> values;  // the values as typed
};
// "n=1000", "n=1000,2000", "n=1000..1024:8", "M,N,K=1024,2048"; arrays are one value. Throws
// UsageError.
ArgumentAxis read_argument(const std::string& typed);

struct KernelAxes {
    std::vector<GridSize> grids;
    std::vector<Dimensions> blocks;
    std::vector<ArgumentAxis> arguments;
    std::uint64_t shared_bytes = 0;  // dynamic, of a block
};

struct KernelChoice {
    Dimensions grid;
    Dimensions block;
    std::uint64_t shared_bytes = 0;
    std::vector<std::string> arguments;  // each NAME=VALUE
    NamedValues swept = {};              // its values of the varying parameters
};
// The last argument varies fastest. Throws UsageError for more than a sweep may have.
std::vector<KernelChoice> choices_of(const KernelAxes& axes);
// The key that varies first; "line" where there is one launch.
std::string swept_key(const KernelAxes& axes);

bool reads_one_of(const Code& code, std::initializer_list<SlotKind> kinds);
// The only one that the kernel was compiled for; of 0 threads: there is none such.
Dimensions required_block(const Code& code);
// Throws UsageError where the machine refuses the launch.
void require_possible(const Code& code, const KernelChoice& choice, const Machine& machine);
// Throws UsageError where arguments do not fit.
KernelResult predict_choice(Code& code, const KernelChoice& choice, const Machine& machine,
                            const PredictionOptions& options);

// The name of the line that costs most of the launch's time. Empty: none has a cost.
std::string costliest_line(const KernelResult& result);
// "a.cu:6 load a": that line, or where none has a cost the one that moves most sectors too many.
// Empty: none does.
std::string worst_line(const KernelResult& result);

// One point for several launches: the kernel's, named and distinguished by the values that vary.
KernelResult as_one_point(KernelResult result, const NamedValues& swept);

}  // namespace coalprof
