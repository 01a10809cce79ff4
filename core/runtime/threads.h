// How many threads share the work of this process.
#pragma once

namespace coalprof {

// Processors that this process may run on; a container's quota of time is not seen.
unsigned processors_of_this_process();

// What --threads asked for, the thread that shares its work out included; before that, one for each
// processor. 1 means that everything is done by whoever asks for it.
unsigned thread_count();
// `count` is 1 or more. Not to be called while work is being shared.
void set_thread_count(unsigned count);

}  // namespace coalprof
