// Formulas over grids and blocks of up to three dimensions against a launch played out one block
// and one thread after the other: another reading of the same text, sharing no code with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/count/predict.h"
#include "core/formula/formula.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

struct Place {
    Dimensions thread;  // threadIdx
    Dimensions block;   // blockIdx
};

struct Launched {
    Dimensions block;
    Dimensions grid;
    std::uint64_t block_number(const Place& at) const {
        return (at.block.z * grid.y + at.block.y) * grid.x + at.block.x;
    }
    std::uint64_t thread_number(const Place& at) const {
        return (at.thread.z * block.y + at.thread.y) * block.x + at.thread.x;
    }
};

// An expression as it is typed, and what it is worth.
struct Expression {
    std::string text;
    std::function<std::uint64_t(const Place&)> value;
};

class RandomLaunches {
 public:
    explicit RandomLaunches(std::uint64_t seed) : random_(seed) {}

    std::uint64_t from_1_to(std::uint64_t most) { return 1 + random_() % most; }
    bool one_in(std::uint64_t n) { return random_() % n == 0; }

    Launched launch() {
        Launched launch{{from_1_to(40)}, {from_1_to(6)}};
        if (one_in(3)) launch.block.x = 32 * from_1_to(4);
        if (!one_in(4)) launch.block.y = from_1_to(8);
        if (one_in(2)) launch.block.z = from_1_to(4);
        while (launch.block.count() > 1024) launch.block.z = launch.block.y = 2;
        launch.grid.is_shape = true;  // of one row too
        if (!one_in(4)) launch.grid.y = from_1_to(5);
        if (one_in(2)) launch.grid.z = from_1_to(3);
        return launch;
    }

    // A sum of one to four terms, none of which is ever negative.
    Expression index(const Launched& launch) {
        Expression sum = term(launch);
        for (std::uint64_t more = random_() % 4; more > 0; --more) {
            const Expression next = term(launch);
            sum = {sum.text + " + " + next.text,
                   [left = sum.value, right = next.value](const Place& at) {
                       return left(at) + right(at);
                   }};
        }
        return sum;
    }
    Expression condition(const Launched& launch) {
        const Expression left = name(launch);
        const std::uint64_t limit = random_() % 20;
        return {
            left.text + " < " + std::to_string(limit),
            [value = left.value, limit](const Place& at) { return value(at) < limit ? 1u : 0u; }};
    }
    ElementType type() {
        constexpr ElementType types[] = {ElementType::u8, ElementType::u16, ElementType::f32,
                                         ElementType::f64, ElementType::f32x4};
        return types[random_() % std::size(types)];
    }

 private:
    Expression name(const Launched& launch) {
        const auto along = [](std::uint64_t Dimensions::*axis, Dimensions Place::*what) {
            return [axis, what](const Place& at) { return at.*what.*axis; };
        };
        const auto number = [](std::uint64_t value) {
            return [value](const Place&) { return value; };
        };
        const auto tid = [launch](const Place& at) { return launch.thread_number(at); };
        const auto i = [launch](const Place& at) {
            return launch.block_number(at) * launch.block.count() + launch.thread_number(at);
        };
        switch (random_() % 18) {
            case 0: return {"threadIdx.x", along(&Dimensions::x, &Place::thread)};
            case 1: return {"tid.x", along(&Dimensions::x, &Place::thread)};
            case 2: return {"threadIdx.y", along(&Dimensions::y, &Place::thread)};
            case 3: return {"tid.y", along(&Dimensions::y, &Place::thread)};
            case 4: return {"threadIdx.z", along(&Dimensions::z, &Place::thread)};
            case 5: return {"blockIdx.x", along(&Dimensions::x, &Place::block)};
            case 6: return {"bid.y", along(&Dimensions::y, &Place::block)};
            case 7: return {"blockIdx.z", along(&Dimensions::z, &Place::block)};
            case 8: return {"blockDim.x", number(launch.block.x)};
            case 9: return {"bdim.y", number(launch.block.y)};
            case 10: return {"blockDim.z", number(launch.block.z)};
            case 11: return {"gridDim.x", number(launch.grid.x)};
            case 12: return {"gdim.y", number(launch.grid.y)};
            case 13: return {"gridDim.z", number(launch.grid.z)};
            case 14: return {"tid", tid};
            case 15: return {"lane", [tid](const Place& at) { return tid(at) % 32; }};
            case 16: return {"bid", [launch](const Place& at) { return launch.block_number(at); }};
            default: return {"i", i};
        }
    }
    Expression term(const Launched& launch) {
        const Expression a = name(launch);
        const Expression b = name(launch);
        const std::uint64_t k = from_1_to(one_in(3) ? 1000 : 40);
        const std::string number = std::to_string(k);
        const auto of_one = [&](const char* sign, auto function) {
            return Expression{
                a.text + sign + number,
                [value = a.value, k, function](const Place& at) { return function(value(at), k); }};
        };
        const auto of_two = [&](const char* sign, auto function) {
            return Expression{"(" + a.text + sign + b.text + ")",
                              [left = a.value, right = b.value, function](const Place& at) {
                                  return function(left(at), right(at));
                              }};
        };
        switch (random_() % 7) {
            case 0: return a;
            case 1: return of_one("*", std::multiplies<std::uint64_t>());
            case 2: return of_one("/", std::divides<std::uint64_t>());
            case 3: return of_one(" % ", std::modulus<std::uint64_t>());
            case 4: return of_two(" * ", std::multiplies<std::uint64_t>());
            case 5: return of_two(" ^ ", std::bit_xor<std::uint64_t>());
            default: return of_two(" & ", std::bit_and<std::uint64_t>());
        }
    }

