#include "cli/formula_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parse.h"
#include "core/formula/tree.h"
#include "core/text/describe.h"
#include "core/text/file_kind.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

FormulaParameter read_parameter(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--var {}: expected a name, '=' and its values", shown(text)),
                         text, std::min(equals, text.size()), "for example --var k=0..32");
    FormulaParameter parameter{text.substr(0, equals), {}};
    require_parameter_name(parameter.name);
    parameter.values = parse_signed_range(std::string_view(text).substr(equals + 1),
                                          "--var " + parameter.name + "=")
                           .signed_values();
    return parameter;
}

}  // namespace

void FormulaOptions::add_to(CLI::App& command, OptionValues values) {
    const bool is_one = values == OptionValues::one;
    add_repeated(command, "--var", variables,
                 is_one ? "A parameter and its value: k=3, d=-1; repeatable"
                        : "A parameter and its values: k=0..32, d=-1..1; repeatable",
                 is_one ? "K=N" : "K=R");
    add_repeated(
        command, "--array", arrays,
        "An array: its extents, in=f32[2048][2048], with strides x=bf16[4096,4096]:1,4096, of "
        "Fortran x=f64(1000,1000); or what it holds where its values make indices: "
        "col=@col.npy, col=i32[1000]=iota or =random; repeatable",
        "NAME=WHAT");
}

std::vector<FormulaParameter> FormulaOptions::parameters() const {
    std::vector<FormulaParameter> parameters;
    for (const std::string& variable : variables) parameters.push_back(read_parameter(variable));
    return parameters;
}

void FormulaOptions::declare(FormulaSweep& sweep) const {
    for (const std::string& array : arrays) {
        DeclaredArray declared = read_declared_array(array);
        if (std::ranges::find(sweep.arrays, declared.name, &DeclaredArray::name) !=
            sweep.arrays.end())
            throw UsageError(fmt::format("--array {}: given twice", declared.name));
        sweep.arrays.push_back(std::move(declared));
    }
}

FormulaSweep sweep_of(const FormulaOptions& formula, const SweepOptions& options) {
    refuse_file(formula.text, "a formula",
                fmt::format("kernels of a file: coalprof kernel {}; a * is quoted for the shell: "
                            "coalprof formula 'i*3'",
                            shown(formula.text)));
    FormulaSweep sweep;
    sweep.text = formula.text;
    sweep.parameters = formula.parameters();
    formula.declare(sweep);
    sweep.settings = options.settings();
    if (options.text_of("size_bytes").empty() && options.text_of("grid").empty())
        follow_arrays(sweep);
    return sweep;
}

}  // namespace coalprof
