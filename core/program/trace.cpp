#include "core/program/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

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

// What was read is nothing that the library writes.
[[noreturn]] void refuse(const char* why) { throw json::other_error::create(501, why, nullptr); }

constexpr std::array kind_names{"load", "store", "atomic", "reduce"};
constexpr std::array space_names{"global", "shared"};

template <typename Named, std::size_t count>
Named named(const std::array<const char*, count>& names, const json& name) {
    const auto found = std::ranges::find(names, name.get<std::string>());
    if (found == names.end()) refuse("unknown name");
    return static_cast<Named>(found - names.begin());
}

json to_json(const SourceLine& place) { return json::array({place.file, place.line}); }

SourceLine place_from(const json& place) {
    return {place.at(0).get<std::string>(), place.at(1).get<std::uint64_t>()};
}

// Its active lanes, then the address of each.
json to_json(const WarpAccess& warp) {
    json numbers = json::array({warp.active_lanes});
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((warp.active_lanes >> lane & 1) != 0) numbers.push_back(warp.addresses[lane]);
    return numbers;
}

// None: it is no warp's. Samples lie in memory that the program may write to, and no GPU executes
// an access whose address is not a multiple of its width.
std::optional<WarpAccess> warp_from(const json& numbers, const PtxSite& site) {
    WarpAccess warp{.active_lanes = numbers.at(0).get<std::uint32_t>(),
                    .width_bytes = site.width_bytes,
                    .kind = site.kind,
                    .space = site.space};
    std::size_t next = 1;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((warp.active_lanes >> lane & 1) != 0)
            warp.addresses[lane] = numbers.at(next++).get<std::uint64_t>();
    const bool is_aligned = std::ranges::all_of(
        warp.addresses, [&](std::uint64_t address) { return address % site.width_bytes == 0; });
    return warp.active_lanes != 0 && is_aligned ? std::optional(warp) : std::nullopt;
}

std::uint32_t width_from(const json& number) {
    const auto width = number.get<std::uint64_t>();
    if (width > 16 || !std::has_single_bit(width)) refuse("no width of an access");
    return static_cast<std::uint32_t>(width);
}

TracedSite site_from(const json& line) {
    TracedSite traced{.id = line.at("site").get<std::string>(),
                      .site = {.function = line.at("function").get<std::string>(),
                               .source = place_from(line.at("source")),
                               .inlined_at = place_from(line.at("inlined_at")),
                               .instruction = line.at("instruction").get<std::string>(),
                               .kind = named<AccessKind>(kind_names, line.at("kind")),
                               .space = named<Space>(space_names, line.at("space")),
                               .width_bytes = width_from(line.at("width"))},
                      .totals = {},
                      .samples = {}};
    const auto totals = line.at("totals").get<std::array<std::uint64_t, site_counts>>();
    traced.totals = std::bit_cast<SiteTotals>(totals);
    for (const json& numbers : line.at("samples"))
        if (const auto warp = warp_from(numbers, traced.site)) traced.samples.push_back(*warp);
    return traced;
}

TracedInstruction instruction_from(const json& line) {
    return {.function = line.at("function").get<std::string>(),
            .offset = line.at("instruction_at").get<std::uint64_t>(),
            .source = place_from(line.at("source")),
            .counts = line.at("counts").get<std::map<std::string, std::uint64_t>>()};
}

void read_line(const json& line, Trace& trace) {
    if (line.contains("measured")) {
        trace.counted.push_back(launch_from(line));
    } else if (line.contains("timed")) {
        trace.timed[kernel_from(line)] = {.launches = line.at("timed").get<std::uint64_t>(),
                                          .median_seconds = line.at("median").get<double>(),
                                          .total_seconds = line.at("total").get<double>()};
    } else if (line.contains("site")) {
        TracedSite traced = site_from(line);
        trace.sites[traced.id] = std::move(traced);
    } else if (line.contains("instruction_at")) {
        trace.instructions.push_back(instruction_from(line));
    } else if (line.contains("problem")) {
        trace.problems.push_back(line.at("problem").get<std::string>());
    } else if (line.contains("range")) {
        trace.ranges.insert(line.at("range").get<std::string>());
    } else if (line.contains("unfinished")) {
        trace.unfinished.insert(line.at("unfinished").get<std::string>());
    } else if (line.contains("library")) {
        trace.libraries.insert(line.at("library").get<std::string>());
    } else if (line.contains("rewritten")) {
        trace.rewritten.insert(line.at("rewritten").get<std::string>());
    } else if (line.contains("rewritable")) {
        trace.rewritable.insert(line.at("rewritable").get<std::string>());
    } else if (line.contains("lacks_ptx")) {
        trace.lacks_ptx.insert(line.at("lacks_ptx").get<std::string>());
    } else if (line.contains("unknown_code")) {
        trace.unknown_code.insert(line.at("unknown_code").get<std::string>());
    } else if (line.contains("launches")) {
        if (!trace.launches) trace.launches.emplace();
        (*trace.launches)[kernel_from(line)] += line.at("launches").get<std::uint64_t>();
    } else if (line.contains("end") && !trace.launches) {
        trace.launches.emplace();
    }
}

// Throws Error where the trace is none of this version.
TracedProcess process_from(const json& line) {
    if (!line.is_object() || !line.contains("coalprof_trace"))
        throw Error("it is no trace of coalprof's");
    const auto version = line.at("coalprof_trace").get<std::uint64_t>();
    if (version != trace_version)
        throw Error(
            fmt::format("its version is {}, and this coalprof reads {}: program and library must "
                        "come from one installation",
                        version, trace_version));
    return {.id = line.at("process").get<std::uint64_t>(),
            .program = line.at("program").get<std::string>()};
}

