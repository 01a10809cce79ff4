// What a PTX instruction costs the scheduler that issues it.
#pragma once

namespace coalprof {

// Cost of a warp. Cycles are those of a scheduler, which has a quarter of each unit.
struct IssueCost {
    float issued = 0;   // instructions
    float integer = 0;  // cycles of the units for integers and comparisons: 16 lanes a cycle
    float special = 0;  // of those for reciprocals, roots and exponentials: 4 lanes a cycle
    float doubles = 0;  // of those for doubles: 16 lanes a cycle
    float elapsed = 0;  // cycles until the warp's next one; 0: not known
    void add(const IssueCost& other) {
        issued += other.issued;
        integer += other.integer;
        special += other.special;
        doubles += other.doubles;
        elapsed += other.elapsed;
    }
    IssueCost times(float by) const {
        return {issued * by, integer * by, special * by, doubles * by, elapsed * by};
    }
};

}  // namespace coalprof
