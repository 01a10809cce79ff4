#include "cli/result_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/text/name_list.h"

namespace coalprof {

ResultHead head_of(const std::vector<std::string>& argv) {
    ResultHead head;
    head.coalprof_version = COALPROF_VERSION;
    head.argv = argv;
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    head.time_utc = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    for (const char* name : {"CUDA_INJECTION64_PATH", "LD_PRELOAD"})
        if (const char* value = std::getenv(name); value && *value)
            head.environment.emplace_back(name, std::string(value));
    return head;
}

namespace {

// "rules measured", or by machine: "rules documented, not measured (c870, c1060); rules measured
// (h200)".
std::string evidence_of(const std::vector<Machine>& machines) {
    std::vector<std::pair<std::string, std::string>> groups;  // evidence, names
    for (const Machine& machine : machines) {
        const std::string evidence(text_of(machine.rules->evidence));
        const auto known = std::find_if(groups.begin(), groups.end(),
                                        [&](const auto& group) { return group.first == evidence; });
        if (known == groups.end())
            groups.emplace_back(evidence, machine.name);
        else
            known->second += ", " + machine.name;
    }
    if (groups.size() == 1) return groups.front().first;
    return joined(
        groups, [](const auto& group) { return fmt::format("{} ({})", group.first, group.second); },
        "; ");
}

}  // namespace

MachineFacts describe_machines(const std::vector<Machine>& machines) {
    MachineFacts facts;
    facts.name = joined(machines, &Machine::name, ",");
    facts.evidence = evidence_of(machines);
    if (machines.size() != 1) return facts;
    const Machine& machine = machines.front();
    facts.compute_capability = text_of(machine.rules->cc);
    facts.family = machine.rules->family;
    if (machine.board) facts.board = machine.board->name;
    return facts;
}

}  // namespace coalprof
