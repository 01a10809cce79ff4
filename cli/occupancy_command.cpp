// `coalprof occupancy`: how many blocks of a kernel run at once on a multiprocessor, what stops the
// next one, and the best block sizes.
#include <fmt/format.h>

#include "cli/invocation.h"
#include "cli/list_output.h"
#include "cli/parse.h"
#include "cli/ptx_source.h"
#include "cli/sweep_options.h"
#include "core/count/occupancy.h"
#include "core/machine/machine_file.h"
#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/range.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

struct OccupancyCommand {
    std::string block = "256";
    std::string registers = "32";
    std::string shared = "0";
    std::string carveout;
    std::string machine = "h200";
    std::string cubin;
    OutputOptions output;
};

struct Row {
    Machine machine;
    std::string kernel;  // of a cubin; empty: the numbers were typed
    KernelNeeds needs;
    Occupancy occupancy;
    BestBlocks best;
};

// Neighbouring sizes are listed in one, without steps, to keep it short.
std::string best_of(const BestBlocks& best) {
    std::string text;
    for (std::size_t i = 0; i < best.blocks.size() && i < 6; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : " ", best.blocks[i]);
    return best.blocks.size() > 6 ? text + " ..." : text;
}

struct Kernel {
    std::string name;  // of a cubin; empty: the numbers were typed
    KernelNeeds needs;
};

std::uint32_t read_registers(std::uint64_t registers) {
    if (registers > 255)
        throw UsageError(
            fmt::format("--registers {}: a thread has at most 255 registers", registers));
    return static_cast<std::uint32_t>(registers);
}

// The options' values, before they are combined.
struct Combined {
    std::vector<Machine> machines;
    std::vector<std::uint64_t> blocks;
    std::vector<std::uint64_t> registers;  // none: those of the cubin
    std::vector<CubinKernel> cubin;
    std::vector<std::uint64_t> shared;
};

Combined combined_of(const OccupancyCommand& command) {
    Combined combined;
    for (const std::string& name : split_list(command.machine, "--machine"))
        add_machine(combined.machines, machine_named(name));
    combined.blocks = parse_range(command.block, "--block").values();
    combined.shared = parse_sized_range(command.shared, "--shared").values;
    if (command.cubin.empty())
        combined.registers = parse_range(command.registers, "--registers").values();
    else
        combined.cubin = read_cubin(command.cubin);
    const std::uint64_t rows = saturating_product(
        {combined.machines.size(), combined.blocks.size(),
         combined.registers.size() + combined.cubin.size(), combined.shared.size()});
    if (rows > most_range_points)
        throw UsageError(fmt::format("occupancy: {} rows, and a list has at most {}", grouped(rows),
                                     grouped(most_range_points)),
                         "give --block, --registers, --shared or --machine fewer values");
    return combined;
}

// The kernels' needs besides threads: as typed, or those of the cubin.
std::vector<Kernel> kernels_of(const OccupancyCommand& command, const Combined& combined) {
    KernelNeeds needs;
    if (!command.carveout.empty())
        needs.shared_percent = read_carveout(command.carveout).shared_percent;
    std::vector<Kernel> kernels;
    const auto add = [&](const std::string& name, std::uint32_t registers,
                         std::uint64_t static_bytes) {
        for (const std::uint64_t dynamic_bytes : combined.shared) {
            Kernel& kernel = kernels.emplace_back(Kernel{name, needs});
            kernel.needs.registers_per_thread = registers;
            kernel.needs.shared_bytes = static_bytes + dynamic_bytes;
        }
    };
    for (const std::uint64_t count : combined.registers) add("", read_registers(count), 0);
    for (const CubinKernel& kernel : combined.cubin)
        add(kernel.name, kernel.registers, kernel.shared_bytes);
    return kernels;
}

// Each kernel with each of the block sizes that were typed, the sizes varying slowest.
std::vector<Kernel> with_blocks(const std::vector<std::uint64_t>& blocks,
                                const std::vector<Kernel>& kernels) {
    std::vector<Kernel> all;
    for (const std::uint64_t block : blocks) {
        if (block == 0 || block > 1024)
            throw UsageError(fmt::format("--block {}: a block has 1 to 1024 threads", block));
        for (Kernel kernel : kernels) {
            kernel.needs.block = static_cast<std::uint32_t>(block);
            all.push_back(std::move(kernel));
        }
    }
    return all;
}

