// Findings about lines of a program as sentences.
#pragma once

#include <string>

#include "core/result/result.h"

namespace coalprof {

// "app.cu:19 st.global.f32: Neighbouring lanes are ... Fix: Lay ... Saves about 2.9 ms."
std::string finding_text(const LineFinding& finding, bool is_ascii);
// "about 2.9 ms." of it; empty: nothing, or it is not known.
std::string saving_text(const LineFinding& finding, bool is_ascii);
// A command that shows the same in a small case: "coalprof explain stride --at 3"; empty: no
// similar pattern.
std::string finding_command(const LineFinding& finding);

}  // namespace coalprof
