// A file of saved formulas: refused with a printable error, or named formulas that the parser of
// formulas accepts. No object of what is accepted has a key twice.
#include <nlohmann/json.hpp>
#include <set>

#include "core/formula/formula_file.h"
#include "fuzz/claim.h"

namespace {

// Whether an object has one key twice, as another reader of JSON sees it.
bool has_duplicate_keys(std::string_view text) {
    using Json = nlohmann::json;
    std::vector<std::set<std::string>> keys;  // of the objects that are open
    bool has_duplicate = false;
    const auto see = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key)
            has_duplicate |= !keys.back().insert(value.get<std::string>()).second;
        return true;
    };
    [[maybe_unused]] const Json document = Json::parse(text, see, false, true);
    return has_duplicate;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace coalprof;
    const std::string_view text = fuzz::text_of(data, size);
    try {
        const auto formulas = parse_formula_file(text, "f.json");
        fuzz::claim(!formulas.empty(), "a file has a formula");
        fuzz::claim(!has_duplicate_keys(text), "no key stands twice");
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
