// The look of a table: facts that the caller has about the place where it will be read.
#pragma once

#include <cstddef>
#include <string>

#include "core/write/point_warp.h"
#include "core/write/source_text.h"

namespace coalprof {

struct TableStyle {
    std::size_t width = 80;  // columns of the terminal; 0: no limit
    bool color = false;
    bool ascii = false;            // no character above 127
    bool takes_columns = true;     // the command that writes it has --columns
    std::string name = {};         // of the file, without folder and suffix; empty: none
    bool explains_all = false;     // also the reason for each missing number
    FindPointWarp find_warp = {};  // for pages that draw a point
    FindSource find_source = {};   // for pages that show a program's lines
};

}  // namespace coalprof