    std::mt19937_64 random_;
};

// Of one warp instruction: the element that each lane touches; none: the lane is switched off.
using WarpElements = std::vector<std::optional<std::uint64_t>>;

std::uint64_t distinct(std::vector<std::uint64_t> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return static_cast<std::uint64_t>(std::unique(numbers.begin(), numbers.end()) -
                                      numbers.begin());
}

struct Counted {
    std::uint64_t requests = 0;
    std::uint64_t sectors = 0;
    std::uint64_t lines = 0;
    std::uint64_t unique_bytes = 0;
    std::uint64_t ideal_sectors = 0;
    std::uint64_t useful_bytes = 0;

    // Elements are aligned: none lies in two sectors.
    void add(const WarpElements& warp, std::uint64_t width) {
        std::vector<std::uint64_t> elements;
        for (const auto& element : warp)
            if (element) elements.push_back(*element);
        if (elements.empty()) return;
        const auto in_units_of = [&](std::uint64_t bytes) {
            std::vector<std::uint64_t> units;
            for (const std::uint64_t element : elements) units.push_back(element * width / bytes);
            return distinct(std::move(units));
        };
        const std::uint64_t found = in_units_of(32);
        ++requests;
        sectors += found;
        lines += in_units_of(128);
        unique_bytes += in_units_of(width) * width;
        ideal_sectors += std::min(found, (elements.size() * width + 31) / 32);
        useful_bytes += elements.size() * width;
    }
};

// Shared memory of 9.0, as docs/machines.md tells it: 32 banks of 4 bytes; 32, 16 or 8 lanes go
// together, of 4, 8 or 16 bytes; twice as many of a wide load whose lanes n and n ^ 1, or n and
// n ^ 2, agree; one pass for each word that one bank is asked for.
struct SharedCounted {
    std::uint64_t requests = 0;
    std::uint64_t wavefronts = 0;
    std::uint64_t conflicts = 0;

    void add(const WarpElements& warp, std::uint64_t width, bool is_load) {
        const auto agrees = [&](std::size_t distance) {
            for (std::size_t lane = 0; lane < warp.size(); ++lane) {
                const std::size_t other = lane ^ distance;
                if (other < warp.size() && warp[lane] && warp[other] && warp[lane] != warp[other])
                    return false;
            }
            return true;
        };
        std::size_t together = width <= 4 ? 32 : 128 / width;
        if (is_load && width >= 8 && (agrees(1) || agrees(2))) together *= 2;
        bool is_active = false;
        for (std::size_t first = 0; first < warp.size(); first += together) {
            std::array<std::set<std::uint64_t>, 32> words_of_bank;
            for (std::size_t lane = first; lane < std::min(first + together, warp.size()); ++lane)
                for (std::uint64_t byte = 0; warp[lane] && byte < width; byte += 4) {
                    const std::uint64_t word = (*warp[lane] * width + byte) / 4;
                    words_of_bank[word % 32].insert(word);
                }
            std::size_t passes = 0;
            for (const auto& words : words_of_bank) passes = std::max(passes, words.size());
            if (passes == 0) continue;
            is_active = true;
            wavefronts += passes;
            conflicts += passes - 1;
        }
        requests += is_active;
    }
};

// Calls visit(warp) with the elements of each warp. CUDA starts blocks, and numbers the threads of
// one, with x fastest; 32 neighbours are a warp.
template <typename Visit>
void play_out(const Launched& launch, const Expression& index, const Expression* condition,
              Visit visit) {
    Place at;
    const auto each = [](const Dimensions& shape, Dimensions& place, const auto& act) {
        for (place.z = 0; place.z < shape.z; ++place.z)
            for (place.y = 0; place.y < shape.y; ++place.y)
                for (place.x = 0; place.x < shape.x; ++place.x) act();
    };
    each(launch.grid, at.block, [&] {
        WarpElements warp;
        each(launch.block, at.thread, [&] {
            if (!condition || condition->value(at) != 0)
                warp.emplace_back(index.value(at));
            else
                warp.emplace_back();
            if (warp.size() < 32) return;
            visit(warp);
            warp.clear();
        });
        if (!warp.empty()) visit(warp);
    });
}

