// The machine code that a program loads, as far as it has one function: the source line of each
// instruction stands in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "core/program/site.h"
#include "cupti/cupti_api.h"

namespace coalprof {

class Cubins {
 public:
    explicit Cubins(std::string function) : function_(std::move(function)) {}

    // While the driver loads it, which may hold locks of its own: waits for nothing. The bytes are
    // copied.
    void loaded(const void* cubin, std::size_t bytes);
    // None: it was built without line information, or has not been seen. `crc`: what CUPTI tells of
    // the code by, its lower half.
    SourceLine line_of(const CuptiApi& api, std::uint32_t crc, std::uint64_t offset);

 private:
    const std::string* code_with(const CuptiApi& api, std::uint32_t crc);

    std::string function_;  // mangled
    std::mutex mutex_;
    struct Code {
        std::string bytes;
        std::optional<std::uint32_t> crc = std::nullopt;  // as soon as it was asked for
    };
    std::list<Code> kept_;  // stay where they are
};

}  // namespace coalprof
