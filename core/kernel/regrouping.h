// Accesses of shared memory in the widths that machine code has for them: those of one warp
// between two barriers that lie side by side become one where ptxas made one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/program/code.h"
#include "core/program/execute.h"

namespace coalprof {

class RegroupingSink : public AccessSink {
 public:
    // `to` gets all accesses; it must live as long.
    RegroupingSink(const Code& code, AccessSink& to)
        : code_(code), to_(to), kept_(code.sites.size()), attempt_(code.sites.size()) {}
    void begin(const BlockBox& box) override { to_.begin(box); }
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth& growth,
              const BlockBox& box) override;
    void resume(std::uint32_t warp) override;
    void keep() override;
    void drop() override;
    // The executions of the PTX's instruction.
    std::uint64_t executions(std::uint32_t site) const { return kept_[site]; }

 private:
    struct Part {
        std::uint32_t site = 0;
        WarpAccess access;
        Growth growth{};
        std::size_t number = 0;  // in the order of execution
        bool is_used = false;
        std::uint64_t address() const;  // of its first lane
    };
    void pass_on_all();
    // Passes wide accesses on that parts of one site make, or of several.
    void widen(std::uint32_t bytes, bool is_one_site);
    std::vector<std::size_t> parts_of(std::size_t first, std::uint32_t bytes,
                                      bool is_one_site) const;
    // What machine code loads once more, in narrow accesses beside the wide ones.
    void pass_on_repeated();

    const Code& code_;
    AccessSink& to_;
    std::vector<std::uint64_t> kept_, attempt_;
    BlockBox box_{};
    std::vector<Part> parts_;  // since the last barrier
    struct Made {
        std::vector<Part> wide;  // the first part of each
        std::uint64_t narrow = 0;
    };
    std::map<std::uint32_t, Made> made_;  // of them, by site
};

}  // namespace coalprof
