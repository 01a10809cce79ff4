// `json`, one document, and `jsonl`, one point a line.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/write/formats.h"
#include "core/write/json_text.h"
#include "core/write/origin.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

// What both write of a point.
class PointJson {
 public:
    PointJson();
    // Appends the members of the point's object and its closing brace, after the caller's opening
    // one.
    void put_members_and_close(TextBuffer& out, const Point& point);

 private:
    void put_readings(TextBuffer& out, const Readings& readings);
    void put_estimates(TextBuffer& out, const Estimates& estimates) const;
    void put_instructions(TextBuffer& out, const std::vector<InstructionResult>& instructions);
    // The reasons for `nulls_`. `measured`: null without a measurement.
    void put_unavailable(TextBuffer& out, const Readings& predicted, const Readings* measured);
    void put_reason(TextBuffer& out, std::string_view reason);

    std::array<std::string, counter_count> keys_;  // `"load_sectors":`
    std::vector<Counter> nulls_;                   // the current point's nulls, each with a reason
    std::vector<std::pair<std::string, std::string>> parameter_keys_;  // key, `"key":`
    std::vector<std::pair<std::string_view, std::string>> reasons_;    // reason, escaped
};

// The reason why a reading has no number; empty if it has one or is not there.
std::string_view reason_of(const Reading& reading) {
    if (const auto* none = std::get_if<Unavailable>(&reading))
        return none->reason.empty() ? "the reason is not known" : none->reason;
    if (const auto* real = std::get_if<double>(&reading); real && !std::isfinite(*real))
        return "the value is not a finite number";
    return {};
}

// Ends a list of items that each end in a comma, or an empty one.
void close_list(TextBuffer& out, char end = '}') {
    if (out.last() == ',')
        out.replace_last(end);
    else
        out.put(end);
}

// Members of an open object, each with its prepared key.
void put_members(TextBuffer& out,
                 std::initializer_list<std::pair<std::string_view, Value>> members) {
    for (const auto& [before, value] : members) {
        out.put(before);
        put_json_value(out, value);
    }
    out.put('}');
}

void put_timing(TextBuffer& out, const Timing& timing) {
    put_members(out, {{R"(,"timing":{"repeats":)", timing.repeats},
                      {R"(,"median_seconds":)", timing.median_seconds},
                      {R"(,"low_seconds":)", timing.low_seconds},
                      {R"(,"high_seconds":)", timing.high_seconds},
                      {R"(,"min_seconds":)", timing.min_seconds},
                      {R"(,"max_seconds":)", timing.max_seconds}});
}

void put_launch(TextBuffer& out, const LaunchSettings& launch) {
    const auto if_known = [](const std::optional<std::uint64_t>& number) {
        return number ? Value{*number} : Value{};
    };
    put_members(out, {{R"(,"launch":{"architecture":)", launch.architecture},
                      {R"(,"grid_blocks":)", launch.grid_blocks},
                      {R"(,"block_threads":)", launch.block_threads},
                      {R"(,"registers":)", launch.registers},
                      {R"(,"local_bytes":)", launch.local_bytes},
                      {R"(,"shared_bytes":)", launch.shared_bytes},
                      {R"(,"blocks_per_multiprocessor":)", launch.blocks_per_multiprocessor},
                      {R"(,"occupancy":)", launch.occupancy},
                      {R"(,"carveout_percent":)", if_known(launch.carveout_percent)},
                      {R"(,"l2_fetch_bytes":)", if_known(launch.l2_fetch_bytes)}});
}

// One document, schema coalprof/1. It is written as the points come, one a line, so the status and
// the warnings, which are known last, are at its end.
class JsonWriter : public ResultSink {
 public:
    explicit JsonWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override {
        text_.put(R"({"schema":)");
        put_json_text(text_, result_schema);
        text_.put(",\n\"meta\":", json_of_meta(head),
                  ",\n\"sweep\":", json_of_values(values_of(head.sweep)), ",\n\"points\":[");
    }

    void point(const Point& point) override {
        text_.put(is_first_ ? "\n{" : ",\n{");
        is_first_ = false;
        point_json_.put_members_and_close(text_, point);
        text_.hand_over_when_full(out_);
    }

