// The pieces from which a program's kernel is composed (kernels/compose.cpp): one instruction of
// the program for all the elements of a thread.
#pragma once

#include "kernels/source/arguments.h"
#include "kernels/source/instructions.cuh"
#include "kernels/source/values.h"

namespace coalprof {

// The elements of one thread. All arrays are indexed by constants once the loops are unrolled, and
// so are in registers.
template <int per_thread>
struct Lanes {
    Index element[per_thread];
    bool active[per_thread];
    bool any[per_thread];  // some lane of the warp is active; the same in all of them
};

template <int per_thread>
struct Addresses {
    Index of[per_thread];
};

// Every lane of the warp is here, or has left the kernel, or never existed. Lanes that diverged
// before converge.
__device__ __forceinline__ bool any_of_warp(bool active) { return __any_sync(~0u, active); }

// `idle`: the reasons for which the formula can answer idle_lane; `step`: from an element of the
// thread to its next one. `ends`: the launch may end before the thread's last element; those past
// its end are as idle.
template <Idle idle, bool ends, int step, int per_thread, typename Formula>
__device__ __forceinline__ Lanes<per_thread> place(const Formula& formula, Index first, Index end) {
    Lanes<per_thread> lanes;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        const Index i = first + static_cast<Index>(j) * step;
        if (ends && i >= end)
            lanes.element[j] = idle_lane;
        else
            lanes.element[j] = formula(i);
        lanes.active[j] = (idle == Idle::none && !ends) || lanes.element[j] != idle_lane;
    }
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        lanes.any[j] = (idle != Idle::warps && !ends) || any_of_warp(lanes.active[j]);
    return lanes;
}

// The same for elements that are known to be `step` from each other.
template <int per_thread, typename Formula>
__device__ __forceinline__ Lanes<per_thread> place_evenly(const Formula& formula, Index first,
                                                          Index step) {
    Lanes<per_thread> lanes;
    const Index element = formula(first);
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        lanes.element[j] = element + static_cast<Index>(j) * step;
        lanes.active[j] = true;
        lanes.any[j] = true;
    }
    return lanes;
}

// `base`: the address of element 0. `apart`: the compiler could see that two elements of one thread
// are the same and drop an access; a multiple of an unknown zero prevents that.
template <unsigned bytes, bool apart, int per_thread>
__device__ __forceinline__ Addresses<per_thread> locate(Index base, const Lanes<per_thread>& lanes,
                                                        const LaunchArgument& launch) {
    Addresses<per_thread> addresses;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        addresses.of[j] = base + lanes.element[j] * bytes;
        if (apart) addresses.of[j] += static_cast<Index>(j) * launch.nothing;
    }
    return addresses;
}

constexpr __device__ __forceinline__ Index pointer_in(const Value<8>& value) {
    return static_cast<Index>(value.word[1]) << 32 | value.word[0];
}

// The same through a table: `rows` are the pointers loaded from `table`.
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

// Does access(j) for each element of the thread. Accesses without any active lane are jumped over:
// with all lanes predicated off, an H200 counts one as executed now and then (7,558 of 268,240
// loads of f64), though nothing reaches L1. Two ways through, with jumps and without for warps that
// are active in every element, were slower still: an H200 loads 6 % less in a second with the
// jumps, 9 % with both (f32, a condition that nearly all lanes fulfil, four a thread; one a thread:
// the same as without).
template <int per_thread, typename Access>
__device__ __forceinline__ void each(const Lanes<per_thread>& lanes, Access access) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        if (lanes.any[j]) access(j);
}

template <Memory memory, unsigned bytes, int per_thread>
__device__ __forceinline__ void load(Value<bytes> (&values)[per_thread],
                                     const Addresses<per_thread>& addresses,
                                     const Lanes<per_thread>& lanes) {
    each(lanes, [&](int j) { load_value<memory>(values[j], addresses.of[j], lanes.active[j]); });
}

