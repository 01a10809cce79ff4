// A plan made ready to launch: its kernel, its arrays, its settings.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/device/device.h"
#include "kernels/kernel.h"
#include "kernels/memory.h"
#include "kernels/program_shape.h"
#include "kernels/source/arguments.h"
#include "kernels/workbench.h"

namespace coalprof {

// The kernels to compile for a plan: the measured one, and those that fill its arrays.
std::vector<CompileRequest> compile_requests(const Plan& plan, const BlockLimits& limits);

class PlanLaunch : public PreparedLaunch {
 public:
    // Compiles, allocates, fills. Throws PointError if the plan cannot be launched on this device
    // (too little memory, a block too large), Error if no kernel can be compiled.
    PlanLaunch(Workbench& bench, const Plan& plan);

    const Placement& placement() const override { return placement_; }
    LaunchSettings settings() const override;
    void launch() override;
    void launch_without_constants() override;
    Timing time(std::uint64_t repeats, CacheState cache) override;
    void verify() override;

 private:
    Operand operand_of(std::size_t array) const;
    void place_arrays();
    void make_textures();
    void fill_arrays();
    void fill_parameters();
    void apply_settings();
    void enqueue();

    bool is_global_array(std::size_t array) const;
    bool is_added() const;
    void launch_near_check();
    // The place for the first wrong element, empty.
    Index cleared_findings();
    void run_checks(std::string_view name, AccessKind kind);
    void report_first_wrong(std::size_t array, bool touched);
    WrongResult read_fault();

    Workbench& bench_;
    Plan plan_;
    ProgramShape shape_;
    CompileRequest request_;
    ArenaLease arena_;
    Placement placement_;
    std::vector<std::unique_ptr<Texture>> textures_;  // of the arrays that are fetched through one
    Kernel* kernel_ = nullptr;
    LaunchSize size_;
    KernelParameters parameters_;
    LaunchArgument launch_argument_;  // the last parameter
    bool counts_ = false;             // it has atomics that add
    bool has_run_ = false;
};

}  // namespace coalprof
