// Links where fmt.cpp defines the functions that a program with fmt's headers needs (see
// fmt.cmake).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    const std::vector<int> numbers{argc, 2};
    const std::string text =
        fmt::format("{:>{}} {:L} {} {:.3e} {} {} {}", argv[0], argc + 8, 1.5, 2.5f, 3.5L, argc,
                    fmt::join(numbers, ", "), static_cast<const void*>(argv));
    fmt::print(stderr, "{}{:#x}{:c}\n", text, argc, 'c');
    return text == fmt::to_string(0.1) ? 1 : 0;
}