    void finish(const ResultTail& tail) override {
        text_.put("\n],\n");
        put_tail_members(text_, tail, "\n");
        text_.put("}\n");
        text_.hand_over(out_);
    }

 private:
    ByteSink& out_;
    TextBuffer text_;
    PointJson point_json_;
    bool is_first_ = true;
};

// The common beginning of all lines. `sweep` is JSON.
std::string line_start(const ResultHead& head, const std::string& sweep) {
    std::string start = R"({"schema":)" + json_of_text(result_schema);
    const auto put = [&](std::string_view name, const std::string& text) {
        if (!text.empty()) start += ',' + json_of_text(name) + ':' + json_of_text(text);
    };
    put("machine", head.machine.name);
    put("evidence", head.machine.evidence);
    if (head.device) put("device", head.device->name);
    return start + R"(,"sweep":)" + sweep + ',';
}

// A reader who follows gets each line as its point is finished. The first line has the whole head
// besides, and a last line, of no point, says how the run ended.
//
// Data frames take the columns that some line has: the text of a formula is in the first line as
// `sweep.formula` of every file, also where several are swept and the head knows none. Then it is
// that point's, and each point has its own as a parameter.
class JsonlWriter : public ResultSink {
 public:
    explicit JsonlWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override {
        start_ = line_start(head, json_of_short_sweep(head));
        head_ = head;
    }

    void point(const Point& point) override {
        if (head_) name_formula_of(point, *head_);
        put_start();
        point_json_.put_members_and_close(text_, point);
        text_.put('\n');
        if (out_.is_live())
            text_.hand_over(out_);
        else
            text_.hand_over_when_full(out_);
    }

    void finish(const ResultTail& tail) override {
        put_start();
        put_tail_members(text_, tail);
        text_.put("}\n");
        text_.hand_over(out_);
    }

 private:
    static void name_formula_of(const Point& point, ResultHead& head) {
        const Value* name = find_value(point.parameters, "formula");
        if (!name || !head.sweep.formula.empty()) return;
        const Value* text = text_of_named_formula(head, *name);
        head.sweep.formula = text_of(text ? *text : *name);
    }
    void put_start() {
        if (!head_) return text_.put(start_);
        text_.put(line_start(*head_, json_of_values(values_of(head_->sweep))), R"("meta":)",
                  json_of_meta(*head_), ',');
        head_.reset();
    }

    ByteSink& out_;
    TextBuffer text_;
    PointJson point_json_;
    std::string start_;               // what begins every line but the first
    std::optional<ResultHead> head_;  // kept until the first line is written
};

}  // namespace

PointJson::PointJson() {
    for (const CounterInfo& counter : all_counters())
        keys_[static_cast<std::size_t>(counter.counter)] = json_of_text(counter.key) + ':';
}

void PointJson::put_members_and_close(TextBuffer& out, const Point& point) {
    out.put(R"("name":)");
    put_json_text(out, point.name);
    out.put(R"(,"parameters":{)");
    for (std::size_t i = 0; i < point.parameters.size(); ++i) {
        const auto& [key, value] = point.parameters[i];
        if (i == parameter_keys_.size()) parameter_keys_.emplace_back();
        auto& kept = parameter_keys_[i];
        if (kept.second.empty() || kept.first != key) kept = {key, json_of_text(key) + ':'};
        out.put(kept.second);
        put_json_value(out, value);
        out.put(',');
    }
    close_list(out);
    out.put(R"(,"predicted":{)");
    nulls_.clear();
    put_readings(out, point.predicted);
    if (point.measured) {
        out.put(R"(,"measured":{)");
        put_readings(out, *point.measured);
    } else {
        out.put(R"(,"measured":null)");
    }
    if (point.estimates) put_estimates(out, *point.estimates);
    out.put(R"(,"unavailable":{)");
    if (!nulls_.empty())
        put_unavailable(out, point.predicted, point.measured ? &*point.measured : nullptr);
    close_list(out);
    if (!point.instructions.empty()) put_instructions(out, point.instructions);
    if (point.timing) put_timing(out, *point.timing);
    if (point.launch) put_launch(out, *point.launch);
    if (!point.failure.empty()) {
        out.put(R"(,"failure":)");
        put_json_text(out, point.failure);
    }
    out.put('}');
}

