// The pieces from which a program's kernel is composed (kernels/compose.cpp). Each access is one
// PTX instruction written out, so that a launch does exactly the memory instructions of its
// program: no merging of neighbours, no read-only path, no deletion of what looks unused.
#pragma once

#include "kernels/source/arguments.h"
#include "kernels/source/values.h"

namespace coalprof {

template <unsigned bytes>
struct Value {
    Word word[words_of(bytes)] = {};
};

// The elements of one thread. All arrays are indexed by constants once the loops are unrolled, and
// so live in registers.
template <int per_thread>
struct Lanes {
    Index element[per_thread];
    bool active[per_thread];
};

template <int per_thread>
struct Addresses {
    Index of[per_thread];
};

// A formula of which every number is known to be below 2^32. The compiler, told so, divides in 32
// bits, which takes a quarter of the instructions.
template <typename Formula>
__device__ __forceinline__ Formula narrowed(Formula formula) {
    constexpr unsigned count = sizeof(Formula) / sizeof(Index);
    Index numbers[count];
    memcpy(numbers, &formula, sizeof(Formula));
#pragma unroll
    for (unsigned k = 0; k < count; ++k) numbers[k] = static_cast<Word>(numbers[k]);
    memcpy(&formula, numbers, sizeof(Formula));
    return formula;
}

// `may_idle`: the formula can answer idle_lane; `narrow`: indices and the formula's numbers are
// below 2^32.
template <bool may_idle, bool narrow, int block, int per_thread, typename Formula>
__device__ __forceinline__ Lanes<per_thread> place(const Formula& formula, Index first) {
    Lanes<per_thread> lanes;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        const Index i = first + static_cast<Index>(j) * block;
        if constexpr (narrow)
            lanes.element[j] = narrowed(formula)(static_cast<Word>(i));
        else
            lanes.element[j] = formula(i);
        lanes.active[j] = !may_idle || lanes.element[j] != idle_lane;
    }
    return lanes;
}

// `apart`: the formula is written out, and the compiler could see that two elements of one thread
// are the same and drop an access; a multiple of an unknown zero keeps them apart.
template <unsigned bytes, bool apart, int per_thread>
__device__ __forceinline__ Addresses<per_thread> locate(const Operand& operand,
                                                        const Lanes<per_thread>& lanes,
                                                        const LaunchArgument& launch) {
    Addresses<per_thread> addresses;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        addresses.of[j] = operand.base + lanes.element[j] * bytes;
        if (apart) addresses.of[j] += static_cast<Index>(j) * launch.nothing;
    }
    return addresses;
}

constexpr __device__ __forceinline__ Index pointer_in(const Value<8>& value) {
    return static_cast<Index>(value.word[1]) << 32 | value.word[0];
}

// The same through a table: `rows` are the pointers that were loaded from `table`.
template <unsigned bytes, int per_thread>
__device__ __forceinline__ Addresses<per_thread> locate_in_rows(
    const Operand& table, const Lanes<per_thread>& table_lanes, const Value<8> (&rows)[per_thread],
    const Lanes<per_thread>& lanes) {
    Addresses<per_thread> addresses;
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        addresses.of[j] = pointer_in(rows[j]) + lanes.element[j] * bytes -
                          table_lanes.element[j] * table.row_bytes;
    return addresses;
}

// Predicated, not branched around: the loads of one thread follow each other without a jump. Where
// `active` is known to be true, nothing of the predicate is left.
#define COALPROF_WHEN(operand) "{ .reg .pred p; setp.ne.s32 p, " operand ", 0; @p "

