// `openmetrics`: a gauge for each counter, a sample for each point and side. Prometheus reads it as
// it is, and so does the textfile collector of the node exporter, which knows gauges and no times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "core/text/describe.h"
#include "core/write/result_columns.h"
#include "core/write/source_text.h"
#include "core/write/text_buffer.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

std::string label_name(std::string_view key) {
    std::string name;
    for (const char c : key) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
        name += is_plain ? c : '_';
    }
    // Those that begin with two are Prometheus's own.
    const bool begins_badly =
        name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__");
    return begins_badly ? "p_" + name : name;
}

std::string label_text(std::string_view text) {
    std::string escaped;
    for (const char c : printable(text)) {
        if (c == '\\' || c == '"') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

std::string text_of_value(const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    return text_of(value);
}

class OpenMetricsWriter : public ResultSink {
 public:
    explicit OpenMetricsWriter(ByteSink& out) : out_(out) {}
    void begin(const ResultHead& head) override { gathered_.begin(head); }
    void point(const Point& point) override { gathered_.point(point); }

    void finish(const ResultTail& tail) override {
        gathered_.finish(tail);
        for (const ResultColumns& result : gathered_.results()) make_labels(result);
        for (const CounterInfo& counter : all_counters()) put_family(counter);
        put_failures();
        put_infos();
        text_.put("# EOF\n");
        text_.hand_over(out_);
    }

 private:
    // Those of a result's points, which stay the same from counter to counter.
    struct Labels {
        std::string of_result;
        std::vector<std::string> of_points;
    };

    void make_labels(const ResultColumns& result) {
        Labels& labels = labels_.emplace_back();
        const SweepFacts& sweep = result.head.sweep;
        std::map<std::string, std::string> all;
        const auto set = [&](const std::string& name, const std::string& text) {
            if (!text.empty()) all[name] = label_text(text);
        };
        set("pattern", sweep.pattern);
        set("formula", sweep.formula);
        set("op", sweep.op);
        set("type", sweep.type);
        set("machine", result.head.machine.name);
        if (result.head.device) set("gpu", result.head.device->name);
        if (gathered_.results().size() > 1) all["result"] = fmt::to_string(labels_.size());
        labels.of_result = joined(all);
        std::unordered_map<std::string_view, std::size_t> seen;
        for (std::size_t i = 0; i < result.names.size(); ++i) {
            auto own = all;
            own["point"] = label_text(result.names[i]);
            for (const auto& parameter : result.parameters) {
                if (parameter.key == source_file_parameter) continue;  // the line's name is enough
                own[label_name(parameter.key)] = label_text(text_of_value(parameter.values[i]));
            }
            // Two samples of the same labels would be one.
            if (const std::size_t times = seen[result.names[i]]++)
                own["repetition"] = fmt::to_string(times);
            labels.of_points.push_back(joined(own));
        }
    }
    static std::string joined(const std::map<std::string, std::string>& labels) {
        std::string text;
        for (const auto& [name, value] : labels)
            text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, value);
        return text;
    }

    void put_head(std::string_view name, std::string_view help) {
        text_.put(fmt::format("# HELP coalprof_{0} {1}\n# TYPE coalprof_{0} gauge\n", name, help));
    }
    void put_sample(std::string_view name, std::string_view labels, std::string_view more,
                    double value) {
        text_.put("coalprof_");
        text_.put(name);
        text_.put('{');
        text_.put(labels);
        if (!labels.empty() && !more.empty()) text_.put(',');
        text_.put(more);
        text_.put("} ");
        constexpr double exact = 9007199254740992;  // 2^53
        if (value >= 0 && value <= exact && std::floor(value) == value)
            text_.put_integer(static_cast<std::uint64_t>(value));
        else
            text_.put_real(value);
        text_.put('\n');
        text_.hand_over_when_full(out_);
    }

    void put_family(const CounterInfo& counter) {
        bool has_head = false;
        const auto& results = gathered_.results();
        for (std::size_t r = 0; r < results.size(); ++r)
            for (const bool is_measured : {false, true}) {
                const ResultColumn* column = results[r].find(counter.counter, is_measured);
                if (!column) continue;
                const std::string_view source =
                    is_measured ? R"(source="measured")" : R"(source="predicted")";
                for (std::size_t i = 0; i < column->values.size(); ++i) {
                    if (!std::isfinite(column->values[i])) continue;
                    if (!has_head) put_head(counter.key, counter.meaning);
                    has_head = true;
                    put_sample(counter.key, labels_[r].of_points[i], source, column->values[i]);
                }
            }
    }

    void put_failures() {
        put_head("failed_points", "Points of the result that failed.");
        for (std::size_t r = 0; r < labels_.size(); ++r)
            put_sample("failed_points", labels_[r].of_result, {},
                       static_cast<double>(gathered_.results()[r].failed.size()));
    }
    void put_infos() {
        put_head("points", "Points of the result.");
        for (std::size_t r = 0; r < labels_.size(); ++r)
            put_sample("points", labels_[r].of_result, {},
                       static_cast<double>(gathered_.results()[r].names.size()));
        put_head("complete",
                 "1: every point was answered; 0: the result is partial or interrupted.");
        for (std::size_t r = 0; r < labels_.size(); ++r)
            put_sample("complete", labels_[r].of_result, {},
                       gathered_.results()[r].tail.status == Status::complete ? 1 : 0);
        put_head("version_info", "Which coalprof made the result, and when.");
        for (std::size_t r = 0; r < labels_.size(); ++r) {
            const ResultHead& head = gathered_.results()[r].head;
            put_sample("version_info", labels_[r].of_result,
                       fmt::format("version=\"{}\",time=\"{}\"", label_text(head.coalprof_version),
                                   label_text(head.time_utc)),
                       1);
        }
    }

    ByteSink& out_;
    TextBuffer text_;
    ResultGatherer gathered_;
    std::vector<Labels> labels_;
};

}  // namespace

std::unique_ptr<ResultSink> make_openmetrics(ByteSink& out, const TableStyle&) {
    return std::make_unique<OpenMetricsWriter>(out);
}

}  // namespace coalprof
