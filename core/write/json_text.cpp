#include "core/write/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "core/pattern/launch_options.h"
#include "core/text/utf8.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

// Printable ASCII without a quote or a backslash, as most names are, needs no escape.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

// nlohmann/json escapes C0 but neither DEL nor C1 nor the marks that reorder text, which a terminal
// obeys as well.
std::string with_controls_escaped(std::string json) {
    const auto is_ascii = [](char c) { return c >= '\0' && c < '\x7f'; };
    if (std::ranges::all_of(json, is_ascii)) return json;
    std::string escaped;
    for (std::string_view rest = json; !rest.empty();) {
        const Utf8Char first = first_utf8_char(rest);
        if (is_ascii(rest.front()) || !is_control(first.code_point)) {
            escaped += rest.substr(0, first.bytes);
        } else if (const auto code = static_cast<std::uint32_t>(first.code_point); code <= 0xffff) {
            escaped += fmt::format("\\u{:04x}", code);
        } else {  // two surrogates
            const std::uint32_t above = code - 0x10000;
            escaped +=
                fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
        }
        rest.remove_prefix(first.bytes);
    }
    return escaped;
}

}  // namespace

Json tree_of(const Value& value) {
    struct Visitor {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(const std::string& text) const { return text; }
        Json operator()(std::int64_t number) const { return number; }
        Json operator()(std::uint64_t number) const { return number; }
        Json operator()(double number) const { return number; }  // NaN and infinity become null
        Json operator()(bool flag) const { return flag; }
    };
    return std::visit(Visitor{}, value);
}

std::string text_of(const Json& json, int indent) {
    return with_controls_escaped(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

Json tree_of(const NamedValues& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = tree_of(value);
    return object;
}

std::string json_of_text(std::string_view text) { return text_of(Json(text)); }

void put_json_text(TextBuffer& out, std::string_view text) {
    if (!is_plain(text)) return out.put(json_of_text(text));
    out.put('"', text, '"');
}

void put_json_value(TextBuffer& out, const Value& value) {
    put_value(out, value, "null", put_json_text);
}

std::string json_of_values(const NamedValues& values) { return text_of(tree_of(values)); }

Json meta_of(const ResultHead& head) {
    Json meta = Json::object();
    meta["coalprof"] = head.coalprof_version;
    meta["argv"] = head.argv;
    meta["time"] = head.time_utc;
    if (!head.environment.empty()) meta["environment"] = tree_of(head.environment);
    meta["machine"] = tree_of(values_of(head.machine));
    meta["device"] = head.device ? tree_of(values_of(*head.device)) : Json(nullptr);
    meta["backend"] = head.backend;
    meta["passes"] = head.passes;
    if (!head.columns.empty()) {
        // push_back() to null crashes when out of memory (nlohmann/json 3.11.2).
        Json& counters = meta["counters"] = Json::array();
        for (const Counter counter : head.columns) counters.push_back(key_of(counter));
    }
    return meta;
}

std::string json_of_meta(const ResultHead& head) { return text_of(meta_of(head)); }

std::string json_of_short_sweep(const ResultHead& head) {
    // Files do not keep the list of a value, so that its name decides.
    NamedValues settings;
    for (const NamedValues* list : {&head.sweep.settings, &head.sweep.more})
        std::copy_if(list->begin(), list->end(), std::back_inserter(settings),
                     [](const auto& value) { return is_memory_setting(value.first); });
    SweepFacts sweep = head.sweep;
    sweep.formula.clear();
    sweep.file.clear();
    sweep.settings = std::move(settings);
    sweep.more.clear();
    return json_of_values(values_of(sweep));
}

Json tree_of(const std::vector<Warning>& warnings) {
    Json list = Json::array();
    for (const Warning& warning : warnings)
        list.push_back({{"code", warning.code},
                        {"point", warning.point.empty() ? Json(nullptr) : Json(warning.point)},
                        {"text", warning.text}});
    return list;
}

std::string json_of_verdicts(const std::vector<Verdict>& verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) {
        Json best = Json::array();
        for (const NamedValues& settings : verdict.best) best.push_back(tree_of(settings));
        list.push_back({{"scope", tree_of(verdict.scope)},
                        {"combinations", verdict.combinations},
                        {"values", verdict.values},
                        {"best", best},
                        {"gain", verdict.gain},
                        {"text", verdict.text}});
    }
    return text_of(list);
}

Json tree_of(const LineFinding& finding) {
    Json one{
        {"point", finding.point},
        {"cause", finding.cause},
        {"text", finding.text},
        {"fix", finding.fix},
        {"like", finding.like.empty() ? Json(nullptr) : Json(finding.like)},
        {"saves_seconds", finding.saves_seconds ? Json(*finding.saves_seconds) : Json(nullptr)}};
    if (finding.saves_interval_seconds)
        one["saves_interval_seconds"] = *finding.saves_interval_seconds;
    if (!finding.others.empty()) one["other_points"] = finding.others;
    if (!finding.warp.empty()) one["warp"] = finding.warp;
    if (!finding.kernel.empty()) one["kernel"] = finding.kernel;
    if (finding.kernel_seconds) one["kernel_seconds"] = *finding.kernel_seconds;
    if (finding.launches) one["launches"] = *finding.launches;
    return one;
}

std::string json_of_findings(const std::vector<LineFinding>& findings) {
    Json list = Json::array();
    for (const LineFinding& finding : findings) list.push_back(tree_of(finding));
    return text_of(list);
}

void put_tail_members(TextBuffer& out, const ResultTail& tail, std::string_view between) {
    out.put(R"("status":)");
    put_json_text(out, name_of(tail.status));
    const auto put_next = [&](std::string_view name, const std::string& json) {
        out.put(',', between, name, json);
    };
    if (!tail.verdicts.empty()) put_next(R"("verdicts":)", json_of_verdicts(tail.verdicts));
    if (!tail.findings.empty()) put_next(R"("findings":)", json_of_findings(tail.findings));
    put_next(R"("warnings":)", text_of(tree_of(tail.warnings)));
}

}  // namespace coalprof