std::string text_of(const std::vector<Row>& rows) {
    std::string text =
        fmt::format("{:<14} {:>5} {:>4} {:>8} {:>6} {:>7} {:>9}  {:<13}\n", "machine", "block",
                    "regs", "shared B", "blocks", "warps", "occupancy", "limited by");
    for (const Row& row : rows) {
        const Occupancy& occupancy = row.occupancy;
        if (!row.kernel.empty()) text += printable(row.kernel) + ":\n";
        text += fmt::format(
            "{:<14} {:>5} {:>4} {:>8} {:>6} {:>7} {:>7.1f} %  {}\n", row.machine.name,
            row.needs.block, row.needs.registers_per_thread, row.needs.shared_bytes,
            occupancy.active_blocks,
            fmt::format("{}/{}", occupancy.active_warps, occupancy.most_warps),
            100 * occupancy.ratio(),
            occupancy.impossible.empty()
                ? joined(occupancy.limiters, [](Limiter limiter) { return name_of(limiter); })
                : "not one block fits");
        if (!occupancy.impossible.empty())
            text += folded_text(occupancy.impossible, {.columns = 80, .indent = 4});
        if (!row.best.blocks.empty() && row.best.ratio > occupancy.ratio())
            text += fmt::format("{:4}{:.1f} % with blocks of {}\n", "", 100 * row.best.ratio,
                                best_of(row.best));
    }
    return text;
}

ListRow values_of(const Row& row) {
    const Occupancy& occupancy = row.occupancy;
    ListRow values{{
        {"machine", row.machine.name},
        {"compute_capability", text_of(row.machine.rules->cc)},
        {"block", row.needs.block},
        {"registers_per_thread", row.needs.registers_per_thread},
        {"shared_bytes", row.needs.shared_bytes},
        {"active_blocks", occupancy.active_blocks},
        {"active_warps", occupancy.active_warps},
        {"most_warps", occupancy.most_warps},
        {"occupancy", occupancy.ratio()},
        {"impossible", occupancy.impossible.empty() ? Value{} : Value{occupancy.impossible}},
        {"best_occupancy", row.best.ratio},
    }};
    if (!row.kernel.empty()) values.values.emplace_back("kernel", row.kernel);
    std::vector<Value> limiters;
    for (const Limiter limiter : occupancy.limiters) limiters.emplace_back(name_of(limiter));
    std::vector<Value> best_blocks;
    for (const auto block : row.best.blocks) best_blocks.emplace_back(block);
    values.lists = {{"limiters", std::move(limiters)}, {"best_blocks", std::move(best_blocks)}};
    return values;
}

ExitCode run_occupancy(const OccupancyCommand& command, const Invocation& invocation) {
    const Combined combined = combined_of(command);
    const std::vector<Kernel> kernels = with_blocks(combined.blocks, kernels_of(command, combined));
    std::vector<Row> rows;
    for (const Machine& machine : combined.machines) {
        for (const auto& [kernel, needs] : kernels)
            rows.push_back({machine, kernel, needs, occupancy(*machine.rules, needs),
                            best_blocks(*machine.rules, needs)});
    }
    Listing listing{.document = {.key = "occupancy", .rows = {}},
                    .text = [&rows](const TableStyle&) { return text_of(rows); }};
    for (const Row& row : rows) listing.document.rows.push_back(values_of(row));
    return print_listing([&] { return listing; }, command.output, invocation);
}

}  // namespace

void add_occupancy_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<OccupancyCommand>(
        app, invocation, "occupancy",
        "Blocks of a kernel that run at once, and what stops the next one", run_occupancy);
    const auto option = [&](const char* name, std::string& value, const char* help,
                            const char* what) { add_value(*sub, name, value, help, what); };
    option("--block", command->block, "Threads per block: a value, list or range (default 256)",
           "R");
    option("--registers", command->registers, "Registers per thread, likewise (default 32)", "R");
    option("--shared", command->shared,
           "Shared memory per block: 8KiB, 0..64KiB:8KiB, 4096 (default 0)", "R");
    option(
        "--carveout", command->carveout,
        "L1/shared split: prefer-l1, prefer-equal, prefer-shared, 0..100 (default: the driver's)",
        "C");
    option("--machine,-m", command->machine, "One or several machines: h200,a100-80 (default h200)",
           "M,...");
    option("--cubin", command->cubin,
           "Read registers and static shared memory of the kernels in FILE (needs cuobjdump)",
           "FILE");
    command->output.add_to(*sub);
    OutputOptions::offer_only(*sub, names_of_list_formats());
    sub->footer(
        "Examples:\n"
        "  coalprof occupancy --block 64..1024*2 --registers 64\n"
        "  coalprof occupancy --shared 0,48KiB..96KiB:16KiB --machine h200,a100\n"
        "  coalprof occupancy --cubin kernels.cubin\n");
}

}  // namespace coalprof