// Loads from constant memory, which also holds the kernel's parameters: they are counted as the
// difference to the kernel without them. So they stand in a loop that goes round once or not at
// all: it is jumped over where an `if` would be predicated. The address seems to change with every
// round, lest ptxas makes an `if` of it.
template <unsigned bytes, int per_thread>
__device__ __forceinline__ void load_constants(Value<bytes> (&values)[per_thread],
                                               const Addresses<per_thread>& addresses,
                                               const Lanes<per_thread>& lanes,
                                               const LaunchArgument& launch) {
#pragma unroll 1
    for (Index rounds = launch.rounds; rounds != 0; rounds >>= 1)
        each(lanes, [&](int j) {
            load_value<Memory::constant>(values[j], addresses.of[j] + (rounds >> 1),
                                         lanes.active[j]);
        });
}

template <unsigned bytes, int per_thread>
__device__ __forceinline__ void load_read_only(Value<bytes> (&values)[per_thread],
                                               const Addresses<per_thread>& addresses,
                                               const Lanes<per_thread>& lanes) {
    each(lanes, [&](int j) { load_read_only(values[j], addresses.of[j], lanes.active[j]); });
}

template <unsigned bytes, int per_thread>
__device__ __forceinline__ void fetch(Value<bytes> (&values)[per_thread],
                                      const Addresses<per_thread>& addresses,
                                      const Lanes<per_thread>& lanes, const Operand& operand) {
    each(lanes, [&](int j) {
        fetch_value(values[j], operand.texture, (addresses.of[j] - operand.base) / bytes,
                    lanes.active[j]);
    });
}

// Collects in `seen` those of the `checked` bits in which loaded values differ from the array's
// content. The mark of a store is left in it; readers of `seen` must mask it.
template <unsigned bytes, int per_thread>
__device__ __forceinline__ void compare(Word (&seen)[per_thread],
                                        const Value<bytes> (&values)[per_thread],
                                        const Lanes<per_thread>& lanes, const Operand& operand,
                                        Word checked = ~Word{0}) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        Word differing = 0;
#pragma unroll
        for (unsigned w = 0; w < words_of(bytes); ++w)
            differing |= values[j].word[w] ^ pattern_word(bytes, lanes.element[j], w, operand.seed);
        if (lanes.active[j]) seen[j] |= differing & checked;
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

// The same for the answers of atomics: between the start value and the most that one launch can
// have added.
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

// Stores each element's value with its mark. Loaded values take part: a wrong load makes a wrong
// store, and no store can run ahead of the loads that it depends on.
template <Memory memory, unsigned bytes, int per_thread>
__device__ __forceinline__ void store(const Addresses<per_thread>& addresses,
                                      const Lanes<per_thread>& lanes,
                                      const Word (&seen)[per_thread], const Operand& operand) {
    each(lanes, [&](int j) {
        Value<bytes> value;
#pragma unroll
        for (unsigned w = 0; w < words_of(bytes); ++w)
            value.word[w] =
                (seen[j] & ~touched_bits) ^ touched_word(bytes, lanes.element[j], w, operand.seed);
        store_value<memory>(value, addresses.of[j], lanes.active[j]);
    });
}

// Stores the loaded values unchanged.
template <Memory memory, unsigned bytes, int per_thread>
__device__ __forceinline__ void store_loaded(const Addresses<per_thread>& addresses,
                                             const Lanes<per_thread>& lanes,
                                             const Value<bytes> (&values)[per_thread]) {
    each(lanes, [&](int j) { store_value<memory>(values[j], addresses.of[j], lanes.active[j]); });
}

// The threads of the block wait for each other, and see each other's stores to shared memory.
__device__ __forceinline__ void meet() { asm volatile("bar.sync 0;" ::: "memory"); }

// ptxas would make one of a warp's integer atomics at one address; here the plan decides that.
__device__ __forceinline__ Index apart_in_warp(Index address, const LaunchArgument& launch) {
    return address + threadIdx.x * static_cast<Word>(launch.nothing);
}

