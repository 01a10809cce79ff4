#include "cli/manual_sections.h"

#include <array>

namespace coalprof {
namespace {

constexpr std::array variables{
    ManualEntry{"COALPROF_OPTION",
                "Sets the long option of that name, in capitals and with _ for its hyphens: "
                "COALPROF_MACHINE=v100. Files say less, the command line more."},
    ManualEntry{"COALPROF_CONFIG", "The settings file that is read in place of the user's."},
    ManualEntry{"XDG_CONFIG_HOME, HOME", "Where the user's settings file lies."},
    ManualEntry{"COALPROF_CUPTI", "The CUPTI library, or its folder, that counters are read by."},
    ManualEntry{"CUDA_HOME, CUDA_PATH",
                "A CUDA toolkit with CUPTI and NVRTC, as an absolute path."},
    ManualEntry{"CONDA_PREFIX, VIRTUAL_ENV", "An environment that is searched for CUPTI."},
    ManualEntry{"TMPDIR",
                "Where temporary files of run lie, and of outputs whose folder takes none."},
    ManualEntry{"NO_COLOR, TERM", "No colour where the first is set or the second is dumb."},
    ManualEntry{"COLUMNS", "The width of tables, in characters."},
    ManualEntry{"GITHUB_STEP_SUMMARY", "A file to which --format github appends its summary."},
};

constexpr std::array files{
    ManualEntry{"~/.config/coalprof/config.toml", "The user's settings."},
    ManualEntry{".coalprof.toml", "Settings of the folder that the command is started in."},
    ManualEntry{"NAME.partial.jsonl",
                "The journal beside the output file NAME.json: points of an unfinished sweep, "
                "from which --resume goes on."},
};

// docs/exit-codes.md says more of each.
constexpr std::array exit_codes{
    ManualEntry{"0", "Done."},
    ManualEntry{"1",
                "A finding: a broken budget, something that is worse, a counter that differs."},
    ManualEntry{"2", "The command line, a formula, a file or a range is wrong."},
    ManualEntry{"3", "A GPU, its counters or memory were needed and cannot be had."},
    ManualEntry{"4", "Partial: some points failed or were not there, the rest was delivered."},
    ManualEntry{"5", "An output could not be written."},
    ManualEntry{"70", "A bug in coalprof."},
    ManualEntry{"128 + N",
                "Signal N ended the command. coalprof run exits with the code of its program."},
};

constexpr std::array sections{ManualSection{"ENVIRONMENT", variables},
                              ManualSection{"FILES", files},
                              ManualSection{"EXIT STATUS", exit_codes}};

}  // namespace

std::span<const ManualSection> manual_sections() { return sections; }

}  // namespace coalprof
