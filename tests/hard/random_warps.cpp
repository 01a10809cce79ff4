// The warp instructions of a kernel that scripts/random-kernels wrote, as `coalprof kernel`
// executes them: random_warps FILE.ptx KERNEL GX GY GZ BX BY BZ OUTPUT.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "core/kernel/arguments.h"
#include "core/program/module.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// As random_kernels.h has it.
constexpr std::uint64_t content(std::uint64_t n) {
    n = (n + 1) * 0x9E3779B97F4A7C15u;
    n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9u;
    return n ^ n >> 27;
}

class Contents : public ArrayContents {
 public:
    std::uint64_t number_at(std::uint64_t at, std::uint32_t bytes) const override {
        const std::uint64_t word = content(at / 8) >> at % 8 * 8;
        return bytes >= 8 ? word : word & ((std::uint64_t{1} << 8 * bytes) - 1);
    }
};

std::string name_of_access(const WarpAccess& access) {
    constexpr std::array names{"load", "store", "atomic", "reduce"};
    const std::string name = names.at(static_cast<std::size_t>(access.kind));
    if (access.space == Space::global) return name;
    return "shared_" + (name == "reduce" ? "atomic" : name);
}

// Writes each, of boxes of blocks those of every block.
class EachAccess : public AccessSink {
 public:
    EachAccess(const Code& code, std::FILE* file) : code_(code), file_(file) {}
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth& growth,
              const BlockBox& box) override {
        if (space == Space::local) return;
        for (std::uint32_t z = 0; z < box.count[2]; ++z)
            for (std::uint32_t y = 0; y < box.count[1]; ++y)
                for (std::uint32_t x = 0; x < box.count[0]; ++x)
                    take_one(site, access,
                             static_cast<std::uint64_t>(growth[0]) * x +
                                 static_cast<std::uint64_t>(growth[1]) * y +
                                 static_cast<std::uint64_t>(growth[2]) * z);
    }
    void keep() override {
        std::fwrite(attempt_.data(), 1, attempt_.size(), file_);
        attempt_.clear();
    }
    void drop() override { attempt_.clear(); }

 private:
    static constexpr std::uint32_t records = 4, in_shared = 4;
    void take_one(std::uint32_t site, const WarpAccess& access, std::uint64_t by) {
        std::uint32_t array = in_shared;
        std::uint64_t base = 0;
        if (access.space == Space::global) {
            const std::uint64_t first = access.addresses[first_lane_of(access)] + by - first_array;
            array = static_cast<std::uint32_t>(first / array_distance);
            base = first_array + array * array_distance;
            if (array == records) return;
        }
        const PtxSite& place = code_.sites[site];
        // CUDA's functions for atomics lie in its headers.
        const auto line = (place.inlined_at.line != 0 ? place.inlined_at : place.source).line;
        attempt_ += std::to_string(line) + ' ' + name_of_access(access) + ' ' +
                    std::to_string(access.width_bytes) + ' ' + std::to_string(array);
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            attempt_ += (access.active_lanes >> lane & 1) == 0
                            ? " -"
                            : ' ' + std::to_string(access.addresses[lane] + by - base);
        attempt_ += '\n';
    }
    static std::uint32_t first_lane_of(const WarpAccess& access) {
        return static_cast<std::uint32_t>(std::countr_zero(access.active_lanes));
    }
    const Code& code_;
    std::FILE* file_;
    std::string attempt_;
};

void run(char** words) {
    std::ostringstream text;
    text << std::ifstream(words[0]).rdbuf();
    const std::string ptx = text.str();
    const PtxModule module = read_module(ptx, words[0]);
    const PtxFunction* kernel = module.find(words[1]);
    if (!kernel) throw UsageError("no such kernel");
    Code code = make_code(module, *kernel);
    BoundLaunch bound = bind_arguments(code, {"5=4000"});
    LaunchMemory memory;
    for (LaunchArray array : bound.memory.arrays()) {
        array.contents = array.base == first_array ? std::make_shared<Contents>() : nullptr;
        memory.add(std::move(array));
    }
    for (std::size_t d = 0; d < 3; ++d) {
        bound.launch.grid[d] = static_cast<std::uint32_t>(std::stoul(words[2 + d]));
        bound.launch.block[d] = static_cast<std::uint32_t>(std::stoul(words[5 + d]));
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(words[8], "w"),
                                                               std::fclose);
    if (!file) throw UsageError("cannot write");
    EachAccess sink(code, file.get());
    const Execution execution =
        execute(code, bound.launch, memory, {.steps_before_sampling = ~std::uint64_t{0}}, 1,
                [&]() -> AccessSink& { return sink; });
    for (const KernelFault& fault : execution.notes.faults)
        std::cout << words[1] << ": a fault of kind " << static_cast<int>(fault.kind) << " in '"
                  << code.statements[code.instructions[fault.instruction].statement].text << "'\n";
}

}  // namespace
}  // namespace coalprof

int main(int count, char** words) {
    try {
        if (count != 10) throw coalprof::UsageError("FILE.ptx KERNEL GX GY GZ BX BY BZ OUTPUT");
        coalprof::run(words + 1);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
