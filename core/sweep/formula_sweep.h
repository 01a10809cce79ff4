// A user's formula as a sweep: the values of its parameters make a grid, one program per cell. Also
// several formulas as one sweep.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/formula/formula.h"
#include "core/sweep/sweep.h"

namespace coalprof {

struct FormulaParameter {
    std::string name;
    std::vector<std::int64_t> values;
};

struct FormulaSweep {
    std::string name;  // its name within a set; empty: the only one
    std::string text;
    std::vector<FormulaParameter> parameters;
    std::vector<DeclaredArray> arrays = {};  // --array
    // Op, type, shape, cache settings and machines; pattern, values and options are not read.
    Sweep settings;
    std::string note = {};  // why --array leaves threads of the launch out
};

// Programs of a set of formulas, made once and kept if they are not too many. They are the same on
// all machines. Thread-safe.
class FormulaPrograms {
 public:
    // The program of a cell of the grids, all formulas counted through: a kept one, or `make`'s.
    Program of_cell(std::uint64_t cell, const std::function<Program()>& make);

 private:
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::shared_ptr<const Program>> kept_;
};

// One formula after the other. The last parameter of a formula varies fastest, but machines,
// settings and axes vary within each of its cells. Where formulas differ in op or type, these are
// parameters of the points.
class FormulaPoints : public SweptPoints {
 public:
    // `programs` serve the same set on other machines too. Throws UsageError for a formula that
    // cannot be read, with a caret; for parameters that do not occur in
    // it or are called like a setting; and for more than most_range_points points. Errors of a
    // single point are found when it is made.
    explicit FormulaPoints(
        const std::vector<FormulaSweep>& set,
        std::shared_ptr<FormulaPrograms> programs = std::make_shared<FormulaPrograms>());

    std::uint64_t count() const override { return points_; }
    bool compares_settings() const override {
        return !members_.front().sweep.settings.memory_axes.empty();
    }
    void make(PlannedPoint& point) const override;

 private:
    struct Member {
        FormulaSweep sweep;
        std::shared_ptr<const ParsedFormula> formula;
        std::optional<ElementType> sized = {};  // type that --size counts; nothing if it is swept
        NamedValues own;  // parameters of its points that are settings of others
        std::uint64_t first_point = 0;
        std::uint64_t first_cell = 0;
    };

    void make(PlannedPoint& point, const Member& member) const;

    std::vector<Member> members_;
    std::uint64_t points_ = 0;
    bool tells_sizes_ = false;  // each point its own
    std::shared_ptr<FormulaPrograms> programs_;
};

// Its tree. Throws UsageError.
ParsedFormula tree_of(const FormulaSweep& sweep);

// The types of its accesses, "f32x4+f64".
std::string types_of(const FormulaSweep& sweep);

// For a launch that was not given: as many of its threads as find their elements in the declared
// arrays, whatever values the parameters have. Throws UsageError.
void follow_arrays(FormulaSweep& sweep);

// With several formulas that share parameters, each keeps those that occur in it; `occurs` says
// which did. Throws UsageError for a formula that cannot be read.
void keep_occurring(FormulaSweep& sweep, std::vector<bool>& occurs);

SweepFacts describe_sweep(const FormulaSweep& sweep);
// The text of each is the value of "formula.NAME";
// likewise "size_bytes.NAME", "block.NAME", ... where they differ.
SweepFacts describe_sweep(const std::vector<FormulaSweep>& set);

}  // namespace coalprof
