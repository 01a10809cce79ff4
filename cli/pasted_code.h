// Statements of C as they are pasted, wrapped into a kernel for a CUDA compiler. The compiler's
// messages name what is not declared, and the text shows what each name is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct PastedCode {
    std::string text = {};
    std::string type = "f32";  // type of elements and variables where the text shows none
    std::vector<std::string> arguments = {};  // values of --arg: "n=64", "q=float4[1024]"
    std::vector<std::string> undeclared = {};
};

// CUDA source, whose lines are those of the text in a file of this name. A text with a __global__
// function stays as it is, but for its template: types are `type`, numbers of --arg.
std::string source_of(const PastedCode& code, std::string_view file);
// Adds the names that a compiler's messages miss to `undeclared`. False where none is new.
bool note_undeclared(PastedCode& code, std::string_view messages);

// The arguments but those that are numbers of a kernel's template, "T=16".
std::vector<std::string> without_template_values(const PastedCode& code);

}  // namespace coalprof
