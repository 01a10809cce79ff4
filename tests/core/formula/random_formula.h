// Random formulas and launches for the tests: text, so that the parser is tested with the rest.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof::testing {

class RandomFormulas {
 public:
    explicit RandomFormulas(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

    // Of about that many operators at most; often affine or periodic, seldom failing everywhere.
    std::string expression(int depth) {
        if (depth <= 0 || one_in(6)) return leaf();
        const auto operand = [&] { return expression(depth - 1 - static_cast<int>(below(2))); };
        switch (below(14)) {
            case 0: return "(" + operand() + " + " + operand() + ")";
            case 1: return "(" + operand() + " - " + operand() + ")";
            case 2: return "(" + operand() + " * " + (one_in(3) ? operand() : small_number()) + ")";
            case 3:
            case 4: return "(" + operand() + " / " + divisor(depth) + ")";
            case 5:
            case 6: return "(" + operand() + " % " + divisor(depth) + ")";
            case 7:
                return "(" + operand() + (one_in(2) ? " << " : " >> ") +
                       (one_in(8) ? operand() : std::to_string(below(12))) + ")";
            case 8:
            case 9:
                return "(" + operand() + pick({" & ", " | ", " ^ "}) +
                       (one_in(2) ? operand() : small_number()) + ")";
            case 10:
                return "(" + operand() + pick({" < ", " <= ", " > ", " >= ", " == ", " != "}) +
                       operand() + ")";
            case 11: return "(" + operand() + " ? " + operand() + " : " + operand() + ")";
            case 12:
                return pick({"-", "~", "!", "abs", "__popc", "__clz", "__brev"}) +
                       ("(" + operand() + ")");
            default: return call(depth);
        }
    }

    std::string with_condition(int depth) {
        return one_in(3) ? expression(depth) + " if " + expression(depth - 1) : expression(depth);
    }

    // `most_threads` from 1; blocks of all shapes, multiples of 32 half of the time.
    Scope scope(std::uint64_t most_threads) {
        Scope scope;
        scope.threads = 1 + below(most_threads);
        scope.block = one_in(2) ? 32 * static_cast<std::uint32_t>(1 + below(6))
                                : static_cast<std::uint32_t>(1 + below(100));
        scope.block_shape = shaped(scope.block);
        scope.grid_shape = one_in(2) ? Dimensions{scope.blocks()} : grid_around(scope.blocks());
        scope.values = {static_cast<std::int64_t>(below(33)),
                        static_cast<std::int64_t>(below(2000))};
        return scope;
    }

    // Dimensions of so many threads.
    Dimensions shaped(std::uint64_t threads) {
        Dimensions shape{threads};
        for (std::uint64_t* axis : {&shape.y, &shape.z})
            for (const std::uint64_t count : {2u, 3u, 4u, 5u})
                if (*axis == 1 && shape.x % count == 0 && one_in(4)) {
                    *axis = count;
                    shape.x /= count;
                }
        return shape;
    }
    // A grid of at least so many blocks, of which the last ones may never start.
    Dimensions grid_around(std::uint64_t blocks) {
        Dimensions grid{1 + below(5), 1 + below(4)};
        grid.z = (blocks - 1) / (grid.x * grid.y) + 1;
        if (one_in(2)) {
            grid.y *= grid.z;
            grid.z = 1;
        }
        return grid;
    }

    static std::vector<std::string> parameters() { return {"k", "pitch"}; }

 private:
    std::string pick(std::initializer_list<const char*> choices) {
        return *(choices.begin() + below(choices.size()));
    }
    std::string small_number() {
        switch (below(6)) {
            case 0: return std::to_string(std::uint64_t{1} << below(9));
            case 1: return std::to_string((std::uint64_t{1} << below(9)) - 1);
            case 2: return std::to_string(below(1000));
            case 3:
                return pick(
                    {"k", "pitch", "n", "bdim", "gdim", "bdim.x", "bdim.z", "gdim.y", "gdim.z"});
            default: return std::to_string(below(20));
        }
    }
    std::string leaf() {
        if (one_in(200)) return std::to_string(random_() >> 1);  // up to 2^63 - 1
        if (one_in(4)) return small_number();
        if (one_in(2)) return "i";
        return pick({"i", "tid", "bid", "lane", "warp", "tid.x", "tid.y", "tid.z", "bid.x", "bid.y",
                     "bid.z"});
    }
    std::string divisor(int depth) {
        if (one_in(12)) return expression(depth - 2);
        return one_in(10) ? "(-" + std::to_string(1 + below(9)) + ")"
                          : std::to_string(1 + below(one_in(3) ? 1000 : 40));
    }
    std::string call(int depth) {
        const std::string first = expression(depth - 1);
        const std::string second = expression(depth - 2);
        switch (below(6)) {
            case 0: return "(" + first + " && " + second + ")";
            case 1: return "(" + first + " || " + second + ")";
            case 2: return "hash(" + first + ", " + std::to_string(1 + below(300)) + ")";
            case 3:
            case 4: return "min(" + first + ", " + second + ")";
            default: return "max(" + first + ", " + second + ")";
        }
    }

    std::mt19937_64 random_;
};

}  // namespace coalprof::testing
