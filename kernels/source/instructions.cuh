// The memory instructions that kernels are composed of. Each is one PTX instruction written out, so
// that a launch does exactly those of its program: no merging of neighbours, no read-only path, no
// deletion of loads that look unused.
#pragma once

#include "kernels/source/arguments.h"
#include "kernels/source/values.h"

namespace coalprof {

template <unsigned bytes>
struct Value {
    Word word[words_of(bytes)] = {};
};

// The memory of an address; addresses of all but global memory are relative to their window.
enum class Memory { global, shared, constant, local };

// Predicated, not branched around: the loads of one thread follow each other without a jump. If
// `active` is known to be true, no predicate is left.
#define COALPROF_WHEN(operand) "{ .reg .pred p; setp.ne.s32 p, " operand ", 0; @p "

#define COALPROF_LOAD(memory)                                                             \
    if constexpr (bytes == 1)                                                             \
        asm volatile(COALPROF_WHEN("%2") "ld." memory ".u8 %0, [%1]; }"                   \
                     : "+r"(value.word[0])                                                \
                     : "l"(address), "r"(on));                                            \
    else if constexpr (bytes == 2)                                                        \
        asm volatile(COALPROF_WHEN("%2") "ld." memory ".u16 %0, [%1]; }"                  \
                     : "+r"(value.word[0])                                                \
                     : "l"(address), "r"(on));                                            \
    else if constexpr (bytes == 4)                                                        \
        asm volatile(COALPROF_WHEN("%2") "ld." memory ".u32 %0, [%1]; }"                  \
                     : "+r"(value.word[0])                                                \
                     : "l"(address), "r"(on));                                            \
    else if constexpr (bytes == 8)                                                        \
        asm volatile(COALPROF_WHEN("%3") "ld." memory ".v2.u32 {%0, %1}, [%2]; }"         \
                     : "+r"(value.word[0]), "+r"(value.word[1])                           \
                     : "l"(address), "r"(on));                                            \
    else                                                                                  \
        asm volatile(COALPROF_WHEN("%5") "ld." memory ".v4.u32 {%0, %1, %2, %3}, [%4]; }" \
                     : "+r"(value.word[0]), "+r"(value.word[1]), "+r"(value.word[2]),     \
                       "+r"(value.word[3])                                                \
                     : "l"(address), "r"(on))

// No instruction moves 16 bytes of constant memory, and ptxas splits vectors as it likes: 8 bytes
// are loaded as one number, 16 as two.
template <unsigned bytes>
__device__ __forceinline__ void load_constant(Value<bytes>& value, Index address, bool active) {
    const int on = active;
    if constexpr (bytes == 8) {
        Index whole = 0;
        asm volatile(COALPROF_WHEN("%2") "ld.const.u64 %0, [%1]; }"
                     : "+l"(whole)
                     : "l"(address), "r"(on));
        value.word[0] = static_cast<Word>(whole);
        value.word[1] = static_cast<Word>(whole >> 32);
    } else if constexpr (bytes == 16) {
        Value<8> half[2];
        load_constant(half[0], address, active);
        load_constant(half[1], address + 8, active);
#pragma unroll
        for (unsigned w = 0; w < 4; ++w) value.word[w] = half[w / 2].word[w % 2];
    } else {
        COALPROF_LOAD("const");
    }
}

template <Memory memory = Memory::global, unsigned bytes>
__device__ __forceinline__ void load_value(Value<bytes>& value, Index address, bool active) {
    const int on = active;
    if constexpr (memory == Memory::global) {
        COALPROF_LOAD("global");
    } else if constexpr (memory == Memory::shared) {
        COALPROF_LOAD("shared");
    } else if constexpr (memory == Memory::constant) {
        load_constant(value, address, active);
    } else {
        COALPROF_LOAD("local");
    }
}

// The same from global memory through the read-only path (LDG.CONSTANT where L1 serves it).
template <unsigned bytes>
__device__ __forceinline__ void load_read_only(Value<bytes>& value, Index address, bool active) {
    const int on = active;
    COALPROF_LOAD("global.nc");
}

// A load through tex1Dfetch(). The texture has as many components as an element has words; the
// others come back as they must and are dropped.
template <unsigned bytes>
__device__ __forceinline__ void fetch_value(Value<bytes>& value, Index texture, Index texel,
                                            bool active) {
    Word word[4] = {};
    asm volatile(COALPROF_WHEN("%6") "tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}]; }"
                 : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3])
                 : "l"(texture), "r"(static_cast<int>(texel)), "r"(static_cast<int>(active)));
#pragma unroll
    for (unsigned w = 0; w < words_of(bytes); ++w) value.word[w] = word[w];
}

