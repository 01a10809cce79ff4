// `openmetrics`: a gauge for each counter, a sample for each point and side. Prometheus reads it
// directly, and so does the textfile collector of the node exporter, which knows gauges and no
// times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/text/describe.h"
#include "core/text/units.h"
#include "core/write/columns.h"
#include "core/write/formats.h"
#include "core/write/origin.h"
#include "core/write/safe_text.h"
#include "core/write/table_style.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

// Labels identify, values are measured: a label that changes from run to run begins a new series
// each time. These parameters in the results of `coalprof run` are measured.
struct MeasuredParameter {
    std::string_view key;
    std::string_view help;
};
constexpr std::array measured_parameters{
    MeasuredParameter{"launches", "How often the program launched the kernel."},
    MeasuredParameter{"counted", "Launches of the kernel that were counted."},
    MeasuredParameter{"total_seconds", "Time of all launches of the kernel."},
    MeasuredParameter{"time_percent", "Share of the program's time on the GPU."},
    MeasuredParameter{"excess", "Sectors beyond the fewest that the accesses need, by those."},
    MeasuredParameter{"cost_seconds", "Time that the excess costs the kernel."}};

bool has_measured_parameters(const ResultHead& head) { return head.sweep.pattern == "run"; }
bool is_measured(std::string_view key) {
    return key == "verdict" ||  // no number, and follows from the others
           std::ranges::find(measured_parameters, key, &MeasuredParameter::key) !=
               measured_parameters.end();
}

// Labels of samples besides the names of options and parameters.
constexpr std::array<std::string_view, 9> own_labels{
    "point", "source", "repetition", "result", "part", "swept", "gpu", "gpu_uuid", "program"};

std::string label_name(std::string_view key) {
    std::string name;
    for (const char c : key) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
        name += is_plain ? c : '_';
    }
    // Names with two leading underscores are Prometheus's own.
    const bool is_taken = name.empty() || (name[0] >= '0' && name[0] <= '9') ||
                          name.starts_with("__") ||
                          std::ranges::find(own_labels, std::string_view(name)) != own_labels.end();
    return is_taken ? "p_" + name : name;
}

std::string escaped_label(std::string_view text) {
    std::string label;
    for (const char c : text) {
        if (c == '\\' || c == '"') label += '\\';
        label += c;
    }
    return label;
}

std::string text_of_value(const Value& value) {
    TextBuffer text;
    put_value(text, value, "", [](TextBuffer& out, std::string_view own) { out.put(own); });
    return std::string(text.view());
}

// The program of `coalprof run`, as it would be typed; empty if there is none.
std::string program_in(const ResultHead& head) {
    if (head.sweep.pattern != "run") return {};
    const auto dashes = std::ranges::find(head.argv, "--");
    if (dashes == head.argv.end()) return {};
    return shell_words({dashes + 1, head.argv.end()});
}

class OpenMetricsWriter : public ResultSink {
 public:
    OpenMetricsWriter(ByteSink& out, const TableStyle& style) : out_(out), name_(style.name) {}
    void begin(const ResultHead& head) override { gathered_.begin(head); }
    void point(const Point& point) override { gathered_.point(point); }

    void end_of_part(const ResultTail& tail) override { gathered_.end_of_part(tail); }
    void finish(const ResultTail& tail) override {
        gathered_.finish(tail);
        for (const ResultColumns& result : gathered_.results()) make_labels(result);
        for (const CounterInfo& counter : all_counters()) put_family(counter);
        for (const MeasuredParameter& parameter : measured_parameters) put_parameter(parameter);
        put_facts();
        text_.put("# EOF\n");
        text_.hand_over(out_);
    }

 private:
    using LabelSet = std::map<std::string, std::string>;  // texts by name

    // Labels of a result's points, the same for all counters.
    struct Labels {
        std::string of_result;
        std::vector<std::string> of_points;
    };

    // Facts beyond points: the GPU, the program, and the result's name if there are several. Two
    // files of one folder have two names, whatever is in them.
    LabelSet labels_of(const ResultHead& head) const {
        LabelSet all{{"result", name_}, {"program", program_in(head)}};
        if (!head.sweep.file.empty()) all["file"] = head.sweep.file;
        for (const NamedValues* list : {&head.sweep.settings, &head.sweep.more})
            for (const auto& [key, value] : *list)
                if (key.find('.') == std::string::npos && !key.starts_with("shard"))
                    all[label_name(key)] = text_of_value(value);
        if (head.device) {
            all["gpu"] = head.device->name;
            all["gpu_uuid"] = head.device->uuid;
        }
        if (gathered_.results().size() > 1) all["part"] = fmt::to_string(labels_.size());
        return all;
    }

