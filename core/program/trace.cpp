#include "core/program/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json/json_stream.h"
#include "core/result/parts.h"
#include "core/text/byte_source.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

using nlohmann::json;

json to_json(const Reading& reading) {
    if (const auto* count = std::get_if<std::uint64_t>(&reading)) return *count;
    if (const auto* real = std::get_if<double>(&reading)) return *real;
    return std::string(std::get<Unavailable>(reading).reason);
}

Reading reading_from(JsonView value) {
    if (const auto count = value.natural()) return *count;
    if (const auto number = value.number()) return *number;
    const auto reason = value.text();
    if (!reason) complain("a reading", "a number or a reason");
    return Unavailable{keep_reason(*reason)};
}

std::string text_at(JsonView line, std::string_view name) { return text_in(line, "", name); }
std::uint64_t natural_at(JsonView line, std::string_view name) {
    return natural_in(line, "", name);
}

double real_at(JsonView line, std::string_view name) {
    const auto number = member_of(line, "", name).number();
    if (!number) complain(name, "a number");
    return *number;
}

// Exactly `count` numbers of the type.
template <typename Number, std::size_t count>
std::array<Number, count> numbers_at(JsonView line, std::string_view name) {
    std::array<Number, count> numbers{};
    std::size_t found = 0;
    for (const JsonView item : member_of(line, "", name)) {
        const auto number = item.natural();
        if (!number || !std::in_range<Number>(*number) || found == count)
            complain(name, "that many numbers");
        numbers[found++] = static_cast<Number>(*number);
    }
    if (found != count) complain(name, "that many numbers");
    return numbers;
}

json to_json(const TracedKernel& kernel) {
    return {{"kernel", kernel.name},
            {"grid", kernel.grid},
            {"block", kernel.block},
            {"device", kernel.device}};
}

TracedKernel kernel_from(JsonView line) {
    return {.name = text_at(line, "kernel"),
            .grid = numbers_at<std::uint32_t, 3>(line, "grid"),
            .block = numbers_at<std::uint32_t, 3>(line, "block"),
            .device = natural_at(line, "device")};
}

CountedLaunch launch_from(JsonView line) {
    CountedLaunch launch;
    launch.number = natural_at(line, "launch");
    launch.kernel = kernel_from(line);
    for (const JsonView value : member_of(line, "", "measured"))
        if (const auto counter = find_counter(value.name()))
            launch.measured[*counter] = reading_from(value);
    return launch;
}

json to_json(const SourceLine& place) { return json::array({place.file, place.line}); }

SourceLine place_at(JsonView line, std::string_view name) {
    SourceLine place;
    for (const JsonView part : member_of(line, "", name)) {
        if (const auto file = part.text()) place.file = *file;
        if (const auto number = part.natural()) place.line = *number;
    }
    return place;
}

// Its active lanes, then the address of each.
json to_json(const WarpAccess& warp) {
    json numbers = json::array({warp.active_lanes});
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((warp.active_lanes >> lane & 1) != 0) numbers.push_back(warp.addresses[lane]);
    return numbers;
}

// None: not a warp's. The program may write to the memory of samples, and no GPU executes an access
// whose address is not a multiple of its width.
std::optional<WarpAccess> warp_from(JsonView numbers, const PtxSite& site) {
    WarpAccess warp{.width_bytes = site.width_bytes, .kind = site.kind, .space = site.space};
    std::optional<std::uint32_t> lanes;  // still expected; none: all of them
    for (const JsonView item : numbers) {
        const auto number = item.natural();
        if (!number) return std::nullopt;
        if (!lanes) {
            lanes = warp.active_lanes = static_cast<std::uint32_t>(*number);
        } else if (*lanes != 0) {
            warp.addresses[static_cast<std::size_t>(std::countr_zero(*lanes))] = *number;
            *lanes &= *lanes - 1;
        }
    }
    const bool is_aligned = std::ranges::all_of(
        warp.addresses, [&](std::uint64_t address) { return address % site.width_bytes == 0; });
    const bool is_whole = warp.active_lanes != 0 && lanes == 0u;
    return is_whole && is_aligned ? std::optional(warp) : std::nullopt;
}

