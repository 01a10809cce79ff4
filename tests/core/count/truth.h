// Reads the measured warps of tests/data/: a warps file and its counters. Deliberately simple, and
// not the program's own reader, so that a mistake there does not hide one here.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"
#include "test_data.h"

namespace coalprof::truth {

inline const Rules& rules_of(std::string_view name) { return *find_machine(name).rules; }

struct MeasuredWarp {
    std::string name;
    WarpAccess access;
    std::map<std::string, std::uint64_t> counters;
};

inline std::ifstream open_data(const std::string& file) {
    std::ifstream stream(test_data_folder() + "/" + file);
    EXPECT_TRUE(stream.good()) << file;
    return stream;
}

inline WarpAccess access_from(const std::string& op) {
    WarpAccess access;
    const bool shared = op.starts_with("shared_");
    access.space = shared ? Space::shared : Space::global;
    const std::string kind = shared ? op.substr(7) : op;
    access.kind = kind == "load"     ? AccessKind::load
                  : kind == "store"  ? AccessKind::store
                  : kind == "atomic" ? AccessKind::atomic
                                     : AccessKind::reduce;
    return access;
}

inline std::vector<MeasuredWarp> read_warps(const std::string& stem) {
    std::vector<MeasuredWarp> warps;
    std::map<std::string, std::size_t> index;
    auto lines = open_data(stem + ".txt");
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string name, op, address;
        std::uint32_t width = 0;
        fields >> name >> op >> width;
        MeasuredWarp warp{name, access_from(op), {}};
        warp.access.width_bytes = width;
        for (std::uint32_t lane = 0; lane < warp_lanes && fields >> address; ++lane) {
            if (address == "-") continue;
            warp.access.active_lanes |= 1u << lane;
            warp.access.addresses[lane] = std::stoull(address, nullptr, 0);
        }
        index[name] = warps.size();
        warps.push_back(warp);
    }
    auto rows = open_data(stem + ".csv");
    std::string row;
    std::getline(rows, row);  // header
    while (std::getline(rows, row)) {
        std::istringstream fields(row);
        std::string name, counter, value;
        std::getline(fields, name, ',');
        std::getline(fields, counter, ',');
        std::getline(fields, value, ',');
        warps.at(index.at(name)).counters[counter] = std::stoull(value);
    }
    return warps;
}

}  // namespace coalprof::truth
