// A result on its way into a format that shows text as it is. A saved result may hold any bytes: in
// front of the format, so that none of its strings is forgotten, each becomes what printable()
// makes of it. Without line ends no text begins a line, where services that read logs find
// commands.
#pragma once

#include <memory>

#include "core/result/result.h"

namespace coalprof {

std::unique_ptr<ResultSink> with_printable_text(std::unique_ptr<ResultSink> format);

}  // namespace coalprof
