// Vector instructions that not every processor has: functions compiled for them, and whether they
// may be called. On x86-64 a program may count on two 64-bit numbers at a time (SSE2); nearly every
// machine of today does four (AVX2), and compares them too.
#pragma once

#include <cstddef>
#include <cstdint>

// Inlines code into its callers, which are compiled for one or the other kind of processor.
#define COALPROF_INLINED [[gnu::always_inline]] inline

namespace coalprof {

enum class Vectors : std::uint8_t {
    usual,  // any processor that runs this program
    avx2,
};

inline constexpr std::size_t usual_vector_bytes = 16;  // SSE2; on other processors as good as any
inline constexpr std::size_t avx2_vector_bytes = 32;

#if defined(__x86_64__)
#define COALPROF_AVX2 [[gnu::target("avx2")]]
inline Vectors best_vectors() {
    static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
    return has_avx2 ? Vectors::avx2 : Vectors::usual;
}
#else
#define COALPROF_AVX2
inline Vectors best_vectors() { return Vectors::usual; }
#endif

}  // namespace coalprof