std::uint32_t width_at(JsonView line) {
    const std::uint64_t width = natural_at(line, "width");
    if (width > 32 || !std::has_single_bit(width)) complain("width", "that of an access");
    return static_cast<std::uint32_t>(width);
}

std::string array_at(JsonView line) {
    const auto array = line.find("array");
    return array ? std::string(array->text().value_or("")) : std::string();
}

TracedSite site_from(JsonView line) {
    TracedSite traced{
        .id = text_at(line, "site"),
        .site = {.function = text_at(line, "function"),
                 .source = place_at(line, "source"),
                 .inlined_at = place_at(line, "inlined_at"),
                 .instruction = text_at(line, "instruction"),
                 .kind = named_one(access_kinds, member_of(line, "", "kind"), "kind"),
                 .space = named_one(all_spaces, member_of(line, "", "space"), "space"),
                 .width_bytes = width_at(line),
                 .array = array_at(line)},
        .totals = std::bit_cast<SiteTotals>(numbers_at<std::uint64_t, site_counts>(line, "totals")),
        .samples = {}};
    for (const JsonView numbers : member_of(line, "", "samples"))
        if (const auto warp = warp_from(numbers, traced.site)) traced.samples.push_back(*warp);
    return traced;
}

TracedInstruction instruction_from(JsonView line) {
    TracedInstruction told{.function = text_at(line, "function"),
                           .offset = natural_at(line, "instruction_at"),
                           .source = place_at(line, "source"),
                           .counts = {}};
    const JsonView counts = member_of(line, "", "counts");
    for (const JsonView count : counts)
        told.counts[std::string(count.name())] = natural_in(counts, "counts", count.name());
    return told;
}

// Members whose values are names, each one of a set.
constexpr std::array names_in_lines{std::pair{"range", &Trace::ranges},
                                    std::pair{"unfinished", &Trace::unfinished},
                                    std::pair{"library", &Trace::libraries},
                                    std::pair{"rewritten", &Trace::rewritten},
                                    std::pair{"rewritable", &Trace::rewritable},
                                    std::pair{"lacks_ptx", &Trace::lacks_ptx},
                                    std::pair{"unknown_code", &Trace::unknown_code}};

void read_line(JsonView line, Trace& trace) {
    const auto has = [&](std::string_view name) { return line.find(name).has_value(); };
    if (has("measured")) {
        trace.counted.push_back(launch_from(line));
    } else if (has("timed")) {
        trace.timed[kernel_from(line)] = {.launches = natural_at(line, "timed"),
                                          .median_seconds = real_at(line, "median"),
                                          .total_seconds = real_at(line, "total")};
    } else if (has("site")) {
        TracedSite traced = site_from(line);
        trace.sites[traced.id] = std::move(traced);
    } else if (has("instruction_at")) {
        trace.instructions.push_back(instruction_from(line));
    } else if (has("problem")) {
        trace.problems.push_back(text_at(line, "problem"));
    } else if (has("launches")) {
        if (!trace.launches) trace.launches.emplace();
        (*trace.launches)[kernel_from(line)] += natural_at(line, "launches");
    } else if (has("end") && !trace.launches) {
        trace.launches.emplace();
    } else {
        for (const auto& [name, names] : names_in_lines)
            if (has(name)) (trace.*names).insert(text_at(line, name));
    }
}

// Throws Error for a trace of another version.
TracedProcess process_from(JsonView line) {
    const auto version = line.find("coalprof_trace");
    const auto number = version ? version->natural() : std::nullopt;
    if (!number) throw Error("it is no trace of coalprof's");
    if (*number != trace_version)
        throw Error(
            fmt::format("its version is {}, and this coalprof reads {}: program and library must "
                        "come from one installation",
                        *number, trace_version));
    return {.id = natural_at(line, "process"), .program = text_at(line, "program")};
}

