// One script for all function tables together: it counts every call of the driver, NVRTC and
// CUPTI, lets some of them fail, and knows what a lost GPU answers from then on.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace coalprof {

enum class Library { driver, nvrtc, cupti };

struct Call {
    Library owner = Library::driver;
    std::string name;  // "cuLaunchKernel", or the member of the table: "range_push"
    auto operator<=>(const Call&) const = default;
};

// The nth call of that name (from 1) answers `code`.
struct FailingCall {
    Call call;
    std::uint64_t nth = 0;
    int code = 0;
};

class Script {
 public:
    Script() { current() = this; }
    explicit Script(FailingCall fault) : Script() { fault_ = std::move(fault); }
    ~Script() { current() = nullptr; }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    // Also a call by its number over all tables, from 1 (0: none), or each of one name.
    std::uint64_t fail_call = 0;
    std::string failing;
    int fail_code = 999;  // CUDA_ERROR_UNKNOWN
    // Codes after which the GPU is gone: every later call on its context answers the same.
    std::set<int> sticky;
    // Whether CUPTI, too, answers CUPTI_ERROR_UNKNOWN (999) from then on.
    bool cupti_is_lost_too = false;
    // Raise `signal` in the course of this call, counted over all tables; 0: never.
    std::uint64_t signal_at = 0;
    int signal = SIGINT;

    std::uint64_t calls() const { return total_; }
    const std::string& last_call() const { return last_call_; }
    const std::string& failed_call() const { return failed_call_; }
    const std::map<Call, std::uint64_t>& counts() const { return counts_; }
    bool has_failed() const { return !failed_call_.empty(); }
    bool is_lost() const { return lost_code_ != 0; }
    // Programs of NVRTC that were made and not destroyed.
    int live_programs() const { return live_programs_; }
    // Calls other than cleaning up that were made on the context after its loss had been told.
    const std::vector<std::string>& after_loss() const { return after_loss_; }

    // Answers for a call: `execute` does what it is to do.
    template <typename Execute>
    int step(Library library, const std::string& name, Execute execute) {
        const auto [code, executes] = decide({library, name});
        const int answer = executes ? execute() : 0;
        if (executes && answer == 0) note_program(name);
        return code != 0 ? code : answer;
    }

    static Script*& current() {
        static Script* script = nullptr;
        return script;
    }

 private:
    struct Decision {
        int code = 0;
        bool executes = true;
    };

    // NVRTC is called from several threads.
    Decision decide(const Call& call) {
        const std::lock_guard lock(mutex_);
        // Of the process: threads that compile hold back what is raised in them.
        if (++total_ == signal_at) ::kill(::getpid(), signal);
        const std::uint64_t nth = ++counts_[call];
        last_call_ = call.name;
        const bool is_cleanup = cleanup().contains(call.name);
        if (is_lost()) {
            if (call.owner == Library::driver && needs_context(call.name)) {
                if (!is_cleanup && is_told_) after_loss_.push_back(call.name);
                is_told_ = is_told_ || !is_cleanup;
                return {lost_code_, is_cleanup};
            }
            if (call.owner == Library::cupti && cupti_is_lost_too) return {999, is_cleanup};
        }
        const bool is_fault = call == fault_.call && nth == fault_.nth;
        if (!is_fault && total_ != fail_call && call.name != failing) return {};
        const int code = is_fault ? fault_.code : fail_code;
        failed_call_ = call.name;
        if (call.owner == Library::driver && needs_context(call.name) && sticky.contains(code))
            lost_code_ = code;
        is_told_ = !is_cleanup;
        // What gives something back counts as done: that it was called is what matters.
        return {code, is_cleanup};
    }

    void note_program(const std::string& name) {
        const std::lock_guard lock(mutex_);
        if (name == "nvrtcCreateProgram") ++live_programs_;
        if (name == "nvrtcDestroyProgram") --live_programs_;
    }

    static const std::set<std::string>& cleanup() {
        static const std::set<std::string> names{"cuDevicePrimaryCtxRelease_v2",
                                                 "cuCtxSetCurrent",
                                                 "cuModuleUnload",
                                                 "cuMemFree_v2",
                                                 "cuMemFreeHost",
                                                 "cuTexObjectDestroy",
                                                 "cuMemUnmap",
                                                 "cuMemRelease",
                                                 "cuMemAddressFree",
                                                 "cuEventDestroy_v2",
                                                 "nvrtcDestroyProgram",
                                                 "host_deinitialize",
                                                 "profiler_deinitialize",
                                                 "range_disable",
                                                 "range_pop",
                                                 "range_stop"};
        return names;
    }
    // The calls about a device are answered with and without a context.
    static bool needs_context(const std::string& name) {
        return !name.starts_with("cuDevice") && name != "cuInit" && name != "cuDriverGetVersion" &&
               name != "cuMemGetAllocationGranularity";
    }

    FailingCall fault_;
    std::map<Call, std::uint64_t> counts_;
    std::uint64_t total_ = 0;
    std::string last_call_;
    std::string failed_call_;
    int lost_code_ = 0;
    bool is_told_ =
        false;  // by a call whose answer is looked at, which those of cleaning up are not
    int live_programs_ = 0;
    std::vector<std::string> after_loss_;
    std::mutex mutex_;
};

// One call of a table is executed at a time.
template <typename Table>
inline std::recursive_mutex executing;

// A member of a function table that asks the script first, and then calls what the table held
// before.
template <auto Member>
struct Trampoline;

template <typename Table, typename Result, typename... Arguments,
          Result (*Table::*Member)(Arguments...)>
struct Trampoline<Member> {
    static void put(Table& table, Library library, const char* name) {
        if constexpr (!std::is_pointer_v<Result>) {  // which puts a failure into words
            library_ = library;
            name_ = name;
            original_ = table.*Member;
            table.*Member = call;
        }
    }
    static Result call(Arguments... arguments) {
        const auto execute = [&] {
            const std::lock_guard lock(executing<Table>);
            return static_cast<int>(original_(arguments...));
        };
        Script* const script = Script::current();
        return static_cast<Result>(script ? script->step(library_, name_, execute) : execute());
    }

 private:
    static inline Library library_ = Library::driver;
    static inline const char* name_ = "";
    static inline Result (*original_)(Arguments...) = nullptr;
};

}  // namespace coalprof
