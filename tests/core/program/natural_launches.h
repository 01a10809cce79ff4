// Kernels as people write them, and launches of them that an H100 counted
// (tests/data/kernels/README.md).
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "core/kernel/kernel_points.h"
#include "core/program/sample_kernels.h"
#include "test_data.h"

namespace coalprof {

inline std::string text_of_file(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(test_data_folder() + "/kernels/" + name).rdbuf();
    return text.str();
}

inline std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

inline std::array<std::uint32_t, 3> dimensions(const std::string& text) {
    std::array<std::uint32_t, 3> all{1, 1, 1};
    const auto parts = split(text, 'x');
    for (std::size_t i = 0; i < parts.size(); ++i)
        all[i] = static_cast<std::uint32_t>(std::stoul(parts[i]));
    return all;
}

// Arrays of 32-bit numbers by a rule.
class Rule : public ArrayContents {
 public:
    explicit Rule(std::int64_t (*of)(std::int64_t)) : of_(of) {}
    std::uint64_t number_at(std::uint64_t at, std::uint32_t) const override {
        return static_cast<std::uint32_t>(of_(static_cast<std::int64_t>(at / 4)));
    }

 private:
    std::int64_t (*of_)(std::int64_t);
};

inline std::int64_t row_begin(std::int64_t row) { return 27 * row; }
inline std::int64_t neighbour(std::int64_t number) {
    const std::int64_t row = number / 27, j = number % 27;
    const std::int64_t column = row + (j / 9 - 1) * 10000 + (j / 3 % 3 - 1) * 100 + j % 3 - 1;
    return std::clamp<std::int64_t>(column, 0, (1 << 20) - 1);
}

struct NaturalLaunch {
    std::string kernel;
    std::array<std::uint32_t, 3> grid;
    std::array<std::uint32_t, 3> block;
    std::vector<std::string> arguments;
    std::array<std::uint64_t, 4> counted;  // load requests and sectors, store requests and sectors
    double seconds = 0, dram_read_bytes = 0, l1_hit_sectors = 0;
};

inline std::vector<NaturalLaunch> natural_launches() {
    std::vector<NaturalLaunch> all;
    std::istringstream lines(text_of_file("natural.csv"));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        const auto fields = split(line, ',');
        NaturalLaunch one{fields[0],
                          dimensions(fields[1]),
                          dimensions(fields[2]),
                          split(fields[3], ' '),
                          {},
                          0,
                          0,
                          0};
        for (std::size_t i = 0; i < 4; ++i) one.counted[i] = std::stoull(fields[4 + i]);
        one.seconds = std::stod(fields[8]);
        one.dram_read_bytes = std::stod(fields[9]);
        one.l1_hit_sectors = std::stod(fields[10]);
        all.push_back(one);
    }
    return all;
}

inline BoundLaunch bind(Code& code, const NaturalLaunch& launch) {
    std::vector<std::string> numbers;
    for (const std::string& one : launch.arguments)
        if (one.ends_with("ptr") || one.ends_with("col"))
            continue;
        else
            numbers.push_back(one);
    BoundLaunch bound = bind_arguments(code, numbers);
    if (numbers.size() != launch.arguments.size()) {  // csr_scalar
        LaunchMemory memory;
        for (LaunchArray array : bound.memory.arrays()) {
            if (array.name == "0") array.contents = std::make_shared<Rule>(row_begin);
            if (array.name == "1") array.contents = std::make_shared<Rule>(neighbour);
            memory.add(array);
        }
        bound.memory = std::move(memory);
    }
    bound.launch.grid = launch.grid;
    bound.launch.block = launch.block;
    return bound;
}

inline const PtxFunction* kernel_named(const PtxModule& module, const std::string& name) {
    for (const PtxFunction* one : module.kernels())
        if (one->name.find(std::to_string(name.size()) + name) != std::string::npos) return one;
    return nullptr;
}

inline PtxModule natural_module() {
    static const std::string text = text_of_file("natural.ptx");  // the module refers to it
    return read_module(text, "natural.ptx");
}

}  // namespace coalprof
