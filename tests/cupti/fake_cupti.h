// A scripted CUPTI and driver: they keep the rules of the real ones (which call may follow which),
// note every breach, and fail where they are told to.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cupti/cupti_api.h"
#include "cupti/driver.h"

namespace coalprof {

// One at a time: the function tables hold plain functions.
class FakeCupti {
 public:
    FakeCupti();
    ~FakeCupti();
    FakeCupti(const FakeCupti&) = delete;
    FakeCupti& operator=(const FakeCupti&) = delete;

    CuptiApi api() const;
    CounterDriver driver() const;

    // The script.
    std::string chip = "GH100";
    std::size_t passes = 1;         // of hardware metrics; instrumented ones always take one
    std::size_t passes_really = 0;  // how many Stop asks for; 0: as announced
    bool returns_ranges_backwards = false;
    std::size_t dropped = 0;  // ranges that are lost, from the last on
    std::set<std::string> unknown_metrics;
    std::function<double(const std::string& metric, const std::string& range)> value =
        [](const std::string&, const std::string&) { return 1.0; };
    CUpti_Profiler_DeviceSupported_Params support{};
    int init_result = 0;
    int devices = 1;
    bool has_context = true;
    // The n-th call (from 1) of `call` answers `code`.
    void fail(const std::string& call, int nth, int code) { faults_[{call, nth}] = code; }

    // Instructions of each function, one launch of which counts these, by offset and metric. 0 is a
    // count too: the metric applies.
    using Instructions = std::map<std::uint32_t, std::map<std::string, std::uint64_t>>;
    std::map<std::string, Instructions> machine_code;
    std::size_t most_sass_metrics = 100;                  // that SetConfig takes
    std::map<std::uint64_t, std::uint32_t> source_lines;  // of "k.cu", by offset
    // While its metrics are switched on the first function that is launched is counted, and no
    // other.
    void launched(const std::string& function);

    // What happened.
    std::vector<std::string> sass_calls;  // in order
    std::string sass_function;            // that is counted
    int calls(const std::string& call) const;
    const std::map<std::string, int>& all_calls() const { return calls_; }
    bool is_range_open() const { return !open_range_.empty(); }
    std::vector<std::size_t> session_sizes;             // ranges that each session made room for
    std::vector<std::vector<std::string>> metric_sets;  // in the order of the sessions
    // Calls out of order, and what was left open; look when the collector has gone.
    std::vector<std::string> breaches() const;

    // What the functions of the table do: notes the call, answers its fault or 0.
    int note(const std::string& call);
    void breach(const std::string& what) { breaches_.push_back(what); }

    struct HostState {
        std::vector<std::string> metrics;
    };
    std::set<HostState*> hosts;
    std::size_t passes_of(const std::vector<std::string>& metrics) const;

    // The state of SASS metrics.
    std::vector<std::uint64_t> sass_metrics;  // configured, by their ids
    bool was_sass_configured = false;
    bool is_sass_configured = false;
    bool is_sass_enabled = false;
    std::uint64_t sass_launches = 0;

    // The state of the one range profiler.
    bool is_initialized = false;
    bool is_enabled = false;
    bool is_configured = false;
    bool is_started = false;
    std::size_t passes_needed = 0;
    std::size_t passes_done = 0;
    std::size_t room = 0;
    const std::uint8_t* counter_data = nullptr;
    std::string open_range_;
    std::vector<std::string> ranges_of_pass;
    std::vector<std::string> decoded;

 private:
    std::map<std::pair<std::string, int>, int> faults_;
    std::map<std::string, int> calls_;
    std::vector<std::string> breaches_;
};

}  // namespace coalprof
