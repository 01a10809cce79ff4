// What is wrong with a line of a program, as people read it.
#pragma once

#include <string>

#include "core/result/result.h"

namespace coalprof {

// "app.cu:19 st.global.f32: Neighbouring lanes are ... Fix: Lay ... Saves about 2.9 ms."
std::string finding_text(const LineFinding& finding, bool is_ascii);

}  // namespace coalprof
