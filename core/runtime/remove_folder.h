// Removes a folder with all that is in it, by nothing but what a signal handler may call.
#pragma once

namespace coalprof {

// As far as it goes: what may not be removed stays. Links are removed, not followed.
void remove_folder(const char* path) noexcept;

}  // namespace coalprof
