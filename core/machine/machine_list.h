// What `coalprof machines` lists: each compute capability with its rules, and behind it its boards;
// the tables of docs/machines.md and docs/memories.md are made of it.
#pragma once

#include "core/result/list.h"

namespace coalprof {

ListDocument list_of_machines();

}  // namespace coalprof
