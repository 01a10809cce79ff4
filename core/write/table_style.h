// The look of a table: facts that the caller has about the place where it will be read.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace coalprof {

// The source of a program, whose places a result names but whose text it does not hold. Code that
// may read files can find it.
// The parameter of a point with its line's file, as the compiler wrote it down.
inline constexpr std::string_view source_file_parameter = "source_file";

struct SourceText {
    std::string text;
    std::string why_not;  // the reason for a missing text; empty: there is one
};

// `file` comes from a result, which may be from anybody.
using FindSource = std::function<SourceText(const std::string& file)>;

struct TableStyle {
    std::size_t width = 80;  // columns of the terminal; 0: no limit
    bool color = false;
    bool ascii = false;         // no character above 127
    bool takes_columns = true;  // the command that writes it has --columns
    std::string name = {};   // name of the file, without folder and suffix; empty if there is none
    bool folds_rows = true;  // equal numbers in a row become one
    bool explains_all = false;    // also the reason for each missing number
    bool is_quiet = false;        // leaves notes and hints out
    FindSource find_source = {};  // lets a page show a program's lines
};

}  // namespace coalprof
