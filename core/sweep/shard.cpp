#include "core/sweep/shard.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::string_view shard_hint =
    "shards look like 1/4, 2/4, 3/4, 4/4; auto takes them from Slurm, MPI or Kubernetes";
constexpr std::uint64_t most_shards = 1'000'000;

// Variables by which a launcher numbers its processes.
struct Launcher {
    std::string_view name;
    const char* index;
    const char* count;  // nullptr: not given
};
constexpr Launcher slurm_step{"a Slurm step", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};
constexpr std::array launchers{
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE"},
    slurm_step,
    Launcher{"PMIx", "PMIX_RANK", nullptr},
    Launcher{"an indexed Job of Kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"},
};

std::optional<std::uint64_t> number_in(const char* text) {
    if (!text) return std::nullopt;
    const ReadNumber number = read_integer(text);
    const bool is_whole =
        number.status == NumberStatus::ok && std::string_view(text).size() == number.length;
    return is_whole ? std::optional(number.value) : std::nullopt;
}

std::uint64_t read_part(const OptionText& value, std::size_t& at) {
    const ReadNumber number = read_integer(value.text.substr(at));
    if (number.status != NumberStatus::ok) value.refuse(at, "expected a number here");
    at += number.length;
    return number.value;
}

class LaunchedShard {
 public:
    LaunchedShard(const OptionText& value, const GetVariable& variable,
                  std::optional<std::uint64_t> typed_count)
        : value_(value), variable_(variable), typed_count_(typed_count) {}

    Shard shard() const {
        const auto task = task_of_array();
        const auto process = process_of_launcher(task ? std::nullopt : typed_count_);
        if (!task && !process) refuse();
        if (!task || !process) return task ? *task : *process;
        // Each task of the array starts several processes.
        return {(task->index - 1) * process->count + process->index, task->count * process->count};
    }

 private:
    std::optional<std::uint64_t> number(const char* name) const {
        return name ? number_in(variable_(name)) : std::nullopt;
    }

    std::optional<Shard> task_of_array() const {
        const auto task = number("SLURM_ARRAY_TASK_ID");
        if (!task) return std::nullopt;
        return typed_count_ ? task_of_known_array(*task) : task_of_whole_array(*task);
    }
    // Slurm names the tasks that were submitted together. Where one of 1-8 is submitted again, it
    // is alone. Tasks 1-2 that are submitted again cannot be distinguished from an array of two.
    Shard task_of_whole_array(std::uint64_t task) const {
        const auto count = number("SLURM_ARRAY_TASK_COUNT");
        const auto first = number("SLURM_ARRAY_TASK_MIN");
        const auto last = number("SLURM_ARRAY_TASK_MAX");
        const bool is_whole = count && *count > 1 && first && *first <= 1 && task >= *first &&
                              task - *first < *count && (!last || *last - *first + 1 == *count);
        if (is_whole) return {task - *first + 1, *count};
        value_.refuse(
            UsageError::no_caret,
            fmt::format("task {} of a Slurm array: which tasks the whole array has cannot be known "
                        "here, as where some of them are submitted again",
                        task),
            fmt::format("{0} auto/N takes task {1} as {1}/N; of an array from 0 it is {0} {2}/N",
                        value_.option, task, task + 1));
    }
    // Task 3 of N is 3/N, whichever tasks are submitted with it.
    Shard task_of_known_array(std::uint64_t task) const {
        const std::uint64_t count = *typed_count_;
        for (const auto index :
             {std::optional(task), number("SLURM_ARRAY_TASK_MIN"), number("SLURM_ARRAY_TASK_MAX")})
            if (index && (*index == 0 || *index > count))
                value_.refuse(UsageError::no_caret,
                              fmt::format("the Slurm array has a task {}, and auto/{} means tasks "
                                          "1 to {}",
                                          *index, count, count),
                              fmt::format("submit them so: sbatch --array=1-{}", count));
        return {task, count};
    }
    std::optional<Shard> process_of_launcher(std::optional<std::uint64_t> typed_count) const {
        for (const Launcher& launcher : launchers)
            if (const auto found = part(launcher, typed_count)) return found;
        return std::nullopt;
    }
    // None if some variable is missing. The script of a Slurm job has a SLURM_PROCID too, but is
    // not one of a step's processes.
    std::optional<Shard> part(const Launcher& launcher,
                              std::optional<std::uint64_t> typed_count) const {
        const auto index = number(launcher.index);
        const auto own_count = number(launcher.count);
        const bool is_script = launcher.index == slurm_step.index && !own_count;
        const auto count = typed_count && !is_script ? typed_count : own_count;
        if (!index || !count) return std::nullopt;
        if (*index >= *count)
            value_.refuse(UsageError::no_caret,
                          fmt::format("{} says {}={}, which is not one of {}", launcher.name,
                                      launcher.index, *index, *count));
        return Shard{*index + 1, *count};
    }

    [[noreturn]] void refuse() const {
        for (const Launcher& launcher : launchers)
            if (const auto index = number(launcher.index);
                index && launcher.index != slurm_step.index)
                value_.refuse(UsageError::no_caret,
                              fmt::format("{} says which part this is ({}={}), but not of how many",
                                          launcher.name, launcher.index, *index),
                              fmt::format("say it: {} auto/N", value_.option));
        value_.refuse(UsageError::no_caret,
                      "neither an array or a step of Slurm (srun), Open MPI, PMI, PMIx nor "
                      "Kubernetes says in the environment which part this is");
    }

    const OptionText& value_;
    const GetVariable& variable_;
    std::optional<std::uint64_t> typed_count_;
};

}  // namespace

std::uint64_t Shard::first(std::uint64_t points) const {
    // points * (index - 1) / count without overflow.
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
        shard = LaunchedShard(value, variable, std::nullopt).shard();
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
        if (is_auto) shard = LaunchedShard(value, variable, shard.count).shard();
    }
    if (shard.count > most_shards)
        value.refuse(UsageError::no_caret, fmt::format("there are at most {} shards", most_shards));
    if (shard.index == 0) value.refuse(0, "shards are counted from 1");
    if (shard.index > shard.count)
        value.refuse(0, fmt::format("the last of {0} shards is {0}/{0}", shard.count));
    return shard;
}

}  // namespace coalprof
