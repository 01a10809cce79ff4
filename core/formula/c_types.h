// The types of pasted C: their sizes, the accesses they make, the offsets of their members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/program.h"

namespace coalprof {

using CTypeId = std::size_t;

struct CMember {
    std::string name;
    CTypeId type = 0;
    std::uint32_t offset_bytes = 0;
};

struct CType {
    enum class Kind : std::uint8_t { scalar, structure, array, pointer };
    Kind kind = Kind::scalar;
    std::string name;
    std::uint64_t size_bytes = 0;
    std::uint32_t align_bytes = 1;
    std::optional<ElementType> element;  // one access moves all of it; none: in parts, or --type's
    CTypeId inner = 0;                   // type of an array's elements or of a pointer's target
    std::vector<CMember> members;        // of structures and of float4 and the like
    bool is_integer = false;             // its value may make an index
    bool is_signed = true;
};

class CTypes {
 public:
    // `usual` is the type of undeclared arrays: --type.
    explicit CTypes(ElementType usual);

    static constexpr CTypeId usual = 0;
    static constexpr CTypeId none = 1;  // void

    const CType& at(CTypeId id) const { return types_[id]; }
    // "float4", "P", "unsigned long long": words with a blank between them.
    std::optional<CTypeId> find(std::string_view words) const;
    // True if a declaration or a cast may begin with the word: "unsigned", "const", "P".
    bool begins_type(std::string_view word) const;

    CTypeId pointer_to(CTypeId inner);
    CTypeId array_of(CTypeId inner, std::uint64_t count);
    // Lays its members out; they have no offsets yet.
    CTypeId add_structure(std::string name, std::vector<CMember> members);
    void add_alias(std::string name, CTypeId type) { aliases_.emplace_back(std::move(name), type); }
    // The only structure with that member.
    std::optional<CTypeId> structure_with(std::string_view member) const;

    const CMember* member_of(CTypeId type, std::string_view name) const;
    // The largest width at which any part of it is aligned: an index counts in it.
    std::uint32_t grain_of(CTypeId type) const;
    CTypeId type_of(ElementType element) const;
    // A whole number or a fraction, which C converts to others.
    bool is_number(CTypeId type) const;
    // float for float4, half for half2; `none` for others.
    CTypeId component_of(CTypeId type) const;
    // The unit in which a structure is copied: its alignment, of the type of its members where they
    // fit.
    CTypeId unit_of_copy(CTypeId structure) const;

 private:
    CTypeId add(CType type);
    void add_scalar(std::string_view words, ElementType element, bool is_integer, bool is_signed);

    std::vector<CType> types_;
    std::size_t built_in_ = 0;  // the first ones, which have CUDA's names
    std::vector<std::pair<std::string, CTypeId>> aliases_;
};

// const, __restrict__, static, ...: words that say nothing about traffic.
bool is_qualifier(std::string_view word);

}  // namespace coalprof
