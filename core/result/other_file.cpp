#include "core/result/other_file.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

struct Look {
    std::string_view begin;
    std::string_view noun;
};
constexpr std::array beginnings{
    Look{"\x7f"
         "ELF",
         "a program"},
    Look{"\x1f\x8b", "a compressed file (gunzip it first)"},
    Look{"\x28\xb5\x2f\xfd", "a compressed file (unzstd it first)"},
    Look{"PK\x03\x04", "a zip archive"},
    Look{"\x89PNG", "a picture"},
    Look{"<!DOCTYPE html", "an HTML page"},
    Look{"<!doctype html", "an HTML page"},
    Look{"<html", "an HTML page"},
    Look{"<svg", "an SVG picture"},
    Look{"# HELP ", "OpenMetrics for Prometheus"},
    Look{"# TYPE ", "OpenMetrics for Prometheus"},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

std::string_view look_of_file(std::string_view beginning) {
    for (const Look& look : beginnings)
        if (beginning.starts_with(look.begin)) return look.noun;
    if (beginning.starts_with("<?xml")) return has(beginning, "<svg") ? "an SVG picture" : "XML";
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

}  // namespace coalprof
