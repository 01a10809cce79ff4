#include "core/text/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "core/text/byte_source.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

struct Kind {
    std::string_view begin;  // how such a file begins
    std::string_view has;    // anywhere in its beginning
    std::string_view noun;
    std::string_view way = {};  // {0}: the file
};
constexpr std::string_view of_kernels = "its kernels are predicted by coalprof kernel {0}";
// The first that fits.
constexpr std::array kinds{
    Kind{"\x7f"
         "ELF",
         "", "a program", of_kernels},
    Kind{"\x1f\x8b", "", "a compressed file (gunzip it first)"},
    Kind{"\x28\xb5\x2f\xfd", "", "a compressed file (unzstd it first)"},
    Kind{"PK\x03\x04", "", "a zip archive"},
    Kind{"\x89PNG", "", "a picture"},
    Kind{"\x93NUMPY", "", "an array of NumPy",
         "contents of an array: --arg x=@{0}, or --array x=@{0} of a formula; addresses of warps: "
         "coalprof warps {0}"},
    Kind{"<!DOCTYPE html", "", "an HTML page"},
    Kind{"<!doctype html", "", "an HTML page"},
    Kind{"<html", "", "an HTML page"},
    Kind{"<svg", "", "an SVG picture"},
    Kind{"<?xml", "<svg", "an SVG picture"},
    Kind{"<?xml", "", "XML"},
    Kind{"# HELP ", "", "OpenMetrics for Prometheus"},
    Kind{"# TYPE ", "", "OpenMetrics for Prometheus"},
    Kind{"{", "\"calibration\"", "a machine file", "a GPU to predict: --machine ./{0}"},
    Kind{"{", "coalprof/", "a document of coalprof", "coalprof report {0}"},
    Kind{"", "__global__", "CUDA source", of_kernels},
    Kind{"", "\n.target", "PTX", of_kernels},
};

const Kind* find_kind(std::string_view beginning) {
    const auto found = std::ranges::find_if(kinds, [&](const Kind& one) {
        return beginning.starts_with(one.begin) && has(beginning, one.has);
    });
    return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

std::string_view kind_of_file(std::string_view beginning) {
    if (beginning.empty()) return "an empty file";
    if (const Kind* kind = find_kind(beginning)) return kind->noun;
    const bool is_binary = std::any_of(beginning.begin(), beginning.end(), [](char c) {
        return c == '\0' || (c > '\0' && c < '\t') || (c > '\r' && c < '\x1b');
    });
    if (is_binary) return "a binary file";
    const std::string_view first_line = beginning.substr(0, beginning.find('\n'));
    if (has(first_line, ",pattern,") || first_line.ends_with(",failure"))
        return "the CSV of a result, which does not hold all of it";
    std::size_t fields = 1;
    for (std::size_t i = 0; i < first_line.size(); ++i)
        fields += first_line[i] == ',' && !first_line.substr(i).starts_with(", ");
    if (fields >= 3) return "CSV";
    if (first_line.ends_with(" predicted") || first_line.ends_with(" measured"))
        return "the table of a result, which does not hold all of it";
    return "text";
}

void refuse_kind(std::string_view beginning, const std::string& file, std::string_view wanted,
                 std::string hint) {
    const Kind* kind = find_kind(beginning);
    if (kind && !kind->way.empty() && (hint.empty() || kind->way != of_kernels))
        hint = way_of_file(beginning, file);
    throw UsageError(fmt::format("{}: {} is expected here, and this is {}", shown(file), wanted,
                                 kind_of_file(beginning)),
                     hint);
}

std::string beginning_of(ByteSource& source) {
    std::string beginning(bytes_to_know_a_file, '\0');
    std::size_t size = 0, more = 1;
    while (size < beginning.size() && more > 0)
        size += more = source.read(std::span(beginning).subspan(size));
    beginning.resize(size);
    return beginning;
}

void refuse_file(const std::string& typed, std::string_view wanted, std::string hint) {
    std::error_code error;
    if (typed.find_first_of("./") == typed.npos || !std::filesystem::is_regular_file(typed, error))
        return;
    refuse_kind(beginning_of(*open_own_bytes(typed)), typed, wanted, std::move(hint));
}

std::string way_of_file(std::string_view beginning, const std::string& file) {
    const Kind* kind = find_kind(beginning);
    if (!kind || kind->way.empty()) return {};
    return fmt::format(fmt::runtime(kind->way), shown(file));
}

}  // namespace coalprof
