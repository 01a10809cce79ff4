// Names of the arrays that instructions reach: the parameter that a pointer came from, or a
// variable. They distinguish two loads of one source line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/debug_names.h"

namespace coalprof {

// Follows pointers through the statements of one function, in text order. The sum of two parameters
// has no name; a choice between two has both, "x or y".
class ArrayNames {
 public:
    // `parameters`: of the kernel, as the PTX names them.
    explicit ArrayNames(std::vector<std::string> parameters) : parameters_(std::move(parameters)) {}

    void take(std::string_view statement);
    // The array of an address's base, a register or a variable. "arg0": nvcc keeps no names of
    // parameters; "*x": a pointer that x holds; empty: not known.
    std::string array_at(std::string_view base) const { return pointer_in(base).array; }

 private:
    struct Pointer {
        std::string array;
        bool is_certain = false;  // not an offset that is added to a pointer
    };
    Pointer pointer_in(std::string_view word) const;
    // None where neither is a pointer, or both may be.
    static Pointer one_of(const Pointer& a, const Pointer& b);
    // "x or y"; none if one of them is no pointer.
    static Pointer chosen(const Pointer& a, const Pointer& b);
    void set(std::string_view result, const Pointer& pointer);
    void take_load(std::string_view opcode, std::string_view operands);
    std::string parameter_at(std::string_view name, std::uint64_t offset) const;

    std::vector<std::string> parameters_;
    std::map<std::string, Pointer, std::less<>> pointers_;  // register -> what it points to
};

// The parameters of a __global__ function as its text has them, for PTX without debug information.
// Of functions with one name it is the one whose pointers are those of the symbol. Empty: there is
// none.
std::vector<SourceParameter> parameters_in_text(const std::string& cuda, const std::string& symbol);

// "arg1" by the names of the source: "x"; unchanged where it has no name.
std::string array_in_source(const std::string& array, const std::vector<SourceParameter>& names);

}  // namespace coalprof
