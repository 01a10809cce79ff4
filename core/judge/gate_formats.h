// A report of a gate in the formats that people and services read: text, JSON, JUnit XML, GitHub
// annotations and SARIF. Names are escaped, so that no format takes them for markup.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/judge/gate.h"

namespace coalprof {

std::string gate_text(const GateReport& report);
// {"schema": "coalprof/1", "check": {...}}
std::string gate_json(const GateReport& report);
std::string gate_junit(const GateReport& report);
std::string gate_github(const GateReport& report);
std::string gate_sarif(const GateReport& report);

struct GateFormat {
    std::string_view name;
    std::string (*write)(const GateReport& report);
};
inline constexpr std::array gate_formats{
    GateFormat{"text", gate_text}, GateFormat{"json", gate_json}, GateFormat{"junit", gate_junit},
    GateFormat{"github", gate_github}, GateFormat{"sarif", gate_sarif}};
// Throws UsageError.
const GateFormat& find_gate_format(std::string_view name);

}  // namespace coalprof
