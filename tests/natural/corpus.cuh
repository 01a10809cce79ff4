// A launch of the corpus: a kernel, its grid, and its arguments with their contents. What decides an address or a branch is a
// formula of the element's number, so that a machine without a GPU makes the same launch.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// The finalizer of MurmurHash3 (Appleby, public domain).
__host__ __device__ inline unsigned hash(unsigned number) {
    number += 0x9e3779b9u;
    number = (number ^ number >> 16) * 0x85ebca6bu;
    number = (number ^ number >> 13) * 0xc2b2ae35u;
    return number ^ number >> 16;
}
__host__ __device__ inline float unit(unsigned number) { return (hash(number) >> 8) * 0x1p-24f; }  // in [0, 1)

enum class Contents { number, any, zeros, formula };
enum class Numbers { bits, f16, f32, f64 };  // what `any` contents are made of

struct Argument {
    std::string element;  // as `coalprof kernel --arg` spells it; of a number its digits, of a structure empty
    Contents contents = Contents::number;
    Numbers numbers = Numbers::bits;
    std::size_t count = 0, bytes = 0;
    bool is_set_again = false;                // before each launch
    std::function<void(void*)> fill;          // of a formula
    std::vector<unsigned char> value;         // of a number or structure
};

template <class Value>
void for_all(std::size_t count, const Value& value) {
    const std::size_t parts = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (std::size_t part = 0; part < parts; ++part)
        threads.emplace_back([&, part] { for (std::size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) value(i); });
    for (std::thread& thread : threads) thread.join();
}

template <class T>
Argument array(Contents contents, std::size_t count) {
    Argument made;
    made.contents = contents;
    made.count = count;
    made.bytes = count * sizeof(T);
    if constexpr (std::is_floating_point_v<T>) made.element = sizeof(T) == 4 ? "f32" : "f64";
    else if constexpr (std::is_integral_v<T>) made.element = (std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
    else if constexpr (std::is_same_v<T, float2>) made.element = "f32x2";
    else if constexpr (std::is_same_v<T, float4>) made.element = "f32x4";
    else if constexpr (std::is_same_v<T, __half>) made.element = "f16";
    else made.element = "u8", made.count = made.bytes;
    if (std::is_same_v<T, double>) made.numbers = Numbers::f64;
    else if (std::is_same_v<T, __half> || std::is_same_v<T, __half2>) made.numbers = Numbers::f16;
    else if (!std::is_integral_v<T>) made.numbers = Numbers::f32;  // structures of the corpus hold floats
    return made;
}

// No address and no branch depends on what it holds; floating point lies in [0, 1).
template <class T>
Argument any(std::size_t count) { return array<T>(Contents::any, count); }

// Zeros at the beginning of each launch.
template <class T>
Argument zeros(std::size_t count) { return array<T>(Contents::zeros, count); }

template <class T, class Value>
Argument formula(std::size_t count, Value value) {
    Argument made = array<T>(Contents::formula, count);
    made.fill = [=](void* to) { for_all(count, [&](std::size_t i) { static_cast<T*>(to)[i] = value(i); }); };
    return made;
}

// A formula that the kernel overwrites.
template <class T, class Value>
Argument changed(std::size_t count, Value value) {
    Argument made = formula<T>(count, value);
    made.is_set_again = true;
    return made;
}

template <class Parameter, class Given>
Argument as_argument(const Given& given) {
    if constexpr (std::is_pointer_v<Parameter>) {
        return given;
    } else {
        const Parameter value = static_cast<Parameter>(given);
        Argument made;
        made.bytes = sizeof value;
        made.value.resize(sizeof value);
        std::memcpy(made.value.data(), &value, sizeof value);
        char digits[40] = "";
        if constexpr (std::is_floating_point_v<Parameter>) std::snprintf(digits, sizeof digits, "%.17g", double(value));
        else if constexpr (std::is_integral_v<Parameter>) std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(value));
        made.element = digits;
        return made;
    }
}

struct Shape {
    dim3 grid, block;
    unsigned shared_bytes = 0;  // dynamic
};

struct Launch {
    std::string name, kernel;
    const void* function;
    Shape shape;
    std::vector<Argument> arguments;
};

class Table {
 public:
    // `kernel`, twice: KERNEL(name). A kernel's second launch gets a name of its own by `add_as`.
    template <class... Parameters, class... Given>
    void add(const char* kernel, void (*function)(Parameters...), Shape shape, const Given&... given) {
        add_as(kernel, kernel, function, shape, given...);
    }
    template <class... Parameters, class... Given>
    void add_as(const char* name, const char* kernel, void (*function)(Parameters...), Shape shape, const Given&... given) {
        launches.push_back({name, kernel, reinterpret_cast<const void*>(function), shape, {as_argument<Parameters>(given)...}});
    }
    std::vector<Launch> launches;
};
#define KERNEL(...) #__VA_ARGS__, __VA_ARGS__

// One for each trade.
void add_images(Table&);
void add_linear(Table&);
void add_stencils(Table&);
void add_particles(Table&);
void add_graphs(Table&);
void add_learning(Table&);
void add_sparse(Table&);
void add_sorting(Table&);
void add_others(Table&);

constexpr std::size_t Ki = 1024, Mi = Ki * Ki;