template <unsigned bytes>
__device__ __forceinline__ void load_value(Value<bytes>& value, Index address, bool active) {
    const int on = active;
    if constexpr (bytes == 1)
        asm volatile(COALPROF_WHEN("%2") "ld.global.u8 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 2)
        asm volatile(COALPROF_WHEN("%2") "ld.global.u16 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 4)
        asm volatile(COALPROF_WHEN("%2") "ld.global.u32 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 8)
        asm volatile(COALPROF_WHEN("%3") "ld.global.v2.u32 {%0, %1}, [%2]; }"
                     : "+r"(value.word[0]), "+r"(value.word[1])
                     : "l"(address), "r"(on));
    else
        asm volatile(COALPROF_WHEN("%5") "ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                     : "+r"(value.word[0]), "+r"(value.word[1]), "+r"(value.word[2]),
                       "+r"(value.word[3])
                     : "l"(address), "r"(on));
}

// The same through the read-only path (LDG.CONSTANT where L1 serves it).
template <unsigned bytes>
__device__ __forceinline__ void load_read_only(Value<bytes>& value, Index address, bool active) {
    const int on = active;
    if constexpr (bytes == 1)
        asm volatile(COALPROF_WHEN("%2") "ld.global.nc.u8 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 2)
        asm volatile(COALPROF_WHEN("%2") "ld.global.nc.u16 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 4)
        asm volatile(COALPROF_WHEN("%2") "ld.global.nc.u32 %0, [%1]; }"
                     : "+r"(value.word[0])
                     : "l"(address), "r"(on));
    else if constexpr (bytes == 8)
        asm volatile(COALPROF_WHEN("%3") "ld.global.nc.v2.u32 {%0, %1}, [%2]; }"
                     : "+r"(value.word[0]), "+r"(value.word[1])
                     : "l"(address), "r"(on));
    else
        asm volatile(COALPROF_WHEN("%5") "ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                     : "+r"(value.word[0]), "+r"(value.word[1]), "+r"(value.word[2]),
                       "+r"(value.word[3])
                     : "l"(address), "r"(on));
}

// What tex1Dfetch() becomes. The texture has as many components as an element has words; the
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

template <unsigned bytes>
__device__ __forceinline__ void store_value(const Value<bytes>& value, Index address, bool active) {
    const int on = active;
    if constexpr (bytes == 1)
        asm volatile(COALPROF_WHEN("%2") "st.global.u8 [%0], %1; }" ::"l"(address),
                     "r"(value.word[0]), "r"(on));
    else if constexpr (bytes == 2)
        asm volatile(COALPROF_WHEN("%2") "st.global.u16 [%0], %1; }" ::"l"(address),
                     "r"(value.word[0]), "r"(on));
    else if constexpr (bytes == 4)
        asm volatile(COALPROF_WHEN("%2") "st.global.u32 [%0], %1; }" ::"l"(address),
                     "r"(value.word[0]), "r"(on));
    else if constexpr (bytes == 8)
        asm volatile(COALPROF_WHEN("%3") "st.global.v2.u32 [%0], {%1, %2}; }" ::"l"(address),
                     "r"(value.word[0]), "r"(value.word[1]), "r"(on));
    else
        asm volatile(
            COALPROF_WHEN("%5") "st.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(address),
            "r"(value.word[0]), "r"(value.word[1]), "r"(value.word[2]), "r"(value.word[3]),
            "r"(on));
}

// How an atomic adds. The width decides for integers, floating point has instructions of its own.
enum class Number { u32, u64, f32, f64 };

constexpr unsigned bytes_of_number(Number number) {
    return number == Number::u32 || number == Number::f32 ? 4 : 8;
}

// Adds and answers what was there before.
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

// Adds and does not ask what was there: RED, where an atomic whose result is used is ATOM.
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

template <unsigned bytes, int per_thread>
__device__ __forceinline__ void load(Value<bytes> (&values)[per_thread],
                                     const Addresses<per_thread>& addresses,
                                     const Lanes<per_thread>& lanes) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) load_value(values[j], addresses.of[j], lanes.active[j]);
}

template <unsigned bytes, int per_thread>
__device__ __forceinline__ void load_read_only(Value<bytes> (&values)[per_thread],
                                               const Addresses<per_thread>& addresses,
                                               const Lanes<per_thread>& lanes) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) load_read_only(values[j], addresses.of[j], lanes.active[j]);
}

template <unsigned bytes, int per_thread>
__device__ __forceinline__ void fetch(Value<bytes> (&values)[per_thread],
                                      const Addresses<per_thread>& addresses,
                                      const Lanes<per_thread>& lanes, const Operand& operand) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        fetch_value(values[j], operand.texture, (addresses.of[j] - operand.base) / bytes,
                    lanes.active[j]);
}

