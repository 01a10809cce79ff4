#include "core/write/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coalprof {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json tree_of(const Value& value) {
    struct Visitor {
        Json operator()(std::monostate) const { return nullptr; }
        Json operator()(const std::string& text) const { return text; }
        Json operator()(std::int64_t number) const { return number; }
        Json operator()(double number) const { return number; }  // NaN and infinity become null
        Json operator()(bool flag) const { return flag; }
    };
    return std::visit(Visitor{}, value);
}

Json tree_of(const NamedValues& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = tree_of(value);
    return object;
}

// Printable ASCII without a quote or a backslash, which is nearly every name, needs no escape.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

}  // namespace

std::string json_of_text(std::string_view text) { return text_of(Json(text)); }

void put_json_text(TextBuffer& out, std::string_view text) {
    if (!is_plain(text)) return out.put(json_of_text(text));
    out.put('"');
    out.put(text);
    out.put('"');
}

void put_json_value(TextBuffer& out, const Value& value) {
    struct Visitor {
        TextBuffer& out;
        void operator()(std::monostate) const { out.put("null"); }
        void operator()(const std::string& text) const { put_json_text(out, text); }
        void operator()(std::int64_t number) const { out.put_integer(number); }
        void operator()(double number) const {
            if (std::isfinite(number))
                out.put_real(number);
            else
                out.put("null");
        }
        void operator()(bool flag) const { out.put(flag ? "true" : "false"); }
    };
    std::visit(Visitor{out}, value);
}

std::string json_of_values(const NamedValues& values) { return text_of(tree_of(values)); }

std::string json_of_meta(const ResultHead& head) {
    Json meta = Json::object();
    meta["coalprof"] = head.coalprof_version;
    meta["argv"] = head.argv;
    meta["time"] = head.time_utc;
    meta["machine"] = tree_of(head.machine);
    meta["device"] = head.device ? tree_of(*head.device) : Json(nullptr);
    if (!head.devices.empty()) {
        Json& devices = meta["devices"] = Json::array();
        for (const NamedValues& device : head.devices) devices.push_back(tree_of(device));
    }
    meta["backend"] = head.backend;
    meta["passes"] = head.passes;
    return text_of(meta);
}

std::string json_of_short_sweep(const ResultHead& head) {
    NamedValues members;
    for (const auto& [key, value] : head.sweep)
        if (key == "pattern" || key == "type" || key == "op") members.emplace_back(key, value);
    return json_of_values(members);
}

std::string json_of_verdicts(const std::vector<Verdict>& verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts) {
        Json best = Json::array();
        for (const NamedValues& settings : verdict.best) best.push_back(tree_of(settings));
        const bool is_known = verdict.basis != Verdict::Basis::none;
        list.push_back({{"scope", tree_of(verdict.scope)},
                        {"basis", is_known ? Json(name_of(verdict.basis)) : Json(nullptr)},
                        {"combinations", verdict.combinations},
                        {"values", verdict.values},
                        {"best", best},
                        {"gain", verdict.gain},
                        {"text", verdict.text}});
    }
    return text_of(list);
}

std::string json_of_warnings(const std::vector<Warning>& warnings) {
    Json list = Json::array();
    for (const Warning& warning : warnings)
        list.push_back({{"code", warning.code},
                        {"point", warning.point.empty() ? Json(nullptr) : Json(warning.point)},
                        {"text", warning.text}});
    return text_of(list);
}

}  // namespace coalprof
