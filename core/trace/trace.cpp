#include "core/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/text/error.h"

namespace coalprof {
namespace {

using nlohmann::json;

// A line of a trace that nobody tampered with is far shorter, C++ names included.
constexpr std::size_t most_line_bytes = 1u << 20;

json to_json(const Reading& reading) {
    if (const auto* count = std::get_if<std::uint64_t>(&reading)) return *count;
    if (const auto* real = std::get_if<double>(&reading)) return *real;
    return std::string(std::get<Unavailable>(reading).reason);
}

Reading reading_from(const json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number()) return value.get<double>();
    return Unavailable{keep_reason(value.get<std::string>())};
}

json to_json(const TracedKernel& kernel) {
    return {{"kernel", kernel.name},
            {"grid", kernel.grid},
            {"block", kernel.block},
            {"device", kernel.device}};
}

TracedKernel kernel_from(const json& line) {
    return {.name = line.at("kernel").get<std::string>(),
            .grid = line.at("grid").get<std::array<std::uint32_t, 3>>(),
            .block = line.at("block").get<std::array<std::uint32_t, 3>>(),
            .device = line.at("device").get<std::uint64_t>()};
}

CountedLaunch launch_from(const json& line) {
    CountedLaunch launch;
    launch.number = line.at("launch").get<std::uint64_t>();
    launch.kernel = kernel_from(line);
    for (const auto& [key, value] : line.at("measured").items())
        if (const auto counter = find_counter(key)) launch.measured[*counter] = reading_from(value);
    return launch;
}

void read_line(const json& line, Trace& trace) {
    if (line.contains("measured")) {
        trace.counted.push_back(launch_from(line));
    } else if (line.contains("problem")) {
        trace.problems.push_back(line.at("problem").get<std::string>());
    } else if (line.contains("launches")) {
        if (!trace.launches) trace.launches.emplace();
        (*trace.launches)[kernel_from(line)] += line.at("launches").get<std::uint64_t>();
    } else if (line.contains("end") && !trace.launches) {
        trace.launches.emplace();
    }
}

TracedProcess process_from(const json& line, const std::string& path) {
    if (!line.is_object() || !line.contains("coalprof_trace"))
        throw Error(fmt::format("cannot read {}: it is no trace of coalprof's", path));
    const auto version = line.at("coalprof_trace").get<std::uint64_t>();
    if (version != trace_version)
        throw Error(fmt::format("cannot read {}: its version is {}, this coalprof reads {}", path,
                                version, trace_version));
    return {.id = line.at("process").get<std::uint64_t>(),
            .program = line.at("program").get<std::string>()};
}

// Names come from the program: bytes that are not UTF-8 are replaced rather than refused.
std::string text_of(const json& line) {
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

TraceWriter::TraceWriter(const std::string& path, const TracedProcess& process)
    : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw Error(fmt::format("cannot write {}: error {}", path, errno));
    line(text_of({{"coalprof_trace", trace_version},
                  {"process", process.id},
                  {"program", process.program}}));
}

TraceWriter::~TraceWriter() { ::close(fd_); }

void TraceWriter::counted(const CountedLaunch& launch) {
    json measured = json::object();
    launch.measured.each([&](Counter counter, const Reading& reading) {
        measured[std::string(key_of(counter))] = to_json(reading);
    });
    json all = to_json(launch.kernel);
    all["launch"] = launch.number;
    all["measured"] = std::move(measured);
    line(text_of(all));
}

void TraceWriter::problem(std::string_view sentence) { line(text_of({{"problem", sentence}})); }

void TraceWriter::end(const std::map<TracedKernel, std::uint64_t>& launches) {
    for (const auto& [kernel, count] : launches) {
        json all = to_json(kernel);
        all["launches"] = count;
        line(text_of(all));
    }
    line(text_of({{"end", true}}));
}

// In one call, so that a program that is killed leaves whole lines.
void TraceWriter::line(const std::string& text) {
    const std::string bytes = text + '\n';
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t written = ::write(fd_, bytes.data() + at, bytes.size() - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) throw Error(fmt::format("cannot write the trace: error {}", errno));
        at += static_cast<std::size_t>(written);
    }
}

Trace read_trace(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(fmt::format("cannot read {}", path));
    Trace trace;
    bool is_first = true;
    for (std::string text; std::getline(file, text) && text.size() <= most_line_bytes;) {
        try {
            const json line = json::parse(text);
            if (is_first)
                trace.process = process_from(line, path);
            else
                read_line(line, trace);
        } catch (const json::exception&) {
            if (is_first)
                throw Error(fmt::format("cannot read {}: it is no trace of coalprof's", path));
            if (file.eof()) break;  // cut when the program was killed
            trace.problems.emplace_back("a line of the trace cannot be read");
        }
        is_first = false;
    }
    if (is_first) throw Error(fmt::format("cannot read {}: it is empty", path));
    return trace;
}

}  // namespace coalprof
