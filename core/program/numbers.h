// The results of arithmetic instructions, lane by lane: integers, bits (bfind, popc), floating
// point and conversions.
#pragma once

#include <cstdint>

#include "core/program/arithmetic.h"

namespace coalprof {

// For f16, bf16, f32 and f64.
double real_number(std::uint64_t value, PtxType type);
std::uint64_t bits_of_real(double value, PtxType type);
// cvt where its operand or its result is a floating-point number.
void convert_reals(const PtxStep& step, const LaneValue& value, LaneValue& result);
// 0 to 1; 0 for NaN.
double saturated(double value);
double real_of(const PtxStep& step, double a, double b);

inline bool relation_holds(PtxRelation relation, int order) {
    switch (relation) {
        case PtxRelation::eq: return order == 0;
        case PtxRelation::ne: return order != 0;
        case PtxRelation::lt: return order < 0;
        case PtxRelation::le: return order <= 0;
        case PtxRelation::gt: return order > 0;
        default: return order >= 0;
    }
}
// The lanes for which it does: of integers that are the same in all blocks of the box; of real
// numbers, which may be none.
std::uint32_t compared_integers(const PtxStep& step, const LaneValue& a, const LaneValue& b);
std::uint32_t compared_reals(const PtxStep& step, const LaneValue& a, const LaneValue& b);

std::uint64_t wide_product(std::uint64_t a, std::uint64_t b, PtxType type);
// For instructions whose numbers must be the same in all blocks of the box.
std::uint64_t of_fixed(const PtxStep& step, const Inputs& in, std::uint32_t lane);

// Exchanges between the lanes of a warp: shuffles, votes, matches and reductions; and the
// arithmetic of atomics.
struct Exchanged {
    LaneValue first;           // a predicate keeps lane n in bit n of at[0]
    std::uint32_t second = 0;  // a predicate, for instructions with two results
};
bool is_exchange(Opcode opcode);
// Among the active lanes. Throws BoxMustSplit.
void exchange(const PtxStep& step, const Inputs& in, std::uint32_t active, Exchanged& result);

// The result of an atomic, `before` being the content of memory; of redux likewise.
std::uint64_t combined(const PtxStep& step, std::uint64_t before, std::uint64_t value);

}  // namespace coalprof