#define COALPROF_STORE(memory)                                                                    \
    if constexpr (bytes == 1)                                                                     \
        asm volatile(COALPROF_WHEN("%2") "st." memory ".u8 [%0], %1; }" ::"l"(address),           \
                     "r"(value.word[0]), "r"(on));                                                \
    else if constexpr (bytes == 2)                                                                \
        asm volatile(COALPROF_WHEN("%2") "st." memory ".u16 [%0], %1; }" ::"l"(address),          \
                     "r"(value.word[0]), "r"(on));                                                \
    else if constexpr (bytes == 4)                                                                \
        asm volatile(COALPROF_WHEN("%2") "st." memory ".u32 [%0], %1; }" ::"l"(address),          \
                     "r"(value.word[0]), "r"(on));                                                \
    else if constexpr (bytes == 8)                                                                \
        asm volatile(COALPROF_WHEN("%3") "st." memory ".v2.u32 [%0], {%1, %2}; }" ::"l"(address), \
                     "r"(value.word[0]), "r"(value.word[1]), "r"(on));                            \
    else                                                                                          \
        asm volatile(COALPROF_WHEN("%5") "st." memory                                             \
                                         ".v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(address),      \
                     "r"(value.word[0]), "r"(value.word[1]), "r"(value.word[2]),                  \
                     "r"(value.word[3]), "r"(on))

template <Memory memory = Memory::global, unsigned bytes>
__device__ __forceinline__ void store_value(const Value<bytes>& value, Index address, bool active) {
    static_assert(memory != Memory::constant);
    const int on = active;
    if constexpr (memory == Memory::global) {
        COALPROF_STORE("global");
    } else if constexpr (memory == Memory::shared) {
        COALPROF_STORE("shared");
    } else {
        COALPROF_STORE("local");
    }
}

// The type that an atomic adds. The width decides for integers, floating point has separate
// instructions.
enum class Number { u32, u64, f32, f64 };

constexpr unsigned bytes_of_number(Number number) {
    return number == Number::u32 || number == Number::f32 ? 4 : 8;
}

// On shared memory, where only 32-bit integers have an instruction (ATOMS).
__device__ __forceinline__ Value<4> add_shared_value(Index address, bool active,
                                                     const LaunchArgument& launch) {
    const int on = active;
    Value<4> old;
    asm volatile(COALPROF_WHEN("%2") "atom.shared.add.u32 %0, [%1], %3; }"
                 : "+r"(old.word[0])
                 : "l"(address), "r"(on), "r"(static_cast<Word>(launch.increment)));
    return old;
}
__device__ __forceinline__ void reduce_shared_value(Index address, bool active,
                                                    const LaunchArgument& launch) {
    const int on = active;
    asm volatile(COALPROF_WHEN("%1") "red.shared.add.u32 [%0], %2; }" ::"l"(address), "r"(on),
                 "r"(static_cast<Word>(launch.increment)));
}

// Adds and returns the earlier value.
template <Number number>
__device__ __forceinline__ Value<bytes_of_number(number)> add_value(Index address, bool active,
                                                                    const LaunchArgument& launch) {
    const int on = active;
    Value<bytes_of_number(number)> old;
    if constexpr (number == Number::u32) {
        asm volatile(COALPROF_WHEN("%2") "atom.global.add.u32 %0, [%1], %3; }"
                     : "+r"(old.word[0])
                     : "l"(address), "r"(on), "r"(static_cast<Word>(launch.increment)));
    } else if constexpr (number == Number::f32) {
        asm volatile(COALPROF_WHEN("%2") "atom.global.add.f32 %0, [%1], %3; }"
                     : "+r"(old.word[0])
                     : "l"(address), "r"(on), "f"(static_cast<float>(launch.real_increment)));
    } else {
        Index whole = 0;
        if constexpr (number == Number::u64)
            asm volatile(COALPROF_WHEN("%2") "atom.global.add.u64 %0, [%1], %3; }"
                         : "+l"(whole)
                         : "l"(address), "r"(on), "l"(launch.increment));
        else
            asm volatile(COALPROF_WHEN("%2") "atom.global.add.f64 %0, [%1], %3; }"
                         : "+l"(whole)
                         : "l"(address), "r"(on), "d"(launch.real_increment));
        old.word[0] = static_cast<Word>(whole);
        old.word[1] = static_cast<Word>(whole >> 32);
    }
    return old;
}

// Adds without returning the earlier value: RED, where an atomic whose result is used is ATOM.
template <Number number>
__device__ __forceinline__ void reduce_value(Index address, bool active,
                                             const LaunchArgument& launch) {
    const int on = active;
    if constexpr (number == Number::u32)
        asm volatile(COALPROF_WHEN("%1") "red.global.add.u32 [%0], %2; }" ::"l"(address), "r"(on),
                     "r"(static_cast<Word>(launch.increment)));
    else if constexpr (number == Number::f32)
        asm volatile(COALPROF_WHEN("%1") "red.global.add.f32 [%0], %2; }" ::"l"(address), "r"(on),
                     "f"(static_cast<float>(launch.real_increment)));
    else if constexpr (number == Number::u64)
        asm volatile(COALPROF_WHEN("%1") "red.global.add.u64 [%0], %2; }" ::"l"(address), "r"(on),
                     "l"(launch.increment));
    else
        asm volatile(COALPROF_WHEN("%1") "red.global.add.f64 [%0], %2; }" ::"l"(address), "r"(on),
                     "d"(launch.real_increment));
}

}  // namespace coalprof
