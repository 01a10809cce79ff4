// Points of kernels and of their lines: their names and the parameters beside their counters, the
// same for a program that ran and for a kernel that was executed on the CPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "core/lines/line_report.h"
#include "core/result/result.h"

namespace coalprof {

// "faults.cu:19"; empty without line information.
std::string place_text(const SourceLine& place);
// "64x64"; without final dimensions of 1.
std::string dimensions_text(const std::array<std::uint32_t, 3>& all);

// Names the points of lines; those of one name are numbered.
class LinePoints {
 public:
    // `of_kernel`: the parameters of its kernel. Without readings.
    Point point_of(const LineSummary& line, const NamedValues& of_kernel);

 private:
    std::map<std::string, int> names_;
};

}  // namespace coalprof
