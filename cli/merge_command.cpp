// `coalprof merge RESULT...`: the shards of a sweep as one result.
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "core/sweep/merge.h"

namespace coalprof {
namespace {

struct MergeCommand {
    std::vector<std::string> files;
    bool allows_missing = false;
    OutputOptions output;
};

ExitCode run_merge(const MergeCommand& command) {
    const std::vector<OutputTarget> targets = command.output.targets();
    const ShardMerge merge(command.files, command.allows_missing);
    Outputs outputs = command.output.open(targets);
    return merge.write(outputs) == Status::complete ? ExitCode::done : ExitCode::partial;
}

}  // namespace

void add_merge_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<MergeCommand>(
        app, invocation, "merge", "The shards of a sweep (--shard) as one result", run_merge);
    sub->add_option("RESULT", command->files, "What each shard saved, in any order")->required();
    sub->add_flag("--partial", command->allows_missing,
                  "Merge what is there; missing shards are named, and the exit code is 4");
    command->output.add_to(*sub);
    sub->footer(
        "Examples:\n"
        "  coalprof merge part1.json part2.json -o all.json\n"
        "  coalprof merge part*.jsonl --format csv\n");
}

}  // namespace coalprof
