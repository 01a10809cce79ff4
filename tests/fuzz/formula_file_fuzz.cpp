// A file of saved formulas: refused with a printable error, or named formulas that the parser of
// formulas accepts.
#include "core/formula/formula_file.h"
#include "fuzz/claim.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace coalprof;
    const std::string_view text = fuzz::text_of(data, size);
    try {
        const auto formulas = parse_formula_file(text, "f.json");
        fuzz::claim(!formulas.empty(), "a file has a formula");
        for (const SavedFormula& formula : formulas) {
            std::vector<std::string> names;
            for (const auto& var : formula.vars) names.push_back(var.first);
            parse_formula(formula.expr, names);
            fuzz::claim(!formula.name.empty(), "a formula has a name");
        }
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
