#include "cli/invocation.h"
#include "cli/output_options.h"

namespace coalprof {

void describe_command_line(CLI::App& app, Invocation& invocation) {
    app.set_version_flag("--version,-V", "coalprof " COALPROF_VERSION,
                         "Print the version and exit; with -v how it was built");
    app.set_help_flag("--help,-h", "Print this help and exit");
    app.require_subcommand(0, 1);
    app.footer(
        "Examples:\n"
        "  coalprof offset --range 0..32          what misaligned starts cost\n"
        "  coalprof stride --dlcm=cg              what gaps cost, loads past L1\n"
        "  coalprof explain offset --at 11        one warp, drawn\n"
        "  coalprof formula 'i*3' 'i'             index expressions of your own\n"
        "  coalprof aos --json | jq .points       for programs\n"
        "\n"
        "Exit codes:\n"
        "  0  done                      4  partial: some points failed\n"
        "  1  a finding, a regression   5  an output could not be written\n"
        "  2  usage, formula or file    70 a bug in coalprof\n"
        "  3  no GPU or no counters     130, 143  interrupted\n");
    add_formula_command(app, invocation);
    add_layout_command(app, invocation);
    add_warps_command(app, invocation);
    add_kernel_command(app, invocation);
    add_explain_command(app, invocation);
    add_report_command(app, invocation);
    add_compare_command(app, invocation);
    add_check_command(app, invocation);
    add_run_command(app, invocation);
    add_merge_command(app, invocation);
    add_verify_command(app, invocation);
    add_calibrate_command(app, invocation);
    add_occupancy_command(app, invocation);
    add_list_commands(app, invocation);
    add_device_commands(app, invocation);
    add_shell_commands(app, invocation);
    add_pattern_commands(app, invocation);
    for (CLI::App* command : app.get_subcommands({}))
        for (const char* option : {"--output", "--addresses"})
            if (CLI::Option* file = command->get_option_no_throw(option))
                file->transform(expanded_name);
}

}  // namespace coalprof
