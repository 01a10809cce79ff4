#include "core/sweep/shard.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/option_text.h"

namespace coalprof {
namespace {

constexpr std::string_view shard_hint =
    "shards look like 1/4, 2/4, 3/4, 4/4; auto takes them from Slurm, MPI or Kubernetes";
constexpr std::uint64_t most_shards = 1'000'000;

// Where a launcher says which of how many processes this is.
struct Launcher {
    std::string_view name;
    const char* index;
    const char* count;   // nullptr: it does not say
    const char* lowest;  // the variable of the first index; nullptr: it is 0
};
constexpr std::array launchers{
    // An array before the steps of a job: each of its tasks may be a job of one step.
    Launcher{"a Slurm array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
             "SLURM_ARRAY_TASK_MIN"},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", nullptr},
    Launcher{"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr},
    Launcher{"Slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr},
    Launcher{"an indexed Job of Kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", nullptr},
};

std::optional<std::uint64_t> number_in(const char* text) {
    if (!text) return std::nullopt;
    const ReadNumber number = read_integer(text);
    const bool is_whole =
        number.status == NumberStatus::ok && std::string_view(text).size() == number.length;
    return is_whole ? std::optional(number.value) : std::nullopt;
}

// Tasks 0-9:3 of a Slurm array are 0, 3, 6, 9.
std::uint64_t step_of_array(const GetVariable& variable) {
    const auto step = number_in(variable("SLURM_ARRAY_TASK_STEP"));
    return step && *step > 0 ? *step : 1;
}

std::uint64_t read_part(const OptionText& value, std::size_t& at) {
    const ReadNumber number = read_integer(value.text.substr(at));
    if (number.status != NumberStatus::ok) value.refuse(at, "expected a number here");
    at += number.length;
    return number.value;
}

Shard shard_of_launcher(const OptionText& value, const GetVariable& variable,
                        std::optional<std::uint64_t> typed_count) {
    for (const Launcher& launcher : launchers) {
        const auto index = number_in(variable(launcher.index));
        if (!index) continue;
        const auto count = typed_count
                               ? typed_count
                               : number_in(launcher.count ? variable(launcher.count) : nullptr);
        if (!count)
            value.refuse(UsageError::no_caret,
                         fmt::format("{} says which part this is ({}={}), but not of how many",
                                     launcher.name, launcher.index, *index),
                         fmt::format("say it: {} auto/N", value.option));
        const auto lowest = number_in(launcher.lowest ? variable(launcher.lowest) : nullptr);
        const std::uint64_t first = lowest.value_or(0);
        const std::uint64_t step = launcher.lowest ? step_of_array(variable) : 1;
        if (*index < first || (*index - first) / step >= *count)
            value.refuse(UsageError::no_caret,
                         fmt::format("{} says {}={}, which is not one of {}", launcher.name,
                                     launcher.index, *index, *count));
        return {(*index - first) / step + 1, *count};
    }
    value.refuse(
        UsageError::no_caret,
        "neither Slurm, Open MPI, PMI, PMIx nor Kubernetes says in the environment which part "
        "this is");
}

}  // namespace

std::uint64_t Shard::first(std::uint64_t points) const {
    // points * (index - 1) / count, which may not fit in between.
    const std::uint64_t whole = points / count;
    const std::uint64_t rest = points % count;
    return whole * (index - 1) + rest * (index - 1) / count;
}

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }

Shard parse_shard(std::string_view text, const GetVariable& variable, std::string_view option) {
    const OptionText value{option, text, shard_hint};
    Shard shard;
    std::size_t at = 0;
    const bool is_auto = text.starts_with("auto");
    if (text == "auto") {
        shard = shard_of_launcher(value, variable, std::nullopt);
    } else {
        if (is_auto)
            at = 4;
        else
            shard.index = read_part(value, at);
        if (at == text.size() || text[at] != '/')
            value.refuse(at, "expected '/' and the number of shards here");
        const std::size_t count_at = ++at;
        shard.count = read_part(value, at);
        if (at != text.size()) value.refuse(at, "expected the end here");
        if (shard.count == 0) value.refuse(count_at, "there is at least one shard");
        if (is_auto) shard = shard_of_launcher(value, variable, shard.count);
    }
    if (shard.count > most_shards)
        value.refuse(UsageError::no_caret, fmt::format("there are at most {} shards", most_shards));
    if (shard.index == 0) value.refuse(0, "shards are counted from 1");
    if (shard.index > shard.count)
        value.refuse(0, fmt::format("there are {} shards, and {} is none of them", shard.count,
                                    shard.index));
    return shard;
}

}  // namespace coalprof
