// The formats of a result, in one table that --format, the suffix of --output and --help read.
// A new format is a file with a MakeWriter and a row in formats.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/result/result.h"
#include "core/write/byte_sink.h"
#include "core/write/table_style.h"

namespace coalprof {

// A format's treatment of text from unknown sources.
enum class TextRule : std::uint8_t {
    escaped,    // readers get back every character
    printable,  // shown as by printable()
    lines,      // likewise, and no line is a command for services that read logs
};

// Its ResultSink has handed over every byte when finish() returns.
using MakeWriter = std::unique_ptr<ResultSink>(ByteSink& out, const TableStyle& style);

struct Format {
    std::string_view name;                     // name for --format
    std::array<std::string_view, 2> suffixes;  // ends of file names with dot; else empty
    TextRule text;
    struct Traits {
        bool tells_warnings = false;  // shows the warnings of the result's end
        bool takes_several = false;   // results, one begin() each
        bool fixes_columns = false;   // the first points decide the columns: see columns.h
    } traits;
    MakeWriter* make_writer;
    std::string_view purpose;  // sentence for docs/result-file.md

    std::unique_ptr<ResultSink> make(ByteSink& out, const TableStyle& style) const;
};

std::span<const Format> all_formats();
inline const Format& default_format() { return all_formats().front(); }

// The format of this name. Throws UsageError, whose sentence lists them.
const Format& find_format(std::string_view name);

// The format of an output file: the one of its suffix, in any case; else `chosen`, the format that
// the user named; else, for a name without any suffix, the default. Throws UsageError for an
// unknown suffix without a chosen format.
const Format& format_of_path(std::string_view path, const Format* chosen = nullptr);

}  // namespace coalprof
