// The source of a program, whose places a result names and whose text it does not hold. Whoever may
// read files can find it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace coalprof {

// The parameter of a point that says which file its line is in, as the compiler wrote it down.
inline constexpr std::string_view source_file_parameter = "source_file";

struct SourceText {
    std::string text;
    std::string why_not;  // the reason why there is no text; empty: there is
};

// `file` comes from a result, which may be from anybody.
using FindSource = std::function<SourceText(const std::string& file)>;

}  // namespace coalprof
