// Formats of JSON: `json`, one document, and `jsonl`, one point a line; and what both write of a
// point.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/result/result.h"
#include "core/write/text_buffer.h"

namespace coalprof {

class PointJson {
 public:
    PointJson();
    // Appends the members of the point's object and its closing brace, after the caller's opening
    // one.
    void put_members_and_close(TextBuffer& out, const Point& point);

 private:
    void put_readings(TextBuffer& out, const Readings& readings);
    void put_parameters(TextBuffer& out, const NamedValues& parameters);
    void put_estimates(TextBuffer& out, const Estimates& estimates) const;
    void put_instructions(TextBuffer& out, const std::vector<InstructionResult>& instructions);
    // The reasons for `nulls_`. `measured`: null without a measurement.
    void put_unavailable(TextBuffer& out, const Readings& predicted, const Readings* measured);
    void put_reason(TextBuffer& out, std::string_view reason);

    std::array<std::string, counter_count> keys_;  // `"load_sectors":`
    std::vector<Counter> nulls_;                   // of the current point, each with a reason
    std::vector<std::pair<std::string, std::string>> parameter_keys_;  // key, `"key":`
    std::vector<std::pair<std::string_view, std::string>> reasons_;    // reason, escaped
};

}  // namespace coalprof