// Only integers may be added in any order, so floating-point atomics are not changed.
template <Number number>
__device__ __forceinline__ Index atomic_address(Index address, const LaunchArgument& launch) {
    constexpr bool is_integer = number == Number::u32 || number == Number::u64;
    return is_integer ? apart_in_warp(address, launch) : address;
}

// The lane that sends an atomic for its warp, and the launch with all that it adds.
struct Sender {
    unsigned lane;
    bool is_here;
    LaunchArgument launch;
};
template <bool one_sends>
__device__ __forceinline__ Sender sender_of(bool active, const LaunchArgument& launch) {
    Sender sender{0, active, launch};
    if constexpr (one_sends) {
        const unsigned senders = __ballot_sync(~0u, active);
        sender.lane = __ffs(senders) - 1;
        sender.is_here = threadIdx.x % 32 == sender.lane;
        sender.launch.increment = launch.increment * __popc(senders);
    }
    return sender;
}

// `one_sends`: all lanes of a warp have one address.
template <Number number, bool one_sends, int per_thread>
__device__ __forceinline__ void add(Value<bytes_of_number(number)> (&olds)[per_thread],
                                    const Addresses<per_thread>& addresses,
                                    const Lanes<per_thread>& lanes, const LaunchArgument& launch) {
    each(lanes, [&](int j) {
        const Sender sender = sender_of<one_sends>(lanes.active[j], launch);
        olds[j] = add_value<number>(atomic_address<number>(addresses.of[j], launch), sender.is_here,
                                    sender.launch);
        if constexpr (one_sends) {
#pragma unroll
            for (unsigned w = 0; w < words_of(bytes_of_number(number)); ++w)
                olds[j].word[w] = __shfl_sync(~0u, olds[j].word[w], sender.lane);
        }
    });
}

template <Number number, bool one_sends, int per_thread>
__device__ __forceinline__ void reduce(const Addresses<per_thread>& addresses,
                                       const Lanes<per_thread>& lanes,
                                       const LaunchArgument& launch) {
    each(lanes, [&](int j) {
        const Sender sender = sender_of<one_sends>(lanes.active[j], launch);
        reduce_value<number>(atomic_address<number>(addresses.of[j], launch), sender.is_here,
                             sender.launch);
    });
}

// The same on shared memory.
template <int per_thread>
__device__ __forceinline__ void add_shared(Value<4> (&olds)[per_thread],
                                           const Addresses<per_thread>& addresses,
                                           const Lanes<per_thread>& lanes,
                                           const LaunchArgument& launch) {
    each(lanes, [&](int j) {
        olds[j] = add_shared_value(apart_in_warp(addresses.of[j], launch), lanes.active[j], launch);
    });
}
template <int per_thread>
__device__ __forceinline__ void reduce_shared(const Addresses<per_thread>& addresses,
                                              const Lanes<per_thread>& lanes,
                                              const LaunchArgument& launch) {
    each(lanes, [&](int j) {
        reduce_shared_value(apart_in_warp(addresses.of[j], launch), lanes.active[j], launch);
    });
}

// The end of a kernel: its only other store, jumped over unless a loaded value was wrong in one of
// `bits`. If launches may end early it is in a loop, since the compiler would predicate it: there
// the lanes of a warp communicate.
template <bool ends = false, int per_thread>
__device__ __forceinline__ void report(const Word (&seen)[per_thread], Word bits, Index first,
                                       const LaunchArgument& launch) {
    Word all = 0;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) all |= seen[j];
    const bool is_wrong = (all & bits) != 0;
    if (ends ? any_of_warp(is_wrong) : is_wrong)
        asm volatile(COALPROF_WHEN("%3") "st.global.v2.u64 [%0], {%1, %2}; }" ::"l"(launch.fault),
                     "l"(first + 1), "l"(static_cast<Index>(all)), "r"(static_cast<int>(is_wrong)));
}

}  // namespace coalprof