// A launch with one instruction on global memory and one on shared memory.
struct RandomPlan {
    explicit RandomPlan(RandomLaunches& random)
        : launched(random.launch()),
          index(random.index(launched)),
          tile(random.index(launched)),
          condition(random.condition(launched)),
          has_condition(random.one_in(4)),
          is_load(random.one_in(2)),
          is_tile_load(random.one_in(2)),
          tile_type(random.type()) {
        plan.pattern = "formula";
        plan.type = random.type();
        plan.op = is_load ? Op::load : Op::store;
        plan.shape.block = static_cast<std::uint32_t>(launched.block.count());
        plan.shape.block_shape = launched.block;
        plan.shape.grid = launched.grid;
        plan.shape = settled_shape(plan.shape, plan.type);
        const std::string only_some = has_condition ? " if " + condition.text : "";
        text = index.text + only_some + "; shared." + (is_tile_load ? "load." : "store.") +
               std::string(name_of(tile_type)) + ": tile[(" + tile.text + ") % " +
               std::to_string(tile_elements) + "]" + only_some;
        plan.program = make_formula_program(
            std::make_shared<const ParsedFormula>(parse_formula(text, {})),
            {.op = plan.op, .type = plan.type, .shape = plan.shape, .values = {}});
    }
    std::string told() const {
        return text + " --grid " + text_of(launched.grid) + " --block " + text_of(launched.block) +
               " --type " + std::string(name_of(plan.type));
    }
    const Expression* only_some() const { return has_condition ? &condition : nullptr; }

    static constexpr std::uint64_t tile_elements = 5000;
    Launched launched;
    Expression index;
    Expression tile;
    Expression condition;
    bool has_condition;
    bool is_load;
    bool is_tile_load;
    ElementType tile_type;
    Plan plan;
    std::string text;
};

TEST(RandomLaunches, of_grids_and_blocks_count_as_when_played_out) {
    constexpr int rounds = 10'500 / fewer_cases;
    RandomLaunches random(20);
    const Predictor predictor(find_machine("h200"));
    std::uint64_t compared = 0;
    for (int round = 0; round < rounds; ++round) {
        const RandomPlan launch(random);
        const std::uint64_t width = bytes_of(launch.plan.type);
        Counted counted;
        play_out(launch.launched, launch.index, launch.only_some(),
                 [&](const WarpElements& warp) { counted.add(warp, width); });
        SharedCounted shared;
        play_out(launch.launched, launch.tile, launch.only_some(), [&](WarpElements warp) {
            for (auto& element : warp)
                if (element) *element %= RandomPlan::tile_elements;
            shared.add(warp, bytes_of(launch.tile_type), launch.is_tile_load);
        });

        std::vector<InstructionResult> apart;
        const Readings all = predictor.predict_launch(launch.plan, {}, &apart);
        ASSERT_EQ(apart.size(), 2u);
        const auto expect = [&](std::size_t instruction, Counter counter, std::uint64_t value) {
            EXPECT_TRUE(all[counter] == Reading{value})
                << launch.told() << ": " << key_of(counter) << " is not " << value;
            EXPECT_TRUE(apart[instruction].predicted[counter] == Reading{value})
                << launch.told() << ": " << key_of(counter) << " of one is not " << value;
            ++compared;
        };
        const auto of_global = [&](AccessField field, std::uint64_t value) {
            const AccessKind kind = launch.is_load ? AccessKind::load : AccessKind::store;
            expect(0, access_counter(kind, field), value);
        };
        of_global(AccessField::requests, counted.requests);
        of_global(AccessField::sectors, counted.sectors);
        of_global(AccessField::lines, counted.lines);
        of_global(AccessField::unique_bytes, counted.unique_bytes);
        of_global(AccessField::ideal_sectors, counted.ideal_sectors);
        const auto of_shared = [&](Counter load, Counter store, std::uint64_t value) {
            expect(1, launch.is_tile_load ? load : store, value);
        };
        of_shared(Counter::shared_load_requests, Counter::shared_store_requests, shared.requests);
        of_shared(Counter::shared_load_wavefronts, Counter::shared_store_wavefronts,
                  shared.wavefronts);
        of_shared(Counter::shared_load_conflicts, Counter::shared_store_conflicts,
                  shared.conflicts);
        if (counted.useful_bytes != 0) {
            EXPECT_TRUE(all[Counter::useful_bytes] == Reading{counted.useful_bytes})
                << launch.told();
            ++compared;
        }
        EXPECT_EQ(launch.plan.program.threads,
                  launch.launched.block.count() * launch.launched.grid.count());
        ++compared;
        if (HasFailure()) return;
    }
    EXPECT_GE(compared, 100'000u / fewer_cases);
}

}  // namespace
}  // namespace coalprof
