// The host reference: the content of an array after a program has run, computed on the CPU from the
// program alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pattern/program.h"
#include "core/runtime/parallel.h"
#include "kernels/program_shape.h"
#include "kernels/source/arguments.h"

namespace coalprof {

struct WrongElement {
    std::uint64_t element = 0;
    std::string expected;  // hexadecimal, in memory words
    std::string found;
};

// The values of one array, addressed by element.
struct ArrayState {
    std::size_t array = 0;
    Operand operand;
    // Sum of the increments that all launches so far asked each atomic to add.
    std::int64_t added = 0;
    bool has_run = false;  // it ran at least once
};

// The first wrong element of `found` (the whole array): stored values where the program stores, the
// start value everywhere else.
std::optional<WrongElement> find_wrong_element(const Program& program, const ProgramShape& shape,
                                               const ArrayState& state,
                                               std::span<const std::byte> found);

// The expected value of `element`; `hits` is how many instructions of one launch change it.
std::string expected_text(const Program& program, const ProgramShape& shape,
                          const ArrayState& state, std::uint64_t element, std::uint64_t hits);
std::string hexadecimal(std::span<const std::byte> element);

// Copied arrays are compared with the host reference in other threads, while the GPU continues with
// the next points: comparing 4 MiB takes about 2 ms (H200's host, 2026-11-22), as long as timing a
// point.
class HostChecks {
 public:
    // With one thread each check runs when its result is needed.
    explicit HostChecks(unsigned threads = thread_count());
    ~HostChecks() { finish(); }
    HostChecks(const HostChecks&) = delete;
    HostChecks& operator=(const HostChecks&) = delete;

    // Room for the data of the next check. Up to four checks, and always one less than there are
    // threads, go on at a time; then this waits for the first of them.
    std::span<std::byte> room(std::uint64_t bytes);
    // Runs `compare` on the data in the last room(). The future passes its exceptions on.
    std::shared_future<void> start(std::function<void()> compare);
    // Waits for all of them.
    void finish() const;

 private:
    struct Slot {
        std::vector<std::byte> bytes;
        std::shared_future<void> check;

        void wait() const {
            if (check.valid()) check.wait();
        }
    };

    std::vector<Slot> slots_;
    std::size_t current_ = 0;
};

}  // namespace coalprof