    void make_labels(const ResultColumns& result) {
        Labels& labels = labels_.emplace_back();
        LabelSet all = labels_of(result.head);
        std::vector<std::string> keys;
        for (const auto& parameter : result.parameters) keys.push_back(parameter.key);
        std::vector<OriginColumn> columns = origin_columns(result.head, keys);
        std::erase_if(columns, [&](const OriginColumn& column) {
            // The line's name includes enough of its file.
            return column.key == "name" || column.key == source_file_parameter ||
                   (has_measured_parameters(result.head) && is_measured(column.key));
        });
        for (const OriginColumn& column : columns) all[label_name(column.key)] = column.same;
        labels.of_result = joined(all);
        std::unordered_map<std::string_view, std::size_t> seen;  // finds samples that repeat
        labels.of_points.reserve(result.names.size());
        for (std::size_t i = 0; i < result.names.size(); ++i) {
            LabelSet own = all;
            for (const OriginColumn& column : columns) put_own(own, result, column, i);
            own["point"] = result.names[i];
            const std::string text = joined(own);
            const auto before = seen.find(text);
            // Two samples of the same labels would be one.
            if (before != seen.end()) own["repetition"] = fmt::to_string(++before->second);
            labels.of_points.push_back(before != seen.end() ? joined(own) : text);
            if (before == seen.end()) seen.emplace(labels.of_points.back(), 0);
        }
    }

    static void put_own(LabelSet& labels, const ResultColumns& result, const OriginColumn& column,
                        std::size_t point) {
        if (column.place >= result.parameters.size()) return;
        const Value& value = result.parameters[column.place].values[point];
        if (std::holds_alternative<std::monostate>(value)) return;
        labels[label_name(column.key)] = text_of_value(cell_of(result.head, column, &value));
        // One name for every pattern, for sorting in dashboards.
        if (column.key == parameter_of(result.head.sweep) && number_of(&value))
            labels["swept"] = text_of_value(value);
    }

    // A label without a text is left out.
    static std::string joined(const LabelSet& labels) {
        std::string text;
        for (const auto& [name, value] : labels)
            if (!value.empty())
                text +=
                    fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped_label(value));
        return text;
    }

    void put_head(std::string_view name, std::string_view help) {
        text_.put(fmt::format("# HELP coalprof_{0} {1}\n# TYPE coalprof_{0} gauge\n", name, help));
    }
    void put_sample(std::string_view name, std::string_view labels, std::string_view more,
                    double value) {
        text_.put("coalprof_", name, '{', labels);
        if (!labels.empty() && !more.empty()) text_.put(',');
        text_.put(more, "} ");
        text_.put_real(value);
        text_.put('\n');
        text_.hand_over_when_full(out_);
    }

    // The numbers of a result's points; the first one brings the head.
    template <typename NumberOf>
    void put_points(std::string_view name, std::string_view help, std::size_t result,
                    std::string_view more, NumberOf number_of_point) {
        const std::vector<std::string>& labels = labels_[result].of_points;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const double value = number_of_point(i);
            if (!std::isfinite(value)) continue;
            if (std::exchange(headed_, name) != name) put_head(name, help);
            put_sample(name, labels[i], more, value);
        }
    }
    void put_family(const CounterInfo& counter) {
        for (std::size_t r = 0; r < labels_.size(); ++r)
            for (const bool is_measured : {false, true})
                if (const auto* column = gathered_.results()[r].find(counter.counter, is_measured))
                    put_points(counter.key, counter.meaning, r,
                               is_measured ? R"(source="measured")" : R"(source="predicted")",
                               [&](std::size_t i) { return column->values[i]; });
    }
    void put_parameter(const MeasuredParameter& parameter) {
        for (std::size_t r = 0; r < labels_.size(); ++r) {
            const ResultColumns& result = gathered_.results()[r];
            const auto* column = result.find(parameter.key);
            if (column && has_measured_parameters(result.head))
                put_points(parameter.key, parameter.help, r, {}, [&](std::size_t i) {
                    return number_of(&column->values[i]).value_or(HUGE_VAL);
                });
        }
    }

    // One sample for each result; `value` returns none for results without it.
    template <typename Value>
    void put_fact(std::string_view name, std::string_view help, const Value& value) {
        put_head(name, help);
        for (std::size_t r = 0; r < labels_.size(); ++r)
            if (const std::optional<double> number = value(gathered_.results()[r]))
                put_sample(name, labels_[r].of_result, {}, *number);
    }
    void put_facts() {
        put_fact("failed_points", "Points of the result that failed.", [](const auto& result) {
            return std::optional(static_cast<double>(result.failed.size()));
        });
        put_fact("points", "Points of the result.", [](const auto& result) {
            return std::optional(static_cast<double>(result.names.size()));
        });
        put_fact("complete",
                 "1: every point was answered; 0: the result is partial or interrupted.",
                 [](const auto& result) {
                     return std::optional(result.tail.status == Status::complete ? 1.0 : 0.0);
                 });
        put_fact("time_seconds", "When the run began, in seconds since 1970.",
                 [](const auto& result) -> std::optional<double> {
                     const auto seconds = seconds_since_1970(result.head.time_utc);
                     if (!seconds) return std::nullopt;
                     return static_cast<double>(*seconds);
                 });
        put_head("version_info", "Which coalprof made the result.");
        for (std::size_t r = 0; r < labels_.size(); ++r) {
            const std::string& version = gathered_.results()[r].head.coalprof_version;
            put_sample("version_info", labels_[r].of_result,
                       fmt::format("version=\"{}\"", escaped_label(version)), 1);
        }
    }

    ByteSink& out_;
    std::string name_;
    TextBuffer text_;
    ResultGatherer gathered_;
    std::vector<Labels> labels_;
    std::string_view headed_;  // the gauge that has its head
};

}  // namespace

std::unique_ptr<ResultSink> make_openmetrics(ByteSink& out, const TableStyle& style) {
    return std::make_unique<OpenMetricsWriter>(out, style);
}

}  // namespace coalprof