// Collects in `seen` the bits in which loaded values differ from what the array holds. The mark of
// a store is left in it; whoever reads `seen` leaves it out.
template <unsigned bytes, int per_thread>
__device__ __forceinline__ void compare(Word (&seen)[per_thread],
                                        const Value<bytes> (&values)[per_thread],
                                        const Lanes<per_thread>& lanes, const Operand& operand) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        Word differing = 0;
#pragma unroll
        for (unsigned w = 0; w < words_of(bytes); ++w)
            differing |= values[j].word[w] ^ pattern_word(bytes, lanes.element[j], w, operand.seed);
        if (lanes.active[j]) seen[j] |= differing;
    }
}

// The same for the row pointers of a table.
template <int per_thread>
__device__ __forceinline__ void compare_rows(Word (&seen)[per_thread],
                                             const Value<8> (&rows)[per_thread],
                                             const Lanes<per_thread>& lanes, const Operand& table) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        if (lanes.active[j] &&
            pointer_in(rows[j]) != table.rows_base + lanes.element[j] * table.row_bytes)
            seen[j] |= 1;
}

// The same for the answers of atomics: between the start value and what one launch can have added.
template <Number number, int per_thread>
__device__ __forceinline__ void compare_counts(
    Word (&seen)[per_thread], const Value<bytes_of_number(number)> (&olds)[per_thread],
    const Lanes<per_thread>& lanes, const Operand& operand, const LaunchArgument& launch) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        const Word start = start_count(lanes.element[j], operand.seed);
        bool fits;
        if constexpr (number == Number::u32) {
            fits = olds[j].word[0] - start <= launch.bound;
        } else if constexpr (number == Number::u64) {
            fits = pointer_in(olds[j]) - start <= launch.bound;
        } else if constexpr (number == Number::f32) {
            const float added = __uint_as_float(olds[j].word[0]) - static_cast<float>(start);
            fits = added >= 0 && added <= static_cast<float>(launch.bound);
        } else {
            const double added = __longlong_as_double(static_cast<long long>(pointer_in(olds[j]))) -
                                 static_cast<double>(start);
            fits = added >= 0 && added <= static_cast<double>(launch.bound);
        }
        if (lanes.active[j] && !fits) seen[j] |= 1;
    }
}

// Stores each element's value with its mark. What was loaded before takes part: a wrong load makes
// a wrong store, and no store can run ahead of the loads that it depends on.
template <unsigned bytes, int per_thread>
__device__ __forceinline__ void store(const Addresses<per_thread>& addresses,
                                      const Lanes<per_thread>& lanes,
                                      const Word (&seen)[per_thread], const Operand& operand) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        Value<bytes> value;
#pragma unroll
        for (unsigned w = 0; w < words_of(bytes); ++w)
            value.word[w] =
                (seen[j] & ~touched_bits) ^ touched_word(bytes, lanes.element[j], w, operand.seed);
        store_value(value, addresses.of[j], lanes.active[j]);
    }
}

template <Number number, int per_thread>
__device__ __forceinline__ void add(Value<bytes_of_number(number)> (&olds)[per_thread],
                                    const Addresses<per_thread>& addresses,
                                    const Lanes<per_thread>& lanes, const LaunchArgument& launch) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        olds[j] = add_value<number>(addresses.of[j], lanes.active[j], launch);
}

template <Number number, int per_thread>
__device__ __forceinline__ void reduce(const Addresses<per_thread>& addresses,
                                       const Lanes<per_thread>& lanes,
                                       const LaunchArgument& launch) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        reduce_value<number>(addresses.of[j], lanes.active[j], launch);
}

// The last thing a kernel does: its only other store, jumped over unless a loaded value was wrong.
template <int per_thread>
__device__ __forceinline__ void report(const Word (&seen)[per_thread], Index first,
                                       const LaunchArgument& launch) {
    Word all = 0;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) all |= seen[j];
    if ((all & ~touched_bits) != 0)
        asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(launch.fault), "l"(first + 1),
                     "l"(static_cast<Index>(all)));
}

}  // namespace coalprof
