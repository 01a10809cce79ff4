// Code that the program loads and unloads: replaced by the same code with counting in it.
#pragma once

#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>

#include <functional>
#include <string>

#include "cupti/attach/line_probe.h"

namespace coalprof {

// Writes these bytes to a new file; empty: not possible.
using WriteImage = std::function<std::string(const std::string& bytes)>;

// Returns true for a call that loads, unloads or links code.
bool loading_called(CUpti_CallbackId call, const CUpti_CallbackData& data, bool succeeded,
                    LineProbe& lines, const WriteImage& file_for);

}  // namespace coalprof
