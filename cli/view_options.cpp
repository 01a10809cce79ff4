#include "cli/view_options.h"

#include "cli/nsight_names.h"
#include "cli/sweep_options.h"
#include "core/result/counter_words.h"
#include "core/text/error.h"
#include "core/text/split_list.h"

namespace coalprof {
namespace {

Counter counter_of(const std::string& option, const std::string& key) {
    if (const auto counter = find_counter(key)) return *counter;
    if (const auto counter = find_nsight_name(key)) return *counter;
    throw UsageError(unknown_counter(option, key), {}, UsageError::no_caret, hint_for_counter(key));
}

}  // namespace

void ViewOptions::add_to(CLI::App& command) {
    is_offered = true;
    const char* group = "Output";
    command
        .add_option("--best", best,
                    "Say which combination of options, or which value, is best by this counter "
                    "(`coalprof counters` lists them)")
        ->type_name("KEY")
        ->group(group);
    command
        .add_option("--sort", sort,
                    "Order of the points: by a counter, best first, or by a parameter; KEY:asc or "
                    "KEY:desc decides")
        ->type_name("KEY")
        ->group(group);
    command
        .add_option("--columns", columns,
                    "The only counters that tables and CSV show, such as load_sectors_per_request "
                    "(--counters: what is measured)")
        ->type_name("KEY,...")
        ->group(group);
}

std::vector<Counter> ViewOptions::chosen_columns() const {
    std::vector<Counter> counters;
    if (columns.empty()) return counters;
    for (const std::string& key : split_list(columns, "--columns"))
        counters.push_back(counter_of("--columns", key));
    return counters;
}

Viewed::Viewed(ResultSink& next, const ViewOptions& options) : sink_(&next) {
    if (!options.sort.empty()) {
        sorted_ = std::make_unique<SortedSink>(*sink_, options.sort);
        sink_ = sorted_.get();
    }
    if (!options.best.empty()) {
        best_ = std::make_unique<BestSink>(*sink_, counter_of("--best", options.best));
        sink_ = best_.get();
    }
}

}  // namespace coalprof