void PointJson::put_readings(TextBuffer& out, const Readings& readings) {
    readings.each([&](Counter counter, const Reading& reading) {
        out.put(keys_[static_cast<std::size_t>(counter)]);
        const auto* real = std::get_if<double>(&reading);
        if (const auto* integer = std::get_if<std::uint64_t>(&reading)) {
            out.put(*integer);
        } else if (real && std::isfinite(*real)) {
            out.put_real(*real);
        } else {
            out.put("null");
            nulls_.push_back(counter);
        }
        out.put(',');
    });
    close_list(out);
}

void PointJson::put_estimates(TextBuffer& out, const Estimates& estimates) const {
    out.put(R"(,"estimates":{)");
    for (const Interval& interval : estimates.intervals) {
        out.put(keys_[static_cast<std::size_t>(interval.counter)], '[');
        put_json_value(out, Value{interval.low});
        out.put(',');
        put_json_value(out, Value{interval.high});
        out.put("],");
    }
    out.put(R"("limits":[)");
    for (const Limit limit : estimates.limits) {
        out.put('"', name_of(limit), "\",");
    }
    close_list(out, ']');
    out.put('}');
}

void PointJson::put_instructions(TextBuffer& out,
                                 const std::vector<InstructionResult>& instructions) {
    out.put(R"(,"instructions":)");
    const auto put_text = [&](std::string_view before, std::string_view text) {
        out.put(before);
        put_json_text(out, text);
    };
    char before = '[';
    for (const InstructionResult& one : instructions) {
        out.put(before);
        before = ',';
        put_text(R"({"array":)", one.array);
        put_text(R"(,"op":)", one.op);
        put_text(R"(,"type":)", one.type);
        if (!one.index.empty()) put_text(R"(,"index":)", one.index);
        if (!one.access.empty()) put_text(R"(,"access":)", one.access);
        out.put(R"(,"predicted":{)");
        nulls_.clear();
        put_readings(out, one.predicted);
        if (!nulls_.empty()) {
            out.put(R"(,"unavailable":{)");
            put_unavailable(out, one.predicted, nullptr);
            close_list(out);
        }
        out.put('}');
    }
    out.put(']');
}

void PointJson::put_unavailable(TextBuffer& out, const Readings& predicted_readings,
                                const Readings* measured_readings) {
    std::sort(nulls_.begin(), nulls_.end());
    nulls_.erase(std::unique(nulls_.begin(), nulls_.end()), nulls_.end());
    for (const Counter counter : nulls_) {
        const std::string_view predicted = reason_of(predicted_readings[counter]);
        const std::string_view measured =
            measured_readings ? reason_of((*measured_readings)[counter]) : std::string_view{};
        out.put(keys_[static_cast<std::size_t>(counter)], '"');
        if (predicted.empty() || measured.empty() || predicted == measured) {
            put_reason(out, predicted.empty() ? measured : predicted);
        } else {
            out.put("prediction: ");
            put_reason(out, predicted);
            out.put("; measurement: ");
            put_reason(out, measured);
        }
        out.put("\",");
    }
}

void PointJson::put_reason(TextBuffer& out, std::string_view reason) {
    // Reasons live as long as the program, so the address identifies them; there are a handful.
    for (const auto& [kept, escaped] : reasons_)
        if (kept.data() == reason.data() && kept.size() == reason.size()) return out.put(escaped);
    const std::string quoted = json_of_text(reason);
    std::string escaped = quoted.substr(1, quoted.size() - 2);
    out.put(escaped);
    constexpr std::size_t most_reasons = 256;  // searching more would be as slow as escaping
    if (reasons_.size() < most_reasons) reasons_.emplace_back(reason, std::move(escaped));
}

std::unique_ptr<ResultSink> make_json(ByteSink& out, const TableStyle&) {
    return std::make_unique<JsonWriter>(out);
}

std::unique_ptr<ResultSink> make_jsonl(ByteSink& out, const TableStyle&) {
    return std::make_unique<JsonlWriter>(out);
}

}  // namespace coalprof