// Reads line after line; false where a killed program cut the last.
bool take_line(JsonStream& lines, JsonStream::Step step, bool is_first, Trace& trace) {
    try {
        if (step == JsonStream::Step::value) {
            is_first ? void(trace.process = process_from(lines.value()))
                     : read_line(lines.value(), trace);
            return true;
        }
    } catch (const PartError&) {
    }
    if (is_first) throw Error("it is no trace of coalprof's");
    if (step == JsonStream::Step::cut) return false;
    if (step == JsonStream::Step::wrong) lines.skip_line();
    trace.problems.emplace_back("a line of the trace cannot be read");
    return true;
}

// Names come from the program: bytes that are not UTF-8 are replaced rather than refused.
std::string json_line(const json& line) {
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

TracedKernel graph_launch(std::uint64_t device) {
    return {.name = "(CUDA graph)", .grid = {0, 0, 0}, .block = {0, 0, 0}, .device = device};
}

// No function has such a name.
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
    line(json_line({{"coalprof_trace", trace_version},
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

// A program may close all descriptors that it does not know, and its own files then get their
// numbers.
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
    line(json_line(all));
}

void TraceWriter::timed(const TracedKernel& kernel, const TimedLaunches& times) {
    json all = to_json(kernel);
    all["timed"] = times.launches;
    all["median"] = times.median_seconds;
    all["total"] = times.total_seconds;
    line(json_line(all));
}

void TraceWriter::problem(std::string_view sentence) { line(json_line({{"problem", sentence}})); }

void TraceWriter::range(std::string_view name) { line(json_line({{"range", name}})); }

void TraceWriter::unfinished(std::string_view kernel) { line(json_line({{"unfinished", kernel}})); }

void TraceWriter::loaded(std::string_view path) { line(json_line({{"library", path}})); }

void TraceWriter::rewritable(std::string_view kernel) { line(json_line({{"rewritable", kernel}})); }

void TraceWriter::rewritten(std::string_view kernel) { line(json_line({{"rewritten", kernel}})); }

void TraceWriter::lacks_ptx(std::string_view reason) { line(json_line({{"lacks_ptx", reason}})); }

void TraceWriter::unknown_code(std::string_view reason) {
    line(json_line({{"unknown_code", reason}}));
}

void TraceWriter::site(const TracedSite& traced) {
    const PtxSite& site = traced.site;
    json samples = json::array();
    for (const WarpAccess& warp : traced.samples) samples.push_back(to_json(warp));
    line(
        json_line({{"site", traced.id},
                   {"function", site.function},
                   {"source", to_json(site.source)},
                   {"inlined_at", to_json(site.inlined_at)},
                   {"instruction", site.instruction},
                   {"kind", name_of(site.kind)},
                   {"space", name_of(site.space)},
                   {"width", site.width_bytes},
                   {"array", site.array},
                   {"totals", std::bit_cast<std::array<std::uint64_t, site_counts>>(traced.totals)},
                   {"samples", std::move(samples)}}));
}

void TraceWriter::instruction(const TracedInstruction& told) {
    line(json_line({{"function", told.function},
                    {"instruction_at", told.offset},
                    {"source", to_json(told.source)},
                    {"counts", told.counts}}));
}

void TraceWriter::end(const std::map<TracedKernel, std::uint64_t>& launches) {
    for (const auto& [kernel, count] : launches) {
        json all = to_json(kernel);
        all["launches"] = count;
        line(json_line(all));
    }
    line(json_line({{"end", true}}));
}

// In one call, so that a killed program leaves whole lines.
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
    try {
        // Also after the signal that ended the program: its counts are not lost.
        const auto source = open_own_bytes(path, [] { return false; });
        JsonStream lines(*source);
        lines.values_are_lines();
        bool is_first = true;
        for (JsonStream::Step step{}; (step = lines.next()) != JsonStream::Step::end;
             is_first = false)
            if (!take_line(lines, step, is_first, trace)) break;
        if (is_first) throw Error("it is empty");
    } catch (const Error& error) {
        trace.launches.reset();  // the list may be incomplete
        trace.problems.push_back(
            fmt::format("the trace of a process cannot be read, and its kernels are missing: {}",
                        error.what()));
    }
    return trace;
}

}  // namespace coalprof