// The next line, with its end where it has one; empty: there is none. Of a line that is too long
// only its beginning and its end are kept.
std::string next_line(std::istream& file) {
    std::string line;
    for (char next = 0; file.get(next);) {
        if (line.size() <= most_line_bytes || next == '\n') line += next;
        if (next == '\n') break;
    }
    return line;
}

// Names come from the program: bytes that are not UTF-8 are replaced rather than refused.
std::string text_of(const json& line) {
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

TracedKernel graph_launch(std::uint64_t device) {
    return {.name = "(CUDA graph)", .grid = {0, 0, 0}, .block = {0, 0, 0}, .device = device};
}

// No function's name begins so.
bool is_graph(const TracedKernel& kernel) { return kernel.name.starts_with('('); }

std::set<std::string> names_in(const std::vector<Trace>& traces,
                               std::set<std::string> Trace::*part) {
    std::set<std::string> all;
    for (const Trace& trace : traces) all.insert((trace.*part).begin(), (trace.*part).end());
    return all;
}

TraceWriter::TraceWriter(std::string path, const TracedProcess& process) : path_(std::move(path)) {
    const std::filesystem::path wanted(path_);
    const auto create = [&] {
        fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        return fd_ >= 0 || errno != EEXIST;
    };
    for (int number = 2; !create(); ++number)
        path_ = (wanted.parent_path() / wanted.stem()).string() +
                fmt::format("-{}{}", number, wanted.extension().string());
    struct stat file {};
    if (fd_ < 0 || ::fstat(fd_, &file) != 0)
        throw Error(fmt::format("cannot write {}: error {}", path_, errno));
    device_ = file.st_dev;
    file_ = file.st_ino;
    line(text_of({{"coalprof_trace", trace_version},
                  {"process", process.id},
                  {"program", process.program}}));
}

TraceWriter::~TraceWriter() {
    if (is_ours()) ::close(fd_);
}

bool TraceWriter::is_ours() const {
    struct stat file {};
    return ::fstat(fd_, &file) == 0 && file.st_dev == device_ && file.st_ino == file_;
}

// A program may close all descriptors that it does not know, and its own files get their numbers.
void TraceWriter::reopen() {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (!is_ours()) throw Error(fmt::format("cannot write {}: error {}", path_, errno));
}

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

void TraceWriter::timed(const TracedKernel& kernel, const TimedLaunches& times) {
    json all = to_json(kernel);
    all["timed"] = times.launches;
    all["median"] = times.median_seconds;
    all["total"] = times.total_seconds;
    line(text_of(all));
}

void TraceWriter::problem(std::string_view sentence) { line(text_of({{"problem", sentence}})); }

void TraceWriter::range(std::string_view name) { line(text_of({{"range", name}})); }

void TraceWriter::unfinished(std::string_view kernel) { line(text_of({{"unfinished", kernel}})); }

void TraceWriter::loaded(std::string_view path) { line(text_of({{"library", path}})); }

void TraceWriter::rewritable(std::string_view kernel) { line(text_of({{"rewritable", kernel}})); }

void TraceWriter::rewritten(std::string_view kernel) { line(text_of({{"rewritten", kernel}})); }

void TraceWriter::lacks_ptx(std::string_view reason) { line(text_of({{"lacks_ptx", reason}})); }

void TraceWriter::unknown_code(std::string_view reason) {
    line(text_of({{"unknown_code", reason}}));
}

void TraceWriter::site(const TracedSite& traced) {
    const PtxSite& site = traced.site;
    json samples = json::array();
    for (const WarpAccess& warp : traced.samples) samples.push_back(to_json(warp));
    line(text_of({{"site", traced.id},
                  {"function", site.function},
                  {"source", to_json(site.source)},
                  {"inlined_at", to_json(site.inlined_at)},
                  {"instruction", site.instruction},
                  {"kind", kind_names[static_cast<std::size_t>(site.kind)]},
                  {"space", space_names[static_cast<std::size_t>(site.space)]},
                  {"width", site.width_bytes},
                  {"totals", std::bit_cast<std::array<std::uint64_t, site_counts>>(traced.totals)},
                  {"samples", std::move(samples)}}));
}

void TraceWriter::instruction(const TracedInstruction& told) {
    line(text_of({{"function", told.function},
                  {"instruction_at", told.offset},
                  {"source", to_json(told.source)},
                  {"counts", told.counts}}));
}

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
    if (!is_ours()) reopen();
    const std::string bytes = text + '\n';
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t written = ::write(fd_, bytes.data() + at, bytes.size() - at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) throw Error(fmt::format("cannot write the trace: error {}", errno));
        at += static_cast<std::size_t>(written);
    }
}

Trace read_trace(const std::string& path) {
    Trace trace;
    std::ifstream file(path, std::ios::binary);
    bool is_first = true;
    try {
        for (std::string text; !(text = next_line(file)).empty(); is_first = false) {
            try {
                const json line = json::parse(text);
                is_first ? void(trace.process = process_from(line)) : read_line(line, trace);
            } catch (const json::exception&) {
                if (is_first) throw Error("it is no trace of coalprof's");
                if (!text.ends_with('\n')) break;  // cut when the program was killed
                trace.problems.emplace_back("a line of the trace cannot be read");
            }
        }
        if (!file.eof()) throw Error("the system does not give it");
        if (is_first) throw Error("it is empty");
    } catch (const Error& error) {
        trace.launches.reset();  // what came may not be all of it
        trace.problems.push_back(
            fmt::format("the trace of a process cannot be read, and its kernels are missing: {}",
                        error.what()));
    }
    return trace;
}

}  // namespace coalprof
