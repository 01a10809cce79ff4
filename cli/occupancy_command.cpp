// `coalprof occupancy`: how many blocks run at once on a multiprocessor, and what stops the next
// one.
#include <fmt/format.h>

#include "cli/invocation.h"
#include "cli/list_output.h"
#include "cli/parse.h"
#include "cli/sweep_options.h"
#include "core/count/occupancy.h"
#include "core/machine/machine_file.h"
#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

struct OccupancyCommand {
    std::string block = "256", registers = "32", shared = "0", carveout, machine = "h200";
    OutputOptions output;
};

std::uint32_t checked(const char* option, std::uint64_t value, std::uint64_t least,
                      std::uint64_t most) {
    if (value < least || value > most)
        throw UsageError(fmt::format("{} {}: it is from {} to {}", option, value, least, most));
    return static_cast<std::uint32_t>(value);
}

void add_row(const Machine& machine, const KernelNeeds& needs, ListDocument& list,
             std::string& text) {
    const Occupancy of = occupancy(*machine.rules, needs);
    ListRow& row = list.rows.emplace_back(
        ListRow{{{"machine", machine.name},
                 {"compute_capability", text_of(machine.rules->cc)},
                 {"block", needs.block},
                 {"registers_per_thread", needs.registers_per_thread},
                 {"shared_bytes", needs.shared_bytes},
                 {"active_blocks", of.active_blocks},
                 {"active_warps", of.active_warps},
                 {"most_warps", of.most_warps},
                 {"occupancy", of.ratio()},
                 {"impossible", of.impossible.empty() ? Value{} : Value{of.impossible}}}});
    std::vector<Value> limiters;
    for (const Limiter limiter : of.limiters) limiters.emplace_back(name_of(limiter));
    row.lists = {{"limiters", std::move(limiters)}};
    text += fmt::format(
        "{:<14} {:>5} {:>4} {:>8} {:>6} {:>7} {:>7.1f} %  {}\n", machine.name, needs.block,
        needs.registers_per_thread, needs.shared_bytes, of.active_blocks,
        fmt::format("{}/{}", of.active_warps, of.most_warps), 100 * of.ratio(),
        of.impossible.empty() ? joined(of.limiters, [](Limiter of) { return name_of(of); })
                              : "not one block fits");
    if (!of.impossible.empty()) text += folded_text(of.impossible, {.columns = 80, .indent = 4});
}

ExitCode run_occupancy(const OccupancyCommand& command, const Invocation& invocation) {
    KernelNeeds needs;
    if (!command.carveout.empty())
        needs.shared_percent = read_carveout(command.carveout).shared_percent;
    std::vector<Machine> machines;
    for (const std::string& name : split_list(command.machine, "--machine"))
        add_machine(machines, machine_named(name));
    const auto blocks = parse_range(command.block, "--block").values();
    const auto registers = parse_range(command.registers, "--registers").values();
    const auto shared = parse_sized_range(command.shared, "--shared").values;
    const std::uint64_t rows =
        saturating_product({machines.size(), blocks.size(), registers.size(), shared.size()});
    if (rows > most_range_points)
        throw UsageError(fmt::format("occupancy: {} rows, and a list has at most {}", grouped(rows),
                                     grouped(most_range_points)),
                         "give --block, --registers, --shared or --machine fewer values");
    Listing listing{.document = {.key = "occupancy", .rows = {}}};
    std::string text =
        fmt::format("{:<14} {:>5} {:>4} {:>8} {:>6} {:>7} {:>9}  {:<13}\n", "machine", "block",
                    "regs", "shared B", "blocks", "warps", "occupancy", "limited by");
    for (const Machine& machine : machines)
        for (const std::uint64_t block : blocks)
            for (const std::uint64_t count : registers)
                for (const std::uint64_t bytes : shared) {
                    needs.block = checked("--block", block, 1, 1024);
                    needs.registers_per_thread = checked("--registers", count, 0, 255);
                    needs.shared_bytes = bytes;
                    add_row(machine, needs, listing.document, text);
                }
    listing.text = [&text](const TableStyle&) { return text; };
    return print_listing([&] { return listing; }, command.output, invocation);
}

}  // namespace

void add_occupancy_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<OccupancyCommand>(
        app, invocation, "occupancy",
        "Blocks of a kernel that run at once, and what stops the next one", run_occupancy);
    const auto option = [&](const char* name, std::string& value, const char* help,
                            const char* what) { add_value(*sub, name, value, help, what); };
    option("--block", command->block, "Threads per block, also a list or a range (default 256)",
           "R");
    option("--registers", command->registers, "Registers per thread, likewise (default 32)", "R");
    option("--shared", command->shared, "Shared memory per block: 8KiB, 0..64KiB:8KiB (default 0)",
           "R");
    option(
        "--carveout", command->carveout,
        "L1/shared split: prefer-l1, prefer-equal, prefer-shared, 0..100 (default: the driver's)",
        "C");
    option("--machine,-m", command->machine, "One or several machines: h200,a100 (default h200)",
           "M,...");
    command->output.add_to(*sub);
    OutputOptions::offer_only(*sub, names_of_list_formats());
    sub->footer(
        "Examples:\n"
        "  coalprof occupancy --block 64..1024*2 --registers 64\n"
        "  coalprof occupancy --shared 0,48KiB..96KiB:16KiB --machine h200,a100\n");
}

}  // namespace coalprof
