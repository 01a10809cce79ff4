// Every text that a result holds, names of values included, for what must look at all of them. In
// one place, so that a member that is added is not forgotten: tests/cli/hostile_test.py finds those
// that are.
#pragma once

#include <functional>
#include <string>

#include "core/result/result.h"

namespace coalprof {

using VisitText = std::function<void(std::string&)>;
using LookAtText = std::function<void(const std::string&)>;

// Without the reasons of readings, which are printable from the start: see keep_reason().
void each_text(ResultHead& head, const VisitText& visit);
void each_text(Point& point, const VisitText& visit);
void each_text(const Point& point, const LookAtText& look);
void each_text(ResultTail& tail, const VisitText& visit);
void each_text(NamedValues& values, const VisitText& visit);

}  // namespace coalprof
