// GPUs as data. The model predicts for a Machine: the rules of a compute capability and the sizes
// and rates of a board. The model reads these records; it never asks for a number of a compute
// capability itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/rules.h"
#include "core/result/document.h"

namespace coalprof {

struct Board {
    std::string_view key;   // "h200": as in --machine
    std::string_view name;  // "NVIDIA H200"
    ComputeCapability cc;
    std::uint32_t multiprocessors = 0;
    double peak_bytes_per_second = 0;           // peak of device memory
    std::optional<std::uint64_t> l2_bytes;      // 0: none; nullopt: not known
    std::optional<std::uint64_t> memory_bytes;  // the most that the board was sold with
    std::string_view source;
    std::optional<std::uint32_t> boost_clock_mhz = {};  // of the multiprocessors, if known
    std::string_view aliases = {};                      // further names in use, separated by commas
};

struct MeasuredRates;  // rates.h

struct Machine {
    std::string name;  // "h200", "sm_90", the name of the device present, or a machine file's path
    const Rules* rules = nullptr;
    std::optional<Board> board;  // none for a bare compute capability
    // From a machine file: the rates that `coalprof calibrate` found.
    std::shared_ptr<const MeasuredRates> measured = {};
};

// A present device's sizes, used where they differ from the listed board.
struct DeviceSizes {
    std::uint32_t multiprocessors = 0;
    double peak_bytes_per_second = 0;
    std::uint64_t l2_bytes = 0;
    std::optional<std::uint64_t> memory_bytes = {};
};

// By compute capability.
std::span<const Board> all_boards();
// By its key, its name or another one, in any case and with or without dashes and spaces.
bool is_called(const Board& board, std::string_view text);
// "9.0", "sm_90", "sm90", "90", or the name of a board; followed by ":bank8" or ":bank4" for shared
// memory in banks of 8 bytes, which 3.x can set, or 4. Throws UsageError with the closest name.
Machine find_machine(std::string_view text);
// The rules of a device present; the newest known below it where its own are not listed. `sizes`
// become its board, so that queried sizes are never looked up.
Machine machine_of_device(ComputeCapability cc, std::string_view device_name,
                          const std::optional<DeviceSizes>& sizes = {});

// The list that `coalprof machines` prints: each compute capability with its rules, followed by its
// boards; the tables of docs/machines.md and docs/memories.md are made of it.

ListDocument list_of_machines();

}  // namespace coalprof
